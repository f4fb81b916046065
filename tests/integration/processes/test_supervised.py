"""Programs under a supervisor: what they get, what they give back, and that nothing of them remains."""

import fcntl
import json
import os
import signal
import sys
import time
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from amelia.system import process as processes
from amelia.system.messages import KEPT
from amelia.system.process import Supervised, process_start_time, supervised
from tracing import Trace, wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="trees can be seen on Linux only"),
]

AT_ONCE = timedelta(0)
# A child, a grandchild in a session of its own, and a daemon that has forked twice; all would stay.
TREE = "sleep 600 & setsid sleep 600 & (setsid sh -c 'sleep 600 & sleep 600' &) ; echo started; "


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


async def output_of(process: Supervised) -> bytes:
    return b"".join([chunk async for chunk in process.stdout])


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def first_line(process: Supervised) -> bytes:
    return await anext(aiter(process.stdout))


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -15 $$", 143)]
)
async def test_the_exit_code_is_that_of_the_program(trace: Trace, script: str, code: int) -> None:
    async with supervised(sh(script), cwd=trace.folder, env=trace.env) as process:
        assert await process.wait() == code


async def test_a_program_that_is_not_there_says_so(trace: Trace) -> None:
    async with supervised(["no-such-program"], cwd=trace.folder, env=trace.env) as process:
        assert b"cannot start 'no-such-program'" in await output_of(process)
        assert await process.wait() == 127


async def test_a_folder_that_is_not_there_is_an_error_and_leaves_nothing_open(trace: Trace) -> None:
    before = open_files()
    with pytest.raises(FileNotFoundError):
        async with supervised(["true"], cwd=trace.folder / "none", env=trace.env):
            pass
    assert open_files() == before


async def test_input_output_and_messages_go_where_they_belong(trace: Trace) -> None:
    data = bytes(range(256)) * 40_000
    async with supervised(
        sh("cat; echo problem >&2"), cwd=trace.folder, env=trace.env, stdin=data, keeps_errors=True
    ) as process:
        assert await output_of(process) == data
        process.errors.seek(0)
        assert process.errors.read() == b"problem\n"


async def test_of_endless_messages_the_beginning_and_the_end_are_kept(trace: Trace) -> None:
    script = "echo first >&2; head -c 50000000 /dev/zero >&2; (echo last; exec 2>&-; sleep 0.2) >&2"
    async with supervised(sh(script), cwd=trace.folder, env=trace.env, keeps_errors=True) as process:
        await output_of(process)
        process.errors.seek(0)
        kept = process.errors.read()
    assert len(kept) < 2 * KEPT + 100
    assert kept.startswith(b"first\n")
    assert kept.endswith(b"last\n")
    assert kept.count(b" bytes are left out here") == 1


async def test_unless_they_are_kept_messages_come_with_the_output(trace: Trace) -> None:
    async with supervised(sh("echo a; echo b >&2; cat"), cwd=trace.folder, env=trace.env) as process:
        assert await output_of(process) == b"a\nb\n"


