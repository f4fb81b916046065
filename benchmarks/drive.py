"""What driving an agent costs, above what the agent itself takes; every figure comes from one run of this.

`python benchmarks/drive.py` measures and prints a table; `--write` puts it into docs/benchmarks/drive.md;
`--check` fails when a goal is missed; `--quick` takes small sizes, to see that everything works.
"""

import argparse
import json
import statistics
import subprocess  # noqa: TID251 - the agent alone, and turns in processes of their own
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice, repeat
from pathlib import Path
from typing import TypeAlias

import anyio

from amelia.drive.claude.lines import ClaudeLines
from amelia.drive.codex.lines import CodexLines
from amelia.drive.ending import Seen
from amelia.drive.plain import read_plain_line
from amelia.drive.script import player
from amelia.drive.script.driver import ScriptDriver
from amelia.drive.session import Sessions
from amelia.drive.stream import Dialect, Line, Lines
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import Ending, Role, SessionId, TurnEnded, TurnSpec
from amelia.system.secrets import Redactor

REPOSITORY = Path(__file__).parents[1]
PROMPT = "Do the task.\n" * 100
MOVES = """\
[[turn]]
do = [{ say = "I begin." }, { write = "a.txt", text = "a" }, { say = "Done." }]
report = { status = "completed", summary = "done" }
usage = { input = 1000, output = 100 }
"""
SECRET = "a-key-that-nobody-may-see-0123456789"  # noqa: S105 - of nobody
MEGABYTE = 1_000_000
CHUNK = 65_536

