"""Supervisors that wait for the next program: they save its wait, and change nothing else."""

import os
import signal
import subprocess  # noqa: TID251 - the tests kill a whole Amelia
import sys

import anyio
import pytest

from amelia.system.process import process_start_time, supervised
from amelia.system.supervise import descendants
from amelia.system.supervisors import at_hand
from tracing import Trace, wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="trees can be seen on Linux only"),
]


async def parent_of(trace: Trace, script: str = "echo $PPID") -> int:
    """Runs a program and returns its supervisor."""
    async with supervised(["sh", "-c", script], cwd=trace.folder, env=trace.env) as process:
        said = b"".join([chunk async for chunk in process.stdout])
        assert await process.wait() == 0
    return int(said)


def children() -> set[int]:
    return descendants([os.getpid()])


async def test_the_next_supervisor_is_there_before_its_program_and_none_stays(trace: Trace) -> None:
    before = children()
    async with at_hand():
        first = await parent_of(trace)
        (waiting,) = children() - before
        assert waiting != first
        assert await parent_of(trace) == waiting
    assert children() == before


async def test_they_are_let_go_without_a_word(trace: Trace, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(10):
        async with at_hand():
            await parent_of(trace)
            await anyio.sleep(0.05)  # so that it waits already
    assert not caplog.records


async def test_without_being_kept_at_hand_none_waits(trace: Trace) -> None:
    before = children()
    await parent_of(trace)
    assert children() == before


async def test_one_that_was_killed_while_it_waited_is_replaced(trace: Trace) -> None:
    before = children()
    async with at_hand():
        await parent_of(trace)
        (waiting,) = children() - before
        os.kill(waiting, signal.SIGKILL)
        wait_until(lambda: process_start_time(waiting) is None)
        assert await parent_of(trace) != waiting


async def test_one_that_hangs_while_it_waits_keeps_nobody_waiting_at_the_end(trace: Trace) -> None:
    before = children()
    with anyio.fail_after(5):
        async with at_hand():
            await parent_of(trace)
            (waiting,) = children() - before
            os.kill(waiting, signal.SIGSTOP)
    assert children() == before


async def test_programs_that_start_together_have_one_each(trace: Trace) -> None:
    before = children()
    found: set[int] = set()

    async def one(name: str) -> None:
        found.add(
            await parent_of(trace, f"echo $PPID; echo > {name}; while [ ! -e go ]; do sleep 0.01; done")
        )

    async with at_hand():
        for _ in range(2):
            async with anyio.create_task_group() as tasks:
                for name in "abcd":
                    tasks.start_soon(one, name)
                for name in "abcd":
                    await anyio.to_thread.run_sync(trace.read, name)
                    (trace.folder / name).unlink()
                (trace.folder / "go").touch()
            (trace.folder / "go").unlink()
        assert len(children() - before) <= 4, "no more wait than were started at one moment"
    assert len(found) == 8
    assert children() == before


async def test_a_program_sees_nothing_of_what_was_given_to_the_one_before(trace: Trace) -> None:
    async with at_hand():
        for number in ("1", "2"):
            env = {**trace.env, f"ONLY_{number}": number}
            async with supervised(
                ["sh", "-c", "env; cat; pwd >&2"],
                cwd=trace.folder,
                env=env,
                stdin=f"input {number}\n".encode(),
                keeps_errors=True,
            ) as process:
                lines = b"".join([chunk async for chunk in process.stdout]).decode().splitlines()
                process.errors.seek(0)
                assert process.errors.read().decode() == f"{trace.folder}\n"
            assert [line for line in lines if line.startswith("ONLY_")] == [f"ONLY_{number}={number}"]
            assert lines[-1] == f"input {number}"


async def test_an_order_that_no_pipe_can_hold_arrives_whole(trace: Trace) -> None:
    long = {f"LONG_{n}": "x" * 100_000 for n in range(5)}
    async with supervised(["env"], cwd=trace.folder, env={**trace.env, **long}) as process:
        said = b"".join([chunk async for chunk in process.stdout])
    assert said.count(b"x" * 100_000) == 5


WAITER = """
import sys
from pathlib import Path
import anyio
from amelia.system.process import supervised
from amelia.system.supervisors import at_hand

async def main():
    async with at_hand():
        async with supervised(["true"], cwd=Path(sys.argv[1]), env={}) as process:
            await process.wait()
        print("ready", flush=True)
        await anyio.sleep(600)

anyio.run(main)
"""


def test_one_that_waits_does_not_survive_a_killed_amelia(trace: Trace) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITER, str(trace.folder)], stdout=subprocess.PIPE
    ) as amelia:
        assert amelia.stdout is not None
        assert amelia.stdout.readline() == b"ready\n"
        (waiting,) = descendants([amelia.pid])
        started = process_start_time(waiting)
        amelia.kill()
    wait_until(lambda: process_start_time(waiting) != started)
