"""What holds of every run: larger plans, more workers, answers and persons in any order and at the same moment."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from amelia.model import commands as cmd
from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.findings import Disposition, Ruling, Weight
from amelia.model.outcome import Result
from amelia.model.plan import Mode, Priority, Task, TaskType, Unit, UnitId
from amelia.model.policy import POLICIES
from amelia.model.state import (
    Active,
    Branch,
    Driving,
    Evaluating,
    Landed,
    Parked,
    Reviewing,
    RunState,
    Skipped,
    Verifying,
    Waiting,
)
from amelia.schedule.decide import is_over
from amelia.schedule.machine import begin, fold
from unit.schedule.answers import the_plain, the_whole
from unit.schedule.worlds import (
    applicable_acts,
    assert_can_go_on,
    ended,
    facts,
    finding,
    settle,
    task,
    tell,
    unit_of,
    with_policy,
)

FINDINGS = (finding("one"), finding("two"), finding("three", Weight.MINOR), finding("four", Weight.MINOR))
MANY_STEPS = 60
KINDS = st.sampled_from([None, TaskType.TEST, TaskType.TEST, TaskType.IMPL, TaskType.IMPL, TaskType.DOCS])


@st.composite
def plans(draw: st.DrawFn) -> tuple[Unit, ...]:
    """Draws units of one to three tasks; a unit needs earlier ones, a task tasks of those or of its own unit."""
    units: list[Unit] = []
    for number in range(draw(st.integers(1, 12))):
        needs = draw(st.lists(st.sampled_from(units), max_size=3, unique=True)) if units else []
        known = [piece.id for need in needs for piece in need.pieces]
        pieces: list[Task] = []
        for place in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
            wanted = draw(st.lists(st.sampled_from(known), max_size=2, unique=True)) if known else []
            kind, urgency = draw(KINDS), draw(st.sampled_from(Priority))
            pieces.append(task(f"t{number}.{place}", *wanted, kind=kind, priority=urgency))
            known.append(pieces[-1].id)
        units.append(unit_of(f"u{number}", *pieces, needs=[need.id for need in needs]))
    return tuple(units)


@st.composite
def starts(draw: st.DrawFn) -> ev.RunStarted:
    units = draw(plans())
    mode = draw(st.sampled_from(Mode))
    files = st.one_of(st.just(()), st.just(("shared.py",)), st.just(None), st.just(None))
    drawn = {item.id: draw(files) for item in units}
    footprints = {
        str(name): (f"{name}.py",) if declared is None else declared for name, declared in drawn.items()
    }
    policy = with_policy(POLICIES[mode], workers=draw(st.integers(1, 4)))
    return facts(*units, mode=mode, policy=policy, footprints=footprints)


def implementing(units: tuple[Unit, ...], author: Unit) -> set[UnitId]:
    """Returns the units that implement another's tests, found the slow way: by looking at every chain of units."""
    tests = {piece.id for piece in author.pieces if piece.type is TaskType.TEST}
    impls = {item.id for item in units if any(piece.type is TaskType.IMPL for piece in item.pieces)}
    direct = {
        item.id
        for item in units
        for piece in item.pieces
        if item is not author and piece.type is TaskType.IMPL and tests & set(piece.depends_on)
    }
    if direct or not tests:
        return direct
    chains = [(author.id,)]
    found: set[UnitId] = set()
    while chains:
        chain = chains.pop()
        for item in units:
            if chain[-1] in item.depends_on:
                found |= {item.id} & impls
                chains += [] if item.id in impls else [(*chain, item.id)]
    return found


