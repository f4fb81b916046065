"""Scripts that were not written by hand: turns of a score, and what differs between two trees, as TOML.

- A file is written whole, with the bytes, the mode or the target it has in the tree.
- What a script cannot say is an error that names it: submodules, names that are no text.
"""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias, cast

from amelia.app.replay.score import Turn
from amelia.model.agents import Ending, Usage
from amelia.model.errors import AmeliaError
from amelia.model.git import Treeish
from amelia.system.git import Repository
from amelia.system.git_commands import raw_changes
from amelia.system.git_contents import read_blob

Table: TypeAlias = Mapping[str, object]

_NOTHING, _LINK, _PROGRAM, _SUBMODULE = "000000", "120000", "100755", "160000"
_LONG_AGO = "2000-01-01T00:00:00Z"
_CRASH = 1
_PLAYED_OUT = frozenset({Ending.OK, Ending.FAILED, Ending.NO_REPORT})
_SAID = frozenset(
    {
        Ending.AUTH,
        Ending.NO_CREDIT,
        Ending.MODEL_NOT_FOUND,
        Ending.UNUSABLE,
        Ending.OVERFLOW,
        Ending.OUT_OF_BUDGET,
    }
)
_UNTIL_KILLED = 5.0
_LARGEST = 20_000_000  # the player reads all of it for every turn


class UnplayableError(AmeliaError):
    """Something that happened cannot be played again."""

    exit_code = 2


def acts_between(where: Repository, before: Treeish, after: Treeish) -> list[Table]:
    """Returns the acts that turn the files of one tree into those of another."""
    changed = [_Changed(path, *record[1:].split(" ")[:2]) for record, path in _records(where, before, after)]
    for change in changed:
        _refuse_unplayable(change)
    gone = [change.path for change in changed if change.new == _NOTHING or change.old == _LINK]
    left = {str(parent) for path in gone for parent in PurePosixPath(path).parents}
    written = [change for change in changed if change.new != _NOTHING]
    gone += [change.path for change in written if change.path in left]  # was a directory
    return [*({"delete": path} for path in gone), *(_write(where, after, change) for change in written)]


@dataclass(frozen=True, slots=True)
class _Changed:
    """A path that differs, and its modes before and after."""

    path: str
    old: str
    new: str


def _records(where: Repository, before: Treeish, after: Treeish) -> list[tuple[str, str]]:
    """Returns what git says of every path that differs; the numbers of lines after that do not matter."""
    fields = raw_changes(where, before, after)
    end = next((at for at in range(0, len(fields), 2) if not fields[at].startswith(":")), len(fields))
    return list(zip(fields[:end:2], fields[1:end:2], strict=True))


def _refuse_unplayable(change: _Changed) -> None:
    if _SUBMODULE in {change.old, change.new}:
        raise UnplayableError(f"{change.path}: a change of a submodule cannot be played again")
    try:
        change.path.encode()
    except UnicodeEncodeError as problem:
        raise UnplayableError(f"{change.path!a}: a name that is no text cannot be played again") from problem


def _write(where: Repository, tree: Treeish, change: _Changed) -> Table:
    data = read_blob(where, tree, change.path)
    assert data is not None, f"git shows {change.path} and does not find it"
    act: dict[str, object] = {"write": change.path}
    if change.new == _LINK:
        return act | {"link": _text_of_link(change.path, data)}
    try:
        act["text"] = data.decode()
    except UnicodeDecodeError:
        act |= {"text": base64.b64encode(data).decode(), "base64": True}
    if change.new == _PROGRAM:
        act["mode"] = "755"
    elif change.old == _PROGRAM:
        act["mode"] = "644"
    return act


def _text_of_link(path: str, target: bytes) -> str:
    try:
        return target.decode()
    except UnicodeDecodeError as problem:
        raise UnplayableError(f"{path}: a link to what is no text cannot be played again") from problem


def turn_table(turn: Turn, acts: Sequence[Table], *, pause: float = 0.0) -> Table:
    """Returns a turn as a script has it: after a pause, what was done, what was said, and how it ended."""
    table = {"role": str(turn.role), "unit": turn.unit, "attempt": turn.attempt}
    do: list[Table] = [{"sleep": pause}] if pause else []
    do.extend(acts)
    do.extend([{"say": turn.said}] if turn.said else [])
    do.extend(_last_acts(turn))
    usage = {"usage": _usage(turn.usage)} if turn.usage and turn.ending in _PLAYED_OUT else {}
    report = {"report": turn.report} if turn.report is not None else {}
    return {**table, **({"do": do} if do else {}), **usage, **report}


def _last_acts(turn: Turn) -> list[Table]:
    """Returns what ends a turn before its usage and its report would be told."""
    # Such a turn does not come to tell its usage itself.
    told = [json.dumps({"type": "usage", **_usage(turn.usage)})] if turn.usage else []
    match turn.ending:
        case ending if ending in _PLAYED_OUT:
            return []
        case Ending.KILLED:
            return [{"sleep": _UNTIL_KILLED}]
        case Ending.LIMITED:
            last: Table = {"limit": _LONG_AGO}
        case ending if ending in _SAID:
            last = {"raw": json.dumps({"type": "end", "ending": turn.ending})}
        case _:
            last = {"exit": _CRASH}
    return [*({"raw": line} for line in told), last]


def _usage(usage: Usage) -> Table:
    said = {"input": usage.input_tokens, "output": usage.output_tokens}
    return said if usage.cost is None else {**said, "cost": usage.cost}


def script_text(turns: Iterable[Table]) -> str:
    """Returns turns as the text of a script."""
    text = "\n".join(f"[[turn]]\n{table_text(turn)}" for turn in turns)
    if len(text) > _LARGEST:
        raise UnplayableError(f"what was written is too much to be played again: {len(text):,} characters")
    return text


def table_text(table: Mapping[str, object]) -> str:
    """Returns a table as TOML, a line for every key; a list of tables has a line for each of them."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            pairs = cast("dict[str, object]", value).items()
            return "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in pairs) + "}"
        case list() if any(isinstance(inner, dict) for inner in cast("list[object]", value)):
            return "[\n" + "".join(f"  {_value(inner)},\n" for inner in cast("list[object]", value)) + "]"
        case list():
            return "[" + ", ".join(map(_value, cast("list[object]", value))) + "]"
        case _:
            return _basic(value)


def _key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else _basic(key)


def _basic(value: object) -> str:
    """Returns a text or a number; JSON writes them as TOML does, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
