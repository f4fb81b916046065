"""A run that is killed and resumed is the run that nobody killed, and so is one that begins with a goal.

Here every kind of event and of git command has its turn; `scripts/crash-sweep` does it at every point there is.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from amelia.model import events as ev
from amelia.model.outcome import Cause
from amelia.record.journal import read_journal
from crash.house import HOUSE
from crash.shed import SHED
from crash.sweep import (
    MOMENTS,
    Case,
    Point,
    Reference,
    any_points,
    every_hanging,
    every_kind,
    play_all,
    record_reference,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return record_reference(tmp_path_factory.mktemp("crash") / "reference", HOUSE)


@pytest.fixture(scope="module")
def draft(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return record_reference(tmp_path_factory.mktemp("crash") / "draft", SHED)


def wrong(cases: Sequence[Case], directory: Path, reference: Reference) -> list[str]:
    """Plays cases and returns those that end differently, or were not killed as they should be."""
    jobs = min(4, os.cpu_count() or 1)
    verdicts = play_all(cases, directory, reference, jobs=jobs)
    return [str(verdict) for verdict in verdicts if verdict.faults or not verdict.is_reached]


def test_the_story_has_units_side_by_side_two_kinds_of_retry_and_a_merge(reference: Reference) -> None:
    assert reference.place.run is not None
    happened = [recorded.event for recorded in read_journal(reference.place.run.journal)]
    bases = {str(event.unit): event.base for event in happened if isinstance(event, ev.UnitStarted)}
    landed = {str(event.unit): event.commit for event in happened if isinstance(event, ev.UnitLanded)}
    retries = [(event.unit, event.cause) for event in happened if isinstance(event, ev.UnitRetried)]
    assert len(landed) == 5
    assert retries == [("phase-2", Cause.REJECTED), ("phase-4", Cause.CHECKS_FAILED)]
    # Both walls stand on the ground; the one that came second was merged with the first.
    assert bases["phase-2"] == bases["phase-3"] == landed["phase-1"]
    parent = reference.place.repo.git("rev-parse", f"{landed['phase-2']}^")
    assert parent == landed["phase-3"]
    assert ["git", "merge-tree"] in reference.points


@pytest.mark.rows("R28")
def test_a_run_survives_a_kill_around_every_kind_of_event_and_git_command(
    reference: Reference, tmp_path: Path
) -> None:
    assert not wrong(every_kind(reference), tmp_path, reference)


def test_a_run_survives_a_kill_while_it_waits_for_git_or_for_the_disk(
    reference: Reference, tmp_path: Path
) -> None:
    tags = ("read-tree", "add", "commit-tree", "unpack-objects", "unit_landed", "attempt_ended")
    files = ("written", "shown")
    assert not wrong([Case((Point(tag, 3, "during"),)) for tag in (*tags, *files)], tmp_path, reference)


def test_a_run_that_is_killed_while_its_record_is_committed_has_it_once(
    reference: Reference, tmp_path: Path
) -> None:
    counts = reference.counts()
    # The last of each of these: on the way from the record to the branch.
    steps = ("hash-object", "update-index", "write-tree", "commit-tree", "unpack-objects", "update-ref")
    cases = [
        *(Case((Point(tag, counts[tag], "after"),)) for tag in steps),
        *(
            Case((Point(tag, 1, moment),))
            for tag in ("record_started", "record_committed")
            for moment in MOMENTS
        ),
    ]
    assert not wrong(cases, tmp_path, reference)


def test_an_agent_or_a_check_that_hangs_ends_with_the_run_that_was_killed(
    reference: Reference, tmp_path: Path
) -> None:
    assert not wrong(every_hanging(reference), tmp_path, reference)


def test_a_resumption_survives_being_killed_too(reference: Reference, tmp_path: Path) -> None:
    assert not wrong(any_points(reference, 4, kills=2), tmp_path, reference)


def test_of_two_that_resume_at_once_one_drives_and_the_other_follows(
    reference: Reference, tmp_path: Path
) -> None:
    assert not wrong(any_points(reference, 3, rivals=2), tmp_path, reference)


def test_a_draft_has_two_versions_and_ends_where_its_first_unit_starts(draft: Reference) -> None:
    assert sorted(draft.witness.texts) == ["issue.md", "plan.md", "plans/1.md", "plans/2.md"]
    types = [tags for kind, *tags in draft.points if kind == "journal"]
    assert types[0] == ["run_proposed"]
    assert types[-3:] == [
        ["plan_drafted", "plan_approved"],
        ["run_started"],
        ["unit_started", "step_started"],
    ]


def test_a_draft_survives_a_kill_around_every_kind_of_event_and_git_command(
    draft: Reference, tmp_path: Path
) -> None:
    cases = [
        *every_kind(draft, is_once=True),
        *(case for case in every_hanging(draft) if case.points[0].moment == "after"),
        *any_points(draft, 1, rivals=2),
    ]
    assert not wrong(cases, tmp_path, draft)
