"""What kept the work of a turn from being committed, played again by a hook of the replay's own.

The hooks of the user are not started. What they changed is part of the work that is played; what they refused
is said once more for the same tree of the same attempt.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from amelia.model.events import AttemptEnded
from amelia.model.git import ref_component
from amelia.model.journal import Recorded

_HOOK = """\
#!/bin/sh
told() { sed -n "s/^$1: //p" "$message" | tail -n 1; }
message=$1
said="$0.refusals/$(told Amelia-Unit)/$(told Amelia-Attempt)-$(git write-tree)"
test ! -f "$said" || { cat "$said"; exit 1; }
"""


def read_refusals(past: Iterable[Recorded]) -> dict[str, str]:
    """Returns what was said of refused work, by unit, attempt and tree."""
    ended = (recorded.event for recorded in past if isinstance(recorded.event, AttemptEnded))
    return {
        f"{ref_component(event.unit)}/{event.attempt}-{event.work.tree}": event.refused
        for event in ended
        if event.refused is not None
    }


def play_refusals(hooks: Path, refusals: Mapping[str, str]) -> None:
    """Puts a hook into a directory that refuses the same work again; none where nothing was refused."""
    if not refusals:
        return
    hooks.mkdir(parents=True, exist_ok=True)
    hook = hooks / "commit-msg"
    hook.write_text(_HOOK, encoding="utf-8")
    hook.chmod(0o755)
    for name, text in refusals.items():
        said = hooks / f"{hook.name}.refusals" / name
        said.parent.mkdir(parents=True, exist_ok=True)
        _, _, words = text.partition("\n")  # the first line names the hook
        said.write_text(words or text, encoding="utf-8", errors="backslashreplace")
