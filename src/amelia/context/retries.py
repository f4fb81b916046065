"""What a further attempt is told about the one before it, and about the work that lies in the files.

Whoever begins anew is asked for another way. Whoever goes on, in files that hold work already, is told to:
never both.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from amelia.context.quoting import fenced
from amelia.context.texts import Texts
from amelia.model.git import CommitId
from amelia.model.outcome import Cause

_FRAMINGS = (
    "The previous approach failed. A different strategy is needed.",
    "Review the errors carefully before proceeding differently.",
    "The prior attempt had issues. Consider an alternative approach.",
)
_FRAMING_ON_NEW_BASE = "It was accepted, but does not fit what landed meanwhile: do it again on that."
_FRAMING_TO_GO_ON = "Its work is in the files: go on from there."
_LANDED_MEANWHILE = frozenset({Cause.CONFLICT, Cause.MERGE_RED})


class StartingPoint(StrEnum):
    """What of a unit's work is in the files when a fresh session begins.

    `LAST_ATTEMPT` is all that the attempt left which was not accepted, `BEGUN` any other part of the work,
    and `CUT_OFF` what a turn that did not end by itself left of it.
    """

    BASE = "base"
    LAST_ATTEMPT = "last_attempt"
    BEGUN = "begun"
    CUT_OFF = "cut_off"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """What a further attempt has to know: why the last one failed, and the ref and commit that keep it."""

    attempt: int
    errors: str
    cause: Cause | None = None
    ref: str | None = None
    commit: CommitId | None = None


def prepare_retry_context(
    texts: Texts, retry: Retry, *, feedback: str, start: StartingPoint = StartingPoint.BASE
) -> str:
    """Returns what a further attempt is told of the last one: all of it, and whether to begin anew or go on.

    An attempt that begins anew is told so in words that change each time; `feedback` is where all of it lies.
    """
    return texts.fill(
        "retry",
        attempt=str(retry.attempt),
        framing=_framing(retry, start),
        errors=fenced(retry.errors),
        feedback=feedback,
        shown=_kept(retry),
    )


def work_in_files(texts: Texts, start: StartingPoint, *, is_told: bool) -> str:
    """Returns that part of the work is in the files, unless that is told with the last attempt."""
    match start:
        case StartingPoint.BASE:
            return ""
        case StartingPoint.LAST_ATTEMPT:
            return "" if is_told else texts.fill("begun")
        case StartingPoint.BEGUN:
            return texts.fill("begun")
        case StartingPoint.CUT_OFF:
            return texts.fill("cut_off")
        case _:
            assert_never(start)


def _framing(retry: Retry, start: StartingPoint) -> str:
    """Returns how a further attempt is to relate to the last one; nothing if other work is in the files."""
    match start:
        case StartingPoint.BASE if retry.cause in _LANDED_MEANWHILE:
            return _FRAMING_ON_NEW_BASE
        case StartingPoint.BASE:
            return _FRAMINGS[(retry.attempt - 2) % len(_FRAMINGS)]
        case StartingPoint.LAST_ATTEMPT:
            return _FRAMING_TO_GO_ON
        case StartingPoint.BEGUN | StartingPoint.CUT_OFF:
            return ""
        case _:
            assert_never(start)


def _kept(retry: Retry) -> str:
    if retry.ref is None or retry.commit is None:
        return ""
    return f"`git show {retry.ref}` shows the attempt."
