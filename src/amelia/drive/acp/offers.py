"""What an agent of the Agent Client Protocol offers for a session, without input or output.

- Modes go by the last part of their id, as in `session-modes#plan`, or by their name: every agent has ids of
  its own, and some of them are addresses.
- A mode counts as one for reading if its agent changes no files in it unasked; whoever asks is refused.
"""

import re

from amelia.drive.acp.updates import Table, table_of, tables_of
from amelia.drive.stream import DETAIL_LIMIT, text_of

_FORBIDS = ("read-only", "readonly", "plan", "ask")
"""Modes that are for reading, the strictest first."""
_ASKS = ("always-ask", "approve")
"""Modes in which an agent asks before every change; whoever may write works in them, too."""
_LAST_PART = re.compile(r"[^#/:]*\Z")


def way_to_resume(hello: Table) -> str | None:
    """Returns the method by which a session is gone on with; the one that repeats nothing comes first."""
    can = table_of(hello.get("agentCapabilities"))
    if table_of(can.get("sessionCapabilities")).get("resume") is not None:
        return "session/resume"
    return "session/load" if can.get("loadSession") is True else None


def option_for(offers: Table, category: str) -> Table | None:
    """Returns the option of a session by which one chooses something; None if the agent has none."""
    options = tables_of(offers.get("configOptions"))
    return next((option for option in options if option.get("category") == category), None)


def current_value(offers: Table, category: str) -> str:
    """Returns what an option of a session is set to; empty if that is not told."""
    option = option_for(offers, category)
    return text_of(option.get("currentValue"), DETAIL_LIMIT) if option is not None else ""


def mode_to_read_in(offers: Table) -> str | None:
    """Returns the mode for a turn that may not write; None if the agent has none for that."""
    offered = _modes(offers)
    for wanted in (*_FORBIDS, *_ASKS):
        for mode, names in offered.items():
            if wanted in names:
                return mode
    return None


def mode_to_write_in(offers: Table) -> str | None:
    """Returns the mode to leave one for reading for; None if the session is in no such mode."""
    offered = _modes(offers)
    current = _current_mode(offers)
    if not (offered.get(current) or _names(current, "")).intersection(_FORBIDS):
        return None
    return next((mode for mode, names in offered.items() if not names.intersection(_FORBIDS)), None)


def _modes(offers: Table) -> dict[str, frozenset[str]]:
    """Returns the modes of a session and what each goes by; newer agents offer an option with groups."""
    choices = tables_of((option_for(offers, "mode") or {}).get("options"))
    inner = [choice for group in choices for choice in tables_of(group.get("options"))]
    modes = tables_of(table_of(offers.get("modes")).get("availableModes"))
    told = [
        *((mode.get("id"), mode.get("name")) for mode in modes),
        *((choice.get("value"), choice.get("name")) for choice in [*choices, *inner]),
    ]
    return {mode: _names(mode, text_of(name, DETAIL_LIMIT)) for mode, name in told if isinstance(mode, str)}


def _names(mode: str, name: str) -> frozenset[str]:
    found = _LAST_PART.search(mode)
    return frozenset({_plain(found[0] if found else mode), _plain(name)})


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(" ", "-")


def _current_mode(offers: Table) -> str:
    told = table_of(offers.get("modes")).get("currentModeId")
    return current_value(offers, "mode") or text_of(told, DETAIL_LIMIT)
