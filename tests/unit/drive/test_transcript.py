"""The record of a turn: complete, in order, bounded and without keys."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive import transcript as transcripts
from amelia.drive.stream import Line
from amelia.drive.transcript import Transcript
from amelia.model.agents import Ending, Role, SessionId, TurnEnded, TurnSpec, Usage
from amelia.model.errors import AmeliaError
from amelia.system.secrets import KEY_SHAPES, KEY_SIGNS, Redactor

KEYS = [
    "sk-" + "ant-" + "a1" * 20,
    "ghp_" + "a1" * 18,
    "github_pat_" + "A1" * 20,
    "glpat-abcdefghij0123456789",
    "npm_" + "x1" * 18,
    "xoxb-1234567890-abcdef",
    "AKIAIOSFODNN7EXAMPLE",
    "AIza" + "Sy0_" * 9,
]


def spec(path: Path, prompt: str = "do it") -> TurnSpec:
    return TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=2,
        prompt=prompt,
        cwd="/somewhere",
        session=SessionId("s"),
        transcript=str(path),
        state=str(path.parent),
        run="r",
    )


@given(st.from_regex(re.compile(KEY_SHAPES, re.VERBOSE)))
def test_no_key_is_without_the_sign_that_keys_are_looked_for_by(text: bytes) -> None:
    assert KEY_SIGNS.search(text) is not None


def test_a_key_that_an_agent_was_given_needs_no_shape() -> None:
    assert Redactor(["hush hush"]).redact(b"it is hush hush!") == b"it is [redacted]!"


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_turn_is_recorded_from_prompt_to_end(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "t.jsonl"
    with Transcript(path, Redactor()) as transcript:
        transcript.begin(spec(path))
        assert transcript.line(Line(b"hello")) == Line(b"hello")
        assert transcript.errors(b"oops\n") == "oops\n"
        assert transcript.errors(b"") == ""
        transcript.end(TurnEnded(ending=Ending.CRASHED, session=None, exit_code=3, detail="why"))
    found = records(path)
    times = [record.pop("t") for record in found]
    assert times == sorted(times)
    assert found[0]["prompt"] == "do it"
    assert datetime.fromisoformat(found[0]["turn"].pop("at")).tzinfo is not None
    assert found[0]["turn"] == {
        "run": "r",
        "role": "developer",
        "unit": "1",
        "attempt": 2,
        "session": "s",
        "resume": False,
        "repair": False,
        "cwd": "/somewhere",
    }
    unknown = {"session": None, "until": None, "report": None, "usage": None}
    assert found[1:] == [
        {"line": "hello"},
        {"stderr": "oops\n"},
        {"ended": "crashed", "exit_code": 3, "detail": "why", **unknown},
    ]


def test_what_a_turn_came_to_and_used_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    ended = TurnEnded(
        ending=Ending.OK,
        session=SessionId("s2"),
        exit_code=0,
        report={"status": "completed"},
        until="2026-11-15T12:00:00Z",
        usage=Usage(120, 30, None),
    )
    with Transcript(path, Redactor()) as transcript:
        transcript.end(ended)
    (found,) = records(path)
    assert found["session"] == "s2"
    assert found["report"] == {"status": "completed"}
    assert found["until"] == "2026-11-15T12:00:00Z"
    assert found["usage"] == {"input_tokens": 120, "output_tokens": 30, "cost": None}


def test_a_second_turn_adds_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for word in (b"one", b"two"):
        with Transcript(path, Redactor()) as transcript:
            transcript.line(Line(word))
    assert [record["line"] for record in records(path)] == ["one", "two"]


def test_any_bytes_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with Transcript(path, Redactor()) as transcript:
        transcript.line(Line(b"\xff\0\x1b[0m"))
        transcript.begin(spec(path, "lone \ud800"))
    assert records(path)[0]["line"] == "\\xff\0\x1b[0m"


def test_beyond_its_limit_a_turn_is_no_longer_kept_and_the_record_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "SIZE_LIMIT", 10)
    path = tmp_path / "t.jsonl"
    with Transcript(path, Redactor()) as transcript:
        for _ in range(5):
            assert transcript.line(Line(b"123456")) == Line(b"123456")
        transcript.end(TurnEnded(ending=Ending.OK, session=None))
    kinds = [next(key for key in record if key != "t") for record in records(path)]
    assert kinds == ["line", "line", "cut", "ended"]


def test_the_limit_is_one_of_the_file_however_the_lines_are_written_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "SIZE_LIMIT", 1000)
    path = tmp_path / "t.jsonl"
    with Transcript(path, Redactor()) as transcript:
        for _ in range(50):
            transcript.line(Line(b"\0" * 100))
    assert path.stat().st_size < 2000


@pytest.mark.parametrize("key", KEYS)
def test_what_has_the_shape_of_a_key_is_taken_out(key: str) -> None:
    text = Redactor().redact(f'{{"a": "{key}", "b": 1}}'.encode())
    assert text == b'{"a": "[redacted]", "b": 1}'


def test_a_private_key_is_taken_out_of_a_json_string() -> None:
    text = json.dumps(
        {"key": "-----BEGIN RSA PRIVATE KEY-----\nMIIabc/+=\nxyz\n-----END RSA PRIVATE KEY-----\n"}
    )
    cleaned = Redactor().redact(text.encode())
    assert b"MII" not in cleaned
    json.loads(cleaned)


@pytest.mark.parametrize(
    "text", ["task-implementation-of-the-thing", "sk-short", "AKIA", "disk-full-and-more-words"]
)
def test_what_only_looks_a_little_like_a_key_stays(text: str) -> None:
    assert Redactor().redact(text.encode()) == text.encode()


def test_the_keys_that_an_agent_was_given_are_taken_out_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    secret = "my (secret) # key"  # noqa: S105 - it is none
    with Transcript(path, Redactor([secret, "short", secret + "-longer"])) as transcript:
        transcript.begin(spec(path, f"use {secret}"))
        assert transcript.line(Line(f"{secret}! short {secret}-longer.".encode())).data == (
            b"[redacted]! short [redacted]."
        )
        assert transcript.errors(secret.encode()) == "[redacted]"
    assert secret not in path.read_text()


@given(st.binary())
def test_redacting_twice_changes_nothing_more(data: bytes) -> None:
    redactor = Redactor(["0123456789"])
    once = redactor.redact(data)
    assert redactor.redact(once) == once


@pytest.mark.parametrize(
    "hostile", [b"sk-" * 300_000, b"-----BEGIN " * 100_000, b"xoxb-1-" * 100_000, b"gh" * 500_000]
)
def test_redacting_takes_linear_time(hostile: bytes) -> None:
    Redactor(["a" * 100, "a" * 101]).redact(hostile + b"a" * 99)


def test_a_place_that_cannot_be_written_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(AmeliaError, match="transcript cannot be written") as caught:
        Transcript(tmp_path / "file" / "t.jsonl", Redactor())
    assert caught.value.hint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk_is_an_error_with_a_hint() -> None:
    with Transcript(Path("/dev/full"), Redactor()) as transcript:
        with pytest.raises(AmeliaError, match="No space left") as caught:
            transcript.line(Line(b"x"))
        assert caught.value.hint
