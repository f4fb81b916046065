"""Settings become frozen settings; the only reader of files that hold them, and of the environment.

- What holds, from the strongest: options of a command, `AMELIA_…` variables, `amelia.toml` or
  `[tool.amelia]` of `pyproject.toml`, the nearest upwards from a directory, the `task_size_limits`,
  `parallel_workers` and `integrations` of a `.project-config.json` beside it, the user's own `config.toml`,
  the defaults.
- Profiles are layers of the same kind (`profiles`). All layers are merged once, with their origins (`merge`).
- A repository does not decide what is the user's to say: which programs are started, what they are trusted
  with, and how much may be spent at most.
- A wrong value is an error that names where it stands, the key and what is allowed.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from amelia.config.environment import said_by
from amelia.config.fields import settings_of
from amelia.config.files import own_file, shared_file, users_file
from amelia.config.found import Entry, Found, Kind, Source, mapping
from amelia.config.keys import KEYS, PROFILE, PROJECT, SHARED
from amelia.config.merge import Held, Layer, merge
from amelia.config.places import is_repository
from amelia.config.profiles import Chosen, SettingsFile, layers_of, read_file
from amelia.config.remarks import Remark, remarks
from amelia.config.tables import Entries, is_name
from amelia.model.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a command line says of settings: a profile, and values by dotted key, each with its option."""

    profile: str | None = None
    values: Mapping[str, tuple[str, object]]


NO_OPTIONS = Options(values={})
_INTEGRATIONS = "integrations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The settings that hold in a directory, where each comes from, and remarks on what is said in vain."""

    settings: Settings
    held: Held
    files: Sequence[Path]
    profile: Chosen | None
    remarks: Sequence[Remark]


def load(directory: Path, options: Options = NO_OPTIONS) -> Loaded:
    """Reads the settings that hold in a directory, for this user and this command."""
    users = users_file()
    found = [users, *_nearest(directory)]
    files = [] if users is None else [read_file(KEYS, users)]
    named = _named(options)
    layers = [
        *layers_of([*files, *_of_project(*found[1:])], named),
        Layer(said_by(os.environ, place=directory)),
        Layer(_said_by_options(options, directory)),
    ]
    held = merge(layers)
    return Loaded(
        settings=settings_of(held),
        held=held,
        files=[Path(each.source.name) for each in found if each is not None],
        profile=named,
        remarks=tuple(remarks(os.environ, held)),
    )


def load_settings(directory: Path, options: Options = NO_OPTIONS) -> Settings:
    """Reads the settings that hold in a directory, for this user and this command."""
    return load(directory, options).settings


def load_project(directory: Path) -> Settings:
    """Reads what a project says by itself, whoever works on it."""
    return settings_of(merge(layers_of(_of_project(*_nearest(directory)), None)))


def _named(options: Options) -> Chosen | None:
    if options.profile is not None:
        return Chosen(options.profile, "--profile")
    variable = "AMELIA_PROFILE"
    return Chosen(name, variable) if (name := os.environ.get(variable)) else None


def _of_project(shared: Found | None, own: Found | None) -> list[SettingsFile]:
    files: list[SettingsFile] = []
    if shared is not None:
        files.append(read_file(SHARED, replace(shared, value=_ours(shared)), is_projects=True))
    if own is not None:
        files.append(read_file(PROJECT, own, is_projects=True))
    return files


def _ours(shared: Found) -> Mapping[str, object]:
    """Returns the part of a shared file that Amelia reads; integrations in another shape are left alone."""
    ours = {key: value for key, value in mapping(shared).items() if key in SHARED.readers}
    if (found := ours.pop(_INTEGRATIONS, None)) and isinstance(found, dict):
        named = cast("dict[str, object]", found).items()
        ours[_INTEGRATIONS] = {name: value for name, value in named if is_name(name)}
    return ours


def _said_by_options(options: Options, place: Path) -> Entries:
    readers = dict(PROFILE.leaves())
    entries: Entries = {}
    for key, (option, value) in options.values.items():
        source = Source(Kind.OPTION, option, place)
        entries[key] = Entry(readers[key](Found(value, source, key)), source.origin(key))
    return entries


def _nearest(directory: Path) -> tuple[Found | None, Found | None]:
    """Returns what is shared with other tools and what is ours, of the first place upwards that has any."""
    for place in (directory, *directory.parents):
        shared, own = shared_file(place), own_file(place)
        if shared or own or is_repository(place):
            return shared, own
    return None, None
