"""What a developer is told about a verdict.

Complete as far as it goes: messages are whole, in the order of the problems, until the room is used up; what
does not fit is counted, never dropped in silence.
"""

from amelia.model.evidence import NoteCode, Verdict

_ROOM = 20_000
_TOLD = frozenset({NoteCode.LEFT_OUT, NoteCode.DENIED})
_DESPITE = "This work was declared to be done, but the executed checks do not accept it:"


def feedback(verdict: Verdict, *, is_promised: bool = False) -> str:
    """Returns the problems of a verdict as text; empty if there are none."""
    if not verdict.problems:
        return ""
    room = _ROOM
    told: list[str] = []
    for number, problem in enumerate(verdict.problems, start=1):
        entry = f"{number}. {problem.code}: {problem.message.strip()}"
        if len(entry) > room and told:
            told.append(f"{len(verdict.problems) - number + 1} more problems are not shown here.")
            break
        told.append(entry if len(entry) <= room else f"{entry[:room]}\n[cut]")
        room -= len(told[-1])
    opening = _DESPITE if is_promised else "The executed checks do not accept this work:"
    noted = [f"Note: {note.message}" for note in verdict.notes if note.code in _TOLD]
    return "\n\n".join((opening, *told, *noted)) + "\n"
