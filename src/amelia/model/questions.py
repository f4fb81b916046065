"""What a unit asks a person, and what it was answered."""

from dataclasses import dataclass

from amelia.model.findings import FindingId


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What only a person can say: the answers offered, if any, and which one counts if none has come in time.

    `about` are the findings of a review that the answer rules; none if the developer asks.
    `deadline` is a moment as ISO text with a zone; without a default it only says how urgent the answer is.
    """

    text: str
    options: tuple[str, ...] = ()
    default: str | None = None
    deadline: str | None = None
    about: tuple[FindingId, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its answer, as the developer is told of it."""

    question: str
    answer: str


LEAVE_IT = "leave it"
"""The answer to a question about findings that rules them out."""
DO_IT = "do it"
"""The answer that has them dealt with as the reviewer says."""
