"""How a checkup words what it finds, and which agents it asks."""

from pathlib import Path

import pytest

from amelia.app.checkup import (
    Check,
    Health,
    agent_check,
    auto_checks,
    broken,
    candidate_checks,
    command_check,
    files_check,
    home_check,
    repository_check,
    runs_checks,
    subjects,
)
from amelia.model.agents import AgentSettings, DriverInfo, Role
from amelia.model.errors import ConfigError
from amelia.model.evidence import RunnerKind, TestCommand
from amelia.model.git import CommitId, Identity
from amelia.system.git_places import Source

HOME = Path("/state")
INFO = DriverInfo("/bin/claude", "2.1")
UNREADY = DriverInfo("/bin/claude", "2.1", ("nobody is logged in",), is_ready=False)
LOST = ConfigError("it is not there", hint="install it")
CLAUDE = AgentSettings(driver="claude")
CODEX = AgentSettings(driver="codex")
GIGABYTE = 1_000_000_000


def source(*, head: str | None = "0123456789abcdef", branch: str | None = "main") -> Source:
    return Source(
        top=Path("/repo"),
        git_dir=Path("/repo/.git"),
        common_dir=Path("/repo/.git"),
        hooks=Path("/repo/.git/hooks"),
        object_format="sha1",
        head=CommitId(head) if head else None,
        branch=branch,
        is_shallow=False,
        is_signing=False,
        identity=Identity("Ada", "ada@example.com"),
        config=(),
    )


def test_the_files_with_settings_are_named_or_there_are_none() -> None:
    assert files_check([]).text == "no file; the defaults hold"
    assert files_check([Path("/a/amelia.toml"), Path("/a/b.json")]).text == "/a/amelia.toml, /a/b.json"


@pytest.mark.parametrize(
    ("found", "uncommitted", "health", "text"),
    [
        (source(), 0, Health.OK, "/repo on main at 0123456789ab"),
        (source(branch=None), 0, Health.OK, "/repo on no branch at 0123456789ab"),
        (source(), 1, Health.WARNING, "/repo on main at 0123456789ab, 1 uncommitted file"),
        (source(), 7, Health.WARNING, "/repo on main at 0123456789ab, 7 uncommitted files"),
        (source(head=None), 3, Health.WARNING, "/repo has no commits; a run starts from an empty one"),
    ],
)
def test_a_repository_is_well_unless_a_run_would_not_see_all_of_it(
    found: Source, uncommitted: int, health: Health, text: str
) -> None:
    check = repository_check(found, uncommitted)
    assert (check.health, check.text) == (health, text)


def test_tests_that_cannot_be_run_are_a_doubt_with_a_way_out() -> None:
    check = command_check(None)
    assert check.health is Health.WARNING
    assert check.hint is not None
    assert "[verify]" in check.hint


def test_the_test_command_is_shown_with_what_else_would_be_possible() -> None:
    command = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"))
    assert command_check(command) == Check("tests", Health.OK, "python -m pytest; tried when a run begins")
    several = TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest"), others=("make",))
    assert (
        command_check(several).text
        == "python -m pytest (make would be possible too); tried when a run begins"
    )


