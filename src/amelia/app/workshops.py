"""The workshop of a run, put together from what its first event says."""

from datetime import UTC, datetime
from pathlib import Path

from amelia.config.places import active_environment
from amelia.drive.script import ScriptDriver, check_script
from amelia.drive.session import Sessions
from amelia.judge.detect import find_command
from amelia.judge.verify import Verifier
from amelia.land.publish import publish_attempts
from amelia.model.agents import Driver, Role
from amelia.model.errors import ConfigError
from amelia.model.events import RunStarted
from amelia.model.evidence import TestCommand, VerifySettings
from amelia.model.git import CommitId, ref_component
from amelia.record.runs import RunDirectory
from amelia.run.workshop import Workshop
from amelia.system.git_commands import list_refs
from amelia.system.git_places import Lane, Purpose, Store
from amelia.workspace.lanes import prepare
from amelia.workspace.source import open_source

_DRIVERS = ("script",)


def open_store(directory: RunDirectory, facts: RunStarted) -> Store:
    """Returns the store of a run that was made before."""
    return Store(run=facts.run, directory=directory.path, source=open_source(Path(facts.repository)))


def open_workshop(directory: RunDirectory, facts: RunStarted) -> Workshop:
    """Returns everything the steps of a run work with."""
    drivers = {Role(role): make_driver(name, facts.script) for role, name in facts.drivers.items()}
    return Workshop(
        facts=facts,
        directory=directory,
        store=open_store(directory, facts),
        agents=Sessions(drivers),
        verifier=Verifier(
            command=facts.test_command,
            settings=facts.verify,
            home=directory.checks,
            caller=active_environment(),
        ),
        clocks=facts.clocks,
        now=lambda: datetime.now(UTC),
    )


def keep_attempts(store: Store) -> None:
    """Puts what attempts left into the user's repository, so that it outlives the store."""
    if store.git_dir.exists():
        publish_attempts(store, list_refs(store.repository, f"refs/amelia/{ref_component(store.run)}/"))


def make_driver(name: str, script: str | None) -> Driver:
    """Returns the driver of that name, ready to work."""
    if name not in _DRIVERS:
        raise ConfigError(f"there is no driver {name!r}", hint=f"known drivers: {', '.join(_DRIVERS)}")
    if script is None:
        raise ConfigError("the script driver has no script", hint="give one: --script FILE.toml")
    check_script(Path(script))
    return ScriptDriver(Path(script))


def find_tests(store: Store, base: CommitId, settings: VerifySettings) -> TestCommand | None:
    """Returns how the tree that a run starts from is tested."""
    lane = Lane(store, 1, Purpose.CHECK)
    prepare(lane, tree=base, base=base)
    return find_command(lane.directory, settings)
