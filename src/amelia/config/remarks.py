"""What a person should know of settings that can be read and say something in vain."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amelia.config.environment import slips
from amelia.config.fields import is_idle
from amelia.config.merge import Held


@dataclass(frozen=True, slots=True)
class Remark:
    """A setting that does nothing, in a sentence, and what to do about it."""

    text: str
    hint: str


def remarks(environment: Mapping[str, str], held: Held) -> Iterator[Remark]:
    """Yields a remark on every variable that is no setting, and on every setting without an effect."""
    for slip in slips(environment):
        yield Remark(slip, "unset it, or spell it as a setting")
    for key, entry in held.items():
        if is_idle(key) and entry.value:
            text = f"{key} is enabled by {entry.origin}, but has no effect: Amelia works with no tracker yet"
            yield Remark(text, "everything else works without it; enabled = false ends this remark")
