"""What is noted about files that tools generated, and that are therefore no part of the work."""

from collections.abc import Sequence
from dataclasses import replace

from amelia.model.evidence import Note, NoteCode, Verdict

_SHOWN = 5


def without_generated(verdict: Verdict, left_out: Sequence[str]) -> Verdict:
    """Returns a verdict that says which generated files were left out of the work, if there were any."""
    if not left_out:
        return verdict
    note = Note(NoteCode.LEFT_OUT, left_out_text(left_out))
    return replace(verdict, notes=(note, *verdict.notes))


def left_out_text(paths: Sequence[str], verb: str = "landed") -> str:
    """Returns the first of the files that were left out, and how they get in."""
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return (
        f"not {verb}, as tools generate such files: {', '.join(paths[:_SHOWN])}{more} "
        "(track a file, or declare it in its task, to have it in)"
    )
