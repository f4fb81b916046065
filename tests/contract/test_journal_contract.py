"""What every journal promises, wherever it keeps what it is told.

A journal joins by an entry in `OPENERS`: a context manager that gives one, and the way into its mailbox.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amelia.model import events as ev
from amelia.model.git import CommitId
from amelia.model.journal import Journal, Recorded, Wanted
from amelia.model.plan import UnitId
from amelia.record.journal import SqliteJournal, leave_request
from amelia.testing.journal import MemoryJournal

START = datetime(2026, 11, 15, 12, 0, 0, 123456, tzinfo=UTC)
ONE, TWO, THREE = (UnitId(name) for name in "123")


class Clock:
    """Moves on by a minute whenever somebody looks at it."""

    def __init__(self) -> None:
        self._now = START

    def __call__(self) -> datetime:
        now, self._now = self._now, self._now + timedelta(minutes=1)
        return now


class Opened(NamedTuple):
    journal: Journal
    leave: Callable[[Wanted], object]


@contextmanager
def memory(place: Path) -> Generator[Opened]:
    assert place.is_dir()
    journal = MemoryJournal(now=Clock())
    yield Opened(journal, journal.leave)


@contextmanager
def sqlite(place: Path) -> Generator[Opened]:
    path = place / "journal.db"
    with SqliteJournal(path, now=Clock()) as journal:
        yield Opened(journal, partial(leave_request, path))


OPENERS: dict[str, Callable[[Path], AbstractContextManager[Opened]]] = {"memory": memory, "sqlite": sqlite}


@pytest.fixture(params=sorted(OPENERS))
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    with OPENERS[request.param](tmp_path) as opened:
        yield opened


@pytest.fixture
def journal(opened: Opened) -> Journal:
    return opened.journal


def test_a_new_journal_holds_nothing(journal: Journal) -> None:
    assert list(journal.read()) == []
    assert list(journal.requests()) == []


def test_what_was_appended_reads_back_in_order_with_its_time(journal: Journal) -> None:
    told = [*journal.append([ev.RunPaused(), ev.UnitReset(ONE)]), *journal.append([ev.UnitReset(TWO)])]
    assert told == [
        Recorded(1, START, ev.RunPaused()),
        Recorded(2, START, ev.UnitReset(ONE)),
        Recorded(3, START + timedelta(minutes=1), ev.UnitReset(TWO)),
    ]
    assert list(journal.read()) == told


def test_appending_nothing_changes_nothing(journal: Journal) -> None:
    assert list(journal.append([])) == []
    assert [one.seq for one in journal.append([ev.RunPaused()])] == [1]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(OPENERS))
@settings(max_examples=25)
@given(sizes=st.lists(st.integers(0, 5), max_size=5))
def test_numbers_have_no_gaps_whatever_the_batches(
    tmp_path_factory: pytest.TempPathFactory, name: str, sizes: list[int]
) -> None:
    with OPENERS[name](tmp_path_factory.mktemp(name)) as opened:
        for size in sizes:
            opened.journal.append([ev.UnitLanded(ONE, n, CommitId("c")) for n in range(size)])
        read = opened.journal.read()
    assert [recorded.seq for recorded in read] == list(range(1, sum(sizes) + 1))
    assert [recorded.event for recorded in read] == [
        ev.UnitLanded(ONE, n, CommitId("c")) for size in sizes for n in range(size)
    ]


def test_a_batch_is_written_whole_or_not_at_all(opened: Opened) -> None:
    journal = opened.journal
    journal.append([ev.RunPaused()])
    opened.leave(ev.UnitReset(ONE))
    requests = journal.requests()
    unwritable: Any = object()
    with pytest.raises(TypeError):
        journal.append([ev.UnitReset(ONE), unwritable, ev.UnitReset(TWO)], answering=requests)
    assert [recorded.event for recorded in journal.read()] == [ev.RunPaused()]
    assert list(journal.requests()) == list(requests)
    assert [recorded.seq for recorded in journal.append([ev.UnitReset(THREE)])] == [2]


def test_requests_come_in_the_order_in_which_they_were_left(opened: Opened) -> None:
    wishes: list[Wanted] = [ev.UnitReset(TWO), ev.CancelRequested(), ev.UnitSkipped(ONE, satisfies=True)]
    for wish in wishes:
        opened.leave(wish)
    assert [request.wanted for request in opened.journal.requests()] == wishes
    assert [request.wanted for request in opened.journal.requests()] == wishes


def test_a_request_is_answered_exactly_once(opened: Opened) -> None:
    journal = opened.journal
    opened.leave(ev.UnitReset(ONE))
    opened.leave(ev.UnitReset(TWO))
    first, second = journal.requests()
    journal.append([first.wanted], answering=[first])
    assert list(journal.requests()) == [second]
    journal.append([second.wanted], answering=[second])
    assert list(journal.requests()) == []
    assert [recorded.event for recorded in journal.read()] == [ev.UnitReset(ONE), ev.UnitReset(TWO)]


def test_a_request_that_does_not_fit_is_dropped_without_an_event(opened: Opened) -> None:
    opened.leave(ev.UnitReset(ONE))
    opened.journal.append([], answering=opened.journal.requests())
    assert list(opened.journal.requests()) == []
    assert list(opened.journal.read()) == []


def test_a_request_that_comes_meanwhile_stays(opened: Opened) -> None:
    opened.leave(ev.UnitReset(ONE))
    seen = opened.journal.requests()
    opened.leave(ev.UnitReset(TWO))
    opened.journal.append([], answering=seen)
    assert [request.wanted for request in opened.journal.requests()] == [ev.UnitReset(TWO)]


def test_the_same_wish_again_is_another_request_also_after_the_first_was_answered(opened: Opened) -> None:
    seen: set[int] = set()
    for count in (2, 4, 6):
        opened.leave(ev.CancelRequested())
        opened.leave(ev.CancelRequested())
        requests = opened.journal.requests()
        seen |= {request.id for request in requests}
        assert len(seen) == count
        opened.journal.append([], answering=requests)


def test_answering_what_was_answered_before_does_no_harm(opened: Opened) -> None:
    opened.leave(ev.UnitReset(ONE))
    requests = opened.journal.requests()
    for _ in range(2):
        opened.journal.append([ev.RunPaused()], answering=requests)
    assert len(opened.journal.read()) == 2


def test_any_text_can_be_written(journal: Journal) -> None:
    text = "\0 ␀ 🦆 \x1b[31m \udcff \ud800 " + "long " * 100_000
    journal.append([ev.BranchVerified(passed=False, feedback=text)])
    [recorded] = journal.read()
    assert recorded.event == ev.BranchVerified(
        passed=False, feedback=text.replace("\udcff", "\\udcff").replace("\ud800", "\\ud800")
    )
