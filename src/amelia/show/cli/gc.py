"""`amelia gc`: room is made where finished runs were."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from amelia.app.clearing import Kept, Leftover, clear, find_kept, find_leftovers
from amelia.app.history import take_inventory
from amelia.app.people import RefusedError
from amelia.config.places import is_repository, repository_around, state_home
from amelia.show.text import counted, printable

_MEGABYTE = 1_000_000


@click.command("gc")
@click.option("--all", "everywhere", is_flag=True, help="Clear the runs of all repositories, not only here.")
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else; asks nothing.")
def command(*, everywhere: bool, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Remove worktrees and private clones of runs of this repository that are over.

    Shows each with its size first, and asks on a terminal; exits 4 if you say no.

    What attempts left is kept in your repository under refs/amelia/; journals and transcripts stay.
    Reviews on their own are removed as a whole. What Amelia did not make, and runs whose journal cannot be
    read, are kept and named.
    """
    here = None if everywhere else _here()
    inventory = take_inventory(home := state_home())
    found, kept = list(find_leftovers(home, inventory)), list(find_kept(home, inventory))
    mine = {one: one.size for one in found if here in {None, one.repository}}
    if not as_json:
        _show(mine)
        _tell_others([one for one in found if one not in mine])
        _tell_kept(kept)
    if not (dry_run or yes or as_json) and not _is_confirmed(mine):
        raise SystemExit(4)
    problems = {one: None if dry_run else clear(one) for one in mine}
    if as_json:
        told = {**_json(mine, problems, is_removed=not dry_run), "kept": [_kept_json(one) for one in kept]}
        click.echo(json.dumps(told, indent=2, ensure_ascii=False))
        return
    for one, problem in problems.items():
        if problem is not None:
            click.echo(f"note: {one.directory.run} stays: {printable(problem)}", err=True)
    _sum_up({one: size for one, size in mine.items() if problems[one] is None}, is_removed=not dry_run)


def _here() -> str:
    home, here = state_home(), repository_around(Path.cwd())
    if not is_repository(here) or here.is_relative_to(home.resolve()):
        raise RefusedError(
            f"{Path.cwd()} is in no repository with runs of its own",
            hint="go to a repository, or clear the runs of all of them: amelia gc --all",
        )
    return str(here)


def _show(sizes: Mapping[Leftover, int]) -> None:
    for one, size in sizes.items():
        click.echo(f"{one.directory.run}: {size / _MEGABYTE:.1f} MB")


def _tell_others(others: Sequence[Leftover]) -> None:
    runs = sum(not one.is_review for one in others)
    counts = {"run": runs, "review": len(others) - runs}
    told = [f"{count} {word}{'s' if count > 1 else ''}" for word, count in counts.items() if count]
    if told:
        stays = "stays" if len(others) == 1 else "stay"
        them = "it" if len(others) == 1 else "them"
        click.echo(
            f"note: {' and '.join(told)} of other repositories {stays}; --all clears {them}, too", err=True
        )


def _tell_kept(kept: Sequence[Kept]) -> None:
    for one in kept:
        text = f"{one.path} is kept: {one.reason}"
        click.echo(f"note: {printable(text)}\n  what to do: {printable(one.advice)}", err=True)


def _kept_json(one: Kept) -> dict[str, str]:
    return {"path": str(one.path), "problem": one.reason, "hint": one.advice}


def _is_confirmed(sizes: Mapping[Leftover, int]) -> bool:
    """Asks on a terminal whether what was shown may go; without one, who calls has said so."""
    if not sizes or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    reviews = sum(one.is_review for one in sizes)
    more = f" and {counted(reviews, 'review')}" if reviews else ""
    freed = sum(sizes.values()) / _MEGABYTE
    runs = counted(len(sizes) - reviews, "run")
    return click.confirm(f"Clear {runs}{more}, {freed:.1f} MB?", default=True)


def _sum_up(sizes: Mapping[Leftover, int], *, is_removed: bool) -> None:
    reviews = sum(one.is_review for one in sizes)
    freed = f"{sum(sizes.values()) / _MEGABYTE:.1f} MB"
    if reviews:
        click.echo(f"{counted(reviews, 'review')} {'removed' if is_removed else 'would be removed'}")
    runs = counted(len(sizes) - reviews, "run")
    click.echo(f"{runs} cleared, {freed} freed" if is_removed else f"{runs} would be cleared, {freed} in all")


def _json(
    sizes: Mapping[Leftover, int], problems: Mapping[Leftover, str | None], *, is_removed: bool
) -> dict[str, object]:
    def entry(one: Leftover) -> dict[str, object]:
        return {
            "review" if one.is_review else "run": one.directory.run,
            "repository": one.repository,
            "bytes": sizes[one],
            "problem": problems[one],
        }

    return {
        "is_removed": is_removed,
        "bytes": sum(size for one, size in sizes.items() if problems[one] is None),
        "runs": [entry(one) for one in sizes if not one.is_review],
        "reviews": [entry(one) for one in sizes if one.is_review],
    }
