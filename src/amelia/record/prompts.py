"""The texts of prompts as files: those that come with Amelia, a person's own, and those a run began with.

- A run keeps the texts it began with, so that it goes on with the same words whoever changed them meanwhile.
- A kept text that no longer has the slots that are filled today gives way to the one that comes with Amelia.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from amelia.context.texts import Texts, misfit
from amelia.model.errors import ConfigError
from amelia.record.runs import RunDirectory
from amelia.system.regular import read_regular

_SUFFIX = ".md"
_LARGEST = 100_000


@cache
def shipped_texts() -> Texts:
    """Returns the texts that come with Amelia."""
    found = files("amelia.context").joinpath("texts").iterdir()
    return Texts(
        {
            place.name.removesuffix(_SUFFIX): place.read_text(encoding="utf-8")
            for place in sorted(found, key=lambda each: each.name)
            if place.name.endswith(_SUFFIX)
        }
    )


def own_texts(paths: Mapping[str, str]) -> Texts:
    """Returns all texts, with a person's own where there are such; one that does not fit is an error."""
    shipped = shipped_texts().by_name
    return Texts({**shipped, **{name: _own(name, Path(path)) for name, path in paths.items()}})


def keep_texts(directory: RunDirectory, texts: Texts) -> None:
    """Puts the texts of a run into its directory, unless it has them already."""
    directory.prompts.mkdir(exist_ok=True)
    for name, text in texts.by_name.items():
        place = directory.prompts / f"{name}{_SUFFIX}"
        if not place.exists():
            place.write_text(text, encoding="utf-8")


def kept_texts(directory: RunDirectory) -> Texts:
    """Returns the texts that a run began with."""
    shipped = shipped_texts().by_name
    return Texts(
        {name: _kept(directory.prompts / f"{name}{_SUFFIX}", text) for name, text in shipped.items()}
    )


def _own(name: str, path: Path) -> str:
    shipped = shipped_texts().by_name
    if name not in shipped:
        raise ConfigError(f"prompts.{name}: there is no such text", hint=f"known are {', '.join(shipped)}")
    try:
        text = read_regular(path, 4 * _LARGEST + 1).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"prompts.{name}: {path} cannot be read: {problem}") from problem
    if len(text) > _LARGEST:
        raise ConfigError(f"prompts.{name}: {path} has more than {_LARGEST} characters")
    if (wrong := misfit(text, shipped[name])) is not None:
        raise ConfigError(
            f"prompts.{name}: {path}: {wrong}",
            hint="a text has all slots of the one it stands for, and no others",
        )
    return text


def _kept(place: Path, shipped: str) -> str:
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return shipped
    return shipped if misfit(text, shipped) else text