@pytest.mark.parametrize(
    ("free", "is_writable", "health"),
    [
        (2 * GIGABYTE, True, Health.OK),
        (2 * GIGABYTE - 1, True, Health.WARNING),
        (GIGABYTE // 10, True, Health.WARNING),
        (GIGABYTE // 10 - 1, True, Health.FAILED),
        (99 * GIGABYTE, False, Health.FAILED),
    ],
)
def test_a_home_needs_room_and_the_right_to_write(free: int, is_writable: bool, health: Health) -> None:  # noqa: FBT001
    check = home_check(HOME, free=free, is_writable=is_writable)
    assert check.health is health
    assert (check.hint is None) == (health is Health.OK)


def test_runs_are_a_doubt_only_if_a_person_may_want_to_do_something() -> None:
    (check,) = runs_checks(finished=0, interrupted=[], unreadable=[])
    assert check.health is Health.OK
    lost, stopped, stale = runs_checks(finished=2, interrupted=["a", "b", "c", "d", "e"], unreadable=["x"])
    assert lost.text == "cannot be read: x"
    assert stopped.text == "interrupted: a, b, c and 2 more"
    assert stopped.hint == "go on: amelia resume a; or give it up: amelia abort a"
    assert stale.hint == "make room: amelia gc"
    assert {check.health for check in (lost, stopped, stale)} == {Health.WARNING}


@pytest.mark.parametrize("agents", [dict.fromkeys(Role, AgentSettings()), {}])
def test_agents_that_may_be_chosen_are_asked_once_and_nobody_relies_on_them(
    agents: dict[Role, AgentSettings],
) -> None:
    assert subjects(agents) == {CLAUDE: (), CODEX: ()}


def test_a_model_of_a_provider_is_asked_directly() -> None:
    asked = subjects({Role.DEVELOPER: AgentSettings(model="openai:gpt-5")})
    assert [agent.driver for agent in asked] == ["api"]


def test_an_agent_that_is_not_chosen_is_no_doubt_and_need_not_be_there() -> None:
    agents = {Role.DEVELOPER: AgentSettings(), Role.REVIEWER: CODEX}
    noted = DriverInfo("/bin/codex", "1.0", ("no login",), is_ready=False)
    assert list(candidate_checks({Role.DEVELOPER: AgentSettings()}, {CLAUDE: INFO, CODEX: noted})) == [
        Check("claude", Health.OK, "2.1 at /bin/claude"),
        Check("codex", Health.OK, "1.0 at /bin/codex; not chosen"),
    ]
    assert [c.name for c in candidate_checks(agents, {CLAUDE: UNREADY, CODEX: noted})] == ["claude"]
    (only,) = candidate_checks({Role.DEVELOPER: AgentSettings()}, {CLAUDE: LOST, CODEX: noted})
    assert (only.name, only.health) == ("codex", Health.WARNING)


def test_where_no_agent_is_there_each_says_how_to_get_it() -> None:
    lost = list(candidate_checks({Role.DEVELOPER: AgentSettings()}, {CLAUDE: LOST, CODEX: LOST}))
    assert [(check.name, check.health, check.hint) for check in lost] == [
        ("claude", Health.WARNING, "install it"),
        ("codex", Health.WARNING, "install it"),
    ]


def test_without_settings_nobody_knows_who_is_chosen() -> None:
    assert list(candidate_checks({}, {CLAUDE: UNREADY, CODEX: LOST})) == [
        Check("claude", Health.OK, "2.1 at /bin/claude")
    ]


def test_an_agent_that_is_named_is_asked_with_its_settings_for_the_roles_that_rely_on_it() -> None:
    opus = AgentSettings(driver="claude", model="opus")
    moves = AgentSettings(driver="script", script="/a.toml")
    agents = {
        Role.ARCHITECT: moves,
        Role.DEVELOPER: opus,
        Role.REVIEWER: AgentSettings(),
        Role.EVALUATOR: opus,
    }
    asked = subjects(agents)
    assert asked[opus] == (Role.DEVELOPER, Role.EVALUATOR)
    assert asked[moves] == (Role.ARCHITECT,)
    assert asked[CLAUDE] == asked[CODEX] == ()
    assert [agent.driver for agent in asked] == ["script", "claude", "claude", "codex"]


def test_a_healthy_agent_is_well_and_one_with_notes_is_a_doubt() -> None:
    assert agent_check(CLAUDE, (), INFO) == Check("claude", Health.OK, "2.1 at /bin/claude")
    noted = agent_check(CLAUDE, (), DriverInfo("/bin/claude", "2.1", ("no login", "old")))
    assert noted == Check("claude", Health.WARNING, "2.1 at /bin/claude; no login; old")


def test_an_agent_that_is_missing_fails_only_if_a_role_relies_on_it() -> None:
    assert agent_check(CLAUDE, (), LOST) == Check("claude", Health.WARNING, "it is not there", "install it")
    failed = agent_check(CLAUDE, (Role.DEVELOPER, Role.REVIEWER), LOST)
    assert failed == Check("claude (developer, reviewer)", Health.FAILED, "it is not there", "install it")


def test_the_choice_is_the_first_healthy_agent_of_those_that_may_be_chosen() -> None:
    agents = {Role.DEVELOPER: AgentSettings(), Role.REVIEWER: CODEX, Role.EVALUATOR: AgentSettings()}
    (check,) = auto_checks(agents, {CLAUDE: LOST, CODEX: INFO})
    assert check == Check("auto", Health.OK, "codex would take: developer, evaluator")
    (both,) = auto_checks(agents, {CLAUDE: INFO, CODEX: INFO})
    assert both.text == "claude would take: developer, evaluator"


def test_the_choice_falls_on_an_agent_that_is_ready_and_doubts_one_that_is_not() -> None:
    agents = {Role.DEVELOPER: AgentSettings()}
    (ready,) = auto_checks(agents, {CLAUDE: UNREADY, CODEX: INFO})
    assert ready == Check("auto", Health.OK, "codex would take: developer")
    (doubt,) = auto_checks(agents, {CLAUDE: UNREADY, CODEX: LOST})
    assert (doubt.health, doubt.text) == (
        Health.WARNING,
        "claude would take: developer, although it is not ready",
    )
    assert doubt.hint is not None


def test_no_healthy_agent_is_a_failure_that_tells_what_was_tried() -> None:
    (check,) = auto_checks({Role.DEVELOPER: AgentSettings()}, {CLAUDE: LOST, CODEX: OSError("no disk")})
    assert check.health is Health.FAILED
    assert "(it is not there; no disk)" in check.text
    assert check.hint is not None


def test_whoever_names_an_agent_is_not_told_of_a_choice() -> None:
    assert list(auto_checks({Role.DEVELOPER: CLAUDE}, {CLAUDE: LOST})) == []


def test_a_problem_without_a_hint_is_told_without_one() -> None:
    assert broken("state", OSError("gone")) == Check("state", Health.FAILED, "gone", None)
