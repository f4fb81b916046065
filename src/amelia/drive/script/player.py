"""Plays an agent from a TOML file: the program of the `script` driver, for demos, tests and replay.

    [[turn]]
    role = "developer"        # each of the three may be left out or "*"; the first turn that fits is played
    unit = "1"
    attempt = 1
    do = [{write="src/a.py", text="…"}, {run="git add -A"}, {say="done"}]
    report = {status="completed", summary="…"}
    usage = {input=100, output=20, cost=0.01}
    repair = {status="completed"}  # its report when it is asked for that once more; else there is none

- It does what the script says, also what no decent agent would: write outside, print garbage, hang, crash.
- A wrong script is found before anything is done: one line on the standard error, exit code 2.
- A turn that is not in the script is an agent that does nothing: a session, no report, exit code 0.
- Standard library only; it runs by file path, without Amelia on its path.
"""

from __future__ import annotations

import argparse
import base64
import binascii
import json
import os
import shutil
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Table = dict[str, object]

WRONG_SCRIPT = 2
LIMITED = 1
INTERRUPTED = 130
ANY = "*"
NUMBER = (int, float)

TURN_KEYS: dict[str, tuple[type, ...]] = {
    "role": (str,),
    "unit": (str,),
    "attempt": (int, str),
    "do": (list,),
    "report": (dict,),
    "usage": (dict,),
    "repair": (dict,),
}
USAGE_KEYS: dict[str, tuple[type, ...]] = {"input": (int,), "output": (int,), "cost": NUMBER}
TEXT_KEYS: dict[str, tuple[type, ...]] = {"text": (str,), "mode": (str,), "base64": (bool,), "link": (str,)}
# Each act is one word with its own value, and what else may stand beside it.
ACTS: dict[str, tuple[tuple[type, ...], dict[str, tuple[type, ...]]]] = {
    "write": ((str,), TEXT_KEYS),
    "append": ((str,), TEXT_KEYS),
    "delete": ((str,), {}),
    "run": ((str,), {}),
    "sleep": (NUMBER, {}),
    "say": ((str,), {}),
    "raw": ((str,), {}),
    "hang": ((bool,), {}),
    "exit": ((int,), {}),
    "limit": ((str,), {}),
}


class ScriptError(Exception):
    """The script cannot be played; the message names the turn."""


def read_script(data: bytes) -> list[Table]:
    """Returns the turns of a script, all of them checked."""
    try:
        script = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScriptError(f"not TOML: {error}") from error
    turns = script.pop("turn", [])
    if script:
        raise ScriptError(f"unknown key `{next(iter(script))}`; a script holds [[turn]] tables")
    if not isinstance(turns, list):
        raise ScriptError("`turn` must be written as [[turn]]")
    for number, turn in enumerate(cast("list[object]", turns), 1):
        try:
            check_turn(turn)
        except ScriptError as error:
            raise ScriptError(f"turn {number}: {error}") from error
    return cast("list[Table]", turns)


