"""What sessions have used by the records that agents keep of them, for turns that nobody heard the end of."""

from pathlib import Path

from amelia.model.agents import AgentSettings, SessionId, Usage


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
