"""Executes a development plan with coding agents."""

__version__ = "0.1.0"
