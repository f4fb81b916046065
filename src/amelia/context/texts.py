"""The words of prompts are data: texts with named slots, filled in one pass.

- A slot is written `{{name}}`. What is put into it is never looked at again, so that braces, backslashes and
  anything else in it stay what they are, character for character.
- A line on which a slot stands alone and gets nothing disappears, and blank lines around it are one.
- A text that somebody else wrote has exactly the slots of the one it stands for.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_SLOT = re.compile(r"\{\{([a-z_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that prompts are made of, by name."""

    by_name: Mapping[str, str]

    def fill(self, name: str, **values: str) -> str:
        """Returns a text with every slot filled."""
        text = self.by_name[name].strip("\n")
        for slot in slots_of(text):
            if not values[slot]:
                text = _without(text, slot)
        return _SLOT.sub(lambda found: values[found[1]], text)


def slots_of(text: str) -> frozenset[str]:
    """Returns the names of the slots of a text."""
    return frozenset(_SLOT.findall(text))


def misfit(text: str, model: str) -> str | None:
    """Returns what is wrong with a text that is to stand for another one; None if it can."""
    missing = sorted(slots_of(model) - slots_of(text))
    unknown = sorted(slots_of(text) - slots_of(model))
    said = [
        *(f"{{{{{slot}}}}} is missing" for slot in missing),
        *(f"{{{{{slot}}}}} is not known" for slot in unknown),
    ]
    return ", ".join(said) or None


def _without(text: str, slot: str) -> str:
    """Returns a text without the lines on which an empty slot stands alone."""
    alone = f"{{{{{slot}}}}}"
    kept: list[str] = []
    for line in text.split("\n"):
        if line != alone:
            kept.append(line)
        elif kept and not kept[-1]:
            kept.pop()
    return "\n".join(kept).strip("\n")
