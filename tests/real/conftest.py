"""Fixtures of the tests with real agents."""

from tracing import anyio_backend, trace

__all__ = ["anyio_backend", "trace"]
