"""What an agent of the Agent Client Protocol says, put into the lines of `plain`, without input or output.

- Any message is taken: what is missing or of the wrong kind is left out, what is unknown is handed on whole.
- The pieces of a message come out as one; a tool starts once and ends once, whatever order its updates have.
- Usage comes out as deltas. The protocol counts money over the whole session; what is not told stays unknown,
  and an amount of zero is what agents say of models they have no price for, or of tokens they do not count.
  Tokens that the protocol has no place for are read from the notes in which known agents tell them.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from amelia.drive.stream import DETAIL_LIMIT, MESSAGE_LIMIT, cost_of, count_of, text_of

ROUNDING = 1e-9

Table = Mapping[str, object]
_NO_NOTES: Table = MappingProxyType({})

_END_A_MESSAGE = frozenset({"tool_call", "agent_thought_chunk", "user_message_chunk"})
_SPOKEN = ("agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan")
_SAY_NOTHING = frozenset(
    """
    user_message_chunk agent_thought_chunk plan plan_update plan_removed available_commands_update
    current_mode_update config_option_update session_info_update
    """.split()
)
_ENDED = {"completed": True, "failed": False}
_ONLY_LOOK = frozenset({"read", "search", "think", "fetch"})


def table_of(value: object) -> Table:
    """Returns the value if it is a JSON object, else an empty one."""
    return cast("Table", value) if isinstance(value, dict) else {}


def tables_of(value: object) -> Sequence[Table]:
    """Returns the JSON objects in a list; none if the value is no list."""
    return [table_of(item) for item in cast("list[object]", value)] if isinstance(value, list) else []


class Updates:
    """Understands the updates of one turn; `cost_before` is what the session had cost until then."""

    def __init__(self, cost_before: float | None = None) -> None:
        self.last_message = ""
        self.refused = ""
        self.has_spoken = False
        self._pieces: deque[str] = deque()
        self._size = 0
        self._message: object = None
        self._tools: dict[str, str | None] = {}
        self._cost = cost_before or 0.0
        self._has_cost = False
        self._has_tokens = False
        self._counted = (0, 0)

    @property
    def has_used_tools(self) -> bool:
        """Says whether the agent has used a tool."""
        return bool(self._tools)

    def recall(self, update: Table, meta: Table = _NO_NOTES) -> None:
        """Takes in what was before the turn: of a session that is loaded, only what it has used."""
        amount = _dollars(update)
        if amount is not None:
            self._cost = amount
        self._counted = _running_count(meta) or self._counted

    def begin_turn(self) -> None:
        """Forgets what came of the prompt before."""
        self.last_message, self.refused, self._has_tokens = "", "", False

    def refuse(self, what: str) -> Iterator[Table]:
        """Takes in that the agent was refused something: what it said before that is no answer any more."""
        yield from self.end_message()
        self.last_message, self.refused = "", what
        yield {"type": "denied", "what": what}

    def hear(self, update: Table, meta: Table = _NO_NOTES) -> Iterator[Table]:
        """Yields what one update says; `meta` are the notes that came with it."""
        yield from self._hear_tokens(update, meta)
        kind = update.get("sessionUpdate")
        self.has_spoken = self.has_spoken or kind in _SPOKEN
        if isinstance(kind, str) and kind in _END_A_MESSAGE:
            yield from self.end_message()
        match kind:
            case "agent_message_chunk":
                yield from self._hear_piece(update)
            case "tool_call" | "tool_call_update":
                yield from self._hear_tool(update)
            case "usage_update":
                yield from self._hear_cost(update)
            case str() if kind in _SAY_NOTHING:
                return
            case _:
                yield {"type": "update", "update": update}

    def end_message(self) -> Iterator[Table]:
        """Yields the message whose pieces have come so far, if there are any."""
        if text := "".join(self._pieces)[-MESSAGE_LIMIT:]:
            self.last_message = text
            yield {"type": "say", "text": text}
        self._pieces.clear()
        self._size, self._message = 0, None

    def end_turn(self, answer: Table) -> Iterator[Table]:
        """Yields what was still to be said when the prompt is answered: the last message, and the usage."""
        yield from self.end_message()
        quota = table_of(table_of(answer.get("_meta")).get("quota"))  # of Gemini
        used = _tokens(table_of(answer.get("usage"))) or _tokens(table_of(quota.get("token_count")))
        if used is not None and not self._has_tokens:
            yield self._used(*used)

    def _used(self, given: int, made: int) -> Table:
        known: Table = {"cost": 0.0} if self._has_cost else {}
        return {"type": "usage", "input": given, "output": made, **known}

    def _hear_tokens(self, update: Table, meta: Table) -> Iterator[Table]:
        """Yields the tokens that an update tells in its notes: those of one answer, or a running count."""
        used = _tokens(table_of(table_of(update.get("_meta")).get("usage")))  # of Qwen
        if (count := _running_count(meta)) is not None:
            more = count[0] - self._counted[0], count[1] - self._counted[1]
            used, self._counted = more if min(more) >= 0 else count, count
        if used is not None and any(used):
            self._has_tokens = True
            yield self._used(*used)

    def _hear_piece(self, update: Table) -> Iterator[Table]:
        message = update.get("messageId")
        if message != self._message:
            yield from self.end_message()
            self._message = message
        self._keep(table_of(update.get("content")).get("text"))

    def _keep(self, piece: object) -> None:
        """Keeps a piece of a message; of too many, the first are forgotten, since a report is at the end."""
        if not isinstance(piece, str) or not piece:
            return
        self._pieces.append(piece[-MESSAGE_LIMIT:])
        self._size += len(self._pieces[-1])
        while self._size - len(self._pieces[0]) >= MESSAGE_LIMIT:
            self._size -= len(self._pieces.popleft())

    def _hear_tool(self, update: Table) -> Iterator[Table]:
        call = text_of(update.get("toolCallId"), DETAIL_LIMIT)
        if call not in self._tools:
            name = text_of(update.get("kind"), DETAIL_LIMIT) or "tool"
            self._tools[call] = name
            self.refused = ""
            detail = text_of(update.get("title"), DETAIL_LIMIT)
            yield {"type": "tool", "state": "started", "name": name, "detail": detail}
        name, status = self._tools[call], update.get("status")
        if name is not None and isinstance(status, str) and status in _ENDED:
            self._tools[call] = None
            yield {"type": "tool", "state": "ended", "name": name, "ok": _ENDED[status]}

    def _hear_cost(self, update: Table) -> Iterator[Table]:
        amount = _dollars(update)
        if amount is None:
            return
        if amount < self._cost - ROUNDING:
            self._cost = 0.0  # an agent that counts from its own start
        more, self._cost, self._has_cost = max(0.0, amount - self._cost), amount, True
        yield {"type": "usage", "input": 0, "output": 0, "cost": more}


def _dollars(update: Table) -> float | None:
    """Returns what the session has cost so far; None if that is not told, or not in dollars."""
    cost = table_of(update.get("cost"))
    return (cost_of(cost.get("amount")) or None) if cost.get("currency") == "USD" else None


def _tokens(usage: Table) -> tuple[int, int] | None:
    """Returns the tokens in and out that a count holds; None if there are none in it."""
    parts = ("inputTokens", "cachedReadTokens", "cachedWriteTokens", "input_tokens")
    given = sum(count_of(usage.get(part)) for part in parts)
    told = max(count_of(usage.get("outputTokens")), count_of(usage.get("output_tokens")))
    # Some agents count thoughts as output and some beside it; the total holds them in any case.
    made = max(told, count_of(usage.get("totalTokens")) - given)
    return (given, made) if given or made else None


def _running_count(meta: Table) -> tuple[int, int] | None:
    """Returns the tokens of the whole session in the notes of OpenHands; None without such notes."""
    return _tokens(table_of(table_of(meta.get("field_meta")).get("openhands.dev/metrics")))


def touched_paths(call: Table) -> list[str]:
    """Returns the files that a tool call is about to change, as far as it tells."""
    kind = call.get("kind")
    if isinstance(kind, str) and kind in _ONLY_LOOK:
        return []
    places = [*tables_of(call.get("locations")), *tables_of(call.get("content"))]
    return [path for place in places if isinstance(path := place.get("path"), str)]


def permission(options: object, *, is_allowed: bool) -> Table:
    """Returns the answer to a request for permission; for this once, so that no agent remembers it."""
    wanted = ("allow_once", "allow_always") if is_allowed else ("reject_once", "reject_always")
    for kind in wanted:
        for option in tables_of(options):
            if option.get("kind") == kind:
                return {"outcome": {"outcome": "selected", "optionId": option.get("optionId")}}
    return {"outcome": {"outcome": "cancelled"}}
