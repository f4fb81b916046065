"""The coordinator: what is written when, what breaks, what is asked meanwhile, and who looks on."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.errors import GitError, InternalError, JournalError
from amelia.model.journal import Recorded, Request
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.plan import Mode, UnitId
from amelia.model.state import Landed, Parked, RunState, Skipped
from amelia.run.loop import RUN, Coordinator
from amelia.schedule.machine import fold
from amelia.testing.journal import MemoryJournal
from amelia.testing.steps import Performance, ScriptedSteps, good_end, step_name
from runs import finding, started, unit, work

pytestmark = pytest.mark.anyio

ONE, TWO = UnitId("1"), UnitId("2")
COMPLETED = Outcome(Result.COMPLETED)
BROKEN = Outcome(Result.HALTED, Reason.BROKEN)


class Watcher:
    """Remembers what it was shown."""

    def __init__(self) -> None:
        self.past: list[Recorded] = []
        self.seen: list[Recorded] = []
        self.runs: list[RunState] = []
        self.ticks = 0

    def begin(self, past: Sequence[Recorded]) -> None:
        self.past += past

    def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
        self.seen += recorded
        self.runs.append(run)

    def tick(self) -> None:
        self.ticks += 1


class CountingJournal(MemoryJournal):
    """Remembers its batches."""

    def __init__(self) -> None:
        super().__init__(now=lambda: datetime(2026, 11, 15, tzinfo=UTC))
        self.batches: list[list[str]] = []

    def append(self, events: Sequence[ev.Event], *, answering: Sequence[Request] = ()) -> list[Recorded]:
        self.batches.append([type(event).__name__ for event in events])
        return super().append(events, answering=answering)


class FullJournal(MemoryJournal):
    """Takes a number of batches, and no more."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room

    def append(self, events: Sequence[ev.Event], *, answering: Sequence[Request] = ()) -> list[Recorded]:
        if self._room == 0:
            raise JournalError("the disk is full", hint="make room")
        self._room -= 1
        return super().append(events, answering=answering)


def begun(*units: Any, journal: MemoryJournal | None = None, **changes: Any) -> MemoryJournal:
    """Returns a journal with the first event of a run."""
    journal = journal or MemoryJournal()
    changes.setdefault("test_command", None)
    journal.append([started(*(units or (unit("1"),)), **changes)])
    return journal


def chained() -> MemoryJournal:
    return begun(unit("1"), unit("2", after=["1"], group=2))


async def drive(
    journal: MemoryJournal, script: dict[str, Performance] | None = None, watcher: Watcher | None = None
) -> RunState:
    with anyio.fail_after(10):
        run = await Coordinator(
            RUN, journal, steps=ScriptedSteps(script), watcher=watcher or Watcher()
        ).drive(journal.read())
    assert run == standing(journal)
    return run


def events_of(journal: MemoryJournal) -> list[ev.Event]:
    return [recorded.event for recorded in journal.read()]


def standing(journal: MemoryJournal) -> RunState:
    return fold(events_of(journal))


def raising(problem: Exception) -> Performance:
    async def perform(command: cmd.AnyStep) -> Sequence[ev.Event]:
        assert command
        await anyio.lowlevel.checkpoint()
        raise problem

    return perform


def acting(*acts: Callable[[], None]) -> Performance:
    """Returns a step during which somebody does something, and that goes well in the end."""

    async def perform(command: cmd.AnyStep) -> Sequence[ev.Event]:
        for act in acts:
            act()
        await anyio.lowlevel.checkpoint()
        return good_end(command)

    return perform


async def forever(command: cmd.AnyStep) -> Sequence[ev.Event]:
    assert command
    await anyio.sleep_forever()
    return ()


async def test_a_run_goes_from_its_first_event_to_its_outcome() -> None:
    journal = chained()
    run = await drive(journal)
    assert run.outcome == COMPLETED
    assert [type(state) for state in run.units.values()] == [Landed, Landed]
    assert isinstance(events_of(journal)[-1], ev.RunFinished)
    assert not any(isinstance(event, ev.RunResumed) for event in events_of(journal))


async def test_a_run_goes_through_limits_and_rejections() -> None:
    journal = begun()
    limits = [ev.AnswerDelayed(ONE, 1, "2026-01-01T00:00:00+00:00")]
    found = finding("It leaks.")

    async def review(command: cmd.AnyStep) -> Sequence[ev.Event]:
        assert command
        await anyio.lowlevel.checkpoint()
        if limits:
            return [limits.pop()]
        return [ev.AttemptReviewed(unit=ONE, attempt=1, approved=False, findings=(found,))]

    run = await drive(journal, {"1/review": review})
    assert run.outcome == COMPLETED
    steps = [event.step for event in events_of(journal) if isinstance(event, ev.StepStarted)]
    assert steps == ["drive", "verify", "review", "rest", "review", "evaluate", "land"]
    assert [(unit, text) for unit, text, _ in run.rulings] == [(ONE, found)]


