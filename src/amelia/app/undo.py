"""Takes a run back that has landed, and writes down that it was."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from amelia.app.people import RefusedError, standing
from amelia.land.deliver import landed_tip
from amelia.land.undo import LeftOnBranch, Way, take_back, way_back
from amelia.model.delivery import RunUndone
from amelia.model.git import Stamp
from amelia.model.journal import Journal
from amelia.model.state import RunState
from amelia.record.runs import RunDirectory
from amelia.system.git_places import Source
from amelia.workspace.source import open_source


@dataclass(frozen=True, slots=True, eq=False)
class Undoing:
    """A run that may be taken back by whoever holds its journal, and the way; none if nothing landed."""

    journal: Journal
    run: RunState
    source: Source
    way: Way | None


def find_way(directory: RunDirectory, journal: Journal) -> Undoing:
    """Looks how a run can be taken back; changes nothing."""
    run = standing(directory)
    name = run.facts.run
    if run.outcome is None or not run.outcome.is_final:
        raise RefusedError(
            f"run {name} is {run.outcome or 'not finished'}", hint=f"give it up first: amelia abort {name}"
        )
    source = open_source(Path(run.facts.repository))
    tip = landed_tip(source, name)
    return Undoing(journal, run, source, None if tip is None else way_back(source, run.facts, tip))


def undo(undoing: Undoing, way: Way) -> RunUndone | LeftOnBranch:
    """Takes the run back."""
    stamp = Stamp(undoing.source.identity, datetime.now(UTC))
    done = take_back(undoing.source, undoing.run.facts, way, stamp=stamp)
    if isinstance(done, RunUndone) and done != undoing.run.delivery.undone:
        undoing.journal.append([done])
    return done