async def test_the_program_runs_where_it_is_told_and_sees_only_what_it_is_given(trace: Trace) -> None:
    async with supervised(sh("pwd; env"), cwd=trace.folder, env=trace.env) as process:
        lines = (await output_of(process)).decode().splitlines()
    assert lines[0] == str(trace.folder)
    seen = {line.partition("=")[0] for line in lines[1:]}
    assert seen <= {*trace.env, "AMELIA_SUPERVISED", "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}


async def test_the_program_gets_no_file_of_ours(trace: Trace) -> None:
    async with supervised(sh("ls /proc/self/fd | wc -l"), cwd=trace.folder, env=trace.env) as process:
        assert int(await output_of(process)) == 4  # three standard ones, and the folder that ls reads


async def test_a_broken_pipe_ends_a_program_as_anywhere_else(trace: Trace) -> None:
    async with supervised(sh("yes | head -n 1"), cwd=trace.folder, env=trace.env) as process:
        assert await output_of(process) == b"y\n"


@pytest.mark.parametrize("last", ["exit 0", "exit 7", "kill -9 $$"])
async def test_what_a_program_leaves_behind_ends_with_it(trace: Trace, last: str) -> None:
    async with supervised(sh(TREE + last), cwd=trace.folder, env=trace.env) as process:
        await process.wait()
        assert not trace.living()


async def test_leaving_the_block_ends_the_whole_tree(trace: Trace) -> None:
    async with supervised(sh(TREE + "wait"), cwd=trace.folder, env=trace.env) as process:
        await first_line(process)
        wait_until(lambda: len(trace.living()) >= 6)
    assert not trace.living()


async def test_an_exception_in_the_block_ends_the_whole_tree(trace: Trace) -> None:
    with pytest.raises(LookupError):  # noqa: PT012 - the block is what is tested
        async with supervised(sh(TREE + "wait"), cwd=trace.folder, env=trace.env) as process:
            await first_line(process)
            raise LookupError
    assert not trace.living()


async def test_cancelling_ends_the_whole_tree(trace: Trace) -> None:
    with anyio.move_on_after(0.3) as scope:
        async with supervised(sh(TREE + "wait"), cwd=trace.folder, env=trace.env) as process:
            await process.wait()
    assert scope.cancelled_caught
    assert not trace.living()


async def test_a_tree_that_keeps_forking_is_ended(trace: Trace) -> None:
    forking = (
        "for i in 1 2 3 4; do (while :; do (setsid sleep 0.01 &); sleep 0.005; done) & done; echo go; wait"
    )
    async with supervised(sh(forking), cwd=trace.folder, env=trace.env) as process:
        await first_line(process)
        await process.stop(AT_ONCE)
        assert not trace.living()


async def test_a_program_is_asked_before_it_is_killed(trace: Trace) -> None:
    polite = "trap 'echo bye >> said; exit 5' TERM; echo ready; while :; do sleep 0.01; done"
    async with supervised(sh(polite), cwd=trace.folder, env=trace.env) as process:
        await first_line(process)
        await process.stop(timedelta(seconds=5))
        assert await process.wait() == 5
    assert (trace.folder / "said").read_text() == "bye\n"


async def test_a_program_that_does_not_listen_is_killed_after_its_grace(trace: Trace) -> None:
    deaf = "trap '' TERM; echo ready; while :; do sleep 0.01; done"
    async with supervised(sh(deaf), cwd=trace.folder, env=trace.env) as process:
        await first_line(process)
        started = time.monotonic()
        await process.stop(timedelta(seconds=0.2))
        assert 0.2 <= time.monotonic() - started < 5
        assert await process.wait() == 137


async def test_a_second_wish_to_stop_may_shorten_the_grace(trace: Trace) -> None:
    deaf = "trap '' TERM; echo ready; while :; do sleep 0.01; done"
    async with supervised(sh(deaf), cwd=trace.folder, env=trace.env) as process:
        await first_line(process)
        started = time.monotonic()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.stop, timedelta(seconds=60))
            await anyio.sleep(0.02)
            await process.stop(AT_ONCE)
        assert time.monotonic() - started < 30


async def test_an_interrupt_reaches_the_program(trace: Trace) -> None:
    listening = "trap 'echo stopped; exit 0' INT; echo ready; while :; do sleep 0.01; done"
    async with supervised(sh(listening), cwd=trace.folder, env=trace.env) as process:
        await first_line(process)
        process.interrupt()
        assert await output_of(process) == b"stopped\n"
        assert await process.wait() == 0


async def test_a_stopped_program_ends_too(trace: Trace) -> None:
    async with supervised(sh("echo ready; kill -STOP $$"), cwd=trace.folder, env=trace.env) as process:
        await first_line(process)
        await process.stop(timedelta(seconds=0.1))
        assert not trace.living()


async def test_one_huge_line_comes_through(trace: Trace) -> None:
    script = "import sys; sys.stdout.buffer.write(b'x' * 20_000_000)"
    async with supervised([sys.executable, "-c", script], cwd=trace.folder, env=trace.env) as process:
        sizes = [len(chunk) async for chunk in process.stdout]
    assert sum(sizes) == 20_000_000
    assert max(sizes) <= processes.CHUNK


