"""What is wrong or worth knowing about a plan, said once, with the line and the way out."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is: an error stops a run before anything is spent."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about a plan."""

    severity: Severity
    code: str
    message: str
    line: int | None = None
    hint: str | None = None


def error(code: str, message: str, *, line: int | None = None, hint: str | None = None) -> Diagnostic:
    """Returns a finding that stops the plan from running."""
    return Diagnostic(Severity.ERROR, code, message, line, hint)


def warning(code: str, message: str, *, line: int | None = None, hint: str | None = None) -> Diagnostic:
    """Returns a finding that a person should look at."""
    return Diagnostic(Severity.WARNING, code, message, line, hint)


def info(code: str, message: str, *, line: int | None = None, hint: str | None = None) -> Diagnostic:
    """Returns a finding that explains how the plan was read."""
    return Diagnostic(Severity.INFO, code, message, line, hint)
