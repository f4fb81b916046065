"""The error tree, drawn by who must act.

    AmeliaError
    ├── PlanError            the plan's author
    │   └── TDDViolationError
    └── ConfigError          whoever runs Amelia

A problem that a plan may well have is a diagnostic, not an exception; these are for what stops a command.
"""

from typing import ClassVar


class AmeliaError(Exception):
    """Something a person must act on: what happened, and a hint at the way out."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class PlanError(AmeliaError):
    """The plan cannot be used as it is."""

    exit_code = 5


class TDDViolationError(PlanError):
    """An implementation has no test before it."""


class ConfigError(AmeliaError):
    """A setting is wrong; the message names file, key and allowed range."""

    exit_code = 3
