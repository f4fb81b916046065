"""The coordinator: records events, carries out commands, feeds the answers back.

What is decided is another's business: a machine says how events change where a run stands, and what follows
from that. There is one for a run, and one for the draft of a run that has no plan yet.

- What is not written did not happen: a step starts only after the event that says so is on disk, and counts
  as finished only when its answer is.
- All that was decided at one moment is one transaction.
- Whatever goes wrong in a step is an event; the loop itself ends only when the run is over, or paused, or
  when the journal cannot be written.
- Who looks on cannot disturb the run: a watcher that fails is not told again.
"""

import math
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import reduce
from typing import Generic, Protocol, TypeAlias, TypeVar

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.drafts import DraftFailed, RunProposed
from amelia.model.errors import AmeliaError
from amelia.model.journal import Journal, Recorded, Request, Wanted
from amelia.model.outcome import Reason
from amelia.model.proposal import Draft, DraftCommand
from amelia.model.records import RecordRefused
from amelia.model.state import RunState
from amelia.run.requests import draft_refusal, refusal
from amelia.schedule.decide import decide, is_over, opening
from amelia.schedule.draft import decide_draft, draft_opening, evolve_draft, fold_draft, is_draft_over
from amelia.schedule.machine import evolve, fold
from amelia.schedule.questions import awaits_default, overdue
from amelia.system.supervisors import at_hand

_HEARTBEAT = 0.125
_LAST_GRACE = 5.0
_LONGEST_DETAIL = 4000


class Standing(Protocol):
    """Where something stands that is driven."""

    @property
    def is_paused(self) -> bool:
        """Says whether it stopped where it was, to go on when it is resumed."""
        ...


