"""Every small plan, in every order of answers: the machine enumerated, not sampled.

A world is a plan, a policy and footprints. From its first state all states are visited that answers of the
world, faults, crashes and persons can lead to; `worlds` checks every one of them, and every step between them.
Only a reset by a person can make a run longer without end, so resets are counted out. Answers that cost the
run nothing (a limit that is waited out, a step that broke, a crash) may repeat; without them every path ends.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import pytest

from amelia.model import events as ev
from amelia.model.agents import Ending
from amelia.model.plan import Mode
from amelia.model.policy import POLICIES, OnFailure, Policy
from amelia.model.state import (
    Active,
    Branch,
    Parked,
    RunState,
)
from amelia.schedule.decide import is_over
from amelia.schedule.machine import begin, fold
from unit.schedule.answers import Answers, the_checked, the_mixed, the_plain, the_whole
from unit.schedule.worlds import (
    applicable_acts,
    assert_can_go_on,
    every_dag,
    facts,
    key,
    settle,
    tell,
    unit,
)

CRASH = ev.RunResumed(1)
Acts = Callable[[RunState], Iterable[ev.Event]]


def nobody(_run: RunState) -> Iterable[ev.Event]:
    return ()


def anybody(run: RunState) -> Iterator[ev.Event]:
    """Yields all that a person can do; a reset or an answer only for a unit that has had one attempt."""
    for act in applicable_acts(run):
        state = run.units[act.unit]
        is_young = not isinstance(state, Parked) or state.stage is not None or state.track.attempt == 1
        if is_young or not isinstance(act, ev.UnitReset | ev.QuestionAnswered):
            yield act
    if run.wish is None:
        yield from (ev.PauseRequested(), ev.CancelRequested(), ev.AbortRequested())


def a_splitter(run: RunState) -> Iterator[ev.Event]:
    """Yields how a person splits a parked unit that is no piece itself."""
    for name, state in run.units.items():
        if isinstance(state, Parked) and "-" not in name:
            first, second = f"{name}-a", f"{name}-b"
            pieces = (unit(first), unit(second, first))
            yield ev.UnitSplit(name, pieces, {first: (first,), second: (second,)})


@dataclass(frozen=True, slots=True)
class World:
    """A run to be explored, and what can happen in it."""

    start: ev.RunStarted
    answers: Answers
    acts: Acts = nobody
    crashes: bool = True

    def happenings(self, run: RunState) -> Iterator[ev.Event]:
        if not is_over(run):
            if run.branch is Branch.CHECKING:
                yield from (ev.BranchVerified(passed=True), ev.BranchVerified(passed=False))
            for name, state in run.units.items():
                if isinstance(state, Active) and state.is_busy:
                    yield from self.answers(name, state)
        if self.crashes:
            yield CRASH
        yield from self.acts(run)


@dataclass(slots=True)
class Seen:
    """One state, how it was reached first, and where the run can go on from it by itself."""

    run: RunState
    came_from: int
    by: tuple[ev.Event, ...]
    leads_to: list[int]


def explore(world: World) -> list[Seen]:
    """Returns every state of a world that can be reached, each after the one it was reached from."""
    first = settle(begin(world.start))
    seen = [Seen(first.run, -1, (world.start, *first.events), [])]
    numbers = {key(first.run): 0}
    for here, state in enumerate(seen):
        for event in world.happenings(state.run):
            there = settle(tell(state.run, event))
            number = numbers.setdefault(key(there.run), len(seen))
            if number == len(seen):
                seen.append(Seen(there.run, here, (event, *there.events), []))
            if is_progress(event):
                state.leads_to.append(number)
        if is_over(state.run) and not (state.run.outcome and state.run.outcome.is_final):
            assert_can_go_on(state.run)
    return seen


def is_progress(event: ev.Event) -> bool:
    """Says whether an event is an answer that uses something up."""
    match event:
        case ev.AttemptEnded(ending=ending):
            return ending is not Ending.LIMITED
        case (
            ev.AttemptVerified()
            | ev.AttemptReviewed()
            | ev.ReviewFailed()
            | ev.FindingsEvaluated()
            | ev.UnitRested()
        ):
            return True
        case ev.UnitLanded() | ev.LandingRefused() | ev.BranchVerified():
            return True
        case _:
            return False


def longest_path(seen: list[Seen]) -> int:
    """Returns how many answers a run can take at most before it stops; fails if that has no bound."""
    waits = [len(state.leads_to) for state in seen]
    sources: list[list[int]] = [[] for _ in seen]
    for here, state in enumerate(seen):
        for there in state.leads_to:
            sources[there].append(here)
    steps = [0] * len(seen)
    done = [here for here, waiting in enumerate(waits) if not waiting]
    for there in done:
        for here in sources[there]:
            steps[here] = max(steps[here], steps[there] + 1)
            waits[here] -= 1
            if not waits[here]:
                done.append(here)
    assert len(done) == len(seen), "a run can go round for ever"
    return max(steps)


def bound(start: ev.RunStarted, *, units: int) -> int:
    """Returns how many answers a run may take: all its turns with all their steps, and the branch."""
    policy = start.policy
    turns = policy.attempts * policy.iterations + policy.conflict_retries + policy.questions
    steps = len(["drive", "verify", "evaluate", "land"]) + policy.review_tries
    rests = 2  # that were under way when the counting began
    return units * (turns * steps + rests) + 1


def assert_replays(seen: list[Seen], *, every: int) -> None:
    """Checks that the journal of a path folds into the state the path led to."""
    for state in seen[::every]:
        journal = list(state.by)
        step = state
        while step.came_from >= 0:
            step = seen[step.came_from]
            journal[:0] = step.by
        assert fold(journal) == state.run


def policy_for(on_failure: OnFailure, *, workers: int = 1, attempts: int = 2, iterations: int = 1) -> Policy:
    mode = Mode.TASKS if on_failure is OnFailure.HALT else Mode.LIFECYCLE
    return replace(
        POLICIES[mode],
        parallel_workers=workers,
        attempts=attempts,
        rests=1,
        iterations=iterations,
        questions=1,
    )


def worlds_of(size: int, answers: Answers, *, attempts: int = 2, crashes: bool = True) -> Iterator[World]:
    """Yields every plan of a size under every policy, with files that are known or not."""
    for units, on_failure, workers, known in product(every_dag(size), OnFailure, (1, 2), (True, False)):
        footprints: dict[str, tuple[str, ...]] | None = None if known else {}
        policy = policy_for(on_failure, workers=workers, attempts=attempts)
        yield World(facts(*units, policy=policy, footprints=footprints), answers, crashes=crashes)


def explore_all(worlds: Iterable[World], *, replay_every: int) -> tuple[int, int]:
    """Explores worlds, and returns how many there were and how many states they have together."""
    sizes: list[int] = []
    for world in worlds:
        seen = explore(world)
        assert longest_path(seen) <= bound(world.start, units=max(len(state.run.units) for state in seen))
        assert_replays(seen, every=replay_every)
        sizes.append(len(seen))
    return len(sizes), sum(sizes)


@pytest.mark.rows("R1", "R18")
@pytest.mark.slow
def test_every_plan_of_up_to_three_units_keeps_the_rules_in_every_order_of_answers() -> None:
    worlds = (world for size in (1, 2, 3) for world in worlds_of(size, the_plain))
    explored, states = explore_all(worlds, replay_every=20)
    assert explored == (1 + 2 + 8) * 8
    assert states >= 14_000


@pytest.mark.slow
def test_every_plan_of_four_units_keeps_the_rules_in_every_order_of_answers() -> None:
    worlds = worlds_of(4, the_plain, attempts=1, crashes=False)
    explored, states = explore_all(worlds, replay_every=50)
    assert explored == 64 * 8
    assert states >= 28_000


@pytest.mark.slow
def test_two_units_keep_the_rules_through_limits_rejections_conflicts_and_crashes() -> None:
    explored, states = explore_all(worlds_of(2, the_mixed, attempts=1), replay_every=50)
    assert explored == 2 * 8
    assert states >= 8_500


@pytest.mark.slow
@pytest.mark.parametrize("on_failure", OnFailure)
def test_a_unit_keeps_the_rules_whatever_the_world_answers(on_failure: OnFailure) -> None:
    start = facts(*next(iter(every_dag(1))), policy=policy_for(on_failure))
    _, states = explore_all([World(start, the_whole)], replay_every=50)
    assert states >= 5_000


@pytest.mark.slow
def test_a_unit_keeps_the_rules_while_its_attempts_iterate() -> None:
    policy = policy_for(OnFailure.CONTINUE, iterations=2)
    _, states = explore_all(
        [World(facts(*next(iter(every_dag(1))), policy=policy), the_checked)], replay_every=50
    )
    assert states >= 30_000


@pytest.mark.slow
@pytest.mark.parametrize("on_failure", OnFailure)
def test_units_keep_the_rules_when_one_of_them_is_split(on_failure: OnFailure) -> None:
    policy = policy_for(on_failure, workers=2, attempts=1)
    worlds = [
        World(facts(*units, policy=policy), the_plain, a_splitter, crashes=False) for units in every_dag(2)
    ]
    _, states = explore_all(worlds, replay_every=50)
    assert states >= 500


@pytest.mark.slow
@pytest.mark.parametrize("on_failure", OnFailure)
def test_a_unit_keeps_the_rules_whatever_a_person_does_meanwhile(on_failure: OnFailure) -> None:
    start = facts(*next(iter(every_dag(1))), policy=policy_for(on_failure, attempts=1))
    _, states = explore_all([World(start, the_whole, anybody)], replay_every=50)
    assert states >= 9_000


@pytest.mark.slow
@pytest.mark.parametrize("on_failure", OnFailure)
def test_two_units_keep_the_rules_whatever_a_person_does_meanwhile(on_failure: OnFailure) -> None:
    policy = policy_for(on_failure, workers=2, attempts=1)
    worlds = [World(facts(*units, policy=policy), the_plain, anybody) for units in every_dag(2)]
    _, states = explore_all(worlds, replay_every=50)
    assert states >= 6_500
