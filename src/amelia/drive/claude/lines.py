"""The dialect of Claude Code, without input or output: one JSON object on a line, as `stream-json` has it.

- A failure of the provider comes as a success with `is_error`; only both together say how a turn went.
- Claude counts over the whole session; what is reported here is what was used since the last count. Every
  message tells what it used so far, of which the end of the turn tells the rest: nothing is counted twice,
  and of a turn that is killed no more is lost than what nobody heard.
- The price of a model that Claude does not know is a guess of its, and no cost here.
- What it says that is of no interest is passed over; what is no event at all is `Unparsed`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import cast

from amelia.drive.claude.records import message_usage
from amelia.drive.status import ending_of_status
from amelia.drive.stream import (
    DETAIL_LIMIT,
    LINE_LIMIT,
    MESSAGE_LIMIT,
    NUMBER_LIMIT,
    Heard,
    Line,
    Result,
    cost_of,
    count_of,
    read_object,
    text_of,
    unparsed,
)
from amelia.model.agents import (
    Ending,
    PermissionDenied,
    Retrying,
    Said,
    SessionId,
    SessionStarted,
    ToolEnded,
    ToolStarted,
    Usage,
    Used,
    total,
)
from amelia.model.prices import Price

_TOOLS_KEPT = 1_000
_MESSAGES_COUNTED = 100_000
_DIGITS = 9  # of an amount of money
_LATEST = 10**11  # seconds; no limit is reset after the year 5138
_TELLING = ("command", "file_path", "pattern")
_LOST = "No conversation found"
_REFUSALS = """
    account_on_hold authentication_failed cloud_credential_error oauth_org_not_allowed verification_required
