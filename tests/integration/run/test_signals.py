"""Signals to a coordinator, in a process of its own: the first pauses the run, the second ends it at once."""

import signal
import subprocess  # noqa: TID251 - the coordinator is a process of its own
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from amelia.model import events as ev
from amelia.record.journal import SqliteJournal, is_driven, read_journal
from runs import started, unit
from tracing import wait_until

pytestmark = pytest.mark.slow

COORDINATOR = """
import sys
from pathlib import Path
import anyio
from amelia.record.journal import SqliteJournal
from amelia.run.loop import RUN, Coordinator
from amelia.schedule.machine import fold
from amelia.testing.steps import ScriptedSteps, good_end

place = Path(sys.argv[1])

class Nobody:
    def begin(self, past): pass
    def show(self, recorded, run): pass
    def tick(self): pass

async def until_told(command):
    print("working", flush=True)
    while not (place / "go").exists():
        await anyio.sleep(0.01)
    return good_end(command)

async def main():
    with SqliteJournal(place / "journal.db") as journal:
        coordinator = Coordinator(RUN, journal, steps=ScriptedSteps({"1/drive": until_told}), watcher=Nobody())
        run = await coordinator.drive(journal.read())
        assert run == fold(recorded.event for recorded in journal.read())
    print(coordinator.stopped_by and coordinator.stopped_by.name, run.is_paused, run.wish, flush=True)

anyio.run(main)
"""


@pytest.fixture
def coordinator(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Gives a coordinator whose first step is under way."""
    with SqliteJournal(tmp_path / "journal.db") as journal:
        journal.append([started(unit("1"), test_command=None)])
    argv = [sys.executable, "-c", COORDINATOR, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"working\n"
        yield process
        process.kill()


def names_in(place: Path) -> list[str]:
    return [type(recorded.event).__name__ for recorded in read_journal(place / "journal.db")]


def wait_until_asked(place: Path) -> None:
    wait_until(lambda: "PauseRequested" in names_in(place))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_lets_the_step_under_way_finish(
    coordinator: subprocess.Popen[bytes], tmp_path: Path, number: signal.Signals
) -> None:
    coordinator.send_signal(number)
    wait_until_asked(tmp_path)
    assert coordinator.poll() is None
    assert is_driven(tmp_path / "journal.db")
    (tmp_path / "go").touch()
    out, err = coordinator.communicate(timeout=20)
    assert (out, err) == (f"{number.name} True pause\n".encode(), b"")
    assert names_in(tmp_path)[-3:] == ["PauseRequested", "AttemptEnded", "RunPaused"]


def test_the_second_signal_ends_the_step_under_way_at_once(
    coordinator: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    coordinator.send_signal(signal.SIGINT)
    wait_until_asked(tmp_path)
    coordinator.send_signal(signal.SIGTERM)
    out, err = coordinator.communicate(timeout=20)
    assert (out, err) == (b"SIGINT False pause\n", b"")
    assert names_in(tmp_path)[-2:] == ["StepStarted", "PauseRequested"]
    assert not is_driven(tmp_path / "journal.db")


def test_a_run_that_was_ended_by_signals_goes_on_where_it_was(
    coordinator: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    coordinator.send_signal(signal.SIGINT)
    wait_until_asked(tmp_path)
    coordinator.send_signal(signal.SIGINT)
    coordinator.communicate(timeout=20)
    (tmp_path / "go").touch()
    argv = [sys.executable, "-c", COORDINATOR, str(tmp_path)]
    again = subprocess.run(argv, capture_output=True, check=True, timeout=20)
    assert again.stdout == b"working\nNone False None\n"
    events = [recorded.event for recorded in read_journal(tmp_path / "journal.db")]
    assert [type(event) for event in events].count(ev.AttemptEnded) == 1
    assert isinstance(events[-1], ev.RunFinished)
