"""Fixtures of the tests of runs."""

from tracing import anyio_backend

__all__ = ["anyio_backend"]
