"""Runs told event by event, for tests of what is shown of them."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from amelia.context.chronicle import Chronicle, opened, told
from amelia.model import events as ev
from amelia.model.agents import AgentSettings, Ending, Role
from amelia.model.evidence import RunnerKind, TestCommand
from amelia.model.facts import RunId
from amelia.model.findings import Finding, Ruling, finding_id
from amelia.model.git import CommitId, TreeId
from amelia.model.journal import Recorded
from amelia.model.outcome import Cause, Outcome, Reason, Result
from amelia.model.plan import Milestone, Mode, Task, TaskId, TaskType, Unit, UnitId
from amelia.model.policy import POLICIES, Policy
from amelia.schedule.machine import begin, evolve
from amelia.show.run.times import Timeline

START = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
BASE = CommitId("b" * 40)


def commit(name: str) -> CommitId:
    """Returns a commit id that is told apart from others by a name."""
    return CommitId(name.encode().hex().ljust(40, "0")[:40])


def work(name: str) -> ev.Work:
    return ev.Work(commit(name), TreeId(commit(f"tree {name}")))


def task(name: str, kind: TaskType | None = None, title: str = "") -> Task:
    return Task(id=TaskId(name), title=title or f"Do {name}", type=kind)


def unit(name: str, *tasks: Task, after: Iterable[str] = (), group: int = 1, title: str = "") -> Unit:
    pieces = tasks or (task(name),)
    return Unit(
        UnitId(name),
        title or f"Work of {name}",
        tuple(piece.id for piece in pieces),
        tuple(UnitId(need) for need in after),
        group,
        pieces,
    )


def finding(text: str) -> Finding:
    return Finding(finding_id("a.py", text), text, "a.py", 3)


def started(
    *units: Unit,
    mode: Mode = Mode.TASKS,
    policy: Policy | None = None,
    workers: int = 1,
    milestones: tuple[Milestone, ...] = (),
    **changes: Any,
) -> ev.RunStarted:
    facts = ev.RunStarted(
        run=RunId("demo"),
        plan_hash="ab12",
        plan_path="plan.md",
        goal="Build the API",
        mode=mode,
        policy=replace(policy or POLICIES[mode], parallel_workers=workers),
        base=BASE,
        units=units,
        milestones=milestones,
        footprints={unit.id: (f"{unit.id}.py",) for unit in units},
        agents=dict.fromkeys(Role, AgentSettings(driver="script")),
        test_command=TestCommand(RunnerKind.PYTEST, ("python", "-m", "pytest")),
        repository="/repository",
    )
    return replace(facts, **changes)


class Story:
    """A run under way: what is told is recorded, one second after what was told before."""

    def __init__(self, facts: ev.RunStarted) -> None:
        self.run = begin(facts)
        self.records = [Recorded(1, START, facts)]
        self.now = START

    @property
    def timeline(self) -> Timeline:
        return Timeline().after(self.records)

    def wait(self, seconds: float) -> "Story":
        self.now += timedelta(seconds=seconds)
        return self

    def tell(self, *events: ev.Event) -> "Story":
        for event in events:
            self.wait(1)
            self.run = evolve(self.run, event)
            self.records.append(Recorded(len(self.records) + 1, self.now, event))
        return self

    def step(self, name: str, step: ev.Step) -> "Story":
        return self.tell(ev.StepStarted(UnitId(name), self._attempt(name), step))

    def start(self, name: str, lane: int = 1) -> "Story":
        return self.tell(ev.UnitStarted(UnitId(name), lane, self.run.tip)).drive(name)

    def drive(self, name: str) -> "Story":
        self.step(name, ev.Step.DRIVE)
        if self.run.facts.mode is Mode.PHASED:
            attempt = self._attempt(name)
            self.tell(*(ev.SubtaskStarted(UnitId(name), one, attempt) for one in self._unit(name).tasks))
        return self

    def write(self, name: str, ending: Ending = Ending.OK, **more: Any) -> "Story":
        attempt = self._attempt(name)
        if self.run.facts.mode is Mode.PHASED and ending is Ending.OK:
            self.tell(*(ev.SubtaskCompleted(UnitId(name), one, attempt) for one in self._unit(name).tasks))
        return self.tell(
            ev.AttemptEnded(
                unit=UnitId(name), attempt=attempt, ending=ending, work=work(f"{name}{attempt}"), **more
            )
        )

    def verify(self, name: str, *, passed: bool = True, **more: Any) -> "Story":
        attempt = self._attempt(name)
        more.setdefault("results", f"results {attempt}")
        return self.step(name, ev.Step.VERIFY).tell(
            ev.AttemptVerified(unit=UnitId(name), attempt=attempt, passed=passed, **more)
        )

    def review(self, name: str, *findings: Finding) -> "Story":
        return self.step(name, ev.Step.REVIEW).tell(
            ev.AttemptReviewed(
                unit=UnitId(name), attempt=self._attempt(name), approved=not findings, findings=findings
            )
        )

    def rule(self, name: str, *rulings: Ruling) -> "Story":
        return self.step(name, ev.Step.EVALUATE).tell(
            ev.FindingsEvaluated(unit=UnitId(name), attempt=self._attempt(name), rulings=rulings)
        )

    def land(self, name: str) -> "Story":
        attempt = self._attempt(name)
        return self.step(name, ev.Step.LAND).tell(ev.UnitLanded(UnitId(name), attempt, commit(name)))

    def finish_unit(self, name: str) -> "Story":
        return self.write(name).verify(name).review(name).land(name)

    def whole(self, *names: str) -> "Story":
        for name in names:
            self.start(name).finish_unit(name)
        return self

    def retry(self, name: str, cause: Cause = Cause.CHECKS_FAILED) -> "Story":
        attempt = self._attempt(name) + 1
        self.tell(ev.UnitRetried(UnitId(name), attempt, cause, base=BASE, start=BASE))
        return self.drive(name)

    def park(self, name: str, reason: Reason = Reason.VERIFY_LIMIT, detail: str = "2 tests fail") -> "Story":
        return self.tell(ev.UnitParked(UnitId(name), reason, detail))

    def fail(self, name: str) -> "Story":
        """Lets the attempt of a unit fail its checks, and parks it."""
        return self.write(name).verify(name, passed=False, feedback="2 tests fail").park(name)

    def end(self, result: Result, reason: Reason | None = None) -> "Story":
        return self.tell(ev.RunFinished(Outcome(result, reason)))

    def _attempt(self, name: str) -> int:
        state: Any = self.run.units[UnitId(name)]
        return state.track.attempt

    def _unit(self, name: str) -> Unit:
        return next(unit for unit in self.run.facts.units if unit.id == name)


def chronicle_of(story: Story) -> Chronicle:
    """Returns what is told of a run."""
    return told(opened(story.run.facts), (record.event for record in story.records))


def four_phases(workers: int = 2) -> Story:
    """Tells of the plan that document 003 draws: two phases of tests, then two of implementations."""
    test, impl = TaskType.TEST, TaskType.IMPL
    return Story(
        started(
            unit(
                "phase-1",
                task("1", test, "User model tests"),
                task("2", test, "Post model tests"),
                title="Write model tests",
            ),
            unit(
                "phase-2",
                task("3", test, "API endpoint tests"),
                task("4", test, "CLI command tests"),
                title="Write API tests",
            ),
            unit(
                "phase-3",
                task("5", impl, "User model"),
                task("6", impl, "Post model"),
                after=["phase-1"],
                group=2,
                title="Implement models",
            ),
            unit(
                "phase-4",
                task("7", impl, "API endpoints"),
                task("8", impl, "CLI commands"),
                after=["phase-1", "phase-2"],
                group=2,
                title="Implement APIs",
            ),
            mode=Mode.PHASED,
            workers=workers,
        )
    )


def chain(count: int, **changes: Any) -> Story:
    """Tells of tasks that run one after the other."""
    units = (unit(str(n), after=[str(n - 1)] if n > 1 else [], group=n) for n in range(1, count + 1))
    return Story(started(*units, **changes))