S = TypeVar("S", bound=Standing)
S_contra = TypeVar("S_contra", contravariant=True)
C = TypeVar("C")
C_contra = TypeVar("C_contra", contravariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine(Generic[S, C]):
    """What is decided, and how: all of it pure functions.

    `opening` is what is written down before a command is carried out, `refusal` says why a wish does not
    fit, `broken` is what happened when a command could not be carried out, `overdue` what has to happen
    because a moment has come, and `awaits` whether such a moment is still to come.
    """

    fold: Callable[[Iterable[ev.Event]], S]
    evolve: Callable[[S, ev.Event], S]
    decide: Callable[[S], Sequence[C | cmd.Record]]
    opening: Callable[[S, C], tuple[ev.Event, ...]]
    is_over: Callable[[S], bool]
    refusal: Callable[[S, Wanted], str | None]
    broken: Callable[[C, str], ev.Event]
    overdue: Callable[[S, datetime], Iterable[ev.Event]] = lambda _state, _now: ()
    awaits: Callable[[S], bool] = lambda _state: False


class Steps(Protocol[C_contra]):
    """What can carry out the commands of the machine."""

    async def perform(self, command: C_contra, tell: Callable[[ev.Event], None]) -> Sequence[ev.Event]:
        """Carries a command out and returns what happened; what has to be known at once is told before."""
        ...


class Onlooker(Protocol[S_contra]):
    """Who looks on: shows a person what happens."""

    def begin(self, past: Sequence[Recorded]) -> None:
        """Is told what happened before it came."""
        ...

    def show(self, recorded: Sequence[Recorded], run: S_contra, /) -> None:
        """Is told of events that are on disk, and where the run stands now."""
        ...

    def tick(self) -> None:
        """Is told that time passes."""
        ...


Watcher: TypeAlias = Onlooker[RunState]


class Coordinator(Generic[S, C]):
    """Drives one run, or its draft, until it is over or paused.

    `stopped_by` is the signal that made it stop, if one did; `watcher_problem` is what went wrong in the
    watcher, if something did. Where nothing is left but to wait for a moment, `at_rest` is called, in a
    thread, and the run stays driven until then.
    """

    _run: S

    def __init__(
        self,
        machine: Machine[S, C],
        journal: Journal,
        *,
        steps: Steps[C],
        watcher: Onlooker[S],
        at_rest: Callable[[], None] = lambda: None,
    ) -> None:
        self._machine = machine
        self._at_rest = at_rest
        self._journal = journal
        self._steps = steps
        self._watcher = watcher
        self._answers, self._heard = anyio.create_memory_object_stream[Sequence[ev.Event]](math.inf)
        self.stopped_by: signal.Signals | None = None
        self.watcher_problem: Exception | None = None

    async def drive(
        self, past: Sequence[Recorded], run: S | None = None, *, found: Sequence[ev.Event] = ()
    ) -> S:
        """Takes the run from where its journal ends as far as it goes.

        `past` is all that is in there; `run` is where that leads, if it is known. `found` is what is known of
        the steps that were under way there, and was not written down any more.
        """
        try:
            with self._answers, self._heard:
                self._run = self._machine.fold(each.event for each in past) if run is None else run
                self._take_over(past, found)
                async with at_hand(), anyio.create_task_group() as tasks:
                    tasks.start_soon(self._heartbeat)
                    tasks.start_soon(self._signals, tasks)
                    await self._go(tasks)
                    tasks.cancel_scope.cancel()
        except ExceptionGroup as problems:
            # Not of a step, whose problems are events: the journal cannot be used, and once said is enough.
            raise problems.exceptions[0] from problems
        return self._run

    def _take_over(self, past: Sequence[Recorded], found: Sequence[ev.Event]) -> None:
        """Goes where the journal ends; what was under way there is not any more."""
        if isinstance(past[-1].event, RunProposed | ev.RunStarted):
            self._tell(lambda watcher: watcher.show(past[-1:], self._run))
        else:
            self._tell(lambda watcher: watcher.begin(past))
            before = reduce(self._machine.evolve, found, self._run)
            wishes = list(self._left_before(before))
            events = [*found, *(wish.wanted for wish in wishes), ev.RunResumed(os.getpid())]
            self._record(events, reduce(self._machine.evolve, events, self._run), answering=wishes)

    def _left_before(self, run: S) -> Iterator[Request]:
        """Yields the wishes that fit where the run was left, but not any more once it goes on by itself.

        To try a unit again whose step broke is one: a run that is resumed does that anyway.
        """
        for request in self._journal.requests():
            resumed = self._machine.evolve(run, ev.RunResumed(os.getpid()))
            if self._machine.refusal(run, request.wanted) is None and self._machine.refusal(
                resumed, request.wanted
            ):
                run = self._machine.evolve(run, request.wanted)
                yield request

    async def _go(self, tasks: TaskGroup) -> None:
        news: list[ev.Event] = []
        while True:
            requests = self._journal.requests()
            is_idle = self._machine.is_over(self._run) and (self._run.is_paused or not requests)
            if is_idle and not self._is_awaiting():
                return
            for command in self._settle(news, requests):
                tasks.start_soon(self._carry_out, command)
            news = []
            if self._machine.is_over(self._run):
                if not self._is_awaiting():
                    continue
                await to_thread.run_sync(self._at_rest)
            news += await self._heard.receive()
            while self._heard.statistics().current_buffer_used:
                news += self._heard.receive_nowait()

    def _is_awaiting(self) -> bool:
        """Says whether a run that is over for now goes on by itself at some moment, unless it is stopped."""
        return self.stopped_by is None and self._machine.awaits(self._run)

    def _record(self, events: Sequence[ev.Event], after: S, *, answering: Sequence[Request] = ()) -> None:
        """Writes events down; only then is the run where they lead."""
        recorded = self._journal.append(events, answering=answering)
        self._run = after
        self._tell(lambda watcher: watcher.show(recorded, after))

    def _tell(self, news: Callable[[Onlooker[S]], None]) -> None:
        if self.watcher_problem is not None:
            return
        try:
            news(self._watcher)
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is no reason to stop the run
            self.watcher_problem = problem

    def _settle(self, news: Sequence[ev.Event], requests: Sequence[Request]) -> list[C]:
        """Takes news in, decides until nothing is left to decide, and writes all of it down at once."""
        evolve = self._machine.evolve
        events = list(news)
        after = reduce(evolve, news, self._run)
        answered: list[Request] = []
        for request in requests:
            reason = self._machine.refusal(after, request.wanted)
            answered.append(replace(request, refused=reason))
            if reason is None:
                after = evolve(after, request.wanted)
                events.append(request.wanted)
        commands: list[C] = []
        while decided := self._overdue(after) or self._machine.decide(after):
            for command in decided:
                if isinstance(command, cmd.Record):
                    told: tuple[ev.Event, ...] = (command.event,)
                else:
                    commands.append(command)
                    told = self._machine.opening(after, command)
                after = reduce(evolve, told, after)
                events += told
        if events or requests:
            self._record(events, after, answering=answered)
        return commands

    async def _carry_out(self, command: C) -> None:
        try:
            happened = await self._steps.perform(command, lambda event: self._answers.send_nowait([event]))
        except Exception as problem:  # noqa: BLE001 - whatever breaks in a step is a fact about the step
            happened = (self._machine.broken(command, _detail(problem)),)
        self._answers.send_nowait(happened)

    async def _heartbeat(self) -> None:
        while True:
            await anyio.sleep(_HEARTBEAT)
            self._tell(lambda watcher: watcher.tick())
            if self._journal.requests() or self._overdue(self._run):
                self._answers.send_nowait(())

    def _overdue(self, run: S) -> list[cmd.Record]:
        return [cmd.Record(late) for late in self._machine.overdue(run, datetime.now(UTC))]

    async def _signals(self, tasks: TaskGroup) -> None:
        """Lets the steps under way finish at the first signal, and ends them at the second."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
            async for number in received:
                if self.stopped_by is not None:
                    tasks.cancel_scope.cancel()
                    # A hook of the repository may hang; everything that Amelia started ends without it, too.
                    _end_after(_LAST_GRACE, 128 + number)
                    return
                self.stopped_by = number
                self._answers.send_nowait((ev.PauseRequested(),))


def _end_after(seconds: float, code: int) -> None:
    """Ends this process the hard way unless it ends by itself before."""
    timer = threading.Timer(seconds, os._exit, [code])
    timer.daemon = True
    timer.start()


def _detail(problem: Exception) -> str:
    if isinstance(problem, AmeliaError):
        detail = f"{problem}\n{problem.hint or ''}".strip()
    elif isinstance(problem, OSError):
        detail = str(problem)
    else:
        detail = "internal error, please report it:\n" + "".join(traceback.format_exception(problem))
    return detail[-_LONGEST_DETAIL:]


def _broken(command: cmd.AnyStep, detail: str) -> ev.Event:
    if isinstance(command, cmd.VerifyBranch):
        return ev.BranchVerified(passed=False, feedback=detail)
    if isinstance(command, cmd.CommitRecord):
        return RecordRefused(detail, Reason.BROKEN)
    return ev.StepBroke(command.at.unit, command.step, detail)


RUN: Machine[RunState, cmd.AnyStep] = Machine(
    fold=fold,
    evolve=evolve,
    decide=decide,
    opening=opening,
    is_over=is_over,
    refusal=refusal,
    broken=_broken,
    overdue=overdue,
    awaits=awaits_default,
)
DRAFT: Machine[Draft, DraftCommand] = Machine(
    fold=fold_draft,
    evolve=evolve_draft,
    decide=decide_draft,
    opening=draft_opening,
    is_over=is_draft_over,
    refusal=draft_refusal,
    broken=lambda _, detail: DraftFailed(Reason.BROKEN, detail),
)
