"""What a thread of Codex has used, by the record that Codex itself keeps of it.

Codex tells of its tokens at the end of a turn only. Its record counts them after every answer of the model,
also in a turn that was killed, and over the whole thread.
"""

from collections.abc import Mapping
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import cast

from amelia.drive.records import record_lines
from amelia.drive.stream import Line, count_of, read_object
from amelia.model.agents import SessionId, Usage
from amelia.model.prices import Price

_SIGNS = (b'"thread_token_usage"', b'"total_token_usage"')


def thread_usage(home: Path, thread: SessionId, price: Price | None) -> Usage | None:
    """Returns what a thread has used in all; None if there is no record of it below Codex's home."""
    last: Mapping[str, object] | None = None
    for path in sorted(home.glob(f"sessions/*/*/*/rollout-*-{escape(thread)}.jsonl")):
        last = _last_count(path) or last
    return None if last is None else counted_usage(last, price)


def counted_usage(counts: Mapping[str, object], price: Price | None) -> Usage:
    """Returns a count of Codex; its cost is known if the price of the model is."""
    used = Usage(count_of(counts.get("input_tokens")), count_of(counts.get("output_tokens")))
    if price is None:
        return used
    cached = count_of(counts.get("cached_input_tokens"))
    written = count_of(counts.get("cache_write_input_tokens"))
    return replace(used, cost=price.cost(used, cached=cached, written=written))


def _last_count(path: Path) -> Mapping[str, object] | None:
    last = None
    for line in record_lines(path):
        if any(sign in line for sign in _SIGNS):
            last = _count(read_object(Line(line))) or last
    return last


def _count(record: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Returns the count of the whole thread, of either kind: newer versions write one at every answer."""
    payload = _object(_object(record).get("payload"))
    counts = payload.get("thread_token_usage") or _object(payload.get("info")).get("total_token_usage")
    return _object(counts) or None


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}
