"""The supervisor as the program it is: started by hand, without Amelia around it."""

import os
import signal
import subprocess  # noqa: TID251 - the program is started as Amelia would
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from amelia.system import supervise
from amelia.system.supervisors import Order
from tracing import Trace

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="trees can be seen on Linux only"),
]


class Supervisor:
    """A running supervisor and our end of its control pipe."""

    def __init__(self, process: "subprocess.Popen[bytes]", control: int) -> None:
        self.process = process
        self.control = control

    def say(self, word: bytes) -> None:
        os.write(self.control, word)

    def hang_up(self) -> None:
        os.close(self.control)
        self.control = -1

    def exit_code(self) -> int:
        return self.process.wait(10)


# As part of the package, so that it is measured; how it is started in earnest is in `supervise.BOOT`.
RUN = "import sys; from amelia.system import supervise; supervise.run(sys.argv[1:])"


@contextmanager
def supervisor(
    trace: Trace, script: str, *, grace: float = 5, lock: Path | None = None
) -> Generator[Supervisor]:
    reader, writer = os.pipe()
    env = {**os.environ, "AMELIA_TRACE": trace.mark, supervise.MARK: trace.mark}
    order = Order(
        argv=["sh", "-c", script], cwd=trace.folder, env=env, stdin=b"", keeps_errors=True, lock=lock
    )
    os.write(writer, order.written(trace.mark))
    report = os.open(os.devnull, os.O_WRONLY)
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(reader), str(report), str(grace)],
        env=env,
        pass_fds=[reader, report],
    ) as process:
        os.close(report)
        os.close(reader)
        running = Supervisor(process, writer)
        try:
            yield running
        finally:
            if running.control >= 0:
                running.hang_up()


LISTENING = (
    "trap 'exit 9' TERM; trap 'exit 8' INT; (setsid sleep 600 &); echo > ready; while :; do sleep 0.01; done"
)
DEAF = "trap '' TERM; (setsid sleep 600 &); echo > ready; while :; do sleep 0.01; done"


def test_it_ends_with_the_programs_code_once_nothing_is_left(trace: Trace) -> None:
    with supervisor(trace, "(setsid sleep 600 &); exit 6", lock=trace.folder / "lock") as running:
        assert running.exit_code() == 6
        assert not trace.living()


def test_a_signal_that_killed_the_program_is_told_as_shells_do(trace: Trace) -> None:
    with supervisor(trace, "kill -9 $$") as running:
        assert running.exit_code() == 137


def test_the_end_of_the_pipe_is_a_wish_to_stop(trace: Trace) -> None:
    with supervisor(trace, LISTENING) as running:
        trace.read("ready")
        running.hang_up()
        assert running.exit_code() == 9
        assert not trace.living()


def test_a_word_interrupts_the_program(trace: Trace) -> None:
    with supervisor(trace, LISTENING) as running:
        trace.read("ready")
        running.say(b"interrupt\n")
        assert running.exit_code() == 8


def test_a_word_with_a_grace_ends_the_program(trace: Trace) -> None:
    with supervisor(trace, DEAF) as running:
        trace.read("ready")
        running.say(b"stop 60\nstop 0.05\n")
        assert running.exit_code() == 137
        assert not trace.living()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_supervisor_is_a_wish_to_stop(trace: Trace, number: int) -> None:
    with supervisor(trace, DEAF, grace=0.05) as running:
        trace.read("ready")
        running.process.send_signal(number)
        assert running.exit_code() == 137
        assert not trace.living()


def test_two_cannot_work_under_one_lock(trace: Trace) -> None:
    lock = trace.folder / "lock"
    with supervisor(trace, LISTENING, lock=lock):
        trace.read("ready")
        before = lock.read_text()
        with supervisor(trace, "echo > second", lock=lock) as second:
            assert second.exit_code() == supervise.LOCK_IS_HELD
        assert not (trace.folder / "second").exists()
        assert lock.read_text() == before


def test_starting_it_is_quick(trace: Trace) -> None:
    forbidden = {"asyncio", "dataclasses", "enum", "json", "pathlib", "subprocess", "tempfile", "typing"}
    script = "import sys; sys.path.append(sys.argv[1]); import supervise; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, str(Path(supervise.__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not forbidden & set(loaded)
    assert trace.mark
