"""Journals of the past keep folding, to the same end."""

import json
from functools import reduce
from typing import get_args

import pytest

from amelia.model.events import Event, RunResumed
from amelia.record.codec import type_name
from amelia.schedule.decide import decide, is_over
from amelia.schedule.draft import decide_draft, evolve_draft, fold_draft, is_draft, is_draft_over
from amelia.schedule.machine import begin, evolve, fold
from replay.corpus import Replay, all_replays, portrait, portrait_of

REPLAYS = all_replays()


@pytest.mark.parametrize("replay", REPLAYS, ids=lambda replay: replay.name)
def test_a_journal_of_the_past_folds_to_the_same_end(replay: Replay) -> None:
    expected = json.loads(replay.expected.read_text(encoding="utf-8"))
    assert json.loads(json.dumps(portrait_of(replay.events()))) == expected


@pytest.mark.parametrize("replay", REPLAYS, ids=lambda replay: replay.name)
def test_a_run_of_the_past_can_be_taken_over_after_any_of_its_events(replay: Replay) -> None:
    events = replay.events()
    for count in range(1, len(events) + 1):
        if is_draft(events[:count]):
            draft = evolve_draft(fold_draft(events[:count]), RunResumed(1))
            assert bool(decide_draft(draft)) != is_draft_over(draft)
        else:
            run = evolve(fold(events[:count]), RunResumed(1))
            assert bool(decide(run)) != is_over(run)


def test_the_journals_hold_every_kind_of_event() -> None:
    held = {type_name(type(event)) for replay in REPLAYS for event in replay.events()}
    assert held == {type_name(kind) for kind in get_args(Event)}


def test_every_journal_has_its_end_and_every_end_its_journal() -> None:
    folder = REPLAYS[0].lines.parent
    assert {replay.expected for replay in REPLAYS} == set(folder.glob("*.expected.json"))


def test_an_end_tells_of_every_unit() -> None:
    replay = next(replay for replay in REPLAYS if "question" in replay.name)
    first, *rest = replay.events()
    run = reduce(evolve, rest, begin(first))  # pyright: ignore[reportArgumentType]
    assert list(portrait(run)["units"]) == ["1", "2", "3"]
    assert portrait(run)["units"]["3"]["reason"] == "question"
