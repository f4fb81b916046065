"""What a session of Claude Code has used, by the record that Claude itself keeps of it.

Claude writes every message down with its final count, also those of a turn that was killed before it could
tell of them. A message has a line for each of its parts, and counts once.
"""

from collections.abc import Callable, Iterator, Mapping
from glob import escape
from itertools import islice
from pathlib import Path
from typing import cast

from amelia.drive.records import record_lines
from amelia.drive.stream import DETAIL_LIMIT, Line, count_of, read_object, text_of
from amelia.model.agents import SessionId, Usage, total
from amelia.model.prices import Price

SYNTHETIC = "<synthetic>"
"""The model of messages that Claude writes in the name of one."""
_MOST = 200_000


def session_usage(folder: Path, session: SessionId, price_of: Callable[[str], Price | None]) -> Usage | None:
    """Returns what a session has used in all; None if there is no record of it below Claude's folder."""
    counts: dict[str, Usage] = {}
    for path in folder.glob(f"projects/*/{escape(session)}.jsonl"):
        for message in islice(_messages(path), _MOST - len(counts)):
            name, used = text_of(message.get("id"), DETAIL_LIMIT), message_usage(message, price_of)
            if used is not None:
                counts[name] = used
    used = None
    for count in counts.values():
        used = total(used, count)
    return used


def message_usage(message: Mapping[str, object], price_of: Callable[[str], Price | None]) -> Usage | None:
    """Returns what one message of a model used, as far as it tells; None if it is of no model."""
    model, counts = text_of(message.get("model"), DETAIL_LIMIT), message.get("usage")
    if not isinstance(counts, dict) or model == SYNTHETIC:
        return None
    told = cast("Mapping[str, object]", counts)
    cached, written = (
        count_of(told.get("cache_read_input_tokens")),
        count_of(told.get("cache_creation_input_tokens")),
    )
    tokens = count_of(told.get("input_tokens")) + cached + written, count_of(told.get("output_tokens"))
    price = price_of(model)
    cost = None if price is None else price.cost(Usage(*tokens), cached=cached, written=written)
    return Usage(*tokens, cost)


def _messages(path: Path) -> Iterator[Mapping[str, object]]:
    for line in record_lines(path):
        if b'"usage"' in line and (record := read_object(Line(line))) is not None:
            message = record.get("message")
            if record.get("type") == "assistant" and isinstance(message, dict):
                yield cast("Mapping[str, object]", message)
