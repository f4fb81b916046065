"""A developer's turn: how it counts, what is kept of it, and what the next one is told."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from amelia.model import events as ev
from amelia.model.agents import Allowance, Ending, Role, SessionId, TurnEnded, Usage, Written
from amelia.model.commands import StartTurn
from amelia.model.outcome import Reason
from amelia.model.plan import Mode
from amelia.run.turns import start_turn
from integration.run.workshops import NOW, Act, Bench, ended, ending, make_bench, reporting

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

MENDED = {
    Ending.AUTH: Reason.AUTH,
    Ending.NO_CREDIT: Reason.NO_CREDIT,
    Ending.MODEL_NOT_FOUND: Reason.MODEL_NOT_FOUND,
    Ending.UNUSABLE: Reason.AGENT_UNUSABLE,
}
DONE: dict[str, object] = {"status": "completed", "summary": "all done"}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return make_bench(tmp_path)


async def turn(
    bench: Bench, act: Act, *, session: SessionId | None = None, feedback: str = ""
) -> Sequence[ev.Event]:
    bench.let(act)
    start = bench.shop.facts.base
    command = StartTurn(
        bench.place(),
        start=start,
        session=session,
        feedback=feedback,
        is_again=False,
        allowance=Allowance(cost=1.0),
    )
    return await start_turn(bench.shop, command, bench.tell)


async def attempt(bench: Bench, act: Act, **changes: Any) -> ev.AttemptEnded:
    event = (await turn(bench, act, **changes))[-1]
    assert isinstance(event, ev.AttemptEnded)
    return event


async def test_what_the_agent_wrote_is_kept_with_what_it_used(bench: Bench) -> None:
    [event] = await turn(bench, reporting(DONE, roof="roof\n"))
    assert reported(bench) == [Usage(100, 20, 0.25)]
    assert isinstance(event, ev.AttemptEnded)
    assert (event.ending, event.summary, event.session) == (Ending.OK, "all done", "s-1")
    assert (event.until, event.refused) == (None, None)
    kept = bench.shop.store.git_dir
    assert bench.repo.git("--git-dir", str(kept), "show", f"{event.work.commit}:roof.txt") == "roof"
    assert (
        bench.repo.git("--git-dir", str(kept), "rev-parse", bench.shop.ref(bench.place()))
        == event.work.commit
    )


def reported(bench: Bench) -> list[Usage | None]:
    """Returns what was told of use, by the developer."""
    told = [event for event in bench.told if isinstance(event, ev.UsageReported)]
    assert {event.role for event in told} <= {Role.DEVELOPER}
    assert {event.session for event in told} <= {"s-1"}
    return [event.usage for event in told]


async def test_what_an_agent_uses_is_told_before_anybody_knows_how_its_turn_ends(bench: Bench) -> None:
    told: list[Usage | None] = []

    def act(_: Path) -> TurnEnded:
        told.extend(reported(bench))
        return ended(report=DONE)

    bench.actors.uses = Usage(7, 8)
    await attempt(bench, act)
    assert told == [Usage(7, 8)]


async def test_a_turn_that_tells_nothing_of_its_use_is_said_to_be_one(bench: Bench) -> None:
    await attempt(bench, ending(Ending.CRASHED))
    assert reported(bench) == [None]


@pytest.mark.parametrize("how", [*(one for one in Ending if one is not Ending.OK)])
async def test_nobody_waits_for_a_report_whatever_becomes_of_the_repair(bench: Bench, how: Ending) -> None:
    bench.let(reporting(None, roof="roof"))
    event = await attempt(bench, ending(how, usage=Usage(1, 1, 0.75)))
    assert (event.ending, event.summary) == (Ending.OK, "The agent gave no report.")
    assert event.session == (None if how is Ending.OVERFLOW else "s-1")


async def test_what_cannot_be_paid_is_not_asked_for_once_more(bench: Bench) -> None:
    def act(place: Path) -> TurnEnded:
        (place / "roof.txt").write_text("roof")
        return ended(usage=Usage(1, 1, 1.0))

    event = await attempt(bench, act)
    assert event.ending is Ending.OK
    assert len(bench.actors.specs) == 1


async def test_a_session_is_told_of_before_the_turn_is_over(bench: Bench) -> None:
    told: list[ev.Event] = []

    def act(_: Path) -> TurnEnded:
        told.extend(bench.told)
        return ended(report=DONE)

    await attempt(bench, act)
    [event] = told
    assert isinstance(event, ev.SessionOpened)
    assert (event.session, event.role, event.driver) == ("s-1", Role.DEVELOPER, "script")


async def test_a_report_that_cannot_be_read_is_asked_for_once_more_in_the_same_session(
    bench: Bench,
) -> None:
    bench.let(reporting({"status": "done"}, roof="roof"))
    [event] = await turn(bench, reporting({**DONE}))
    assert reported(bench) == [Usage(100, 20, 0.25)] * 2
    assert isinstance(event, ev.AttemptEnded)
    assert (event.ending, event.summary) == (Ending.OK, "all done")
    first, repair = bench.actors.specs
    assert (repair.session, repair.resume, repair.is_repair) == ("s-1", True, True)
    assert repair.before == Usage(100, 20, 0.25)
    assert "Invalid enum value 'done'" in repair.prompt
    assert repair.schema == first.schema
    assert repair.allowance.cost == 0.75


async def test_after_one_repair_there_is_no_second(bench: Bench) -> None:
    bench.let(reporting(None, roof="roof"), reporting({"status": 1}))
    event = await attempt(bench, reporting(DONE))
    assert (event.ending, event.summary) == (Ending.OK, "The agent gave no report.")
    assert len(bench.actors.specs) == 2


async def test_a_session_that_is_gone_is_replaced_by_a_fresh_one_that_is_told_everything(
    bench: Bench,
) -> None:
    bench.let(ending(Ending.SESSION_LOST))
    event = await attempt(bench, reporting(DONE), session=SessionId("s-7"), feedback="it rained")
    assert event.ending is Ending.OK
    lost, fresh = bench.actors.specs
    assert (lost.resume, fresh.resume, fresh.before) == (True, False, None)
    assert fresh.session != "s-7"
    assert "Section 1" in fresh.prompt
    assert "it rained" in fresh.prompt
    told = [type(one) for one in bench.told if not isinstance(one, ev.UsageReported)]
    assert told == [ev.SessionOpened, ev.SessionReplaced, ev.SessionOpened]
    assert reported(bench) == [Usage(100, 20, 0.25)]


async def test_a_turn_that_was_cut_off_goes_on_where_it_was(bench: Bench) -> None:
    bench.let(ending(Ending.LIMITED, until="2026-11-15T15:00:00+00:00"))
    place, base = bench.place(), bench.shop.facts.base
    left = StartTurn(place, start=base, session=SessionId("s-1"), feedback="", is_again=True)
    await start_turn(bench.shop, left, bench.tell)
    assert "You were cut off" in bench.actors.specs[-1].prompt


async def test_a_turn_that_used_up_its_allowance_says_so_and_one_with_a_bound_of_its_own_has_failed(
    bench: Bench,
) -> None:
    over = ending(Ending.OUT_OF_BUDGET, usage=Usage(1, 1, 1.5))
    assert (await attempt(bench, over)).ending is Ending.OUT_OF_BUDGET
    under = ending(Ending.OUT_OF_BUDGET, usage=Usage(1, 1, 0.25))
    assert (await attempt(bench, under)).ending is Ending.FAILED


async def test_a_fresh_session_gets_the_whole_assignment(bench: Bench) -> None:
    await attempt(bench, reporting(DONE), feedback="it rained")
    [spec] = bench.actors.specs
    assert "Execute Task 1 from plan at" in spec.prompt
    assert "Section 1" in spec.prompt
    assert "it rained" in spec.prompt
    assert not spec.resume
    assert spec.session


async def test_a_session_that_goes_on_gets_only_what_is_new(bench: Bench) -> None:
    await attempt(bench, reporting(DONE), session=SessionId("s-7"), feedback="it rained")
    [spec] = bench.actors.specs
    assert (spec.session, spec.resume) == ("s-7", True)
    assert "it rained" in spec.prompt
    assert "Section 1" not in spec.prompt


@pytest.mark.parametrize(
    "report",
    [
        None,
        {},
        {"status": "done"},
        {"status": "COMPLETED"},
        {"status": None},
        {"status": ["completed"]},
        {"summary": "all done"},
        {"status": "completed", "summary": 7},
        {"status": "completed", "summary": None},
        {"status": "completed", "subtasks_completed": "1"},
        {"status": "completed", "subtasks_failed": [1]},
        {"status": "completed", "error_context": {}},
    ],
)
async def test_a_report_that_is_not_as_asked_for_is_none(
    bench: Bench, report: dict[str, object] | None
) -> None:
    event = await attempt(bench, reporting(report, roof="roof"))
    assert (event.ending, event.summary) == (Ending.OK, "The agent gave no report.")


@pytest.mark.parametrize(("files", "progressed"), [({"roof": "roof"}, True), ({}, False)])
async def test_it_is_told_whether_a_turn_changed_anything(
    bench: Bench, *, files: dict[str, str], progressed: bool
) -> None:
    event = await attempt(bench, reporting(None, **files))
    assert (event.ending, event.progressed) == (Ending.OK, progressed)


async def test_the_last_valid_object_of_a_message_is_the_report(bench: Bench) -> None:
    objects = ({"status": "failed"}, DONE, {"a": 1})

    def act(place: Path) -> TurnEnded:
        (place / "roof.txt").write_text("roof")
        return ended(report={"a": 1}, written=tuple(Written(value, stands_alone=False) for value in objects))

    assert (await attempt(bench, act)).summary == "all done"
    assert len(bench.actors.specs) == 1


@pytest.mark.rows("R12")
@pytest.mark.parametrize("status", ["partial", "failed"])
async def test_work_that_the_agent_itself_does_not_call_complete_has_failed(
    bench: Bench, status: str
) -> None:
    report: dict[str, object] = {
        "status": status,
        "summary": "no roof",
        "subtasks_failed": ["2", "3"],
        "error_context": "no wood",
    }
    event = await attempt(bench, reporting(report, roof="half"))
    assert event.ending is Ending.FAILED
    assert event.summary == f"The work was reported as {status}.\nno roof\nno wood\nLeft to do: 2, 3"
    bare = await attempt(bench, reporting({"status": status}, roof="half"))
    assert bare.summary == f"The work was reported as {status}."


@pytest.mark.parametrize(
    "how",
    sorted(set(Ending) - {Ending.OK, Ending.NO_REPORT, Ending.LIMITED, Ending.OUT_OF_BUDGET} - MENDED.keys()),
)
async def test_a_turn_that_ended_badly_is_told_as_it_ended_whatever_it_reports(
    bench: Bench, how: Ending
) -> None:
    def act(place: Path) -> TurnEnded:
        (place / "roof.txt").write_text("roof")
        return ended(how, report=DONE, detail="exit 3", text="Bye")

    event = await attempt(bench, act)
    assert event.ending is how
    assert event.summary == f"The turn ended badly: {how}.\nexit 3\nBye"
    assert event.until is None


@pytest.mark.parametrize(("how", "reason"), MENDED.items())
async def test_what_no_attempt_can_mend_is_for_a_person(bench: Bench, how: Ending, reason: Reason) -> None:
    [event] = await turn(bench, ending(how, detail="bad key"))
    assert isinstance(event, ev.StepBroke)
    assert event.reason is reason
    assert "bad key" in event.detail
    assert "amelia resume" in event.detail


@pytest.mark.parametrize(
    ("said", "until"),
    [("2026-11-15T15:00:00+00:00", "2026-11-15T15:00:00+00:00"), (None, "2026-11-15T12:01:00+00:00")],
)
async def test_a_limit_is_waited_out_until_the_time_that_was_said(
    bench: Bench, said: str | None, until: str
) -> None:
    event = await attempt(bench, ending(Ending.LIMITED, until=said))
    assert (event.ending, event.until) == (Ending.LIMITED, until)
    assert NOW.isoformat() < until


async def test_what_is_told_of_a_turn_is_bounded(bench: Bench) -> None:
    event = await attempt(bench, ending(Ending.CRASHED, text="x" * 100_000))
    assert len(event.summary) == 20_000


async def test_work_that_a_hook_refuses_is_kept_and_told(bench: Bench) -> None:
    bench.repo.hook("pre-commit", "echo 'no tabs, please'; exit 1")
    event = await attempt(bench, reporting(DONE, roof="roof"))
    assert event.refused is not None
    assert event.refused.startswith("The pre-commit hook refuses this work:\n")
    assert "no tabs, please" in event.refused
    assert event.work.commit != bench.shop.facts.base


def subtasks(events: Sequence[ev.Event]) -> list[tuple[str, bool]]:
    return [
        (event.task, isinstance(event, ev.SubtaskCompleted))
        for event in events
        if isinstance(event, ev.SubtaskCompleted | ev.SubtaskFailed)
    ]


@pytest.mark.rows("D15", "R12")
@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (reporting(DONE), [("1", True), ("2", True)]),
        (reporting({**DONE, "subtasks_failed": ["2"]}), [("1", True), ("2", False)]),
        (
            reporting({**DONE, "subtasks_completed": ["2"], "subtasks_failed": ["2"]}),
            [("1", True), ("2", True)],
        ),
        (reporting({"status": "partial", "subtasks_completed": ["1"]}), [("1", True), ("2", False)]),
        (reporting({"status": "failed"}), [("1", False), ("2", False)]),
        (reporting(None, roof="x"), []),
        (reporting(None), []),
        (ending(Ending.CRASHED), [("1", False), ("2", False)]),
        (ending(Ending.LIMITED), []),
    ],
)
async def test_the_tasks_of_a_phase_are_done_as_reported(
    tmp_path: Path, act: Act, expected: list[tuple[str, bool]]
) -> None:
    bench = make_bench(tmp_path, Mode.PHASED, tasks=2)
    events = await turn(bench, act)
    assert subtasks(events) == expected
    assert isinstance(events[-1], ev.AttemptEnded)


async def test_only_phases_have_tasks_to_tell_of(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, Mode.SINGLE, tasks=2)
    assert subtasks(await turn(bench, reporting(DONE))) == []
