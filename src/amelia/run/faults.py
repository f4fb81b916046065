"""Faults that no attempt of an agent can mend: a person has to, and the run waits for that.

They use no attempt: the step stays as it was, and goes on when the run is resumed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from amelia.model.agents import Ending, TurnEnded
from amelia.model.commands import Place
from amelia.model.events import Step, StepBroke
from amelia.model.outcome import Reason

_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class ForPerson:
    """Why the run stops, and what a person can do about it."""

    reason: Reason
    detail: str


MENDED_BY_PERSON: Mapping[Ending, tuple[Reason, str]] = {
    Ending.AUTH: (Reason.AUTH, "mend the agent's login or key"),
    Ending.NO_CREDIT: (
        Reason.NO_CREDIT,
        "add credit at the provider, or wait until your plan has some again",
    ),
    Ending.MODEL_NOT_FOUND: (
        Reason.MODEL_NOT_FOUND,
        "check the model's name, your access to it, and the provider's address",
    ),
    Ending.UNUSABLE: (
        Reason.AGENT_UNUSABLE,
        "install a version of the agent that Amelia knows; `amelia doctor` shows the one that is there",
    ),
}


def for_person(ended: TurnEnded) -> ForPerson | None:
    """Returns what a person has to mend before such a turn can go well; None if that is nothing."""
    if ended.ending not in MENDED_BY_PERSON:
        return None
    reason, way = MENDED_BY_PERSON[ended.ending]
    said = (ended.detail or ended.text)[:_LONGEST]
    return ForPerson(reason, f"{said}\n{way}, then run `amelia resume`")


def broken_step(at: Place, step: Step, ended: TurnEnded) -> StepBroke | None:
    """Returns the event of a step that a person has to mend something for; None if nobody has to."""
    fault = for_person(ended)
    return None if fault is None else StepBroke(at.unit, step, fault.detail, fault.reason)
