"""The records that agents keep of their sessions tell what those have used, whatever else is in them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from amelia.drive.claude.records import session_usage
from amelia.drive.codex.records import thread_usage
from amelia.drive.records import recorded_usage
from amelia.model.agents import AgentSettings, SessionId, Usage
from amelia.model.prices import Price

SESSION = SessionId("11111111-2222-4333-8444-555555555555")
PRICE = Price(fresh=1e-6, cached=1e-7, written=2e-6, output=5e-6)


def write(path: Path, *records: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("\n".join(lines) + "\n")


def message(name: str, tokens_in: int, tokens_out: int, **more: Any) -> dict[str, Any]:
    counts = {"input_tokens": tokens_in, "output_tokens": tokens_out, **more}
    return {"type": "assistant", "message": {"id": name, "model": "claude-x", "usage": counts}}


def claude(home: Path, price: Price | None = PRICE) -> Usage | None:
    return session_usage(home, SESSION, lambda _: price)


def codex(home: Path, price: Price | None = PRICE) -> Usage | None:
    return thread_usage(home, SESSION, price)


def test_every_message_of_claude_counts_once_with_its_last_count(tmp_path: Path) -> None:
    synthetic = message("m3", 7, 7)
    synthetic["message"]["model"] = "<synthetic>"
    write(
        tmp_path / "projects" / "-work" / f"{SESSION}.jsonl",
        {"type": "user", "message": {"content": 'it says "usage"'}},
        message("m1", 100, 1),
        message("m1", 100, 20),
        message("m2", 10, 5, cache_read_input_tokens=1000, cache_creation_input_tokens=100),
        synthetic,
        "half a line of a kill",
        '{"type": "assistant", "message": {"usage": 7}}',
    )
    write(tmp_path / "projects" / "-work" / "other.jsonl", message("m9", 1, 1))
    assert claude(tmp_path) == Usage(1210, 25, 0.000535)
    assert claude(tmp_path, price=None) == Usage(1210, 25)


def count(tokens_in: int, tokens_out: int, cached: int = 0) -> dict[str, int]:
    return {"input_tokens": tokens_in, "cached_input_tokens": cached, "output_tokens": tokens_out}


def test_the_last_count_of_codex_is_that_of_the_thread(tmp_path: Path) -> None:
    path = tmp_path / "sessions" / "2026" / "11" / "16" / f"rollout-2026-11-16T08-00-00-{SESSION}.jsonl"
    old = {"payload": {"type": "token_count", "info": {"total_token_usage": count(100, 20)}}}
    new = {"type": "token_usage_record", "payload": {"thread_token_usage": count(300, 60, cached=200)}}
    write(path, {"type": "session_meta"}, old)
    assert codex(tmp_path, price=None) == Usage(100, 20)
    write(path, old, new, {"payload": {"info": {"total_token_usage": None}}}, '{"thread_token_usage": half')
    assert codex(tmp_path) == Usage(300, 60, 0.00042)


@pytest.mark.parametrize("read", [claude, codex])
def test_without_a_record_nothing_is_known(tmp_path: Path, read: Any) -> None:
    assert read(tmp_path) is None
    (tmp_path / "projects" / "-work" / f"{SESSION}.jsonl").mkdir(parents=True)
    rollout = tmp_path / "sessions" / "2026" / "11" / "16" / f"rollout-x-{SESSION}.jsonl"
    rollout.mkdir(parents=True)
    assert read(tmp_path) is None


def test_a_name_of_a_session_is_no_pattern(tmp_path: Path) -> None:
    write(tmp_path / "projects" / "-work" / f"{SESSION}.jsonl", message("m1", 100, 20))
    assert session_usage(tmp_path, SessionId("*"), lambda _: None) is None


def test_records_are_looked_for_where_the_agent_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    write(tmp_path / "claude" / "projects" / "-work" / f"{SESSION}.jsonl", message("m1", 100, 20))
    write(
        tmp_path / "codex" / "sessions" / "2026" / "11" / "16" / f"rollout-x-{SESSION}.jsonl",
        {"payload": {"thread_token_usage": count(300, 60)}},
    )
    assert recorded_usage(AgentSettings(driver="claude"), SESSION) == Usage(100, 20)
    assert recorded_usage(AgentSettings(driver="codex"), SESSION) == Usage(300, 60)
    assert recorded_usage(AgentSettings(driver="api", model="openai:x"), SESSION) is None
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert recorded_usage(AgentSettings(driver="claude"), SESSION) is None


@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "huge file", "link to nothing"])
def test_what_is_no_record_is_not_read(tmp_path: Path, kind: str) -> None:
    places = (
        tmp_path / f"projects/-work/{SESSION}.jsonl",
        tmp_path / f"sessions/2026/01/01/rollout-1-{SESSION}.jsonl",
    )
    for path in places:
        path.parent.mkdir(parents=True)
        match kind:
            case "pipe":
                os.mkfifo(path)
            case "device":
                path.symlink_to("/dev/zero")
            case "directory":
                path.mkdir()
            case "huge file":
                path.touch()
                os.truncate(path, 1 << 40)
            case _:
                path.symlink_to("nothing")
    assert claude(tmp_path) is None
    assert codex(tmp_path) is None


def test_a_line_that_is_too_long_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / f"projects/-work/{SESSION}.jsonl"
    long = {**message("m1", 100, 1), "more": "x" * 9_000_000}
    write(path, long, message("m2", 10, 2))
    assert claude(tmp_path, price=None) == Usage(10, 2)
