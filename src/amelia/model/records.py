"""What becomes of the record of a run: it is put on the branch once, after everything else."""

from dataclasses import dataclass
from typing import TypeAlias

from amelia.model.git import CommitId
from amelia.model.outcome import Reason


@dataclass(frozen=True, slots=True)
class RecordStarted:
    """The branch is verified, and the record of the run is about to be put on top of it."""

    tip: CommitId


@dataclass(frozen=True, slots=True)
class RecordCommitted:
    """The record is the last commit of the branch; without one, the detail says why it has no place there."""

    commit: CommitId | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class RecordRefused:
    """The record could not be put on the branch; once that is mended, it is tried again."""

    detail: str
    reason: Reason = Reason.BRANCH_MOVED


RecordEvent: TypeAlias = RecordStarted | RecordCommitted | RecordRefused
