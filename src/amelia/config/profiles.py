"""Settings under a name: which profile of a file counts, and over what.

- A profile that its own file chooses (`profile = "NAME"`) is part of that file: it counts as if it stood at
  the top, over what stands there. A file chooses among its own profiles only, so that a repository never
  takes one of the user's.
- A profile that the user names for a command outranks both files, in every file that has one of that name.
  A file that has none goes on with its own choice.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from amelia.config.found import Entry, Found, mapping
from amelia.config.merge import Held, Layer
from amelia.config.tables import Table
from amelia.model.errors import ConfigError

_CHOICE = "profile"
_PROFILES = "profiles"


@dataclass(frozen=True, slots=True)
class Chosen:
    """The name of a profile that the user chose for a command, and what they chose it with."""

    name: str
    chosen_by: str


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a file says, by dotted key, its profiles by name, and which of them it chooses."""

    top: Held
    profiles: dict[str, Held]
    choice: str | None = None
    is_projects: bool = False

    def layers(self, named: Chosen | None) -> Iterator[Layer]:
        """Yields what the file says by itself, its own choice included unless another one of it is named."""
        yield Layer(self.top, self.is_projects)
        is_replaced = named is not None and named.name in self.profiles
        if self.choice is not None and not is_replaced:
            yield Layer(self.profiles[self.choice], self.is_projects)

    def layers_named(self, named: Chosen | None) -> Iterator[Layer]:
        """Yields what its profile says that the user named, if it has it."""
        if named is not None and named.name in self.profiles:
            yield Layer(self.profiles[named.name], self.is_projects)


def read_file(table: Table, found: Found, *, is_projects: bool = False) -> SettingsFile:
    """Reads everything that a file says; profiles that nobody chooses have to be right, too."""
    entries = dict(table(found))
    choice: Entry | None = entries.pop(_CHOICE, None)
    names = mapping(Found(mapping(found).get(_PROFILES, {}), found.source, _PROFILES))
    profiles = {name: _below(f"{_PROFILES}.{name}.", entries) for name in names}
    top = {key: entry for key, entry in entries.items() if not key.startswith(f"{_PROFILES}.")}
    if choice is not None and choice.value not in profiles:
        raise _unknown(str(choice.value), f"{found.source.name}: {_CHOICE}", profiles)
    return SettingsFile(top, profiles, None if choice is None else str(choice.value), is_projects)


def layers_of(files: Sequence[SettingsFile], named: Chosen | None) -> Iterator[Layer]:
    """Yields what files say, the weakest first; a profile that is named outranks all of them."""
    known = [name for file in files for name in file.profiles]
    if named is not None and named.name not in known:
        raise _unknown(named.name, named.chosen_by, known)
    for file in files:
        yield from file.layers(named)
    for file in files:
        yield from file.layers_named(named)


def _below(prefix: str, entries: Held) -> Held:
    return {key.removeprefix(prefix): entry for key, entry in entries.items() if key.startswith(prefix)}


def _unknown(name: str, chosen_by: str, known: Iterable[str]) -> ConfigError:
    names = sorted(set(known))
    near = get_close_matches(name, names, n=1)
    there = f"there are {', '.join(names)}" if names else "there is none; [profiles.NAME] makes one"
    hint = f"did you mean {near[0]}? {there}" if near else there
    return ConfigError(f"{chosen_by}: there is no profile {name!r}", hint=hint)
