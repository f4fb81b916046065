"""Fixtures of the contract suites."""

from tracing import anyio_backend, trace

__all__ = ["anyio_backend", "trace"]
