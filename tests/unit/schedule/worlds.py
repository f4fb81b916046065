"""Runs without a world: plans to run, the loop that settles them, and what must hold at every moment.

`settle` does what the coordinator does, `tell` what happens when an answer arrives. Whatever goes through them
is checked against the rules of the machine, which are written down here a second time and in other words:
`assert_lawful` looks at single steps from state to state, `assert_sound` at states that have settled.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.agents import Ending, SessionId
from amelia.model.facts import RunId
from amelia.model.findings import Disposition, Finding, Ruling, Weight, finding_id
from amelia.model.git import CommitId, TreeId
from amelia.model.outcome import Reason, Result
from amelia.model.plan import Milestone, Mode, Priority, Task, TaskId, TaskType, Unit, UnitId
from amelia.model.policy import POLICIES, OnFailure, Policy
from amelia.model.questions import LEAVE_IT, Question
from amelia.model.state import (
    Active,
    Branch,
    Driving,
    Evaluating,
    Failing,
    Landed,
    Landing,
    Parked,
    Resting,
    Reviewing,
    RunState,
    Skipped,
    UnitState,
    Verifying,
    Waiting,
)
from amelia.schedule.decide import decide, is_over, opening
from amelia.schedule.machine import begin, evolve

BASE = CommitId("base")
BY_HAND = "by hand"
LATER = "2030-01-01T00:00:00Z"


def task(name: str, *needs: str, kind: TaskType | None = None, priority: Priority = Priority.MEDIUM) -> Task:
    needed = tuple(TaskId(need) for need in needs)
    return Task(id=TaskId(name), title=name, depends_on=needed, type=kind, priority=priority)


def unit_of(name: str, *pieces: Task, needs: Iterable[str] = ()) -> Unit:
    tasks = tuple(piece.id for piece in pieces)
    return Unit(UnitId(name), name, tasks, tuple(UnitId(need) for need in needs), 1, pieces)


def unit(name: str, *needs: str, kind: TaskType | None = None, priority: Priority = Priority.MEDIUM) -> Unit:
    return unit_of(name, task(name, *needs, kind=kind, priority=priority), needs=needs)


def facts(
    *units: Unit,
    policy: Policy = POLICIES[Mode.TASKS],
    mode: Mode = Mode.TASKS,
    footprints: dict[str, tuple[str, ...]] | None = None,
    milestones: tuple[Milestone, ...] = (),
) -> ev.RunStarted:
    return ev.RunStarted(
        run=RunId("r1"),
        plan_hash="hash",
        plan_path="plan.md",
        goal="goal",
        mode=mode,
        policy=policy,
        base=BASE,
        units=units,
        milestones=milestones,
        footprints={item.id: (f"{item.id}.py",) for item in units} if footprints is None else footprints,
        agents={},
        test_command=None,
        repository="/repository",
    )


def work_of(place: UnitId, attempt: int, tree: str | None = None) -> ev.Work:
    return ev.Work(
        CommitId(f"{place}/{attempt}/{tree}"), TreeId(tree if tree is not None else f"{place}/{attempt}")
    )


def fix_of(place: UnitId) -> ev.Work:
    return ev.Work(CommitId(f"{BY_HAND} {place}"), TreeId(f"{BY_HAND} {place}"))


def finding(text: str, weight: Weight = Weight.BLOCKING) -> Finding:
    return Finding(finding_id("a.py", text), text, "a.py", 1, weight)


def rulings(disposition: Disposition, *findings: Finding) -> tuple[Ruling, ...]:
    return tuple(Ruling(found.id, disposition) for found in findings)


def ended(place: UnitId, attempt: int, ending: Ending = Ending.OK, **more: str) -> ev.AttemptEnded:
    return ev.AttemptEnded(
        unit=place,
        attempt=attempt,
        ending=ending,
        work=work_of(place, attempt, more.get("tree")),
        summary=f"{place} ended as {ending}",
        refused=more.get("refused"),
        question=Question(text=more["question"]) if "question" in more else None,
        until=more.get("until"),
        session=SessionId(f"{place}:{attempt}"),
    )


@dataclass(frozen=True, slots=True)
class Settled:
    """A run that waits for an answer, or is over; what was written on the way, and what was begun."""

    run: RunState
    events: tuple[ev.Event, ...]
    commands: tuple[cmd.AnyStep, ...]


def tell(run: RunState, event: ev.Event) -> RunState:
    after = evolve(run, event)
    assert_lawful(run, event, after)
    return after


def settle(run: RunState) -> Settled:
    events: list[ev.Event] = []
    begun: list[cmd.AnyStep] = []
    patience = 6 * len(run.units) + 6
    while commands := decide(run):
        patience -= 1
        assert patience, f"decides without end: {commands}"
        for command in commands:
            if not isinstance(command, cmd.Record):
                begun.append(command)
                assert_fitting(run, command)
            told = (command.event,) if isinstance(command, cmd.Record) else opening(run, command)
            for event in told:
                run = tell(run, event)
            events += told
    assert_sound(run)
    return Settled(run, tuple(events), tuple(begun))


class Story:
    """A run told step by step; its journal is kept, and folds into the same state."""

    def __init__(self, start: ev.RunStarted) -> None:
        self.journal: list[ev.Event] = [start]
        self.begun: list[cmd.AnyStep] = []
        self.run = begin(start)
        self._settle()

    def hears(self, *events: ev.Event) -> "Story":
        """Takes in answers that arrive at the same moment."""
        for event in events:
            self.run = tell(self.run, event)
            self.journal.append(event)
        self._settle()
        return self

    def _settle(self) -> None:
        settled = settle(self.run)
        self.run = settled.run
        self.journal += settled.events
        self.begun += settled.commands

    def __getitem__(self, name: str) -> UnitState:
        return self.run.units[UnitId(name)]

    @property
    def last(self) -> cmd.AnyStep:
        return self.begun[-1]

    def turns(self, name: str) -> list[cmd.StartTurn]:
        return [c for c in self.begun if isinstance(c, cmd.StartTurn) and c.at.unit == name]

    def steps(self, name: str, step: ev.Step) -> int:
        return sum(
            1
            for c in self.begun
            if not isinstance(c, cmd.RunCommand) and c.at.unit == name and c.step is step
        )

    def started(self) -> list[str]:
        return [event.unit for event in self.journal if isinstance(event, ev.UnitStarted)]

    def attempt(self, name: str) -> int:
        state = self[name]
        assert isinstance(state, Active | Parked)
        return state.track.attempt

    def drives(self, name: str, ending: Ending = Ending.OK, **more: str) -> "Story":
        return self.hears(ended(UnitId(name), self.attempt(name), ending, **more))

    def verifies(
        self, name: str, *, passed: bool = True, results: str = "", red: tuple[str, ...] = ()
    ) -> "Story":
        return self.hears(
            ev.AttemptVerified(
                unit=UnitId(name),
                attempt=self.attempt(name),
                passed=passed,
                results=results or f"results {self.attempt(name)}",
                feedback="" if passed else f"checks of {self.attempt(name)} failed",
                red=red,
            )
        )

    def approves(self, name: str, *findings: Finding) -> "Story":
        return self.hears(
            ev.AttemptReviewed(
                unit=UnitId(name), attempt=self.attempt(name), approved=True, findings=findings
            )
        )

    def rejects(self, name: str, *findings: Finding) -> "Story":
        return self.hears(
            ev.AttemptReviewed(
                unit=UnitId(name), attempt=self.attempt(name), approved=False, findings=findings
            )
        )

    def rules(self, name: str, *ruled: Ruling) -> "Story":
        return self.hears(ev.FindingsEvaluated(unit=UnitId(name), attempt=self.attempt(name), rulings=ruled))

    def breaks(self, name: str, step: ev.Step) -> "Story":
        return self.hears(ev.StepBroke(UnitId(name), step, "the disk is full"))

    def accepts(self, name: str) -> "Story":
        return self.drives(name).verifies(name).approves(name)

    def lands(self, name: str) -> "Story":
        return self.hears(ev.UnitLanded(UnitId(name), self.attempt(name), CommitId(f"commit of {name}")))

    def finishes(self, *names: str) -> "Story":
        for name in names:
            self.accepts(name).lands(name)
        return self


def tracks(run: RunState) -> list[tuple[UnitId, Active | Failing | Parked]]:
    return [
        (name, state) for name, state in run.units.items() if isinstance(state, Active | Failing | Parked)
    ]


def assert_sound(run: RunState) -> None:
    """Checks what holds whenever a run has settled."""
    policy = run.facts.policy
    under_way = [(name, state) for name, state in run.units.items() if isinstance(state, Active)]
    busy = [state for _, state in under_way if state.is_busy]
    assert not any(isinstance(state, Failing) for state in run.units.values())
    assert busy or run.branch is Branch.CHECKING or is_over(run), "stuck"
    lanes = [state.track.lane for _, state in under_way if not isinstance(state, Resting)]
    assert len(lanes) == len(set(lanes)), "a lane twice"
    assert set(lanes) <= set(range(1, policy.parallel_workers + 1)), "more lanes than workers"
    assert all(s.then.track.lane == s.track.lane for s in busy if isinstance(s, Resting)), (
        "rests in two lanes"
    )
    at_work = [(name, state) for name, state in under_way if not isinstance(state, Resting)]
    for (one, _), (other, _) in combinations(at_work, 2):
        mine, theirs = (set(run.facts.footprints.get(name, ())) for name in (one, other))
        assert mine, f"{one} may touch anything"
        assert theirs, f"{other} may touch anything"
        assert mine.isdisjoint(theirs), f"{one} and {other} share files"
    landing = [name for name, state in under_way if isinstance(state, Landing)]
    assert sorted(run.queue) == sorted(landing)
    assert all(name == run.queue[0] for name in landing if run.units[name] in busy), "jumped the queue"
    assert sorted(run.open) == sorted(name for name, _ in tracks(run))
    for _, state in tracks(run):
        assert state.track.spent <= policy.attempts
        assert state.track.iteration <= policy.iterations
        assert state.track.questions <= policy.questions
        assert state.track.refusals <= policy.conflict_retries + 1
        work = state.work if isinstance(state, Verifying | Reviewing | Evaluating | Landing) else None
        assert work is None or state.track.by_person == work.commit.startswith(BY_HAND)
        assert not (state.track.by_person and isinstance(state, Driving | Reviewing | Evaluating))
    assert_outcome_is_true(run)


def assert_outcome_is_true(run: RunState) -> None:
    """Checks that a run which is over says why, and that a person can set it going unless it is final."""
    if run.outcome is None:
        return
    states = list(run.units.values())
    parked = [state for state in states if isinstance(state, Parked)]
    match run.outcome.result:
        case Result.COMPLETED:
            assert all(isinstance(state, Landed | Skipped) for state in states)
            assert run.branch is Branch.GREEN
        case Result.HALTED | Result.NEEDS_HUMAN if run.outcome.reason is Reason.BRANCH_RED:
            assert run.branch is Branch.RED
            assert all(isinstance(state, Landed | Skipped) for state in states)
        case Result.HALTED if run.outcome.reason is Reason.BUDGET:
            assert not parked
        case Result.HALTED | Result.NEEDS_HUMAN if run.outcome.reason is Reason.BLOCKED:
            assert not parked
            assert Skipped(satisfies=False) in states
            assert any(isinstance(state, Waiting) for state in states)
        case Result.HALTED | Result.NEEDS_HUMAN:
            assert run.outcome.reason in {state.reason for state in parked}
        case Result.ABORTED | Result.CANCELLED:
            assert run.wish is not None


def assert_can_go_on(run: RunState) -> None:
    """Checks that a person can set a run going that stopped, step by step, and can give it up."""
    given_up = settle(tell(run, ev.AbortRequested())).run
    assert given_up.outcome is not None
    assert given_up.outcome.result is Result.ABORTED
    run = settle(tell(run, ev.RunResumed(1))).run
    for _ in run.units:
        if not is_over(run) or (run.outcome is not None and run.outcome.is_final):
            break
        parked = [name for name, state in run.units.items() if isinstance(state, Parked)]
        waiting = [name for name, state in run.units.items() if isinstance(state, Waiting)]
        act = ev.UnitReset(parked[0]) if parked else ev.UnitSkipped(waiting[0], satisfies=True)
        run = settle(tell(run, act)).run
    assert not is_over(run) or (run.outcome is not None and run.outcome.is_final), "no way out"


def assert_fitting(run: RunState, command: cmd.AnyStep) -> None:
    """Checks that a command is about what the unit stands at."""
    if isinstance(command, cmd.RunCommand):
        assert command.tip == run.tip
        assert all(isinstance(state, Landed | Skipped) for state in run.units.values())
        return
    state = run.units[command.at.unit]
    assert isinstance(state, Active)
    assert not state.is_busy
    assert (command.at.lane, command.at.attempt, command.at.base) == (
        state.track.lane,
        state.track.attempt,
        state.track.base,
    )
    if isinstance(state, Verifying | Reviewing | Evaluating | Landing):
        assert not isinstance(command, cmd.StartTurn | cmd.Rest)
        assert command.work == state.work
    if isinstance(command, cmd.LandWork):
        assert command.tip == run.tip


def assert_lawful(before: RunState, event: ev.Event, after: RunState) -> None:
    """Checks one step from state to state."""
    if before.outcome is not None and before.outcome.is_final:
        assert after.outcome == before.outcome, "final outcomes last"
    for name, state in before.units.items():
        if isinstance(state, Landed) or state == Skipped(satisfies=True):
            assert after.units[name] == state, "what is done stays done"
        if isinstance(state, Skipped):
            assert isinstance(after.units[name], Skipped), "what was taken out stays out"
    if isinstance(event, ev.UnitEvent):
        assert_other_units_untouched(before, event, after)
        assert_proved(before.units[event.unit], event, after.units[event.unit])
    match event:
        case ev.UnitStarted() | ev.StepStarted() | ev.BranchCheckStarted():
            assert before.wish is None, "nothing starts in a run that is to stop"
            assert not is_over(before)
            halts = before.facts.policy.on_failure is OnFailure.HALT
            is_parked = any(isinstance(s, Parked) for s in before.units.values())
            assert not (halts and before.is_halted and is_parked), "halted"
            if isinstance(event, ev.UnitStarted):
                assert_ready(before, event)
        case ev.UnitLanded(name, _, commit):
            assert before.queue[0] == name
            assert after.tip == commit
        case _:
            pass


def assert_other_units_untouched(before: RunState, event: ev.UnitEvent, after: RunState) -> None:
    assert before.units.keys() == after.units.keys()
    changed = {name for name, state in after.units.items() if state is not before.units[name]}
    assert changed <= {event.unit}


def assert_ready(run: RunState, event: ev.UnitStarted) -> None:
    needs = next(item.depends_on for item in run.facts.units if item.id == event.unit)
    for need in needs:
        state = run.units.get(need, Skipped(satisfies=True))
        assert isinstance(state, Landed) or state == Skipped(satisfies=True), f"started before {need}"


def assert_proved(before: UnitState, event: ev.UnitEvent, after: UnitState) -> None:  # noqa: C901 - a case per stage
    """Checks that work comes nearer to the branch only by proof: checks that passed, and an approval or a person."""
    match after:
        case Landed() if not isinstance(before, Landed):
            assert isinstance(before, Landing)
            assert before.is_busy
        case Landing() if not isinstance(before, Landing):
            match before, event:
                case Verifying(track=track, work=work), ev.AttemptVerified(passed=True):
                    assert track.by_person
                case Reviewing(track=track, work=work), ev.AttemptReviewed():
                    open_findings = [found for found in event.findings if found.id not in track.ruled]
                    assert not any(found.weight is Weight.BLOCKING for found in open_findings)
                    assert event.approved or (event.findings and not open_findings)
                case Evaluating(track=track, work=work), ev.FindingsEvaluated():
                    out = {
                        r.finding
                        for r in event.rulings
                        if r.disposition in {Disposition.REJECT, Disposition.DEFER}
                    }
                    assert track.findings, "nothing was found, and still it was rejected"
                    assert {found.id for found in track.findings} <= out
                case Waiting(then=Landing(work=work)), ev.UnitStarted():
                    pass
                case _:
                    raise AssertionError(f"{type(event).__name__} made {type(before).__name__} land")
            assert after.work == work
        case Waiting(then=Landing(track=track, work=work)) if isinstance(before, Parked):
            if before.stage is None:  # not one that was to land already when its landing broke
                assert isinstance(event, ev.QuestionAnswered)
                assert event.dismissed
                assert {found.id for found in before.track.findings} <= set(event.dismissed)
                assert work == before.work == fit_for_landing(before)
        case Reviewing() if isinstance(before, Verifying):
            assert isinstance(event, ev.AttemptVerified)
            assert event.passed
            assert after.work == before.work
        case Reviewing() | Evaluating():
            origin = before.then if isinstance(before, Resting | Waiting) else before
            assert isinstance(origin, Reviewing | Evaluating | Resting)
            origin = origin.then if isinstance(origin, Resting) else origin
            assert isinstance(origin, Reviewing | Evaluating)
            assert after.work == origin.work
        case _:
            pass


def fit_for_landing(state: Parked) -> ev.Work | None:
    """Returns what a review saw, of a unit that was parked with a question about its findings."""
    is_asked = state.asking is not None and state.asking.question.about
    is_reviewed = state.work is not None and state.track.reviewed == state.work.commit
    return state.work if is_asked and is_reviewed else None


def every_dag(size: int) -> Iterable[tuple[Unit, ...]]:
    """Yields every plan of so many units in which a unit needs only earlier ones."""
    names = [chr(ord("a") + number) for number in range(size)]
    edges = list(combinations(names, 2))
    for chosen in range(1 << len(edges)):
        taken = [edge for bit, edge in enumerate(edges) if chosen >> bit & 1]
        yield tuple(unit(name, *(need for need, user in taken if user == name)) for name in names)


def key(run: RunState) -> tuple[object, ...]:
    """Returns what tells a state from others of the same run."""
    return (
        tuple(run.units.values()),
        run.open,
        run.queue,
        run.tip,
        tuple(run.red.items()),
        run.wish,
        run.is_paused,
        run.branch,
        run.outcome,
    )


def with_policy(policy: Policy, *, workers: int = 1, attempts: int | None = None) -> Policy:
    return replace(
        policy, parallel_workers=workers, attempts=policy.attempts if attempts is None else attempts
    )


Act: TypeAlias = ev.UnitReset | ev.UnitFixed | ev.UnitSkipped | ev.QuestionAnswered


def applicable_acts(run: RunState) -> list[Act]:
    """Returns what a person can do about the units as they stand."""
    acts: list[Act] = []
    for name, state in run.units.items():
        if isinstance(state, Parked):
            acts += (ev.UnitReset(name), ev.UnitFixed(name, fix_of(name)))
        if isinstance(state, Parked) and state.asking is not None:
            about = state.asking.question.about
            acts.append(ev.QuestionAnswered(name, "so"))
            acts += [ev.QuestionAnswered(name, LEAVE_IT, dismissed=about)] if about else []
        if state == Skipped(satisfies=False):
            acts.append(ev.UnitSkipped(name, satisfies=True))
        if isinstance(state, Parked | Waiting):
            acts += (ev.UnitSkipped(name, satisfies=True), ev.UnitSkipped(name, satisfies=False))
    return acts