async def test_no_step_is_carried_out_before_it_stands_in_the_journal() -> None:
    journal = chained()
    performed: list[str] = []

    class Suspicious(ScriptedSteps):
        async def perform(self, command: cmd.AnyStep, tell: Callable[[ev.Event], None]) -> Sequence[ev.Event]:
            opened = [event for event in events_of(journal) if isinstance(event, ev.StepStarted)]
            checks = [event for event in events_of(journal) if isinstance(event, ev.BranchCheckStarted)]
            named = [f"{event.unit}/{event.step}" for event in opened] + ["branch"] * len(checks)
            assert named == [*performed, step_name(command)]
            performed.append(step_name(command))
            return await super().perform(command, tell)

    run = await Coordinator(RUN, journal, steps=Suspicious(), watcher=Watcher()).drive(journal.read())
    assert run.outcome == COMPLETED
    steps = ("drive", "verify", "review", "land")
    assert performed == [*(f"{name}/{step}" for name in "12" for step in steps), "branch"]


async def test_what_is_decided_at_one_moment_is_written_at_once() -> None:
    journal = CountingJournal()
    await drive(begun(unit("1"), unit("2", after=["1"], group=2), journal=journal))
    assert journal.batches == [
        ["RunStarted"],
        ["UnitStarted", "StepStarted"],
        ["AttemptEnded", "StepStarted"],
        ["AttemptVerified", "StepStarted"],
        ["AttemptReviewed", "StepStarted"],
        ["UnitLanded", "UnitStarted", "StepStarted"],
        ["AttemptEnded", "StepStarted"],
        ["AttemptVerified", "StepStarted"],
        ["AttemptReviewed", "StepStarted"],
        ["UnitLanded", "BranchCheckStarted"],
        ["BranchVerified", "RunFinished"],
    ]


async def test_answers_that_come_together_are_written_together() -> None:
    journal = CountingJournal()
    begun(unit("1"), unit("2"), unit("3"), journal=journal, mode=Mode.LIFECYCLE, workers=3)
    gate = anyio.Event()
    waiting = 0

    async def together(command: cmd.AnyStep) -> Sequence[ev.Event]:
        nonlocal waiting
        waiting += 1
        if waiting == 3:
            gate.set()
        await gate.wait()
        return good_end(command)

    run = await drive(journal, {f"{name}/drive": together for name in "123"})
    assert run.outcome == COMPLETED
    assert journal.batches[1] == ["UnitStarted"] * 3 + ["StepStarted"] * 3
    assert journal.batches[2] == ["AttemptEnded"] * 3 + ["StepStarted"] * 3


async def test_the_watcher_sees_every_event_once_and_only_after_it_was_written() -> None:
    journal = chained()

    class Comparing(Watcher):
        def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
            super().show(recorded, run)
            assert self.seen == journal.read()
            assert run == standing(journal)

    watcher = Comparing()
    await drive(journal, watcher=watcher)
    assert watcher.seen == journal.read()


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (GitError("git is gone", hint="install it"), "git is gone\ninstall it"),
        (GitError("git is gone"), "git is gone"),
        (OSError(28, "No space left on device"), "[Errno 28] No space left on device"),
    ],
)
async def test_a_step_that_breaks_is_an_event_and_halts_the_run(problem: Exception, said: str) -> None:
    journal = chained()
    run = await drive(journal, {"1/verify": raising(problem)})
    assert run.outcome == BROKEN
    assert ev.StepBroke(ONE, ev.Step.VERIFY, said) in events_of(journal)
    assert isinstance(run.units[ONE], Parked)


@pytest.mark.parametrize("problem", [KeyError("who"), ExceptionGroup("several", [ValueError("who")])])
async def test_a_mistake_of_ours_in_a_step_is_told_with_its_trace(problem: Exception) -> None:
    journal = begun()
    run = await drive(journal, {"1/land": raising(problem)})
    assert run.outcome == BROKEN
    [broke] = [event for event in events_of(journal) if isinstance(event, ev.StepBroke)]
    assert broke.detail.startswith("internal error, please report it:\n")
    assert "Traceback" in broke.detail
    assert "who" in broke.detail


async def test_what_is_told_of_a_broken_step_is_bounded() -> None:
    journal = begun()
    await drive(journal, {"1/drive": raising(GitError("x" * 100_000 + "the end"))})
    [broke] = [event for event in events_of(journal) if isinstance(event, ev.StepBroke)]
    assert len(broke.detail) == 4000
    assert broke.detail.endswith("the end")


