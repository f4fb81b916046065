"""What a killed Amelia or a killed supervisor leaves behind, and who ends it."""

import json
import os
import signal
import subprocess  # noqa: TID251 - the tests kill a whole Amelia
import sys
from pathlib import Path

import pytest

from amelia.model.errors import AmeliaError
from amelia.system import process as processes
from amelia.system.process import end_stale, is_alive, process_start_time, supervised
from amelia.system.supervise import boot_id
from amelia.system.supervisors import GRACE
from tracing import Trace, wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="trees can be seen on Linux only"),
]

TREE = "sleep 600 & setsid sleep 600 & (setsid sh -c 'sleep 600 & sleep 600' &) ; echo $PPID $$ > pids; wait"
ORCHESTRATOR = """
import sys
from pathlib import Path
import anyio
from amelia.system.environment import clean_environment
from amelia.system.process import supervised

async def main():
    env = clean_environment({"AMELIA_TRACE": sys.argv[2]})
    folder = Path(sys.argv[1])
    async with supervised(["sh", "-c", sys.argv[3]], cwd=folder, env=env, lock=folder / "lock") as process:
        await process.wait()

anyio.run(main)
"""


def orchestrator(trace: Trace, script: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", ORCHESTRATOR, str(trace.folder), trace.mark, script])


def pids(trace: Trace) -> tuple[int, int]:
    supervisor, child = trace.read("pids").split()
    return int(supervisor), int(child)


def test_nothing_survives_a_killed_amelia_for_long(trace: Trace) -> None:
    amelia = orchestrator(trace, TREE)
    pids(trace)
    wait_until(lambda: len(trace.living()) >= 6)
    amelia.kill()
    amelia.wait()
    trace.wait_until_gone(seconds=3)


def test_a_program_that_does_not_listen_survives_a_killed_amelia_by_its_grace_only(trace: Trace) -> None:
    amelia = orchestrator(trace, "trap '' TERM; " + TREE)
    pids(trace)
    amelia.kill()
    amelia.wait()
    trace.wait_until_gone(seconds=GRACE.total_seconds() + 3)


async def test_what_survived_amelia_and_supervisor_is_ended_on_resume(trace: Trace) -> None:
    amelia = orchestrator(trace, TREE)
    supervisor, child = pids(trace)
    started = process_start_time(child)
    assert started
    amelia.send_signal(signal.SIGSTOP)  # so that it cannot tidy up
    os.kill(supervisor, signal.SIGKILL)
    amelia.kill()
    amelia.wait()
    assert is_alive(child, started)
    await end_stale(trace.folder / "lock")
    assert not trace.living()


async def test_only_what_was_recorded_is_ended(trace: Trace) -> None:
    async with supervised(
        ["sh", "-c", "echo ready; exec sleep 600"],
        cwd=trace.folder,
        env=trace.env,
        lock=trace.folder / "other",
    ) as bystander:
        await anext(aiter(bystander.stdout))
        before = trace.living()
        amelia = orchestrator(trace, TREE)
        supervisor, _ = pids(trace)
        amelia.send_signal(signal.SIGSTOP)
        os.kill(supervisor, signal.SIGKILL)
        amelia.kill()
        amelia.wait()
        await end_stale(trace.folder / "lock")
        assert trace.living() == before


async def test_a_supervisor_that_is_about_to_end_is_waited_for(trace: Trace) -> None:
    amelia = orchestrator(trace, "trap 'sleep 0.3; echo done > done; exit' TERM; " + TREE)
    pids(trace)
    amelia.kill()
    amelia.wait()
    await end_stale(trace.folder / "lock")
    assert not trace.living()
    assert (trace.folder / "done").exists(), "it was given its grace"


async def test_a_supervisor_that_hangs_is_ended(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.3)
    amelia = orchestrator(trace, TREE)
    supervisor, _ = pids(trace)
    os.kill(supervisor, signal.SIGSTOP)
    amelia.kill()
    amelia.wait()
    await end_stale(trace.folder / "lock")
    assert not trace.living()


def record(lock: Path, **changes: object) -> Path:
    own = {"supervisor": os.getpid(), "supervisor_started": 1, "child": os.getpid(), "child_started": 1}
    lock.write_text(json.dumps({**own, "token": "nobody's", "boot": boot_id(), **changes}))
    return lock


async def test_a_process_that_only_has_the_same_id_is_left_alone(tmp_path: Path) -> None:
    await end_stale(record(tmp_path / "lock"))  # it names this very process, with another start time


async def test_a_record_from_before_the_last_boot_means_nobody(tmp_path: Path) -> None:
    started = process_start_time(os.getpid())
    await end_stale(record(tmp_path / "lock", child_started=started, boot="another"))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"supervisor": "x"}', "\0"])
async def test_a_broken_record_means_nobody(tmp_path: Path, text: str) -> None:
    lock = tmp_path / "lock"
    lock.write_text(text)
    await end_stale(lock)


async def test_no_record_means_nobody(tmp_path: Path) -> None:
    await end_stale(tmp_path / "none")


async def test_what_cannot_be_ended_is_named(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0)  # no time at all, as for one that hangs in the system
    async with supervised(
        ["sh", "-c", "echo ready; sleep 600"], cwd=trace.folder, env=trace.env, lock=tmp_path / "lock"
    ) as process:
        await anext(aiter(process.stdout))
        with pytest.raises(AmeliaError, match="do not end") as caught:
            await end_stale(tmp_path / "lock")
        assert caught.value.hint
        monkeypatch.undo()
