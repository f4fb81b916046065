"""What earlier runs on a repository say about the next."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from amelia.app import forecasts
from amelia.app.forecasts import experience_of, foresee
from amelia.model import events as ev
from amelia.model.agents import AgentSettings, Role, SessionId, Usage
from amelia.model.plan import UnitId
from amelia.record.journal import SqliteJournal
from amelia.schedule.forecast import Experience, Forecast, work_of
from runs import Story, started, unit

CLAUDE = AgentSettings(driver="claude")


@pytest.fixture(autouse=True)
def nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person who has set nothing of their agents."""
    for name in ("ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


ONE = unit("1")
WORK = work_of(ONE)


def facts(agent: AgentSettings = CLAUDE, repository: str = "/repository", units: int = 1) -> ev.RunStarted:
    """Returns a run on a repository by agents that are all the same."""
    named = [unit(str(number)) for number in range(1, units + 1)]
    return started(*named, agents=dict.fromkeys(Role, agent), repository=repository)


def usage(tokens: int, cost: float | None = None, name: str = "1") -> ev.UsageReported:
    used = Usage(tokens, 0, cost)
    return ev.UsageReported(
        unit=UnitId(name), attempt=1, role=Role.DEVELOPER, session=SessionId("s"), usage=used
    )


def keep(home: Path, name: str, facts: ev.RunStarted) -> None:
    """Records a run whose units have landed."""
    names = [unit.id for unit in facts.units]
    story = Story(facts)
    for one in names:
        story.start(one).tell(usage(1000, 0.5, one)).finish_unit(one)
    (home / "runs" / name).mkdir(parents=True)
    with SqliteJournal(home / "runs" / name / "journal.db") as journal:
        journal.append([record.event for record in story.records])


def foreseen(home: Path, agent: AgentSettings = CLAUDE) -> Forecast:
    seen = foresee(facts(agent), home=home)
    assert seen is not None
    return seen


def test_a_unit_took_what_lies_between_its_start_and_its_landing() -> None:
    story = Story(facts()).start("1").wait(100).tell(usage(7, 0.5), usage(5, 0.25)).finish_unit("1")
    began, ended = story.records[1].at, story.records[-1].at
    assert ended - began > timedelta(seconds=100)
    (taken,) = experience_of(story.records)
    assert taken == Experience(WORK, (ended - began).total_seconds(), Usage(12, 0, 0.75))


def test_a_unit_of_which_no_usage_was_told_has_none() -> None:
    (taken,) = experience_of(Story(facts()).whole("1").records)
    assert taken.usage is None


def test_a_unit_that_has_not_landed_says_nothing() -> None:
    assert list(experience_of(Story(facts()).start("1").records)) == []


def test_a_unit_that_waited_for_somebody_says_nothing() -> None:
    parked = Story(facts()).start("1").fail("1").tell(ev.UnitReset(UnitId("1"))).whole("1")
    resumed = Story(facts(units=2)).start("1").tell(ev.RunResumed(1)).drive("1").finish_unit("1").whole("2")
    assert list(experience_of(parked.records)) == []
    assert len(list(experience_of(resumed.records))) == 1


def test_without_earlier_runs_it_is_a_guess(tmp_path: Path) -> None:
    seen = foreseen(tmp_path)
    assert seen.rests_on == 0


def test_what_claude_takes_by_itself_has_a_cost_that_claude_will_tell(tmp_path: Path) -> None:
    seen = foreseen(tmp_path)
    assert seen.cost is not None
    assert seen.is_counted


def test_codex_tells_no_cost_of_a_model_that_nobody_named(tmp_path: Path) -> None:
    usual = foreseen(tmp_path, AgentSettings(driver="codex"))
    assert usual.cost is not None
    assert not usual.is_counted
    named = foreseen(tmp_path, AgentSettings(driver="codex", model="gpt-5.5"))
    assert named.cost is not None
    assert named.is_counted


def test_a_guess_has_no_cost_where_no_model_is_known(tmp_path: Path) -> None:
    seen = foreseen(tmp_path, AgentSettings(driver="acp", command=("agent",)))
    assert seen.cost is None


def test_a_guess_knows_the_cost_where_the_model_has_a_price(tmp_path: Path) -> None:
    assert foreseen(tmp_path, AgentSettings(driver="claude", model="claude-sonnet-4-5")).cost is not None


def test_a_price_must_be_known_for_every_role(tmp_path: Path) -> None:
    known = AgentSettings(driver="claude", model="claude-sonnet-4-5")
    other = AgentSettings(driver="claude", model="no-such-model")
    mixed = started(ONE, agents={**dict.fromkeys(Role, known), Role.REVIEWER: other})
    seen = foresee(mixed, home=tmp_path)
    assert seen is not None
    assert seen.cost is None


def test_a_script_is_no_work(tmp_path: Path) -> None:
    assert foresee(facts(AgentSettings(driver="script")), home=tmp_path) is None


def test_earlier_runs_of_the_same_agent_here_count(tmp_path: Path) -> None:
    keep(tmp_path, "a", facts(units=2))
    keep(tmp_path, "b", facts())
    seen = foreseen(tmp_path)
    assert seen.rests_on == 3
    assert seen.tokens is not None
    assert seen.tokens.high == pytest.approx(1000)
    assert seen.cost is not None
    assert seen.cost.low == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("agent", "repository", "counts"),
    [
        (CLAUDE, "/repository", True),
        (CLAUDE, "/elsewhere", False),
        (AgentSettings(driver="codex"), "/repository", False),
        (AgentSettings(driver="claude", model="opus"), "/repository", False),
    ],
)
def test_other_runs_do_not(tmp_path: Path, agent: AgentSettings, repository: str, counts: bool) -> None:  # noqa: FBT001
    keep(tmp_path, "a", facts(agent, repository, units=3))
    assert bool(foreseen(tmp_path).rests_on) is counts


@pytest.mark.parametrize(("driver", "counts"), [("codex", True), ("script", False)])
def test_where_the_agent_is_not_chosen_yet_every_real_one_counts(
    tmp_path: Path,
    driver: str,
    counts: bool,  # noqa: FBT001
) -> None:
    keep(tmp_path, "a", facts(AgentSettings(driver=driver), units=3))
    assert bool(foreseen(tmp_path, AgentSettings(driver="auto")).rests_on) is counts


def test_a_run_that_tells_no_agents_is_passed_over(tmp_path: Path) -> None:
    keep(tmp_path, "a", started(unit("1"), unit("2"), unit("3"), agents={}))
    assert foreseen(tmp_path).rests_on == 0


@pytest.mark.parametrize("since", [1, 5])
def test_a_run_that_cannot_be_read_is_passed_over(tmp_path: Path, since: int) -> None:
    keep(tmp_path, "a", facts(units=3))
    keep(tmp_path, "b", facts(units=3))
    with closing(sqlite3.connect(tmp_path / "runs" / "b" / "journal.db")) as journal, journal:
        journal.execute("UPDATE events SET body = x'00' WHERE seq >= ?", (since,))
    assert foreseen(tmp_path).rests_on == 3


def test_only_the_newest_runs_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "_MOST_RUNS", 1)
    keep(tmp_path, "new", facts(units=3))
    keep(tmp_path, "newer", facts(units=4))
    assert foreseen(tmp_path).rests_on == 4