async def test_the_lock_tells_which_processes_these_are_and_is_free_afterwards(trace: Trace) -> None:
    lock = trace.folder / "turn"
    lock.write_text("what an earlier turn wrote" * 100)
    async with supervised(sh("echo $$; cat"), cwd=trace.folder, env=trace.env, lock=lock) as process:
        pid = int(await first_line(process))
        record = json.loads(lock.read_bytes())
        assert (record["child"], record["child_started"]) == (pid, process_start_time(pid))
        assert record["supervisor_started"] == process_start_time(supervisor_of(pid))
        await process.wait()
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


async def test_the_folder_of_a_lock_is_made(trace: Trace) -> None:
    lock = trace.folder / "locks" / "deep" / "turn"
    async with supervised(["true"], cwd=trace.folder, env=trace.env, lock=lock) as process:
        assert await process.wait() == 0
    assert lock.exists()


async def test_a_signal_to_our_group_does_not_reach_the_tree(trace: Trace) -> None:
    async with supervised(sh("echo $$; sleep 600"), cwd=trace.folder, env=trace.env) as process:
        child = int(await first_line(process))
        assert len({os.getsid(0), os.getsid(supervisor_of(child)), os.getsid(child)}) == 3


async def test_a_lock_that_is_held_lets_nothing_start(trace: Trace) -> None:
    lock = trace.folder / "lock"
    async with supervised(sh("echo ready; sleep 600"), cwd=trace.folder, env=trace.env, lock=lock) as first:
        await first_line(first)
        async with supervised(["touch", "made"], cwd=trace.folder, env=trace.env, lock=lock) as second:
            assert b"another process still works under this lock" in await output_of(second)
            assert await second.wait() == 125
    assert not (trace.folder / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGHUP])
async def test_what_is_ignored_by_us_is_not_ignored_by_a_program(
    trace: Trace, number: signal.Signals
) -> None:
    before = signal.signal(number, signal.SIG_IGN)  # as after `nohup amelia run … &`
    try:
        async with supervised(
            sh(f"kill -{number.value} $$; echo still here"), cwd=trace.folder, env=trace.env
        ) as process:
            assert await output_of(process) == b""
            assert await process.wait() == 128 + number
    finally:
        signal.signal(number, before)


def supervisor_of(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat.rpartition(")")[2].split()[1])


async def test_a_killed_supervisor_does_not_save_the_tree(trace: Trace) -> None:
    async with supervised(sh(TREE + "echo $$ > pid; wait"), cwd=trace.folder, env=trace.env) as process:
        os.kill(supervisor_of(int(trace.read("pid"))), signal.SIGKILL)
        assert await process.wait() == 137
        assert trace.living()
    assert not trace.living()


async def test_an_agent_that_kills_its_supervisor_cannot_keep_us_waiting(trace: Trace) -> None:
    # What it leaves has no parent and carries no mark, so that nobody can find it; and it holds our pipe open.
    script = "(env -i setsid sleep 600 & echo $! > left); echo started; kill -9 $PPID; sleep 600"
    started = time.monotonic()
    async with supervised(sh(script), cwd=trace.folder, env=trace.env) as process:
        assert await output_of(process) == b"started\n"
        assert await process.wait() == 137
    assert time.monotonic() - started < 60
    assert not trace.living()
    os.kill(int(trace.read("left")), signal.SIGKILL)


async def test_a_supervisor_that_hangs_is_killed_with_its_tree(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.3)
    async with supervised(sh(TREE + "echo $$ > pid; wait"), cwd=trace.folder, env=trace.env) as process:
        os.kill(supervisor_of(int(trace.read("pid"))), signal.SIGSTOP)
        await process.stop(AT_ONCE)
        assert not trace.living()


async def test_cancelling_is_bounded_also_when_the_supervisor_hangs(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.3)
    with anyio.CancelScope() as scope:
        async with supervised(sh(TREE + "echo $$ > pid; wait"), cwd=trace.folder, env=trace.env):
            os.kill(supervisor_of(int(trace.read("pid"))), signal.SIGSTOP)
            scope.cancel()
    assert not trace.living()


async def test_a_supervisor_that_is_asked_to_end_ends_its_tree(trace: Trace) -> None:
    async with supervised(sh(TREE + "echo $$ > pid; wait"), cwd=trace.folder, env=trace.env) as process:
        os.kill(supervisor_of(int(trace.read("pid"))), signal.SIGTERM)
        assert await process.wait() == 143
        assert not trace.living()