class AnyRun(RuleBasedStateMachine):
    """One run, told what happens by rules in any order."""

    @initialize(start=starts())
    def starts(self, start: ev.RunStarted) -> None:
        self.start = start
        self.journal: list[ev.Event] = [start]
        self.run: RunState = begin(start)
        self.red: dict[UnitId, tuple[str, ...]] = {}
        self.proved: dict[UnitId, tuple[str, ...]] = {}
        self.writes_red: set[UnitId] = set()
        self.implementers = {item.id: implementing(start.units, item) for item in start.units}
        self.settles()

    def settles(self) -> None:
        settled = settle(self.run)
        self.run = settled.run
        self.journal += settled.events
        for command in settled.commands:
            if isinstance(command, cmd.VerifyWork | cmd.LandWork):
                self.expects(command)
        if is_over(self.run) and not (self.run.outcome and self.run.outcome.is_final):
            assert_can_go_on(self.run)

    def expects(self, command: cmd.VerifyWork | cmd.LandWork) -> None:
        """Checks what verification is told: which tests must be green by now, and which may be red still.

        On a base that others have moved on from, their implementations are missing: nothing is owed there yet.
        """
        name, expected = command.at.unit, command.expected
        is_on_tip = isinstance(command, cmd.LandWork) or command.at.base == self.run.tip
        last_for = [author for author in self.red if is_on_tip and self.is_last(name, author)]
        others = [author for author in self.red if author not in last_for]
        assert set(expected.must_be_green) == {test for author in last_for for test in self.red[author]}
        assert set(expected.may_be_red) == {test for author in others for test in self.red[author]}
        assert not expected.red_tasks or self.implementers[name]
        if expected.red_tasks:
            self.writes_red.add(name)

    def is_last(self, name: UnitId, author: UnitId) -> bool:
        left = {item for item in self.implementers[author] if not isinstance(self.run.units[item], Landed)}
        return left == {name}

    def hears(self, *events: ev.Event) -> None:
        for event in events:
            if isinstance(event, ev.AttemptVerified):
                self.proved[event.unit] = event.red
            if isinstance(event, ev.UnitLanded):
                self.sees_landing(event.unit)
            self.run = tell(self.run, event)
            self.journal.append(event)
        self.settles()
        assert self.run.red == self.red

    def sees_landing(self, name: UnitId) -> None:
        closed = [author for author in self.red if self.is_last(name, author)]
        self.red = {author: tests for author, tests in self.red.items() if author not in closed}
        if self.proved[name]:
            self.red[name] = self.proved[name]

    def busy(self) -> list[tuple[UnitId, Active]]:
        return [
            (name, state)
            for name, state in self.run.units.items()
            if isinstance(state, Active) and state.is_busy
        ]

    @precondition(lambda self: not is_over(self.run) and bool(self.busy()))
    @rule(data=st.data())
    def answers_arrive(self, data: st.DataObject) -> None:
        steps = data.draw(
            st.lists(st.sampled_from(self.busy()), min_size=1, max_size=3, unique_by=lambda s: s[0])
        )
        self.hears(*(self.draw_answer(data, name, state) for name, state in steps))

    def draw_answer(self, data: st.DataObject, name: UnitId, state: Active) -> ev.Event:
        """Draws any answer; good ones often enough that a run gets somewhere."""
        match data.draw(st.sampled_from(["good", "good", "any", "rich"])):
            case "good":
                return self.good_answer(name, state)
            case "any":
                return data.draw(st.sampled_from(list(the_whole(name, state))))
            case _:
                return self.rich_answer(data, name, state)

    def rich_answer(self, data: st.DataObject, name: UnitId, state: Active) -> ev.Event:
        """Draws an answer of an agent out of more than can be enumerated."""
        attempt = state.track.attempt
        match state:
            case Driving():
                tree = data.draw(st.sampled_from("xy"))
                if data.draw(st.sampled_from([False, False, True])):
                    return ended(name, attempt, tree=tree, question="which one?")
                return ended(name, attempt, data.draw(st.sampled_from(Ending)), tree=tree)
            case Reviewing():
                found = data.draw(st.lists(st.sampled_from(FINDINGS), unique=True, max_size=3))
                approved = data.draw(st.booleans())
                return ev.AttemptReviewed(
                    unit=name, attempt=attempt, approved=approved, findings=tuple(found)
                )
            case Evaluating():
                drawn = data.draw(
                    st.lists(st.tuples(st.sampled_from(FINDINGS), st.sampled_from(Disposition)))
                )
                ruled = tuple(Ruling(found.id, disposition) for found, disposition in drawn)
                return ev.FindingsEvaluated(unit=name, attempt=attempt, rulings=ruled)
            case _:
                return self.good_answer(name, state)

    def good_answer(self, name: UnitId, state: Active) -> ev.Event:
        if isinstance(state, Verifying) and name in self.writes_red:
            tests = (f"test of {name}", "test of many")
            return ev.AttemptVerified(unit=name, attempt=state.track.attempt, passed=True, red=tests)
        if isinstance(state, Evaluating):
            ruled = tuple(Ruling(found.id, Disposition.DEFER) for found in state.track.findings)
            return ev.FindingsEvaluated(unit=name, attempt=state.track.attempt, rulings=ruled)
        if not isinstance(state, Driving | Verifying | Reviewing):
            return list(the_whole(name, state))[1]  # after the answer that the step broke
        return next(iter(the_plain(name, state)))

    @precondition(lambda self: self.run.branch is Branch.CHECKING and not is_over(self.run))
    @rule(passed=st.booleans())
    def the_branch_is_verified(self, *, passed: bool) -> None:
        self.hears(ev.BranchVerified(passed=passed))

    @precondition(lambda self: bool(applicable_acts(self.run)))
    @rule(data=st.data())
    def a_person_acts(self, data: st.DataObject) -> None:
        self.hears(data.draw(st.sampled_from(applicable_acts(self.run))))

    @precondition(lambda self: bool(self.splittable()))
    @rule(data=st.data())
    def a_person_splits_a_unit(self, data: st.DataObject) -> None:
        """Cuts a unit in two, of which the second needs the first and has its tasks."""
        whole = data.draw(st.sampled_from(self.splittable()))
        first = unit_of(f"{whole.id}-a", task(f"{whole.id}-a"))
        second = replace(whole, id=UnitId(f"{whole.id}-b"), depends_on=(first.id,))
        self.hears(ev.UnitSplit(whole.id, (first, second), {first.id: (f"{first.id}.py",)}))
        self.implementers = {
            item.id: implementing(self.run.facts.units, item) for item in self.run.facts.units
        }

    def splittable(self) -> list[Unit]:
        """Returns the units that wait for a person, and write no tests: whose those are would be another story."""
        return [
            item
            for item in self.run.facts.units
            if isinstance(self.run.units[item.id], Parked)
            and "-" not in item.id
            and not any(piece.type is TaskType.TEST for piece in item.pieces)
            and not self.implementers_of(item)
        ]

    def implementers_of(self, item: Unit) -> bool:
        return any(item.id in units for units in self.implementers.values())

    @rule()
    def a_person_pauses_the_run(self) -> None:
        self.hears(ev.PauseRequested())

    @rule()
    def somebody_takes_the_run_over(self) -> None:
        self.hears(ev.RunResumed(1))

    @precondition(lambda self: len(self.journal) > MANY_STEPS)
    @rule(event=st.sampled_from([ev.CancelRequested(), ev.AbortRequested()]))
    def a_person_ends_the_run(self, event: ev.Event) -> None:
        self.hears(event)

    def teardown(self) -> None:
        """Replays the journal, and brings the run to its end with good answers and a willing person."""
        if not hasattr(self, "run"):
            return
        assert fold(self.journal) == self.run
        patience = 40 * len(self.run.units) + 40
        while not (self.run.outcome and self.run.outcome.is_final):
            patience -= 1
            assert patience, "the run does not end"
            self.goes_on()
        assert_attempts_are_numbered(self.journal)
        if self.run.outcome.result is Result.COMPLETED:
            # Who skips a unit as satisfied lets those who implement tests land before the tests: then nobody
            # makes them green after, and the check of the whole branch asks for them.
            skipped = {name for name, state in self.run.units.items() if isinstance(state, Skipped)}
            for author in self.run.red:
                assert skipped & (self.implementers[author] | self.between(author))

    def between(self, author: UnitId) -> set[UnitId]:
        """Returns the units after one, on whatever way."""
        found: set[UnitId] = set()
        for item in self.start.units:
            if {author, *found} & set(item.depends_on):
                found.add(item.id)
        return found

    def goes_on(self) -> None:
        """Lets the next good thing happen."""
        if is_over(self.run):
            self.hears(ev.RunResumed(1), *self.helps())
        elif self.run.branch is Branch.CHECKING:
            self.hears(ev.BranchVerified(passed=True))
        else:
            name, state = self.busy()[0]
            self.hears(self.good_answer(name, state))

    def helps(self) -> list[ev.Event]:
        """Returns what a person does who wants the run to go on."""
        for name, state in self.run.units.items():
            if isinstance(state, Parked) and state.asking is not None:
                return [ev.QuestionAnswered(name, "so")]
            if isinstance(state, Parked) and state.stage is None:
                return [ev.UnitReset(name)]
        waiting = [name for name, state in self.run.units.items() if isinstance(state, Waiting)]
        under_way = any(isinstance(state, Active | Parked) for state in self.run.units.values())
        is_blocked = self.run.outcome is not None and waiting and not under_way
        return [ev.UnitSkipped(waiting[0], satisfies=True)] if is_blocked else []


def assert_attempts_are_numbered(journal: list[ev.Event]) -> None:
    """Checks that the turns of every unit are numbered without a gap, and that it lands with the last."""
    turns: dict[UnitId, list[int]] = {}
    for event in journal:
        if isinstance(event, ev.StepStarted) and event.step is ev.Step.DRIVE:
            turns.setdefault(event.unit, [0]).append(event.attempt)
        elif isinstance(event, ev.UnitLanded):
            assert event.attempt == turns[event.unit][-1]
    for numbers in turns.values():
        assert all(after - before in {0, 1} for before, after in pairwise(numbers))


TestAnyRun = pytest.mark.slow(AnyRun.TestCase)
TestAnyRun.settings = settings(
    max_examples=120,
    stateful_step_count=80,
)
