"""Which places of a plan speak of the same task, and which of them is the task.

Plans often name their tasks twice: in an outline or a file map, and where they are described. A number that
two described tasks share is something else, and is left for the checks to report.
"""

from collections.abc import Iterator, Sequence

from amelia.model.diagnostics import Diagnostic, info
from amelia.plan.outline import Outline
from amelia.plan.reading import Place


def distinct(outline: Outline, places: Sequence[Place]) -> tuple[Sequence[Place], list[Diagnostic]]:
    """Returns the places without poorer mentions of the same task, and says what was passed over."""
    poorer = _other_half(outline, places) or list(_poorer(outline, places))
    if not poorer:
        return places, []
    lines = {place.line for place in poorer}
    message = f"{len(poorer)} tasks are named twice; where more is said about them counts."
    note = info("named-twice", message, line=poorer[0].line, hint="Name each task in one heading only.")
    return [place for place in places if place.line not in lines], [note]


def _other_half(outline: Outline, places: Sequence[Place]) -> Sequence[Place]:
    """Returns the poorer half of places that are one list written twice."""
    half = len(places) // 2
    first, second = places[:half], places[half:]
    ids = [place.id for place in places]
    if half < 2 or ids[:half] != ids[half:] or len(set(ids)) < half:  # noqa: PLR2004 - one may be a slip
        return ()
    if [outline.group_at(place.line) for place in first] != [
        outline.group_at(place.line) for place in second
    ]:
        return ()
    announced = [part for part in (first, second) if outline.is_announced(part[0].line)]
    if len(announced) == 1:  # one below "Tasks", the other, say, below "Decisions"
        return second if announced[0] is first else first
    poor = min(first, second, key=lambda part: sum(_wealth(outline, place) for place in part))
    same_titles = [place.title for place in first] == [place.title for place in second]
    # the last of an outline may be followed by a rule or a remark
    is_outline = not any(_wealth(outline, place) for place in poor[:-1])
    return poor if same_titles or is_outline or not any(place.separated for place in poor) else ()


def _poorer(outline: Outline, places: Sequence[Place]) -> Iterator[Place]:
    """Yields the places that name a task which is described below another heading."""
    mentions: dict[str, list[Place]] = {}
    for place in places:
        mentions.setdefault(place.id, []).append(place)
    for task_id, same in mentions.items():
        if not task_id or len(same) == 1:
            continue
        best = max(same, key=lambda place: (place.separated, place.end_line - place.line))
        for place in same:
            is_mention = place.title.casefold() == best.title.casefold() or place.separated < best.separated
            if place is not best and is_mention and outline.home(place.line) != outline.home(best.line):
                yield place


def _wealth(outline: Outline, place: Place) -> int:
    """Counts the lines that say something about a task besides its name."""
    return outline.document.last_text_line(place.line, place.end_line) - place.line
