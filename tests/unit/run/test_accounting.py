"""What a killed Amelia did not hear any more is written down once, and only of turns that were under way."""

import json
from pathlib import Path

import pytest

from amelia.model import drafts as dr
from amelia.model import events as ev
from amelia.model.agents import AgentSettings, Role, SessionId, Usage
from amelia.model.journal import Recorded
from amelia.model.plan import UnitId
from amelia.run.accounting import unaccounted
from runs import START, Story, chain

ONE = UnitId("1")
SESSION = SessionId("11111111-2222-4333-8444-555555555555")
AGENTS = {role.value: AgentSettings(driver="claude") for role in Role}


@pytest.fixture(autouse=True)
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps a record of one session that has used 300 tokens in and 60 out, of a model without a price."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    path = tmp_path / "projects" / "-work" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    used = {"id": "m", "model": "own", "usage": {"input_tokens": 300, "output_tokens": 60}}
    path.write_text(json.dumps({"type": "assistant", "message": used}) + "\n")


def opened(role: Role = Role.DEVELOPER, unit: UnitId = ONE) -> ev.SessionOpened:
    return ev.SessionOpened(unit=unit, attempt=1, role=role, session=SESSION, driver="claude")


def used(usage: Usage | None) -> ev.UsageReported:
    return ev.UsageReported(unit=ONE, attempt=1, role=Role.DEVELOPER, session=SESSION, usage=usage)


def under_way() -> Story:
    return chain(1).start("1").tell(opened())


def found(story: Story) -> list[Usage | None]:
    return [event.usage for event in unaccounted(story.records, AGENTS)]


def test_a_turn_that_was_cut_off_is_told_of() -> None:
    [event] = unaccounted(under_way().records, AGENTS)
    assert event == used(Usage(300, 60))


def test_what_was_heard_is_not_told_again() -> None:
    assert found(under_way().tell(used(Usage(100, 1)))) == [Usage(200, 59)]
    assert found(under_way().tell(used(Usage(100, 1)), used(Usage(200, 59)))) == []
    assert found(under_way().tell(used(None))) == [Usage(300, 60)]


def test_it_is_told_once() -> None:
    story = under_way()
    again = story.tell(*unaccounted(story.records, AGENTS), ev.RunResumed(7))
    assert found(again) == []


def test_a_turn_with_an_answer_has_told_all() -> None:
    assert found(under_way().write("1")) == []
    assert found(chain(1).start("1")) == []


def test_a_session_that_nobody_has_a_record_of_tells_nothing() -> None:
    other = ev.SessionOpened(
        unit=ONE, attempt=1, role=Role.DEVELOPER, session=SessionId("other"), driver="claude"
    )
    assert found(chain(1).start("1").tell(other)) == []


def test_the_architects_turn_counts_like_the_others() -> None:
    asked = opened(Role.ARCHITECT, dr.DRAFT)
    failed = dr.ArchitectFailed(1, "no answer")

    def told(*events: ev.Event) -> list[Usage | None]:
        past = [Recorded(number, START, event) for number, event in enumerate(events, 1)]
        return [event.usage for event in unaccounted(past, AGENTS)]

    assert told(asked) == [Usage(300, 60)]
    assert told(asked, failed) == []