async def test_a_check_of_the_branch_that_breaks_is_no_success() -> None:
    run = await drive(begun(), {"branch": raising(GitError("git is gone"))})
    assert run.outcome == Outcome(Result.HALTED, Reason.BRANCH_RED)
    assert run.branch_feedback == "git is gone"


async def test_a_broken_step_is_made_again_when_the_run_is_resumed() -> None:
    journal = begun()
    await drive(journal, {"1/review": raising(GitError("git is gone"))})
    before = len(events_of(journal))
    run = await drive(journal)
    assert run.outcome == COMPLETED
    later = [type(event).__name__ for event in events_of(journal)[before:]]
    assert later[:4] == ["RunResumed", "UnitStarted", "StepStarted", "AttemptReviewed"]


async def test_what_broke_can_be_tried_again_fixed_or_split_in_a_run_that_stopped() -> None:
    for wanted in (
        ev.UnitReset(ONE, "mind the gap"),
        ev.UnitFixed(ONE, work("fix")),
        ev.UnitSplit(ONE, (unit("1a"), unit("1b"))),
    ):
        journal = begun()
        await drive(journal, {"1/drive": raising(GitError("git is gone"))})
        journal.leave(wanted)
        journal.leave(ev.UnitReset(ONE))  # by then, it does not wait for a person any more
        run = await drive(journal)
        assert run.outcome == COMPLETED
        assert wanted in events_of(journal)
        assert journal.requests() == []


async def test_a_watcher_of_a_resumed_run_is_told_what_was_and_shown_what_is_new() -> None:
    journal = begun()
    await drive(journal, {"1/drive": raising(GitError("git is gone"))})
    before = journal.read()
    watcher = Watcher()
    await drive(journal, watcher=watcher)
    assert watcher.past == before
    assert watcher.seen == journal.read()[len(before) :]
    assert isinstance(watcher.seen[0].event, ev.RunResumed)


async def test_a_run_that_is_over_stays_as_it_is() -> None:
    journal = begun()
    await drive(journal)
    journal.leave(ev.CancelRequested())
    run = await drive(journal)
    assert run.outcome == COMPLETED
    assert journal.requests() == []
    assert isinstance(events_of(journal)[-1], ev.RunResumed)


async def test_a_request_is_heard_while_a_step_is_under_way() -> None:
    journal = chained()
    run = await drive(
        journal, {"1/drive": acting(lambda: journal.leave(ev.UnitSkipped(TWO, satisfies=True)))}
    )
    assert run.outcome == COMPLETED
    assert isinstance(run.units[TWO], Skipped)
    assert journal.requests() == []


async def test_a_cancelled_run_ends_the_steps_under_way() -> None:
    journal = chained()
    ended: list[str] = []

    async def hang(command: cmd.AnyStep) -> Sequence[ev.Event]:
        journal.leave(ev.CancelRequested())
        try:
            return await forever(command)
        finally:
            ended.append(step_name(command))

    run = await drive(journal, {"1/drive": hang})
    assert run.outcome == Outcome(Result.CANCELLED)
    assert ended == ["1/drive"]
    assert events_of(journal)[-2:] == [ev.CancelRequested(), ev.RunFinished(Outcome(Result.CANCELLED))]


async def test_a_run_that_was_given_up_ends_as_aborted() -> None:
    journal = chained()

    async def hang(command: cmd.AnyStep) -> Sequence[ev.Event]:
        journal.leave(ev.AbortRequested(ONE))
        return await forever(command)

    run = await drive(journal, {"1/verify": hang})
    assert run.outcome == Outcome(Result.ABORTED)


async def test_a_pause_lets_the_steps_under_way_finish_and_starts_no_more() -> None:
    journal = chained()
    run = await drive(journal, {"1/drive": acting(lambda: journal.leave(ev.PauseRequested()))})
    assert run.is_paused
    assert run.outcome is None
    names = [type(event).__name__ for event in events_of(journal)]
    assert names == [
        "RunStarted",
        "UnitStarted",
        "StepStarted",
        "AttemptEnded",
        "PauseRequested",
        "RunPaused",
    ]
    assert (await drive(journal)).outcome == COMPLETED


async def test_what_is_asked_of_a_run_that_pauses_waits_until_it_is_resumed() -> None:
    journal = chained()

    class Asking(Watcher):
        def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
            super().show(recorded, run)
            if run.is_paused:
                journal.leave(ev.UnitSkipped(TWO, satisfies=True))

    script = {"1/drive": acting(lambda: journal.leave(ev.PauseRequested()))}
    run = await drive(journal, script, Asking())
    assert run.is_paused
    assert len(journal.requests()) == 1
    run = await drive(journal)
    assert isinstance(run.units[TWO], Skipped)


