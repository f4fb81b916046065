"""A workshop on a real repository, whose agents are functions of the test."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from amelia.judge.verify import Verifier
from amelia.model import events as ev
from amelia.model.agents import (
    AgentEvent,
    Clocks,
    Ending,
    SessionId,
    SessionStarted,
    TurnEnded,
    TurnSpec,
    Usage,
    Used,
)
from amelia.model.commands import Place
from amelia.model.evidence import RunnerKind, TestCommand, VerifySettings
from amelia.model.plan import Mode, Task, TaskId, Unit, UnitId
from amelia.record.journal import SqliteJournal
from amelia.record.prompts import shipped_texts
from amelia.record.runs import RunDirectory
from amelia.run.asking import Desk
from amelia.run.recording import Recorder
from amelia.run.workshop import Workshop
from repositories import Repo, make_repository, start_run
from runs import started

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
CHECK = TestCommand(RunnerKind.CUSTOM, ("sh", "check.sh"))
FILES = {"check.sh": "test ! -e broken.txt\n", "ground.txt": "ground\n"}
Act = Callable[[Path], TurnEnded]


def ended(ending: Ending = Ending.OK, **more: object) -> TurnEnded:
    return TurnEnded(ending=ending, session=SessionId("s-1"), **more)  # pyright: ignore[reportArgumentType]


def ending(how: Ending, **more: object) -> Act:
    """Returns an agent that does nothing, and ends in some way."""
    return lambda _: ended(how, **more)


def reporting(report: dict[str, object] | None, **files: str) -> Act:
    """Returns an agent that writes files and ends with a report."""

    def act(place: Path) -> TurnEnded:
        for name, text in files.items():
            (place / f"{name}.txt").write_text(text)
        return ended(report=report, usage=Usage(100, 20, 0.25))

    return act


@dataclass
class Actors:
    """Agents that do what they are told, one after the other, and remember what they were asked."""

    acts: list[Act] = field(default_factory=list[Act])
    specs: list[TurnSpec] = field(default_factory=list[TurnSpec])
    uses: Usage | None = None

    async def take_turn(
        self, spec: TurnSpec, on_event: Callable[[AgentEvent], None] | None = None
    ) -> TurnEnded:
        self.specs.append(spec)
        assert on_event is not None
        on_event(SessionStarted(SessionId("s-1"), "actor"))
        if self.uses is not None:
            on_event(Used(self.uses))
        if spec.is_repair and not self.acts:
            return ended(Ending.NO_REPORT)
        end = self.acts.pop(0)(Path(spec.cwd))
        if end.usage is not None:
            on_event(Used(end.usage))
        return end


@dataclass(frozen=True, slots=True)
class Bench:
    """A workshop, and what the test holds in its hands."""

    shop: Workshop
    actors: Actors
    repo: Repo
    told: list[ev.Event] = field(default_factory=list[ev.Event])

    def place(self, attempt: int = 1) -> Place:
        return Place(self.shop.facts.units[0], lane=1, attempt=attempt, base=self.shop.facts.base)

    def tell(self, event: ev.Event) -> None:
        self.told.append(event)

    def let(self, *acts: Act) -> None:
        self.actors.acts += acts


def make_bench(
    path: Path, mode: Mode = Mode.TASKS, *, command: TestCommand | None = CHECK, tasks: int = 1
) -> Bench:
    """Makes a workshop for a run of one unit."""
    repo = make_repository(path / "repository", FILES)
    run = start_run(repo, path / "run")
    pieces = tuple(
        Task(id=TaskId(str(n)), title=f"Do {n}", section=f"Section {n}") for n in range(1, tasks + 1)
    )
    name = "phase-1" if mode is Mode.PHASED else "1"
    unit = Unit(UnitId(name), "Ground", tuple(piece.id for piece in pieces), (), 1, pieces)
    facts = started(unit, mode=mode, run=run.store.run, base=run.base, test_command=command)
    actors = Actors()
    directory = RunDirectory(path / "run")
    directory.plan.write_text("# The plan\n")
    with SqliteJournal(directory.journal) as journal:
        journal.append([facts])
    verifier = Verifier(command=command, settings=VerifySettings(), home=path / "checks")
    shop = Workshop(
        facts=facts,
        desk=Desk(
            directory=directory,
            agents=actors,
            settings=facts.agents,
            clocks=Clocks(),
            texts=shipped_texts(),
        ),
        store=run.store,
        verifier=verifier,
        recorder=Recorder(directory, run.store, facts, seen=verifier.seen),
        now=lambda: NOW,
    )
    return Bench(shop, actors, repo)
