"""What a turn used that nobody heard the end of, because Amelia itself was killed.

What was heard of it is in the journal. The rest is in the record that the agent keeps of its session: what
that holds beyond the journal is written down when somebody takes the run over, before anything else.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from amelia.drive.records import recorded_usage
from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.agents import AgentSettings, SessionId, Usage, total
from amelia.model.journal import Recorded

_ANSWERS = (
    ev.AttemptEnded,
    ev.AttemptReviewed,
    ev.ReviewFailed,
    ev.FindingsEvaluated,
    ev.AnswerDelayed,
    ev.UnitHeld,
    ev.StepBroke,
    ev.StepStarted,
)
_OF_DRAFT = (dr.DraftStarted, dr.PlanDrafted, dr.ArchitectFailed, dr.DraftFailed)


def unaccounted(
    past: Iterable[Recorded], agents: Mapping[str, AgentSettings], state: Path | None = None
) -> tuple[ev.UsageReported, ...]:
    """Returns what the turns have used that were under way when the journal ends, as far as it lacks that.

    `state` is the directory in which the run's agents keep what is their own.
    """
    under_way, used = _sessions(recorded.event for recorded in past)
    told: list[ev.UsageReported] = []
    for opened in under_way:
        recorded = recorded_usage(agents[opened.role], opened.session, state)
        more = recorded.beyond(used.get(opened.session)) if recorded is not None else None
        if more is not None and more.tokens:
            told.append(_reported(opened, more))
    return tuple(told)


def _reported(opened: ev.SessionOpened, usage: Usage) -> ev.UsageReported:
    return ev.UsageReported(
        unit=opened.unit, attempt=opened.attempt, role=opened.role, session=opened.session, usage=usage
    )


def _sessions(events: Iterable[ev.Event]) -> tuple[list[ev.SessionOpened], Mapping[SessionId, Usage]]:
    """Returns the sessions of turns that have no answer, and what every session is known to have used."""
    under_way: dict[str, dict[SessionId, ev.SessionOpened]] = {}
    used: dict[SessionId, Usage] = {}
    for event in events:
        match event:
            case ev.SessionOpened(unit=unit, session=session):
                under_way.setdefault(unit, {})[session] = event
            case ev.UsageReported(session=str() as session, usage=Usage() as usage):
                used[session] = total(used.get(session), usage) or usage
            case ev.RunResumed():
                under_way.clear()
            case _ if isinstance(event, _ANSWERS):
                under_way.pop(event.unit, None)
            case _ if isinstance(event, _OF_DRAFT):
                under_way.pop(dr.DRAFT, None)
            case _:
                pass
    return [opened for sessions in under_way.values() for opened in sessions.values()], used
