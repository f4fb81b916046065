"""What a reviewer finds and what an evaluator makes of it.

A finding has an identity (file, normalised text) that survives a change of line numbers and of spacing, so
that one that was ruled out does not come back in a later round.
"""

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

FindingId = NewType("FindingId", str)

_SPACE = re.compile(r"\s+")


class Weight(StrEnum):
    """How much a finding weighs: one that blocks speaks against an approval."""

    BLOCKING = "blocking"
    MINOR = "minor"


class Disposition(StrEnum):
    """What is to be done about a finding."""

    IMPLEMENT = "IMPLEMENT"
    REJECT = "REJECT"
    DEFER = "DEFER"
    CLARIFY = "CLARIFY"


@dataclass(frozen=True, slots=True)
class Finding:
    """One review comment."""

    id: FindingId
    text: str
    file: str | None = None
    line: int | None = None
    weight: Weight = Weight.BLOCKING

    @property
    def place(self) -> str:
        """Returns where the finding is, as editors write it."""
        if self.file is None:
            return ""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.text}" if self.place else self.text


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the evaluator says about one finding."""

    finding: FindingId
    disposition: Disposition
    reason: str = ""


def finding_id(file: str | None, text: str) -> FindingId:
    """Returns the identity of a finding, blind to case, spacing and how its sentence ends."""
    normal = _SPACE.sub(" ", text.casefold()).strip(" .!")
    return FindingId(hashlib.sha256(f"{file or ''}\0{normal}".encode()).hexdigest()[:12])