Message: TypeAlias = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number, and what it may be at most or has to be at least."""

    what: str
    measured: float
    at_most: float | None = None
    at_least: float | None = None
    detail: str

    @property
    def is_missed(self) -> bool:
        """Says whether a goal is missed."""
        is_over = self.at_most is not None and self.measured > self.at_most
        return is_over or (self.at_least is not None and self.measured < self.at_least)

    def row(self) -> str:
        """Returns the figure as a line of the table."""
        goals = (f"≤ {self.at_most:,g}" if self.at_most is not None else "",)
        goals += (f"≥ {self.at_least:,.0f}" if self.at_least is not None else "",)
        digits = 0 if self.measured >= MEGABYTE / 1000 else 2
        return f"| {self.what} | {self.measured:,.{digits}f} | {''.join(goals) or '–'} | {self.detail} |"


def spec(place: Path, name: str = "turn") -> TurnSpec:
    return TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt=PROMPT,
        cwd=str(place),
        session=SessionId(str(uuid.uuid4())),
        transcript=str(place / f"{name}.jsonl"),
        lock=str(place / f"{name}.lock"),
        state=str(place),
    )


def overhead(place: Path, *, turns: int) -> Figure:
    """Takes turns with the player, and lets the player play alone, in turns."""
    script = place / "moves.toml"
    script.write_text(MOVES)
    ours: list[float] = []
    alone: list[float] = []

    async def take_turns() -> None:
        sessions = Sessions({Role.DEVELOPER: ScriptDriver(script)})
        for number in range(turns):
            began = time.perf_counter()
            ended = await sessions.take_turn(spec(place, f"turn-{number}"))
            ours.append(time.perf_counter() - began)
            assert ended.ending is Ending.OK, ended
            alone.append(play_alone(place, script))

    anyio.run(take_turns)
    # Others may use the machine, too: the quicker turns are those that were left alone.
    mine, theirs = (statistics.quantiles(taken, n=4)[0] for taken in (ours, alone))
    return Figure(
        what="a turn above the agent's own time, milliseconds",
        measured=(mine - theirs) * 1000,
        at_most=30,
        detail=f"{mine * 1000:.0f} ms against {theirs * 1000:.0f} ms, first quartiles of {turns}",
    )


def play_alone(place: Path, script: Path) -> float:
    asked = (f"--script={script}", "--role=developer", "--unit=1", "--attempt=1", "--session=s")
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-I", "-S", str(Path(player.__file__)), *asked],
        cwd=place,
        env=agent_environment(spec(place), {}),
        input=PROMPT.encode(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began


def plain_lines() -> list[Message]:
    """Returns what a program of ours says when a model uses a tool."""
    return [
        {"type": "say", "text": "I will look at the tests first, then change the function. " * 4},
        {"type": "tool", "state": "started", "name": "shell", "detail": "python -m pytest -q tests"},
        {"type": "tool", "state": "ended", "name": "shell", "ok": True},
        {"type": "usage", "input": 12_345, "output": 678, "cost": 0.0123},
    ]


def claude_lines() -> list[Message]:
    """Returns what Claude Code says when it uses a tool, with the fields around it that nobody reads."""
    usage = {
        "input_tokens": 3,
        "cache_creation_input_tokens": 812,
        "cache_read_input_tokens": 14_210,
        "cache_creation": {"ephemeral_5m_input_tokens": 812, "ephemeral_1h_input_tokens": 0},
        "output_tokens": 1,
        "service_tier": "standard",
    }
    session = {"parent_tool_use_id": None, "session_id": str(uuid.uuid4()), "uuid": str(uuid.uuid4())}

    def assistant(block: Message) -> Message:
        message = {"model": "claude-sonnet-4-5", "id": "msg_01", "type": "message", "role": "assistant"}
        more = {"content": [block], "stop_reason": None, "stop_sequence": None, "usage": usage}
        return {"type": "assistant", "message": {**message, **more}, **session}

    asked = {"command": "python -m pytest -q"}
    output = "tests/test_a.py::test_one PASSED\n" * 20
    answer = {"tool_use_id": "toolu_01", "type": "tool_result", "content": output, "is_error": False}
    result = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    return [
        assistant({"type": "text", "text": "I will look at the tests first, then change the function. " * 4}),
        assistant({"type": "tool_use", "id": "toolu_01", "name": "Bash", "input": asked}),
        {
            "type": "user",
            "message": {"role": "user", "content": [answer]},
            "tool_use_result": result,
            **session,
        },
    ]


def codex_lines() -> list[Message]:
    """Returns what Codex says when it runs a command."""
    run = {"id": "item_1", "type": "command_execution", "command": "/bin/bash -lc 'python -m pytest -q'"}
    output = "tests/test_a.py::test_one PASSED\n" * 20
    text = "I will look at the tests first, then change the function. " * 4
    return [
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": text}},
        {
            "type": "item.started",
            "item": {**run, "aggregated_output": "", "exit_code": None, "status": "in_progress"},
        },
        {
            "type": "item.completed",
            "item": {**run, "aggregated_output": output, "exit_code": 0, "status": "completed"},
        },
    ]


DIALECTS: dict[str, tuple[Callable[[], list[Message]], Callable[[], Dialect]]] = {
    "plain": (plain_lines, lambda: read_plain_line),
    "claude": (claude_lines, ClaudeLines),
    "codex": (codex_lines, lambda: CodexLines(model="m", before=None, now=datetime.now(UTC))),
}


def parsing(name: str, *, lines: int) -> Figure:
    """Understands so many lines as a turn does: cut from a stream, freed of keys, read and summed up."""
    messages, dialect = DIALECTS[name]
    written = [json.dumps(message).encode() + b"\n" for message in messages()]
    data = b"".join(islice(chain.from_iterable(repeat(written)), lines))
    speeds = [heard_per_second(data, dialect()) for _ in range(5)]
    size = len(data) / lines
    return Figure(
        what=f"events of `{name}` understood in a second of processor time",
        measured=max(speeds),
        at_least=50_000,
        detail=f"lines of {size:.0f} bytes, {max(speeds) * size / MEGABYTE:.0f} MB a second; best of 5",
    )


def heard_per_second(data: bytes, understand: Dialect) -> float:
    cut, redactor, seen = Lines(), Redactor([SECRET]), Seen(None)
    events = 0
    began = time.process_time()  # others may use the machine, too
    for start in range(0, len(data), CHUNK):
        for line in cut.feed(data[start : start + CHUNK]):
            for heard in understand(Line(redactor.redact(line.data))):
                seen = seen.plus(heard)
                events += 1
    took = time.process_time() - began
    assert seen.understood == events
    return events / took


def memory(place: Path, *, small: int, large: int) -> Figure:
    """Lets agents write much and more, each turn in a process of its own, and compares their peaks."""
    peaks = [peak_of_turn(place, megabytes) for megabytes in (small, large)]
    return Figure(
        what=f"memory of a turn of {large} MB against one of {small} MB",
        measured=peaks[1] / peaks[0],
        at_most=1.1,
        detail=f"{peaks[1] / 1000:.1f} MB against {peaks[0] / 1000:.1f} MB at most, the record kept",
    )


def peak_of_turn(place: Path, megabytes: int) -> int:
    """Returns the most kilobytes that a process held which took a turn of an agent that writes so much."""
    output = place / f"output-{megabytes}"
    block = b"".join(json.dumps(message).encode() + b"\n" for message in claude_lines())
    with output.open("wb") as file:
        for _ in range(megabytes * MEGABYTE // len(block)):
            file.write(block)
    asked = [sys.executable, __file__, "--turn", str(output)]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    return int(done.stdout)


def take_long_turn(output: Path) -> int:
    """Takes one turn of an agent that writes what is in a file; returns our own peak, in kilobytes."""
    asked = spec(output.parent, output.name + "-turn")
    program = Program(["cat", str(output)], agent_environment(asked, {}), ClaudeLines())

    async def follow() -> None:
        async for event in ProgramTurn(asked, program).events():
            assert not isinstance(event, TurnEnded) or event.ending is Ending.NO_REPORT, event

    anyio.run(follow)
    # Not `ru_maxrss`, which begins with what the process had that started us.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:"))


def measured(place: Path, *, quick: bool) -> Iterator[Figure]:
    yield overhead(place, turns=5 if quick else 60)
    for name in DIALECTS:
        yield parsing(name, lines=2_000 if quick else 50_000)
    yield memory(place, small=2 if quick else 10, large=20 if quick else 100)


def report(figures: Sequence[Figure], *, write: bool) -> None:
    rows = ["| what | measured | goal | |", "|---|---|---|---|", *(figure.row() for figure in figures)]
    table = "\n".join(rows)
    print(table)
    if write:
        text = (
            "# Driving agents\n\nMade by `benchmarks/drive.py --write`. The agent of the first row is the "
            "script driver's player, that of the last one a `cat` of what Claude Code writes.\n\n"
        )
        (REPOSITORY / "docs/benchmarks/drive.md").write_text(text + table + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for flag in ("--write", "--check", "--quick"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--turn", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.turn is not None:
        print(take_long_turn(options.turn))
        return
    with tempfile.TemporaryDirectory(prefix="amelia-bench-") as place:
        figures = list(measured(Path(place), quick=options.quick))
    report(figures, write=options.write)
    missed = [figure for figure in figures if figure.is_missed]
    if options.check and missed:
        sys.exit(f"{len(missed)} goals missed")


if __name__ == "__main__":
    main()
