"""What an error of a model, a provider or the way to it means for a turn.

- A refused key, an empty account and an unknown model are for a person to mend, a provider that serves nobody
  is waited out, the rest is the turn's own failure; the classes of the library decide, then the status of
  HTTP, and for a full context also the words that servers of the same wire have for it.
- When a limit ends is read from what the provider sends with it, in all the ways they write it.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from amelia.drive.fault_texts import FULL
from amelia.drive.status import ending_of_status
from amelia.drive.stream import DETAIL_LIMIT, NUMBER_LIMIT
from amelia.model.agents import Ending

_KINDS: tuple[tuple[type[Exception], Ending], ...] = (
    (ModelContextWindowExceededError, Ending.OVERFLOW),
    (ModelQuotaExceededError, Ending.NO_CREDIT),
    (ModelAuthenticationError, Ending.AUTH),
    (ModelNotFoundError, Ending.MODEL_NOT_FOUND),
    (UserError, Ending.UNUSABLE),  # the library cannot even make the request
)
_OUTAGES = (
    ModelConnectionError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
)
_NO_EVENT = "Streamed response ended without content"  # what the library says when not a single one came
_AN_EPOCH = 10**9  # a larger number of seconds is a date, not a time to wait
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFault:
    """What an error comes to; `wait` is what the provider asks for, `until` the same as a time."""

    ending: Ending
    detail: str
    status: int | None = None
    wait: timedelta | None = None
    until: str | None = None

    @property
    def may_pass(self) -> bool:
        """Says whether the same request may go well a moment later."""
        return self.ending is Ending.LIMITED


def read_fault(error: Exception, now: datetime) -> ModelFault:
    """Understands an error."""
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    ending, words = _ending(error, status), _words(error)
    if ending is Ending.FAILED and isinstance(error, ModelAPIError) and FULL.search(words):
        ending = Ending.OVERFLOW
    wait = _wait(error, now) if ending is Ending.LIMITED else None
    until = None if wait is None else (now + wait).isoformat(timespec="seconds")
    return ModelFault(ending=ending, detail=words, status=status, wait=wait, until=until)


def _ending(error: Exception, status: int | None) -> Ending:
    for kind, ending in _KINDS:
        if isinstance(error, kind):
            return ending
    by_status = Ending.FAILED if status is None else ending_of_status(status)
    if by_status is Ending.FAILED and (isinstance(error, _OUTAGES) or _is_unreadable(error)):
        return Ending.LIMITED
    return by_status


def _is_unreadable(error: Exception) -> bool:
    """Tells whether a success is no answer of a model: the page of some proxy, or broken events."""
    if isinstance(error, UnexpectedModelBehavior):
        return error.message.startswith(_NO_EVENT)
    return isinstance(error, ModelAPIError) and isinstance(error.__cause__, ValueError)


def _words(error: Exception) -> str:
    """Returns what the provider says if it says something, else what the library does."""
    said: object = error.body if isinstance(error, ModelAPIError) else None
    for name in ("error", "message"):
        if isinstance(said, dict) and name in said:
            said = cast("dict[str, object]", said)[name]
    words = said if isinstance(said, str) else str(error) or type(error).__name__
    status = f"{error.status_code}: " if isinstance(error, ModelHTTPError) else ""
    return f"{status}{words}"[:DETAIL_LIMIT]


def _wait(error: Exception, now: datetime) -> timedelta | None:
    """Returns how long the provider asks to wait: by the header for that, else by the last of its resets."""
    if isinstance(error, ModelAPIError) and error.retry_after is not None:
        return _seconds(error.retry_after)
    headers = (error.headers or {}) if isinstance(error, ModelHTTPError) else {}
    resets = [_until_reset(value, now) for name, value in headers.items() if _is_reset(name)]
    return max((reset for reset in resets if reset is not None), default=None)


def _is_reset(name: str) -> bool:
    return "ratelimit" in name.lower() and "reset" in name.lower()


def _until_reset(text: str, now: datetime) -> timedelta | None:
    """Reads a reset: a time, a date in seconds, a number of seconds, or a duration like `6m0s`."""
    try:
        number = float(text)
    except ValueError:
        at_a_time = _until_time(text, now)
        return _duration(text) if at_a_time is None else at_a_time
    return _seconds(number - now.timestamp() if number >= _AN_EPOCH else number)


def _until_time(text: str, now: datetime) -> timedelta | None:
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _seconds(((time if time.tzinfo else time.replace(tzinfo=UTC)) - now).total_seconds())


def _duration(text: str) -> timedelta | None:
    found = _DURATION.fullmatch(text.strip()[:40])
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds, thousandths = (float(part or 0) for part in found.groups())
    return _seconds(((days * 24 + hours) * 60 + minutes) * 60 + seconds + thousandths / 1000)


def _seconds(number: float) -> timedelta | None:
    """Returns a wait that is one: not in the past, and not beyond what a date can hold."""
    year = 366 * 86_400
    return timedelta(seconds=max(0.0, number)) if number <= min(year, NUMBER_LIMIT) else None
