"""Commands that run to their end or their time, and programs that survive us."""

import os
import resource
import signal
import subprocess  # noqa: TID251 - somebody must start a program that survives him
import sys
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from amelia.system import process as processes
from amelia.system.process import run_supervised, spawn_detached
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

SOON = timedelta(seconds=30)


async def test_output_and_messages_are_in_the_file(trace: Trace) -> None:
    output = trace.folder / "output"
    finished = await run_supervised(
        ["sh", "-c", "echo one; echo two >&2; printf '\\377\\000'; exit 4"],
        cwd=trace.folder,
        env=trace.env,
        timeout=SOON,
        output=output,
    )
    assert (finished.exit_code, finished.timed_out, finished.truncated) == (4, False, False)
    assert 0 < finished.seconds < 10
    assert output.read_bytes() == b"one\ntwo\n\xff\0"


async def test_a_command_whose_time_is_up_has_no_exit_code_and_leaves_nothing(trace: Trace) -> None:
    output = trace.folder / "output"
    finished = await run_supervised(
        ["sh", "-c", "echo begun; setsid sleep 600 & sleep 600"],
        cwd=trace.folder,
        env=trace.env,
        timeout=timedelta(seconds=2),
        output=output,
        lock=trace.folder / "lock",
    )
    assert (finished.exit_code, finished.timed_out) == (None, True)
    assert finished.seconds >= 2
    assert output.read_text() == "begun\n"
    assert not trace.living()


async def test_a_hundred_megabytes_of_output_are_cut_and_never_in_memory(trace: Trace) -> None:
    output = trace.folder / "output"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    finished = await run_supervised(
        ["sh", "-c", "yes 0123456789abcdef | head -c 100000000; exit 1"],
        cwd=trace.folder,
        env=trace.env,
        timeout=SOON,
        output=output,
    )
    assert (finished.exit_code, finished.truncated) == (1, True)
    assert output.stat().st_size == processes.OUTPUT_LIMIT
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes


async def test_output_of_exactly_the_limit_is_not_cut(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "OUTPUT_LIMIT", 5)
    for text, truncated in (("12345", False), ("123456", True)):
        finished = await run_supervised(
            ["printf", text], cwd=trace.folder, env=trace.env, timeout=SOON, output=trace.folder / "output"
        )
        assert finished.truncated is truncated
        assert (trace.folder / "output").read_text() == "12345"


async def test_cancelling_a_command_ends_it(trace: Trace) -> None:
    with anyio.move_on_after(0.2) as scope:
        await run_supervised(
            ["sh", "-c", "setsid sleep 600 & sleep 600"],
            cwd=trace.folder,
            env=trace.env,
            timeout=SOON,
            output=trace.folder / "output",
        )
    assert scope.cancelled_caught
    assert not trace.living()


def test_a_detached_program_has_its_own_session_and_writes_to_its_log(trace: Trace) -> None:
    log = trace.folder / "log"
    log.write_text("before\n")
    script = "import os; print(os.getsid(0) == os.getpid(), flush=True); os.write(2, b'err\\n'); input()"
    pid = spawn_detached([sys.executable, "-c", script], env=trace.env, log=log)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1, "its input is empty"
    text = log.read_text()
    assert text.startswith("before\nTrue\nerr\n")
    assert "EOFError" in text


def test_a_detached_program_survives_whoever_started_it(trace: Trace) -> None:
    starter = (
        "import os, sys; from pathlib import Path; from amelia.system.process import spawn_detached;"
        "pid = spawn_detached(['sh', '-c', 'echo $$ > pid; exec sleep 600'], env=os.environ, log=Path('log'));"
    )
    subprocess.run([sys.executable, "-c", starter], cwd=trace.folder, env=trace.env, check=True)
    detached = int(trace.read("pid"))
    os.killpg(detached, 0)
    os.kill(detached, signal.SIGKILL)
    trace.wait_until_gone()


def test_a_detached_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        spawn_detached(["no-such-program"], env={}, log=tmp_path / "log")


async def report_of(trace: Trace, script: str) -> bytes:
    finished = await run_supervised(
        ["bash", "-c", script],
        cwd=trace.folder,
        env=trace.env,
        timeout=SOON,
        output=trace.folder / "output",
        reports=True,
    )
    return finished.report


async def test_what_goes_through_the_report_is_apart_from_the_output(trace: Trace) -> None:
    assert await report_of(trace, "echo said; echo reported >&$AMELIA_REPORT; echo again") == b"reported\n"
    assert trace.read("output") == "said\nagain\n"


async def test_what_was_reported_cannot_be_taken_back(trace: Trace) -> None:
    script = "echo first >&$AMELIA_REPORT; : > /proc/self/fd/$AMELIA_REPORT; echo second >&$AMELIA_REPORT"
    assert (await report_of(trace, script)).startswith(b"first\n")


async def test_a_report_ends_with_the_tree_whoever_holds_it_open(trace: Trace) -> None:
    assert await report_of(trace, "echo early >&$AMELIA_REPORT; (sleep 600; echo late >&$AMELIA_REPORT) &")
    trace.wait_until_gone()


async def test_a_report_without_end_is_cut_and_does_not_block_its_program(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "REPORT_LIMIT", 1000)
    assert len(await report_of(trace, "head -c 1000000 /dev/zero >&$AMELIA_REPORT; echo done")) == 1001
    assert trace.read("output") == "done\n"


async def test_a_program_that_is_not_to_report_has_no_pipe_for_it(trace: Trace) -> None:
    await run_supervised(
        ["sh", "-c", "ls /proc/self/fd; echo ${AMELIA_REPORT-none}"],
        cwd=trace.folder,
        env=trace.env,
        timeout=SOON,
        output=trace.folder / "output",
    )
    assert trace.read("output").split() == ["0", "1", "2", "3", "none"]
