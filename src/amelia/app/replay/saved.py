"""Replays as files that can be committed: a run that came out well once, kept as a test.

    plan.md        what was to be done
    base.toml      the files it started from
    script.toml    what agents answered
    amelia.toml    the settings of the run
    expected.json  what it came to
    course.jsonl   what people did on the way, and after what; only if they did something

They can be read and changed by hand. What does not lead to exactly the base that was saved is refused, and so
is what would be written anywhere else than into the repository that is made for it.
"""

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

import msgspec

from amelia.app.plans import compile_with
from amelia.app.replay.comparison import Result
from amelia.app.replay.inside import OutsideError, check_acts, check_turns, new_place
from amelia.app.replay.playing import Replay, facts_of, replay_of, repository_of
from amelia.app.replay.score import Cue, Reached, Resumed, Turn, is_played
from amelia.app.replay.scripts import Table, UnplayableError, acts_between, script_text, table_text
from amelia.app.replay.settings_text import settings_text
from amelia.config import load_project, load_settings
from amelia.drive.script.player import ScriptError, read_script
from amelia.model.agents import Ending, Role
from amelia.model.errors import ConfigError, JournalError
from amelia.model.events import RunStarted
from amelia.model.git import TreeId
from amelia.model.journal import Wanted
from amelia.model.plan import Mode, UnitId
from amelia.record.codec import VERSION, decode, encode, plain
from amelia.record.journal import read_journal
from amelia.record.runs import RunDirectory
from amelia.system.git import Repository
from amelia.system.git_commands import tree_of
from amelia.system.regular import read_regular
from amelia.workspace.sample import make_sample
from amelia.workspace.source import open_source

_PLAN, _BASE, _SCRIPT = "plan.md", "base.toml", "script.toml"
_SETTINGS, _EXPECTED, _COURSE = "amelia.toml", "expected.json", "course.jsonl"
_EMPTY_TREE = TreeId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")
_LARGEST_BASE = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file of the base, as an act of a script writes it."""

    write: str
    text: str = ""
    base64: bool = False
    link: str | None = None
    mode: Literal["644", "755"] = "644"


@dataclass(frozen=True, slots=True)
class _Base:
    """What `base.toml` holds."""

    files: tuple[_File, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One entry of a score: whose turn, what a unit reached, a wish as an event, or that the run went on."""

    turn: tuple[Role, UnitId, int] | None = None
    landed: UnitId | None = None
    parked: UnitId | None = None
    wish: str | None = None
    body: Mapping[str, Any] | None = None
    is_resumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expected:
    """What `expected.json` holds."""

    mode: Mode
    base: TreeId
    result: Result
    refusals: Mapping[str, str] = field(default_factory=dict[str, str])
    fixed_by_hand: UnitId | None = None
    version: int


def is_saved(place: Path) -> bool:
    """Says whether a directory holds a saved replay."""
    return (place / _EXPECTED).is_file()


def save_replay(directory: RunDirectory, place: Path) -> None:
    """Writes a run into a new directory, so that it can be played anywhere."""
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise ConfigError(f"{place}: is there already", hint="give a directory that is new or empty")
    replay = replay_of(directory)
    facts = facts_of(read_journal(directory.journal))
    _refuse_outside(check_turns, replay.turns)
    files = {
        _PLAN: replay.data,
        _BASE: _base_text(directory, facts).encode(),
        _SCRIPT: script_text(replay.turns).encode(),
        _SETTINGS: _settings_of(facts, replay.data).encode(),
        _EXPECTED: _expected_text(directory, facts, replay),
    }
    if any(not isinstance(cue, Turn | Reached) for cue in replay.score):
        files[_COURSE] = msgspec.json.Encoder().encode_lines([plain(_entry(cue)) for cue in replay.score])
    place.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (place / name).write_bytes(data)


def open_saved(place: Path) -> Replay:
    """Reads a saved replay."""
    expected = _read_expected(place / _EXPECTED)
    settings = load_project(place)
    data = read_regular(place / _PLAN)
    return Replay(
        compiled=compile_with(data, settings.plan, mode=expected.mode),
        plan_path=place / _PLAN,
        data=data,
        settings=settings.run,
        make_base=lambda repository: _make_base(place / _BASE, repository, expected=expected.base),
        repository=str(place.absolute()),
        score=_read_course(place / _COURSE, expected.version),
        turns=_turns(place / _SCRIPT),
        expected=expected.result,
        refusals=expected.refusals,
        fixed_by_hand=expected.fixed_by_hand,
    )


def _base_text(directory: RunDirectory, facts: RunStarted) -> str:
    if open_source(Path(facts.repository)).object_format != "sha1":
        raise UnplayableError("only what is in a repository of the usual format (sha1) can be saved")
    files = acts_between(repository_of(directory, facts), _EMPTY_TREE, facts.base)
    _refuse_outside(check_acts, files)
    text = table_text({"files": files})
    if len(text) > _LARGEST_BASE:
        raise UnplayableError(
            f"the repository is too large to be saved as a test: {len(text):,} characters",
            hint=f"play it where it is: amelia replay {directory.run}",
        )
    return text


