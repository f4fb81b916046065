"""The journal as a file: who may write, what a reader sees, and what damage and full disks do."""

import os
import signal
import sqlite3
import subprocess  # noqa: TID251 - other processes open the same journal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from amelia.model import events as ev
from amelia.model.errors import JournalError
from amelia.model.plan import UnitId
from amelia.record.journal import (
    JournalBusyError,
    SqliteJournal,
    is_answered,
    is_driven,
    leave_request,
    read_journal,
    why_refused,
)

ONE, TWO = UnitId("1"), UnitId("2")
HOLDER = """
import sys
from pathlib import Path
from amelia.model.events import RunPaused, UnitReset
from amelia.record.journal import SqliteJournal
with SqliteJournal(Path(sys.argv[1])) as journal:
    journal.append([RunPaused()])
    print("holding", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Gives another process that drives the run."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"holding\n"
        yield process
        process.kill()


def connection_of(journal: SqliteJournal) -> sqlite3.Connection:
    return vars(journal)["_base"]


def change(path: Path, statement: str, *values: object) -> None:
    """Does what no Amelia does: changes a journal behind its back."""
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(statement, values)


def written(path: Path, *events: ev.Event) -> Path:
    with SqliteJournal(path) as journal:
        journal.append(events)
    return path


def events_in(path: Path) -> list[ev.Event]:
    return [recorded.event for recorded in read_journal(path)]


def test_what_was_written_is_there_when_it_is_opened_again(path: Path) -> None:
    written(path, ev.RunPaused())
    with SqliteJournal(path) as journal:
        assert [recorded.seq for recorded in journal.append([ev.UnitReset(ONE)])] == [2]
    assert events_in(path) == [ev.RunPaused(), ev.UnitReset(ONE)]


def test_a_reader_can_ask_for_what_came_after_an_event(path: Path) -> None:
    written(path, ev.RunPaused(), ev.UnitReset(ONE), ev.UnitReset(TWO))
    assert [recorded.seq for recorded in read_journal(path, after=1)] == [2, 3]
    assert [recorded.seq for recorded in read_journal(path, at_most=1)] == [1]
    assert read_journal(path, after=3) == []


def test_only_its_owner_may_look_into_a_journal(path: Path) -> None:
    before = os.umask(0)
    try:
        with SqliteJournal(path) as journal:
            journal.append([ev.RunPaused()])
            files = sorted(path.parent.iterdir())
            assert [file.stat().st_mode & 0o777 for file in files] == [0o600] * 3
    finally:
        os.umask(before)


def test_a_commit_is_on_disk_before_append_returns(path: Path) -> None:
    with SqliteJournal(path) as journal:
        assert connection_of(journal).execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection_of(journal).execute("PRAGMA synchronous").fetchone() == (2,)


def test_no_row_is_ever_changed_or_deleted(path: Path) -> None:
    statements: list[str] = []
    with SqliteJournal(path) as journal:
        connection_of(journal).set_trace_callback(statements.append)
        journal.append([ev.RunPaused()])
        leave_request(path, ev.UnitReset(ONE))
        journal.append([ev.UnitReset(ONE)], answering=journal.requests())
        journal.read()
    touching = [text for text in statements if "events" in text.lower()]
    assert touching
    assert all(text.startswith(("INSERT INTO events", "SELECT")) for text in touching)
    deleting = [text for text in statements if text.startswith(("DELETE", "UPDATE", "REPLACE", "DROP"))]
    assert deleting == ["DELETE FROM mailbox WHERE id = 1"]


def test_a_batch_is_one_transaction(path: Path) -> None:
    statements: list[str] = []
    with SqliteJournal(path) as journal:
        connection_of(journal).set_trace_callback(statements.append)
        journal.append([ev.UnitReset(ONE)] * 10)
    assert statements[0] == "BEGIN IMMEDIATE"
    assert statements.count("COMMIT") == 1


@pytest.mark.slow
def test_a_second_writer_is_refused_while_the_first_lives(path: Path) -> None:
    with SqliteJournal(path) as first:
        with pytest.raises(JournalBusyError, match="another process drives this run") as refused:
            SqliteJournal(path)
        assert refused.value.hint
        first.append([ev.RunPaused()])
        assert is_driven(path)
    assert not is_driven(path)
    assert events_in(written(path, ev.UnitReset(ONE))) == [ev.RunPaused(), ev.UnitReset(ONE)]


@pytest.mark.slow
def test_a_second_process_is_refused_while_the_first_lives(
    path: Path, holder: subprocess.Popen[bytes]
) -> None:
    assert is_driven(path)
    with pytest.raises(JournalBusyError):
        SqliteJournal(path)
    assert holder.poll() is None


@pytest.mark.slow
def test_the_lock_of_a_killed_writer_is_free_at_once_and_nothing_it_wrote_is_lost(
    path: Path, holder: subprocess.Popen[bytes]
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert not is_driven(path)
    with SqliteJournal(path) as journal:
        assert [recorded.event for recorded in journal.read()] == [ev.RunPaused()]
        assert [recorded.seq for recorded in journal.append([ev.UnitReset(ONE)])] == [2]


@pytest.mark.slow
def test_others_read_and_leave_requests_while_a_process_drives(
    path: Path, holder: subprocess.Popen[bytes]
) -> None:
    assert events_in(path) == [ev.RunPaused()]
    assert not is_answered(path, leave_request(path, ev.CancelRequested()))
    assert holder.poll() is None
    assert is_driven(path)


@pytest.mark.slow
def test_the_children_of_a_writer_do_not_keep_its_lock(path: Path) -> None:
    with SqliteJournal(path):
        child = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        assert not is_driven(path)
    finally:
        child.kill()
        child.wait()


@pytest.mark.slow
def test_readers_see_whole_batches_while_somebody_writes(path: Path) -> None:
    batches, size = 40, 5
    written(path)

    def read_on() -> set[int]:
        seen = {0}
        while max(seen) < batches * size:
            seen.add(len(read_journal(path)))
        return seen

    with SqliteJournal(path) as journal, ThreadPoolExecutor(2) as threads:
        readers = [threads.submit(read_on) for _ in range(2)]
        for _ in range(batches):
            journal.append([ev.RunPaused()] * size)
        for reader in readers:
            assert {count % size for count in reader.result(timeout=60)} == {0}


@pytest.mark.slow
def test_requests_of_many_at_once_all_arrive(path: Path) -> None:
    with SqliteJournal(path) as journal, ThreadPoolExecutor(4) as threads:
        for number in range(40):
            threads.submit(leave_request, path, ev.UnitReset(UnitId(str(number))))
        got: list[str] = []
        while len(got) < 40:
            requests = journal.requests()
            journal.append([request.wanted for request in requests], answering=requests)
            got += [request.wanted.unit for request in requests if isinstance(request.wanted, ev.UnitReset)]
    assert sorted(got, key=int) == [str(number) for number in range(40)]
    assert len(events_in(path)) == 40


def test_a_journal_of_a_newer_format_is_refused_and_left_as_it_is(path: Path) -> None:
    change(written(path, ev.RunPaused()), "PRAGMA user_version = 2")
    before = path.read_bytes()
    with pytest.raises(JournalError, match="newer Amelia \\(format 2, known: 1\\)") as refused:
        SqliteJournal(path)
    assert refused.value.hint
    with pytest.raises(JournalError, match="newer"):
        read_journal(path)
    with pytest.raises(JournalError, match="newer"):
        leave_request(path, ev.CancelRequested())
    assert path.read_bytes() == before
    assert not is_driven(path)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM events WHERE seq = 2", "journal.db: event 2 is missing"),
        ("DELETE FROM events WHERE seq = 1", "journal.db: event 1 is missing"),
        ("UPDATE events SET seq = -1 WHERE seq = 1", "journal.db: event 1 is missing"),
        ("UPDATE events SET at = 'noon' WHERE seq = 2", "the time of event 2 is damaged: noon"),
        ("UPDATE events SET at = x'00' WHERE seq = 2", "the time of event 2 is damaged"),
        ("UPDATE events SET body = '{' WHERE seq = 2", "damaged event: unit_reset"),
        ("UPDATE events SET body = '{}' WHERE seq = 2", "missing required field `unit`"),
        ("UPDATE events SET body = '[]' WHERE seq = 2", "damaged event: unit_reset"),
        ("UPDATE events SET body = x'7b22ff' WHERE seq = 2", "damaged event: unit_reset"),
        ("UPDATE events SET body = 7 WHERE seq = 2", "damaged event: unit_reset"),
        ("UPDATE events SET type = 'unit_sang' WHERE seq = 2", "does not know: unit_sang"),
        ("UPDATE events SET version = 99 WHERE seq = 2", "does not know: unit_reset 99"),
    ],
)
def test_a_damaged_journal_is_refused_with_a_reason_and_a_hint(path: Path, statement: str, said: str) -> None:
    change(written(path, ev.RunPaused(), ev.UnitReset(ONE), ev.UnitReset(TWO)), statement)
    with pytest.raises(JournalError, match=said) as refused:
        read_journal(path)
    assert refused.value.hint
    with SqliteJournal(path) as journal, pytest.raises(JournalError, match=said):
        journal.read()


def test_a_request_of_a_newer_amelia_waits_for_a_newer_coordinator(path: Path) -> None:
    number = leave_request(written(path), ev.UnitReset(ONE))
    change(path, "UPDATE mailbox SET type = 'sing'")
    leave_request(path, ev.UnitReset(TWO))
    with SqliteJournal(path) as journal:
        [known] = journal.requests()
        assert known.wanted == ev.UnitReset(TWO)
        journal.append([known.wanted], answering=[known])
        assert journal.requests() == []
    assert not is_answered(path, number)


def test_who_left_a_wish_learns_why_it_was_refused(path: Path) -> None:
    numbers = [leave_request(written(path), ev.UnitReset(unit)) for unit in (ONE, TWO)]
    with SqliteJournal(path) as journal:
        first, second = journal.requests()
        journal.append([first.wanted], answering=[first, replace(second, refused="too late")])
    assert [is_answered(path, number) for number in numbers] == [True, True]
    assert [why_refused(path, number) for number in numbers] == [None, "too late"]


def test_a_journal_of_an_older_amelia_does_not_say_what_was_refused(path: Path) -> None:
    number = leave_request(written(path), ev.UnitReset(ONE))
    change(path, "DROP TABLE refused")
    assert why_refused(path, number) is None
    with SqliteJournal(path) as journal:
        (wish,) = journal.requests()
        journal.append([], answering=[replace(wish, refused="too late")])
    assert why_refused(path, number) == "too late"


def test_a_file_that_is_no_journal_is_refused_and_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"no database, but long enough to be taken for one " * 100)
    before = path.read_bytes()
    with pytest.raises(JournalError, match="not a database") as refused:
        SqliteJournal(path)
    assert refused.value.hint == "restore the file from a copy"
    assert path.read_bytes() == before
    assert not is_driven(path)


def leave_wish(path: Path) -> None:
    leave_request(path, ev.CancelRequested())


def look_for_wish(path: Path) -> None:
    is_answered(path, 1)


@pytest.mark.parametrize("visit", [read_journal, look_for_wish, leave_wish])
def test_whoever_visits_a_journal_that_is_not_there_makes_none(
    path: Path, visit: Callable[[Path], object]
) -> None:
    with pytest.raises(JournalError, match="there is no journal"):
        visit(path)
    assert not path.exists()


@pytest.mark.parametrize("statement", [None, "PRAGMA journal_mode = WAL"])
def test_a_journal_whose_writer_was_killed_before_the_first_word_holds_nothing(
    path: Path, statement: str | None
) -> None:
    path.touch()
    if statement is not None:
        change(path, statement)
    assert read_journal(path) == []
    assert events_in(written(path, ev.RunPaused())) == [ev.RunPaused()]


def test_looking_whether_somebody_drives_makes_no_journal(path: Path) -> None:
    assert not is_driven(path)
    assert not path.exists()


def test_a_journal_that_cannot_be_opened_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be opened: Is a directory"):
        SqliteJournal(tmp_path)
    with pytest.raises(JournalError, match="cannot be opened: No such file"):
        SqliteJournal(tmp_path / "nowhere" / "journal.db")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Gives a disk with little room."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode != 0:
        pytest.skip("mounting is not permitted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.slow
def test_a_full_disk_is_a_clear_error_and_loses_nothing_that_was_appended(small_disk: Path) -> None:
    path = small_disk / "journal.db"
    event = ev.BranchVerified(passed=False, feedback="x" * 5000)
    with SqliteJournal(path) as journal:
        with pytest.raises(JournalError, match="full") as refused:
            fill(journal, event)
        assert refused.value.hint is not None
        assert "make room on the disk" in refused.value.hint
        kept = journal.read()
        assert len(kept) > 10
        with pytest.raises(JournalError):
            journal.append([event] * 100)
        assert journal.read() == kept
    assert read_journal(path) == kept


def fill(journal: SqliteJournal, event: ev.Event) -> None:
    for expected in range(1, 1000):
        [recorded] = journal.append([event])
        assert recorded.seq == expected


@pytest.mark.slow
def test_a_run_goes_on_once_there_is_room_again(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    path = small_disk / "journal.db"
    event = ev.BranchVerified(passed=False, feedback="x" * 5000)
    with SqliteJournal(path) as journal:
        journal.append([ev.RunPaused()])
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        with pytest.raises(JournalError):
            journal.append([event, event])
        ballast.unlink()
        assert [recorded.seq for recorded in journal.append([event])] == [2]
    assert events_in(path) == [ev.RunPaused(), event]
