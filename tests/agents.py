"""Finds the real agents that `scripts/agents` installs, and skips the tests that need one that is not there."""

from pathlib import Path

import pytest

INSTALLED = Path(__file__).parent.parent / ".agents"


def claude_program() -> Path | None:
    """Returns the installed Claude Code; None if there is none."""
    return _program("claude_agent_sdk/_bundled/claude")


def codex_program() -> Path | None:
    """Returns the installed Codex; None if there is none."""
    return _program("codex_cli_bin/bin/codex")


def real_agent(program: Path | None) -> pytest.MarkDecorator:
    """Returns the mark of tests that need this agent: they are skipped where it is not installed."""
    return pytest.mark.skipif(program is None, reason="the real agent is not installed: run scripts/agents")


def _program(name: str) -> Path | None:
    path = INSTALLED / name
    return path if path.exists() else None
