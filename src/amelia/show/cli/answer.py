"""`amelia answer ID …`: answers a question, or does what else can be done about something that waits."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

import click

from amelia.app.people import RefusedError, check_grant, standing
from amelia.config.places import state_home
from amelia.model.events import QuestionAnswered
from amelia.model.plan import UnitId
from amelia.model.questions import LEAVE_IT, Question
from amelia.model.state import Asking, Parked
from amelia.record.runs import RunDirectory
from amelia.show.cli.naming import granted_files, named_run
from amelia.show.cli.waiting import waiting_items
from amelia.show.cli.wishes import carry_wish
from amelia.show.run.inbox import Item
from amelia.show.text import printable

_OF_UNIT = frozenset({"retry", "fix", "skip", "split", "log"})
_OF_PLAN = frozenset({"show", "edit"})
_MORE = "raise"
_GRANT = "grant"
_LONGEST = 4000


@click.command("answer", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("item")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, *, item: str, words: tuple[str, ...]) -> None:
    """Answer what waits for you, by its ID in `amelia inbox`: RUN, or RUN/UNIT.

    To a question: the number of an option, or any text. To anything else, what the inbox offers, as the
    command of that name takes it: retry, skip, skip --satisfied, split, fix, abort, approve, reject TEXT,
    edit, raise [AMOUNT]. To any unit: `grant FILE …` to let it change test files that the plan does not
    give it.
    """
    run, _, unit = item.partition("/")
    directory = named_run(run)
    name = UnitId(unit) if unit else None
    asking = _asking(directory, name) if name is not None else None
    if name is not None and asking is not None and not _is_choice(words, asking[1]):
        attempt, question = asking
        answer = replace(_answer(name, question, words), attempt=attempt)
        check_grant(directory, name, answer.granted)
        carry_wish(directory, answer, said=f"{directory.run}/{unit} is answered")
        return
    verb, *arguments = _as_command(_found(directory, name), words)
    group = ctx.find_root().command
    assert isinstance(group, click.Group)
    chosen = group.get_command(ctx, verb)
    assert chosen is not None
    chosen.main(args=arguments, prog_name=f"amelia {verb}", standalone_mode=False)


def _found(directory: RunDirectory, unit: UnitId | None) -> Item:
    """Returns what waits for a person under this name, or says what does in this run."""
    waiting = [each for each in waiting_items(state_home(), repository=None) if each.run == directory.run]
    found = next((each for each in waiting if each.unit == unit), None)
    if found is None:
        asked = directory.run if unit is None else f"{directory.run}/{unit}"
        others = ", ".join(each.id for each in waiting)
        raise RefusedError(
            printable(f"{asked} does not wait for you"),
            hint=printable(f"what does: {others}") if others else "`amelia inbox --all` shows what does",
        )
    return found


def _asking(directory: RunDirectory, unit: UnitId) -> tuple[int, Question] | None:
    """Returns what a unit asks, and the attempt that does."""
    match standing(directory).units.get(unit):
        case Parked(asking=Asking(question=question), track=track):
            return track.attempt, question
        case _:
            return None


def _is_choice(words: tuple[str, ...], question: Question) -> bool:
    """Says whether a question is not answered, but something else is done about its unit."""
    is_verb = words[0] in {*_OF_UNIT, "abort"} and all(word.startswith("-") for word in words[1:2])
    return is_verb and " ".join(words) not in question.options


def _answer(unit: UnitId, question: Question, words: Sequence[str]) -> QuestionAnswered:
    """Returns an answer: an option by its number or its text, or what a person says in their own words."""
    text = " ".join(words).strip()[:_LONGEST]
    if not text:
        raise RefusedError("an answer has to say something")
    if words[0] == _GRANT and text not in question.options:
        files = granted_files(words[1:])
        return QuestionAnswered(unit, f"You may change {', '.join(files)}.", granted=files)
    if question.options and text.isdecimal():
        number = int(text)
        if not 1 <= number <= len(question.options):
            raise RefusedError(f"there is no option {number}; there are {len(question.options)}")
        text = question.options[number - 1]
    is_dismissed = bool(question.about) and text.casefold() == LEAVE_IT
    return QuestionAnswered(unit, text, dismissed=question.about if is_dismissed else ())


def _as_command(item: Item, words: tuple[str, ...]) -> list[str]:
    """Returns the command that a choice stands for, which has to be one that the item offers."""
    commands = (shlex.split(way.command) for way in item.choices)
    offered = [_verb_first(words) for program, *words in commands if program == "amelia"]
    if words[0] == _MORE:
        raised = next((each for each in offered if each[0] == "resume" and len(each) > 2), None)  # noqa: PLR2004 - with an option
        if raised is not None:
            return [*raised[:-1], *(words[1:] or raised[-1:])]
    elif words[0] == _GRANT and item.unit is not None and "retry" in {each[0] for each in offered}:
        options = (word for file in granted_files(words[1:]) for word in ("--grant", file))
        return ["retry", item.run, item.unit, *options]
    elif words[0] in {each[0] for each in offered}:
        unit = (item.unit,) if item.unit is not None and words[0] in _OF_UNIT else ()
        group = ("plan",) if words[0] in _OF_PLAN else ()
        return [*group, words[0], item.run, *unit, *words[1:]]
    known = sorted({each[0] for each in offered})
    raise RefusedError(
        f"{item.id} cannot be answered with {words[0]!r}", hint=f"it can with: {', '.join(known)}"
    )


def _verb_first(command: list[str]) -> list[str]:
    """Returns an offered command without the group it is in."""
    return command[1:] if command[0] == "plan" else command
