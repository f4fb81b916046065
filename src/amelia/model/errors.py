"""The error tree, drawn by who must act.

    AmeliaError
    ├── PlanError            the plan's author
    ├── ConfigError          whoever runs Amelia
    ├── GitError             whoever keeps the machine: git, its disk, its permissions
    ├── JournalError         the same, for the journals of runs
    └── InternalError        us: please report it

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


class ConfigError(AmeliaError):
    """A setting is wrong; the message names file, key and allowed range."""

    exit_code = 3


class GitError(AmeliaError):
    """A git command failed in a way that no plan and no agent can mend."""


class JournalError(AmeliaError):
    """The journal of a run cannot be read or written."""


class InternalError(AmeliaError):
    """Something that cannot happen did; a mistake of Amelia's own."""

    exit_code = 70

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(f"internal error: {message}", hint=hint or "please report this")
