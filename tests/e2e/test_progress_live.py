"""The live tree on a real pseudo-terminal: what arrives there, byte for byte."""

import fcntl
import os
import pty
import re
import struct
import termios
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from io import StringIO
from typing import TextIO

import pytest

from amelia.model.outcome import Result
from amelia.show.run.live import LiveTree, can_redraw, local_now
from amelia.show.text import width
from runs import Story, chain, four_phases

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
WRAP_OFF, WRAP_ON = "\x1b[?7l", "\x1b[?7h"
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FRAME = re.compile(r"\x1b\[J")


class Clock:
    """A clock that a test moves."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Terminal:
    """One end of a pseudo-terminal is drawn on, the other is read."""

    def __init__(self, columns: int, rows: int, encoding: str) -> None:
        self._reader, writer = pty.openpty()
        os.set_blocking(self._reader, False)
        self.stream: TextIO = os.fdopen(writer, "w", encoding=encoding)
        self.resize(columns, rows)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.stream.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self) -> str:
        """Returns what arrived since the last time."""
        data = b""
        with suppress(BlockingIOError):
            while chunk := os.read(self._reader, 65536):
                data += chunk
        return data.decode(self.stream.encoding)

    def close(self) -> None:
        self.stream.close()
        os.close(self._reader)


@contextmanager
def terminal(columns: int = 80, rows: int = 24, encoding: str = "utf-8") -> Generator[Terminal]:
    opened = Terminal(columns, rows, encoding)
    try:
        yield opened
    finally:
        opened.close()


def frames(text: str) -> int:
    return len(FRAME.findall(text))


def lines(text: str) -> list[str]:
    return ESCAPE.sub("", text).replace("\r", "").split("\n")


def running() -> Story:
    return four_phases().start("phase-1")


def test_the_cursor_is_hidden_and_shown_again_and_the_last_tree_stays() -> None:
    story = running()
    with terminal() as screen:
        with LiveTree(screen.stream, now=Clock(story.now)) as live:
            assert screen.read() == HIDE + WRAP_OFF
            live.update(story.run, story.timeline)
            assert frames(screen.read()) == 1
            story.finish_unit("phase-1")
            live.update(story.run, story.timeline)
            assert screen.read() == ""
        last = screen.read()
    assert last.endswith(WRAP_ON + SHOW)
    assert frames(last) == 1
    assert "  Phase 1 (test): ✓ Done – Write model tests · 12s" in lines(last)
    assert lines(last)[-2] == "1 of 4 done · 3 waiting · 4s"
    assert lines(last)[-1] == ""


@pytest.mark.slow
def test_changes_are_drawn_at_most_eight_times_a_second() -> None:
    story = chain(200)
    clock = Clock(story.now)
    with terminal() as screen, LiveTree(screen.stream, now=clock) as live:
        drawn = 0
        for number in range(100):
            clock.pass_by(0.01)
            story.whole(str(number + 1))
            live.update(story.run, story.timeline)
            drawn += frames(screen.read())
        assert drawn == 8


def test_while_nothing_happens_the_time_is_drawn_once_a_second() -> None:
    story = running()
    clock = Clock(story.now)
    with terminal() as screen, LiveTree(screen.stream, now=clock) as live:
        live.update(story.run, story.timeline)
        screen.read()
        drawn = 0
        for _ in range(30):
            clock.pass_by(0.1)
            live.tick()
            drawn += frames(screen.read())
        assert drawn == 3


def test_what_is_there_already_is_not_written_again() -> None:
    story = chain(1).whole("1").end(Result.COMPLETED)
    clock = Clock(story.now)
    with terminal() as screen, LiveTree(screen.stream, now=clock) as live:
        live.update(story.run, story.timeline)
        screen.read()
        clock.pass_by(5)
        live.tick()
        assert screen.read() == ""


def test_a_clock_that_is_set_back_does_not_stop_the_display() -> None:
    story = running()
    clock = Clock(story.now)
    with terminal() as screen, LiveTree(screen.stream, now=clock) as live:
        live.update(story.run, story.timeline)
        screen.read()
        clock.pass_by(-3600)
        story.finish_unit("phase-1")
        live.update(story.run, story.timeline)
        assert frames(screen.read()) == 1


def test_a_frame_is_drawn_over_the_one_before() -> None:
    story = running()
    clock = Clock(story.now)
    with terminal(rows=40) as screen, LiveTree(screen.stream, now=clock) as live:
        live.update(story.run, story.timeline)
        height = len(lines(screen.read()))
        clock.pass_by(2)
        live.tick()
        assert screen.read().startswith(f"\r\x1b[{height - 1}A")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (40, 12), (20, 6), (3, 2), (200, 5)])
def test_a_frame_fits_its_screen(columns: int, rows: int) -> None:
    story = running()
    with (
        terminal(columns, rows) as screen,
        LiveTree(screen.stream, has_colours=False, now=Clock(story.now)) as live,
    ):
        screen.read()
        live.update(story.run, story.timeline)
        shown = lines(screen.read())
        assert len(shown) < rows
        assert all(width(line) <= columns for line in shown)


def test_a_screen_that_changed_its_size_is_drawn_anew() -> None:
    story = running()
    clock = Clock(story.now)
    with terminal(80, 24) as screen, LiveTree(screen.stream, now=clock) as live:
        live.update(story.run, story.timeline)
        screen.read()
        screen.resize(30, 10)
        clock.pass_by(0.2)
        live.tick()
        frame = screen.read()
        assert frame.startswith("\x1b[H\x1b[J")
        assert all(width(line) <= 30 for line in lines(frame))
        assert len(lines(frame)) < 10


def test_a_terminal_that_does_not_know_its_size_gets_the_usual_one() -> None:
    story = running()
    with terminal(0, 0) as screen, LiveTree(screen.stream, now=Clock(story.now)) as live:
        live.update(story.run, story.timeline)
        assert max(width(line) for line in lines(screen.read())) <= 80


def test_the_terminal_is_given_back_after_an_exception() -> None:
    story = running()
    with terminal() as screen:
        with suppress(ZeroDivisionError), LiveTree(screen.stream, now=Clock(story.now)) as live:
            live.update(story.run, story.timeline)
            raise ZeroDivisionError
        text = screen.read()
    assert text.endswith(WRAP_ON + SHOW)
    assert text.count(HIDE) == text.count(SHOW) == 1


def test_a_run_that_never_showed_itself_leaves_nothing() -> None:
    with terminal() as screen:
        with LiveTree(screen.stream) as live:
            live.tick()
        assert screen.read() == HIDE + WRAP_OFF + WRAP_ON + SHOW


def test_without_colours_only_the_cursor_is_moved() -> None:
    story = running()
    with terminal() as screen:
        with LiveTree(screen.stream, has_colours=False, now=Clock(story.now)) as live:
            live.update(story.run, story.timeline)
        assert not re.search(r"\x1b\[[0-9;]*m", screen.read())


def test_an_ascii_terminal_gets_ascii() -> None:
    story = running()
    with terminal(encoding="ascii") as screen:
        with LiveTree(screen.stream, now=Clock(story.now)) as live:
            live.update(story.run, story.timeline)
        assert "  Phase 1 (test): * Running - Write model tests | writing 2s" in lines(screen.read())


def test_the_last_tree_is_whole_even_on_a_small_screen() -> None:
    story = chain(40)
    with terminal(80, 10) as screen:
        with LiveTree(screen.stream, now=Clock(story.now)) as live:
            live.update(story.run, story.timeline)
            screen.read()
        assert len(lines(screen.read())) == 44


def test_only_a_real_terminal_with_a_person_before_it_is_redrawn() -> None:
    with terminal() as screen:
        assert can_redraw(screen.stream, {"TERM": "xterm"})
        assert not can_redraw(screen.stream, {"TERM": "dumb"})
        assert not can_redraw(screen.stream, {})
        assert not can_redraw(screen.stream, {"TERM": "xterm", "CI": "true"})
    assert not can_redraw(StringIO(), {"TERM": "xterm"})


def test_the_clock_on_the_wall_has_a_zone() -> None:
    assert local_now().utcoffset() is not None