def check_turn(turn: object) -> None:
    """Raises a `ScriptError` unless this is a turn."""
    table = as_table(turn, "a turn")
    check_keys(table, TURN_KEYS)
    if isinstance(table.get("attempt"), str) and table["attempt"] != ANY:
        raise ScriptError('`attempt` must be a number or "*"')
    for act in cast("list[object]", table.get("do", [])):
        check_act(as_table(act, "an act"))
    check_keys(cast("Table", table.get("usage", {})), USAGE_KEYS)
    for key in ("report", "repair"):
        try:
            json.dumps(table.get(key), allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ScriptError(f"`{key}` cannot be written as JSON: {error}") from error


def check_act(act: Table) -> None:
    """Raises a `ScriptError` unless this is something an agent can do."""
    words = [word for word in act if word in ACTS]
    if len(words) != 1:
        raise ScriptError(f"an act is one of {', '.join(ACTS)}; not {', '.join(act) or 'nothing'}")
    kinds, beside = ACTS[words[0]]
    check_keys(act, {words[0]: kinds, **beside})
    try:
        int(cast("str", act.get("mode", "0")), 8)
        content(act)
    except (ValueError, binascii.Error) as error:
        raise ScriptError(f"`{words[0]}`: {error}") from error


def check_keys(table: Table, known: Mapping[str, tuple[type, ...]]) -> None:
    """Raises a `ScriptError` for a key that is unknown or holds the wrong kind of value."""
    for key, value in table.items():
        if key not in known:
            raise ScriptError(f"unknown key `{key}`; known are {', '.join(known)}")
        # In Python a bool is an int; in a script `exit=true` is a slip.
        if not isinstance(value, known[key]) or (isinstance(value, bool) and bool not in known[key]):
            raise ScriptError(f"`{key}` must be {' or '.join(kind.__name__ for kind in known[key])}")


def as_table(value: object, what: str) -> Table:
    """Returns the value as the table it has to be."""
    if not isinstance(value, dict):
        raise ScriptError(f"{what} must be a table")
    return cast("Table", value)


def content(act: Table) -> bytes:
    """Returns the bytes that an act writes."""
    text = cast("str", act.get("text", ""))
    return base64.b64decode(text, validate=True) if act.get("base64") else text.encode("utf-8")


def find_turn(turns: Sequence[Table], *, role: str, unit: str, attempt: int) -> Table | None:
    """Returns the first turn that fits."""
    asked: Table = {"role": role, "unit": unit, "attempt": attempt}
    for turn in turns:
        if all(turn.get(key, ANY) in (ANY, value) for key, value in asked.items()):
            return turn
    return None


class Player:
    """Plays one turn, and tells of it in lines of JSON."""

    def __init__(self, out: BinaryIO) -> None:
        self.out = out

    def tell(self, kind: str, **facts: object) -> None:
        """Writes one event."""
        self.print_line(json.dumps({"type": kind, **facts}))

    def print_line(self, line: str) -> None:
        """Writes one line, whatever the locale thinks of its letters."""
        self.out.write(line.encode("utf-8") + b"\n")
        self.out.flush()

    def play(self, turn: Table) -> int:
        """Carries out a turn and returns the exit code."""
        for act in cast("list[Table]", turn.get("do", [])):
            if (code := self.perform(act)) is not None:
                return code
        if "report" in turn:
            self.tell("result", report=turn["report"])
        if "usage" in turn:
            self.tell("usage", **cast("Table", turn["usage"]))
        return 0

    def perform(self, act: Table) -> int | None:
        """Carries out one act; returns the exit code if it is the last."""
        match act:
            case {"say": text}:
                self.tell("say", text=text)
            case {"raw": text}:
                self.print_line(cast("str", text))
            case {"sleep": seconds}:
                time.sleep(cast("float", seconds))
            case {"hang": wanted}:
                while wanted:
                    time.sleep(3600)
            case {"exit": code}:
                return cast("int", code)
            case {"limit": until}:
                self.tell("limit", until=until)
                return LIMITED
            case _:
                self.use_tool(act)
        return None

    def use_tool(self, act: Table) -> None:
        """Carries out one act that changes something, told as an agent tells of its tools."""
        name = next(word for word in act if word in ACTS)
        self.tell("tool", state="started", name=name, detail=act[name])
        try:
            ok = change(name, act)
        except OSError as error:
            sys.stderr.write(f"{name}: {error}\n")
            ok = False
        self.tell("tool", state="ended", name=name, ok=ok)


def change(name: str, act: Table) -> bool:
    """Changes files or runs a command; tells whether it went well."""
    target = cast("str", act[name])
    if name == "run":
        return run(target) == 0
    path = Path(target)
    if name == "delete":
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
        return True
    path.parent.mkdir(parents=True, exist_ok=True)
    if "link" in act:
        path.unlink(missing_ok=True)
        path.symlink_to(cast("str", act["link"]))
        return True
    with path.open("ab" if name == "append" else "wb") as file:
        file.write(content(act))
    if "mode" in act:
        path.chmod(int(cast("str", act["mode"]), 8))
    return True


def run(command: str) -> int:
    """Runs a command line in the agent's shell; what it prints goes to the standard error."""
    shell = os.posix_spawnp(
        "sh", ["sh", "-c", command], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)]
    )
    return os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1])


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Returns what the command line says."""
    parser = argparse.ArgumentParser(prog="player", description="Plays one turn of a script.")
    parser.add_argument("--script", required=True, type=Path)
    parser.add_argument("--role", required=True)
    parser.add_argument("--unit", required=True)
    parser.add_argument("--attempt", required=True, type=int)
    parser.add_argument("--session", required=True)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--repair", action="store_true")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Plays the turn that the arguments name."""
    options = arguments(argv)
    sys.stdin.buffer.read()  # the prompt; whoever wrote the script knows it
    try:
        turns = read_script(options.script.read_bytes())
    except (OSError, ScriptError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        sys.stderr.write(f"{options.script}: {reason}\n")
        return WRONG_SCRIPT
    player = Player(sys.stdout.buffer)
    player.tell("session", session=options.session, model="script")
    turn = find_turn(turns, role=options.role, unit=options.unit, attempt=options.attempt)
    if turn is not None and options.repair:
        turn = {"report": turn["repair"]} if "repair" in turn else None
    try:
        return 0 if turn is None else player.play(turn)
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