""".split()
_KINDS = {
    **dict.fromkeys(_REFUSALS, Ending.AUTH),
    "billing_error": Ending.NO_CREDIT,
    "model_not_found": Ending.MODEL_NOT_FOUND,
}
_OUTAGES = frozenset({"overloaded", "rate_limit", "server_error", "unknown"})
_TOO_LONG = "prompt_too_long"
_FULL = "API Error: The model has reached its context window limit"  # Claude's own words, for it has no kind


class ClaudeLines:
    """Understands the lines of one turn; `before` is what its session had used until then.

    `price_of` knows what models cost. Where it does not, messages count only if Claude does not know either:
    with `has_price` their cost would come too late for them.
    """

    def __init__(
        self,
        before: Usage | None = None,
        *,
        price_of: Callable[[str], Price | None] = lambda _: None,
        has_price: bool = True,
    ) -> None:
        self._counted = before
        self._price_of = price_of
        self._has_price = has_price
        self._heard: Usage | None = None
        self._messages: set[str] = set()
        self._is_started = False
        self._has_denied = False
        self._tools: dict[str, str] = {}
        self._error = ""
        self._until: str | None = None

    def __call__(self, line: Line) -> Sequence[Heard]:
        """Returns what a line says; nothing if that is of no interest."""
        if not line.data.strip():
            return ()
        message = read_object(line)
        if message is None or not isinstance(message.get("type"), str):
            return (unparsed(line.data),)
        return tuple(self._read(message))

    def _read(self, message: Mapping[str, object]) -> Iterator[Heard]:
        match message["type"]:
            case "system":
                yield from self._read_system(message)
            case "assistant":
                yield from self._read_assistant(message)
            case "user":
                yield from self._read_tool_results(message)
            case "rate_limit_event":
                self._until = _reset_time(message) or self._until
            case "result":
                yield from self._read_result(message)
            case _:
                pass

    def _read_system(self, message: Mapping[str, object]) -> Iterator[Heard]:
        match message.get("subtype"):
            case "init" if not self._is_started:
                self._is_started = True
                session = SessionId(text_of(message.get("session_id"), DETAIL_LIMIT))
                yield SessionStarted(session, text_of(message.get("model"), DETAIL_LIMIT))
            case "api_retry":
                delay = cost_of(message.get("retry_delay_ms")) or 0.0
                status = count_of(message.get("error_status")) or None
                yield Retrying(count_of(message.get("attempt")), delay / 1000, status)
            case "permission_denied":
                self._has_denied = True
                why = text_of(message.get("decision_reason") or message.get("message"))
                yield PermissionDenied(f"{text_of(message.get('tool_name'))}: {why}"[:DETAIL_LIMIT])
            case _:
                pass

    def _read_assistant(self, message: Mapping[str, object]) -> Iterator[Heard]:
        if error := text_of(message.get("error"), DETAIL_LIMIT):
            self._error = error  # its text is Claude's own and comes again with the result
            return
        yield from self._read_count(_object(message.get("message")))
        for block in _content(message):
            match block:
                case {"type": "text", "text": str(text)}:
                    yield Said(text_of(text))
                case {"type": "tool_use"}:
                    yield self._begin(block)
                case _:
                    pass

    def _read_count(self, message: Mapping[str, object]) -> Iterator[Used]:
        """Tells what a message used so far, once; its last parts come with the same count as its first."""
        name = text_of(message.get("id"), DETAIL_LIMIT)
        if not name or name in self._messages or len(self._messages) >= _MESSAGES_COUNTED:
            return
        self._messages.add(name)
        used = message_usage(message, self._price_of if self._has_price else lambda _: None)
        if used is not None and used.tokens and (used.cost is not None or not self._has_price):
            self._heard = total(self._heard, used)
            yield Used(used, is_estimate=self._has_price)

    def _begin(self, block: Mapping[str, object]) -> ToolStarted:
        name = text_of(block.get("name"), DETAIL_LIMIT)
        if len(self._tools) < _TOOLS_KEPT:
            self._tools[text_of(block.get("id"), DETAIL_LIMIT)] = name
        given = _object(block.get("input"))
        details = (text_of(given.get(key), DETAIL_LIMIT) for key in _TELLING)
        return ToolStarted(name, next(filter(None, details), ""))

    def _read_tool_results(self, message: Mapping[str, object]) -> Iterator[Heard]:
        for block in _content(message):
            if block.get("type") == "tool_result":
                name = self._tools.pop(text_of(block.get("tool_use_id"), DETAIL_LIMIT), "tool")
                yield ToolEnded(name, block.get("is_error") is not True)

    def _read_result(self, message: Mapping[str, object]) -> Iterator[Heard]:
        if not self._has_denied:  # older versions tell of what they refused only here
            for denied in _objects(message.get("permission_denials")):
                yield PermissionDenied(text_of(denied.get("tool_name"), DETAIL_LIMIT))
        if (now := _count(message)) is not None:
            yield Used(_rest(now, self._counted, self._heard))
            self._counted, self._heard = now, None
        yield self._end(message)

    def _end(self, message: Mapping[str, object]) -> Result:
        ending = self._ending(message)
        said = text_of(message.get("result"))
        if ending is Ending.OK:
            report = message.get("structured_output")
            if isinstance(report, dict):
                return Result(ending=ending, report=cast("Mapping[str, object]", report))
            return Result(ending=ending, text=text_of(message.get("result"), LINE_LIMIT)[-MESSAGE_LIMIT:])
        return Result(
            ending=ending,
            detail=(said or _errors(message))[:DETAIL_LIMIT],
            until=self._until if ending is Ending.LIMITED else None,
        )

    def _ending(self, message: Mapping[str, object]) -> Ending:
        match message.get("subtype"):
            case "success" if message.get("is_error") is False:
                return Ending.OK
            case "error_max_budget_usd":
                return Ending.OUT_OF_BUDGET
            case "error_max_structured_output_retries":
                return Ending.NO_REPORT
            case "error_during_execution" if not self._is_started and _LOST in _errors(message):
                return Ending.SESSION_LOST
            case "success" if message.get("terminal_reason") == _TOO_LONG or _is_full(message):
                return Ending.OVERFLOW
            case "success":
                return self._fault(count_of(message.get("api_error_status")))
            case _:
                return Ending.FAILED

    def _fault(self, status: int) -> Ending:
        """Returns how a turn ended whose request the provider did not answer; the status is 0 without one."""
        if self._error in _KINDS:
            return _KINDS[self._error]
        if status:
            return ending_of_status(status)
        return Ending.LIMITED if self._error in _OUTAGES else Ending.FAILED


def _rest(now: Usage, before: Usage | None, heard: Usage | None) -> Usage:
    """Returns what of a turn is still to be told; the cost is corrected if less was due than was told.

    A count that does not hold what was heard lacks a turn that Claude did not come to write down: then what
    was heard is all there is.
    """
    if heard is None:
        return now.since(before)
    turn = now.beyond(before)
    rest = turn.beyond(heard)
    is_whole = turn.input_tokens >= heard.input_tokens and turn.output_tokens >= heard.output_tokens
    if not is_whole or turn.cost is None or heard.cost is None:
        return rest
    return replace(rest, cost=round(turn.cost - heard.cost, _DIGITS))


def _object(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _objects(value: object) -> list[Mapping[str, object]]:
    return [_object(item) for item in cast("list[object]", value)] if isinstance(value, list) else []


def _content(message: Mapping[str, object]) -> list[Mapping[str, object]]:
    return _objects(_object(message.get("message")).get("content"))


def _errors(message: Mapping[str, object]) -> str:
    errors = message.get("errors")
    return "\n".join(map(text_of, cast("list[object]", errors))) if isinstance(errors, list) else ""


def _is_full(message: Mapping[str, object]) -> bool:
    return text_of(message.get("result"), DETAIL_LIMIT).startswith(_FULL)


def _reset_time(message: Mapping[str, object]) -> str | None:
    """Returns when a limit that is reached is reset; None if none is reached, or nobody knows."""
    limit = _object(message.get("rate_limit_info"))
    seconds = count_of(limit.get("resetsAt"))
    if limit.get("status") != "rejected" or not 0 < seconds < _LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _count(message: Mapping[str, object]) -> Usage | None:
    """Returns what the session has used in all; None if it does not say."""
    models = [_object(model) for model in _object(message.get("modelUsage")).values()]
    if not models:
        return None
    is_priced = all(model.get("costBasis") != "unknown" for model in models)
    return Usage(
        _sum(models, "inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"),
        _sum(models, "outputTokens"),
        cost_of(message.get("total_cost_usd")) if is_priced else None,
    )


def _sum(models: Sequence[Mapping[str, object]], *keys: str) -> int:
    return min(NUMBER_LIMIT, sum(count_of(model.get(key)) for model in models for key in keys))
