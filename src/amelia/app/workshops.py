"""The workshop of a run, put together from what its first event says."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
from anyio import to_thread

from amelia.app.agents import make_driver
from amelia.app.walls import Walls
from amelia.config.places import active_environment
from amelia.drive.homes import settle_logins
from amelia.drive.session import Sessions
from amelia.judge.detect import find_command, planned_commands
from amelia.judge.verify import Verifier
from amelia.land.publish import publish_attempts
from amelia.model.agents import AgentEvent, AgentSettings, Role, SessionId, TurnEnded, TurnSpec
from amelia.model.errors import ConfigError
from amelia.model.events import AttemptVerified, RunStarted, SessionOpened
from amelia.model.evidence import TestCommand, VerifySettings
from amelia.model.git import ref_component
from amelia.model.journal import Recorded
from amelia.model.plan import Unit
from amelia.record.prompts import kept_texts
from amelia.record.runs import RunDirectory, claim
from amelia.run.asking import Desk
from amelia.run.recording import Recorder
from amelia.run.workshop import Workshop
from amelia.system.git_commands import list_refs, managed_paths
from amelia.system.git_places import Lane, Store, repository_at
from amelia.workspace.source import open_source
from amelia.workspace.store import is_whole, restore
from amelia.workspace.unkept import lanes_of


def open_store(directory: RunDirectory, facts: RunStarted) -> Store:
    """Returns the store of a run that was made before."""
    return store_of(directory, facts.repository)


def store_of(directory: RunDirectory, repository: str) -> Store:
    """Returns the store that the run in a directory has of a repository."""
    claim(directory)
    return Store(run=directory.run, directory=directory.path, source=open_source(Path(repository)))


def _walled_store(walls: Walls, facts: RunStarted) -> Store:
    store = open_store(walls.directory, facts)
    return replace(store, wall=walls.of_filters(store))


def open_workshop(
    directory: RunDirectory,
    facts: RunStarted,
    past: Sequence[Recorded] = (),
    *,
    is_run: bool = True,
    is_going_on: bool = False,
) -> Workshop:
    """Returns everything the steps of a run work with, or those of a review on its own.

    `past` tells whose sessions are, and what is proved. A run that is going on gets its store again if that
    is gone; of one that is over it may have been cleared away.
    """
    happened = [recorded.event for recorded in past]
    owners = {event.session: event.role for event in happened if isinstance(event, SessionOpened)}
    proofs = [event.proof for event in happened if isinstance(event, AttemptVerified) and event.proof]
    walls = Walls(
        settings=facts.wall, directory=directory, repository=Path(facts.repository), agents=facts.agents
    )
    store = _walled_store(walls, facts)
    if is_going_on and not is_whole(store):
        restore(store, facts.base)
    verifier = make_verifier(walls, facts.test_command, facts.verify, known=proofs)
    return Workshop(
        facts=facts,
        desk=Desk(
            directory=directory,
            agents=RunAgents(facts.agents, owners, directory.agents),
            settings=facts.agents,
            clocks=facts.clocks,
            texts=kept_texts(directory),
            shown=(f"{facts.record_place.path}/",),
            wall_of=walls.of_agent,
        ),
        store=store,
        verifier=verifier,
        recorder=Recorder(directory, store, facts, seen=verifier.seen, past=past, is_run=is_run),
        now=lambda: datetime.now(UTC),
        wall_of_hooks=walls.of_hook,
    )


class RunAgents:
    """The agents of a run, looked for when the first takes a turn: a run can be ended without them."""

    def __init__(
        self, settings: Mapping[str, AgentSettings], owners: Mapping[SessionId, Role], state: Path
    ) -> None:
        self._settings = settings
        self._state = state
        self._owners = owners
        self._sessions: Sessions | None = None

    async def take_turn(
        self, spec: TurnSpec, on_event: Callable[[AgentEvent], None] | None = None
    ) -> TurnEnded:
        """Carries out one whole turn."""
        if self._sessions is None:
            await to_thread.run_sync(settle_logins, self._settings.values(), self._state)
            drivers = {Role(role): make_driver(agent) for role, agent in self._settings.items()}
            self._sessions = Sessions(drivers, self._owners)
        return await self._sessions.take_turn(spec, on_event)


def make_verifier(
    walls: Walls,
    command: TestCommand | None,
    settings: VerifySettings,
    *,
    known: Iterable[str] = (),
) -> Verifier:
    """Returns what runs the tests of a run; `known` are the receipts of it that can be believed."""
    return Verifier(
        command=command,
        settings=settings,
        home=walls.directory.checks,
        known=known,
        caller=active_environment(),
        lock_of=walls.directory.lock_beside,
        managed=lambda worktree: managed_paths(repository_at(worktree)),
        walls=walls,
    )


def keep_work(shop: Workshop, *, is_final: bool) -> None:
    """Puts what attempts left into the user's repository; of a run that is over, also what was cut off."""
    store = shop.store
    if not store.git_dir.exists():
        return  # it was cleared away, and all of it put there before
    for lane in lanes_of(store) if is_final else ():
        shop.keep_leftover(lane)
    publish_attempts(store, list_refs(store.repository, f"refs/amelia/{ref_component(store.run)}/"))


def find_tests(
    walls: Walls, lane: Lane, *, units: Iterable[Unit], settings: VerifySettings
) -> TestCommand | None:
    """Returns how the tree in a lane is tested, proved to be possible.

    A tree without tests is tested as the files say that the plan is going to write.
    """
    found = find_command(lane.directory, settings)
    if found is not None:
        _prove(walls, lane, command=found, settings=settings)
        return found
    declared = [path for unit in units for piece in unit.pieces for path in piece.files]
    for planned in planned_commands(declared):
        with suppress(ConfigError):
            _prove(walls, lane, command=planned, settings=settings)
            return planned
    return None


def _prove(walls: Walls, lane: Lane, *, command: TestCommand, settings: VerifySettings) -> None:
    """Raises if a command cannot test what is in a lane."""

    async def as_it_is(_: str) -> Path:
        return lane.directory

    anyio.run(make_verifier(walls, command, settings).check, "", as_it_is)
