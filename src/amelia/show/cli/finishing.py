"""What becomes of the branch of a completed run: the options that say it, and what is told about it."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, assert_never

import click

from amelia.app.people import standing
from amelia.land.preview import Preview
from amelia.model.delivery import MERGES, Finish
from amelia.model.evidence import THE_COMMAND
from amelia.model.facts import RunStarted
from amelia.record.runs import RunDirectory, started
from amelia.show.text import fit, printable

_SHOWN_COMMITS = 20
_SHOWN_FILES = 5
_SHOWN_RECORD = 40
_LEAVES_OUT = "leave them out: --without-record; for good: commit_record = false in the settings"


def finish_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command `--merge`, `--pr` and `--without-record`; it gets `finish` and `without_record`."""

    @click.option(
        "--merge",
        type=click.Choice(list(MERGES)),
        help="Merge into the branch that was checked out when the run started, if it has not moved: by a "
        "fast-forward, as one commit, or with a merge commit.",
    )
    @click.option("--pr", is_flag=True, help="Push the branch and open a pull request, through gh.")
    @click.option(
        "--without-record", is_flag=True, help="Leave the record of the run (docs/amelia/…) out of that."
    )
    @wraps(command)
    def chosen(*, merge: str | None, pr: bool, **more: Any) -> None:  # noqa: ANN401 - click's business
        if merge is not None and pr:
            raise click.UsageError("--merge and --pr exclude each other")
        finish = Finish.PR if pr else MERGES[merge] if merge is not None else None
        command(finish=finish, **more)

    return chosen


def refuse_record_alone(finish: Finish | None, *, without_record: bool) -> None:
    """Refuses to leave a record out of a delivery that is none."""
    if without_record and finish is None:
        raise click.UsageError("--without-record says how a branch is delivered: with --merge or --pr")


def delivery_notices(facts: RunStarted) -> Iterator[str]:
    """Yields what whoever starts a run should know about what its delivery will bring."""
    if facts.finish is not Finish.LEAVE and facts.record_place.is_committed:
        where = "the pull request" if facts.finish is Finish.PR else facts.onto or "your branch"
        yield (
            f"the record of the run ({facts.record_place.path}/) will be its last commit, and reach {where}; "
            "--without-record leaves it out"
        )


def draw_preview(told: Preview, *, will_be: bool) -> Iterator[str]:
    """Draws what a delivery brings to a branch, or would bring."""
    yield f"{_opening(told, will_be=will_be)}:"
    for commit in told.commits[:_SHOWN_COMMITS]:
        yield printable(f"  {commit.commit[:12]} {commit.subject}")
    if (more := len(told.commits) - _SHOWN_COMMITS) > 0:
        yield f"  and {more} more"
    shown = ", ".join(told.files[:_SHOWN_FILES])
    others = len(told.files) - _SHOWN_FILES
    yield printable(f"{_files(told.files)} of the work: {shown}{f' and {others} more' if others > 0 else ''}")
    if told.record:
        yield from _record_lines(told)
    if told.red:
        yield printable(_red_line(told.red))


def _red_line(red: tuple[str, ...]) -> str:
    why = "because what was to make it pass was skipped"
    if THE_COMMAND in red:
        return f"the tests fail there as a whole, {why}"
    more = len(red) - _SHOWN_FILES
    named = ", ".join(red[:_SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")
    return f"{len(red)} test{'s fail' if len(red) > 1 else ' fails'} there, {why}: {named}"


def preview_json(told: Preview) -> dict[str, object]:
    """Returns the same for programs."""
    return {
        "finish": told.finish,
        "onto": told.onto,
        "commits": [{"commit": one.commit, "subject": printable(one.subject)} for one in told.commits],
        "files": [printable(path) for path in told.files],
        "record": [printable(path) for path in told.record],
        "red": [printable(test) for test in told.red],
    }


def _opening(told: Preview, *, will_be: bool) -> str:
    count, onto = len(told.commits), printable(told.onto or "the branch")
    commits = f"{count} commit{'s' if count != 1 else ''}"
    gets = "gets" if will_be else "would get"
    match told.finish:
        case Finish.PR:
            return f"the pull request {'has' if will_be else 'would have'} {commits}"
        case Finish.SQUASH:
            return f"{onto} {gets} 1 commit that squashes {count}"
        case Finish.MERGE_COMMIT:
            return f"{onto} {gets} a merge commit, and with it {commits}"
        case Finish.MERGE | Finish.LEAVE:
            return f"{onto} {gets} {commits}"
        case _:
            assert_never(told.finish)


def _record_lines(told: Preview) -> Iterator[str]:
    place = f"{told.record_place}/"
    yield printable(f"{_files(told.record)} of the run's record, in {place}:")
    for path in told.record[:_SHOWN_RECORD]:
        yield printable(f"  {path.removeprefix(place)}")
    if (more := len(told.record) - _SHOWN_RECORD) > 0:
        yield f"  and {more} more"
    yield f"  ({_LEAVES_OUT})"


def _files(paths: tuple[str, ...]) -> str:
    return f"{len(paths)} file{'s' if len(paths) != 1 else ''}"


def point_on(directory: RunDirectory, code: int, *, as_json: bool) -> int:
    """Says what can be done with the branch, if everything landed and nothing was done; returns the code."""
    if code != 0 or as_json or started(directory) is None:
        return code
    delivery = standing(directory).delivery
    if delivery.done is not None or delivery.undone is not None:
        return code
    run = directory.run
    others = ", ".join(kind for kind, finish in MERGES.items() if finish is not Finish.MERGE)
    ways = {
        f"amelia report {run}": "what landed, and what proves it",
        f"amelia diff {run}": "all that it changed",
        f"amelia finish {run} --merge ff": f"take it into the branch you started from; or {others}, --pr",
        f"amelia undo {run}": "take it back",
    }
    click.echo("\nWhat now:", err=True)
    for command, effect in ways.items():
        click.echo(f"  {fit(command, max(map(len, ways)))}  {effect}", err=True)
    return code
