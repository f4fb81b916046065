"""Drives a run for a command, or follows one that somebody else drives, and ends with its exit code."""

import os
import signal
import sys
import time
from typing import assert_never

import anyio
import click

from amelia.app.drafting import begin_approved, draft_of, drive_draft
from amelia.app.runs import Driven, drive_run, notices_of
from amelia.model.delivery import DeliveryRefused
from amelia.model.events import RunStarted
from amelia.model.journal import since_start
from amelia.model.outcome import Outcome, Reason, Result
from amelia.model.proposal import Draft
from amelia.record.journal import JournalBusyError, SqliteJournal, is_driven, read_journal
from amelia.record.runs import RunDirectory, refuse_other
from amelia.run.loop import Onlooker, Watcher
from amelia.schedule.decide import is_over
from amelia.schedule.draft import evolve_draft, fold_draft
from amelia.schedule.machine import evolve, fold
from amelia.schedule.questions import awaits_default
from amelia.show.run.draft_lines import JsonDraft, LineDraft
from amelia.show.run.watchers import tolerant, watching
from amelia.show.text import printable

_PAUSE = 0.2
_INTERRUPTED = 128


def drive(directory: RunDirectory, *, as_json: bool) -> int:
    """Drives a run as far as it goes, or follows whoever does, and returns the exit code.

    One that begins with a goal is drafted first; without an approved plan it goes no further.
    """
    write = tolerant(sys.stdout)
    watcher = JsonDraft(write) if as_json else LineDraft(write, sys.stdout)
    is_following = False
    while draft_of(directory) is not None:
        journal = _taken(directory)
        if journal is not None:
            with journal:
                code = _drive_draft(directory, journal, watcher)
                return _drive_run(directory, journal, as_json=as_json) if code is None else code
        is_following = True
        try:
            _follow_draft(directory, watcher)
        except KeyboardInterrupt:
            return _left(directory)
    # Who followed the draft has seen nothing of the run yet, however far that is, and may not drive it anew.
    return _drive_run(directory, None if is_following else _taken(directory), as_json=as_json)


def _taken(directory: RunDirectory) -> SqliteJournal | None:
    """Returns the journal of a run, open for its only writer, unless another process is that."""
    refuse_other(directory)
    try:
        return SqliteJournal(directory.journal)
    except JournalBusyError:
        return None


def _drive_draft(directory: RunDirectory, journal: SqliteJournal, watcher: Onlooker[Draft]) -> int | None:
    """Drives the draft of a run, and lets the run start if its plan is approved.

    Returns the exit code unless there is a run to be driven.
    """
    driven = anyio.run(drive_draft, directory, journal, watcher)
    if driven.stopped_by is not None:
        return _stopped(directory, driven.stopped_by)
    if not driven.draft.may_begin:
        return None if driven.draft.has_begun else exit_code(driven.draft.outcome)
    begun = begin_approved(directory, journal, driven.draft, watcher=watcher)
    for notice in notices_of(directory, begun):
        click.echo(f"note: {printable(notice)}", err=True)
    return None


def _stopped(directory: RunDirectory, by: signal.Signals) -> int:
    click.echo(f"stopped; go on with: amelia resume {directory.run}", err=True)
    return _INTERRUPTED + by


def _left(directory: RunDirectory) -> int:
    click.echo(f"run {directory.run} goes on without you", err=True)
    return _INTERRUPTED + signal.SIGINT


def _follow_draft(directory: RunDirectory, watcher: Onlooker[Draft]) -> None:
    """Shows a draft that another process drives, until nobody does or the run has started."""
    click.echo(f"run {directory.run} is driven by another process; following it", err=True)
    first, *news = read_journal(directory.journal)
    draft, seen, is_live = fold_draft([first.event]), first.seq, True
    watcher.show([first], draft)
    while True:
        for recorded in news:
            if isinstance(recorded.event, RunStarted):
                return
            draft, seen = evolve_draft(draft, recorded.event), recorded.seq
            watcher.show([recorded], draft)
        if not is_live:
            return
        watcher.tick()
        time.sleep(_PAUSE)
        is_live = is_driven(directory.journal)  # asked before the last look, so that nothing is missed
        news = read_journal(directory.journal, after=seen)


def _drive_run(directory: RunDirectory, journal: SqliteJournal | None, *, as_json: bool) -> int:
    """Drives a run whose journal is open here, and closes that; without one, follows whoever has it."""
    with watching(sys.stdout, as_json=as_json, environment=os.environ) as watcher:
        driven = _drive(directory, journal, watcher)
        if driven is None:
            click.echo(f"run {directory.run} is driven by another process; following it", err=True)
        elif driven.was_final:
            click.echo(f"run {directory.run} is {driven.run.outcome}; there is nothing to resume", err=True)
        if driven is None or driven.was_final:
            try:
                driven = _follow(directory, watcher)
            except KeyboardInterrupt:
                return _left(directory)
    if driven.watcher_problem is not None:
        click.echo(f"note: the run could not be shown to its end: {driven.watcher_problem!r}", err=True)
    if driven.stopped_by is not None:
        return _stopped(directory, driven.stopped_by)
    if driven.run.delivery.refused is not None:
        return _not_delivered(driven.run.delivery.refused)
    return exit_code(driven.run.outcome)


def _not_delivered(refused: DeliveryRefused) -> int:
    """Says why the branch of a completed run stays where it is, and what to type, whole."""
    click.echo(printable(f"not delivered: {refused.detail}"), err=True)
    for command in refused.commands:
        click.echo(printable(f"  {command}"), err=True)
    return 4


def _drive(directory: RunDirectory, journal: SqliteJournal | None, watcher: Watcher) -> Driven | None:
    """Drives the run, unless another process does; afterwards anybody can."""
    if journal is None:
        return None
    with journal:
        return anyio.run(drive_run, directory, journal, watcher)


def exit_code(outcome: Outcome | None) -> int:
    """Returns the exit code of an outcome; a run without one is not done."""
    if outcome is None:
        return 1
    match outcome.result:
        case Result.COMPLETED:
            return 0
        case Result.NEEDS_HUMAN:
            return 4
        case Result.HALTED:
            return 6 if outcome.reason is Reason.BUDGET else 1
        case Result.ABORTED | Result.CANCELLED:
            return 1
        case _:
            assert_never(outcome.result)


def _follow(directory: RunDirectory, watcher: Watcher) -> Driven:
    """Shows a run that another process drives until it stops, and takes over if that process is killed.

    A run that waits for the time of a default answer has not stopped.
    """
    past = read_journal(directory.journal)
    run = fold(recorded.event for recorded in past)
    watcher.show(since_start(past), run)
    seen = past[-1].seq
    while True:
        is_live = is_driven(directory.journal)
        news = read_journal(directory.journal, after=seen)
        for recorded in news:
            run, seen = evolve(run, recorded.event), recorded.seq
        if news:
            watcher.show(news, run)
        if is_over(run) and not is_live and not awaits_default(run):
            return Driven(run)
        if (
            not is_live
            and (driven := _drive(directory, _taken(directory), watcher)) is not None
            and not driven.was_final
        ):
            return driven
        watcher.tick()
        time.sleep(_PAUSE)