def _refuse_outside(check: Callable[[Sequence[Table]], None], tables: Sequence[Table]) -> None:
    """Refuses to save what would be refused when it is played."""
    try:
        check(tables)
    except OutsideError as problem:
        raise UnplayableError(
            f"{problem}, so the run cannot be saved", hint="play it where it is"
        ) from problem


def _settings_of(facts: RunStarted, data: bytes) -> str:
    """Returns the settings of a run; those of its plan are the ones that hold now, if they still fit."""
    plan = load_settings(Path(facts.repository)).plan
    if compile_with(data, plan, mode=facts.mode).units != facts.units:
        raise UnplayableError(
            "with the settings that hold now, the plan would be cut into other units than those of the run",
            hint=f"give {facts.repository} the settings back with which it was started",
        )
    return settings_text(facts, plan)


def _expected_text(directory: RunDirectory, facts: RunStarted, replay: Replay) -> bytes:
    expected = _Expected(
        version=VERSION,
        mode=facts.mode,
        base=tree_of(repository_of(directory, facts), facts.base),
        result=replay.expected,
        refusals=replay.refusals,
        fixed_by_hand=replay.fixed_by_hand,
    )
    return msgspec.json.format(msgspec.json.encode(plain(expected)), indent=2) + b"\n"


def _entry(cue: Cue) -> _Entry:
    match cue:
        case Turn():
            return _Entry(turn=cue.key)
        case Reached(unit, is_landed):
            return _Entry(landed=unit) if is_landed else _Entry(parked=unit)
        case Resumed():
            return _Entry(is_resumed=True)
        case _:
            kind, body = encode(cue)
            return _Entry(wish=kind, body=msgspec.json.decode(body))


def _read_course(file: Path, version: int) -> list[Cue]:
    if not file.exists():
        return []
    try:
        entries = msgspec.json.Decoder(_Entry).decode_lines(read_regular(file))
        cues = (_cue(entry, version) for entry in entries)
        return [cue for cue in cues if isinstance(cue, Turn | Reached | Resumed) or is_played(cue)]
    except (msgspec.MsgspecError, JournalError) as problem:
        raise _unreadable(file, problem) from problem


def _cue(entry: _Entry, version: int) -> Cue:
    if entry.turn is not None:
        role, unit, attempt = entry.turn
        return Turn(role=role, unit=unit, attempt=attempt, ending=Ending.OK)
    if entry.landed is not None:
        return Reached(entry.landed, is_landed=True)
    if entry.parked is not None:
        return Reached(entry.parked, is_landed=False)
    if entry.wish is None:
        return Resumed()
    wish = decode(entry.wish, version, msgspec.json.encode(entry.body))
    if not isinstance(wish, get_args(Wanted)):
        raise JournalError(f"{entry.wish} is not what a person can wish")
    return cast("Wanted", wish)


def _make_base(file: Path, repository: Path, *, expected: TreeId) -> None:
    """Makes a repository of the saved files, exactly as they were."""
    files = _read_base(file).files
    repository.mkdir(parents=True, exist_ok=True)
    try:
        check_acts([{"write": one.write, "link": one.link} for one in files])
        for one in files:
            _write(one, new_place(repository, one.write))
    except (OSError, ValueError) as problem:
        raise _unreadable(file, problem) from problem
    commit = make_sample(repository, {})
    if (found := tree_of(Repository(repository / ".git"), commit)) != expected:
        raise UnplayableError(
            f"{file}: these files make the tree {found}, not {expected}",
            hint="restore the file; or your settings of git leave files out or change their line ends",
        )


def _write(file: _File, place: Path) -> None:
    """Writes a file that is not there yet; in place of another one it could be written through a link."""
    if file.link is not None:
        place.symlink_to(file.link)
        return
    with place.open("xb") as out:
        out.write(b64decode(file.text, validate=True) if file.base64 else file.text.encode())
    place.chmod(int(file.mode, 8))


def _turns(file: Path) -> Sequence[Table]:
    try:
        turns = read_script(read_regular(file))
        check_turns(turns)
    except (ScriptError, OutsideError) as problem:
        raise _unreadable(file, problem) from problem
    return turns


def _read_base(file: Path) -> _Base:
    try:
        return msgspec.toml.decode(read_regular(file), type=_Base)
    except msgspec.MsgspecError as problem:
        raise _unreadable(file, problem) from problem


def _read_expected(file: Path) -> _Expected:
    try:
        return msgspec.json.decode(read_regular(file), type=_Expected)
    except msgspec.MsgspecError as problem:
        raise _unreadable(file, problem) from problem


def _unreadable(file: Path, problem: Exception) -> ConfigError:
    return ConfigError(f"{file}: {problem}", hint="restore the file, or save the run again")
