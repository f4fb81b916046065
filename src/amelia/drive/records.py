"""What sessions have used by the records that agents keep of them, for turns that nobody heard the end of."""

from collections.abc import Iterator
from pathlib import Path

from amelia.model.agents import AgentSettings, SessionId, Usage
from amelia.system.regular import open_regular

_LARGEST = 256 * 1024 * 1024
_LONGEST = 8 * 1024 * 1024


def record_lines(path: Path) -> Iterator[bytes]:
    """Yields the lines of a record, which lies where an agent can write; none if it cannot be a record.

    That is a pipe, a device, or a file of a size that no session has. A line that is too long is left out.
    """
    try:
        with open_regular(path) as file:
            if file.seek(0, 2) > _LARGEST:
                return
            file.seek(0)
            is_rest = False
            while file.tell() <= _LARGEST and (line := file.readline(_LONGEST)):
                is_whole = line.endswith(b"\n") or len(line) < _LONGEST
                if is_whole and not is_rest:
                    yield line
                is_rest = not is_whole
    except OSError:
        return


def recorded_usage(settings: AgentSettings, session: SessionId, state: Path | None = None) -> Usage | None:
    """Returns what a session has used in all; None if its agent keeps no record, or has none of it.

    `state` is the directory in which the agents of the session's run keep what is their own.
    """
    match settings.driver:
        case "claude":
            from amelia.drive.claude.driver import ClaudeDriver  # noqa: PLC0415 - only if it is asked for

            return ClaudeDriver(settings).recorded(session, state=state)
        case "codex":
            from amelia.drive.codex.driver import CodexDriver  # noqa: PLC0415

            return CodexDriver(settings).recorded(session, state=state)
        case _:
            return None