async def test_a_request_that_comes_as_the_run_stops_is_still_fulfilled() -> None:
    journal = begun()
    problems = [GitError("git is gone")]

    async def once(command: cmd.AnyStep) -> Sequence[ev.Event]:
        if problems:
            raise problems.pop()
        return good_end(command)

    class Asking(Watcher):
        def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
            super().show(recorded, run)
            if run.outcome == BROKEN:
                journal.leave(ev.UnitReset(ONE))

    run = await drive(journal, {"1/verify": once}, Asking())
    assert run.outcome == COMPLETED
    names = [type(event).__name__ for event in events_of(journal)]
    assert names.count("RunFinished") == 2
    assert names[names.index("RunFinished") + 1] == "UnitReset"


async def test_requests_that_do_not_fit_are_dropped_without_harm() -> None:
    journal = chained()
    for wanted in (ev.UnitReset(ONE), ev.UnitReset(UnitId("9")), ev.UnitSkipped(UnitId("9"), satisfies=True)):
        journal.leave(wanted)
    run = await drive(journal)
    assert run.outcome == COMPLETED
    assert journal.requests() == []
    assert not any(isinstance(event, ev.UnitReset | ev.UnitSkipped) for event in events_of(journal))


async def test_the_same_request_twice_is_fulfilled_once() -> None:
    journal = begun()
    await drive(journal, {"1/drive": raising(GitError("git is gone"))})
    for _ in range(3):
        journal.leave(ev.UnitSkipped(ONE, satisfies=True))
    run = await drive(journal)
    assert run.outcome == COMPLETED
    assert [event for event in events_of(journal) if isinstance(event, ev.UnitSkipped)] == [
        ev.UnitSkipped(ONE, satisfies=True)
    ]


@pytest.mark.parametrize("room", range(1, 6))
async def test_a_journal_that_cannot_be_written_ends_the_loop_with_its_error(room: int) -> None:
    journal = begun(journal=FullJournal(room))
    with anyio.fail_after(10), pytest.raises(JournalError, match="the disk is full") as ended:
        await Coordinator(RUN, journal, steps=ScriptedSteps(), watcher=Watcher()).drive(journal.read())
    assert ended.value.hint == "make room"
    assert len(events_of(journal)) == 2 * room - 1


async def test_nothing_is_carried_out_that_could_not_be_written() -> None:
    journal = begun(journal=FullJournal(1))
    with pytest.raises(JournalError):
        await Coordinator(
            RUN, journal, steps=ScriptedSteps({"1/drive": raising(AssertionError())}), watcher=Watcher()
        ).drive(journal.read())
    assert len(events_of(journal)) == 1


async def test_a_mailbox_that_cannot_be_read_ends_the_loop_and_its_steps() -> None:
    class Broken(MemoryJournal):
        def requests(self) -> list[Request]:
            if len(self.read()) > 1:
                raise JournalError("the mailbox is damaged")
            return super().requests()

    journal = begun(journal=Broken())
    with anyio.fail_after(10), pytest.raises(JournalError, match="the mailbox is damaged"):
        await Coordinator(RUN, journal, steps=ScriptedSteps({"1/drive": forever}), watcher=Watcher()).drive(
            journal.read()
        )


async def test_a_journal_that_does_not_start_with_a_run_is_a_mistake() -> None:
    with pytest.raises(InternalError, match="starts with RunStarted"):
        await Coordinator(RUN, MemoryJournal(), steps=ScriptedSteps(), watcher=Watcher()).drive([])


async def test_a_watcher_that_fails_does_not_stop_the_run_and_is_not_told_again() -> None:
    class Failing(Watcher):
        def show(self, recorded: Sequence[Recorded], run: RunState) -> None:
            super().show(recorded, run)
            if len(self.runs) == 3:
                raise ZeroDivisionError

    watcher = Failing()
    coordinator = Coordinator(RUN, journal := chained(), steps=ScriptedSteps(), watcher=watcher)
    assert (await coordinator.drive(journal.read())).outcome == COMPLETED
    assert len(watcher.runs) == 3
    assert isinstance(coordinator.watcher_problem, ZeroDivisionError)
    assert standing(journal).outcome == COMPLETED


async def test_a_watcher_that_sees_everything_has_no_failure() -> None:
    coordinator = Coordinator(RUN, journal := begun(), steps=ScriptedSteps(), watcher=Watcher())
    await coordinator.drive(journal.read())
    assert coordinator.watcher_problem is None
    assert coordinator.stopped_by is None


@pytest.mark.slow
async def test_the_watcher_is_told_that_time_passes() -> None:
    class Impatient(Watcher):
        def tick(self) -> None:
            super().tick()
            if self.ticks == 2:
                journal.leave(ev.CancelRequested())
                raise ZeroDivisionError

    journal = begun()
    watcher = Impatient()
    run = await drive(journal, {"1/drive": forever}, watcher)
    assert run.outcome == Outcome(Result.CANCELLED)
    assert watcher.ticks == 2
