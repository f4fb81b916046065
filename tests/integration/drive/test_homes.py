"""The configuration of agents behind a wall: the user's settings, which cannot be changed through it."""

from pathlib import Path

import pytest

from amelia.drive.homes import (
    HOMES,
    folders_of,
    furnish,
    logins_of,
    logins_of_others,
    move_in,
    settings_of,
    settle_logins,
    states_of,
)
from amelia.model.agents import AgentSettings, Role, TurnSpec
from amelia.model.walls import Wall

CLAUDE = HOMES["claude"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for known in HOMES.values():
        monkeypatch.delenv(known.variable, raising=False)
    return tmp_path


def spec(tmp_path: Path) -> TurnSpec:
    return TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt="",
        cwd=str(tmp_path),
        transcript="",
        state=str(tmp_path / "agents"),
        wall=Wall(home=str(tmp_path / "agents/1-developer")),
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_settings_are_links_and_the_account_is_a_copy(home: Path) -> None:
    write(home / ".claude/settings.json", "{}")
    write(home / ".claude/skills/one/SKILL.md", "one")
    write(home / ".claude/projects/p/session.jsonl", "private")
    write(home / ".claude.json", '{"oauthAccount": {}}')
    place = home / "config"
    furnish(CLAUDE, place)
    assert (place / "settings.json").resolve() == home / ".claude/settings.json"
    assert (place / "skills/one/SKILL.md").read_text() == "one"
    assert not (place / "skills").is_symlink()
    assert not (place / "projects").exists()
    assert not (place / ".claude.json").is_symlink()
    (home / ".claude.json").write_text('{"oauthAccount": {"of": "another"}}')
    furnish(CLAUDE, place)
    assert "another" in (place / ".claude.json").read_text()


def test_a_link_in_place_of_the_account_is_not_written_through(home: Path) -> None:
    write(home / ".claude.json", "{}")
    write(home / "target", "target")
    place = home / "config"
    place.mkdir()
    (place / ".claude.json").symlink_to(home / "target")
    furnish(CLAUDE, place)
    assert (home / "target").read_text() == "target"


def test_an_agent_without_a_wall_keeps_the_users_directory(home: Path) -> None:
    from dataclasses import replace  # noqa: PLC0415

    moved = move_in(CLAUDE, replace(spec(home), wall=None), shares_login=True)
    assert (moved.variables, moved.login) == ({}, None)


def test_a_login_is_shared_unless_a_key_is_given(home: Path) -> None:
    write(home / ".claude/.credentials.json", '{"token": 1}')
    moved = move_in(CLAUDE, spec(home), shares_login=True)
    assert moved.variables == {"CLAUDE_CONFIG_DIR": str(home / "agents/1-developer/config")}
    assert moved.login is not None
    moved.login.step()
    assert (home / "agents/1-developer/config/.credentials.json").read_text() == '{"token": 1}'
    assert move_in(CLAUDE, spec(home), shares_login=False).login is None


def test_a_login_that_was_cut_off_is_settled(home: Path) -> None:
    write(home / ".claude/.credentials.json", '{"token": 1}')
    moved = move_in(CLAUDE, spec(home), shares_login=True)
    assert moved.login is not None
    moved.login.step()
    moved.login.inside.write_text('{"token": 2}')
    settle_logins([AgentSettings(driver="claude"), AgentSettings(driver="script")], home / "agents")
    assert (home / ".claude/.credentials.json").read_text() == '{"token": 2}'


def test_a_file_that_looks_like_the_login_of_another_agent_is_not_settled(home: Path) -> None:
    write(home / ".claude/.credentials.json", '{"token": 1}')
    write(home / ".codex/auth.json", '{"token": 1}')
    moved = move_in(CLAUDE, spec(home), shares_login=True)
    assert moved.login is not None
    moved.login.step()
    write(home / "agents/1-developer/config/auth.json", '{"token": 2}')
    both = [AgentSettings(driver="claude"), AgentSettings(driver="codex")]
    settle_logins(both, home / "agents")
    assert (home / ".codex/auth.json").read_text() == '{"token": 1}'
    moved.login.step()
    move_in(HOMES["codex"], spec(home), shares_login=True)
    write(home / "agents/1-developer/config/.credentials.json", '{"token": 2}')
    settle_logins(both, home / "agents")
    assert (home / ".claude/.credentials.json").read_text() == '{"token": 1}'


def test_sessions_are_looked_for_where_they_are_written(home: Path) -> None:
    move_in(CLAUDE, spec(home), shares_login=True)
    assert folders_of(CLAUDE, home / "agents") == [home / "agents/1-developer/config", home / ".claude"]
    assert folders_of(CLAUDE, None) == [home / ".claude"]
    assert folders_of(CLAUDE, home / "none") == [home / ".claude"]


def test_the_login_of_a_cloud_is_read_by_who_asks_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert logins_of(AgentSettings(driver="claude")) == ()
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    assert home / ".aws" in logins_of(AgentSettings(driver="claude"))
    assert logins_of(AgentSettings(driver="claude", base_url="http://127.0.0.1")) == ()
    assert logins_of(AgentSettings(driver="codex")) == ()


def test_every_agent_has_its_own_login_and_none_of_the_others(home: Path) -> None:
    files = {
        "claude": home / ".claude/.credentials.json",
        "codex": home / ".codex/auth.json",
        "gemini": home / ".gemini/oauth_creds.json",
        "opencode": home / ".local/share/opencode/auth.json",
    }
    assert set(files.values()) <= set(logins_of_others(None))
    for name, file in files.items():
        agents = (
            AgentSettings(driver=name),
            AgentSettings(driver="acp", command=("npx", f"@company/{name}-acp")),
            AgentSettings(driver="command", command=(f"/usr/bin/{name}", "--print")),
        )
        for agent in agents:
            hidden = logins_of_others(agent)
            assert file not in hidden
            assert {other for other in files.values() if other != file} <= set(hidden)
    assert set(files.values()) <= set(logins_of_others(AgentSettings(driver="script")))


def test_other_agents_write_where_they_always_do_but_for_their_settings(home: Path) -> None:
    states = states_of(AgentSettings(driver="gemini"))
    assert states.writes == (home / ".gemini",)
    assert home / ".gemini/settings.json" in states.fixes
    assert states_of(AgentSettings(driver="acp", command=("/usr/bin/goose", "acp"))).writes
    assert states_of(AgentSettings(driver="claude")).writes == ()
    assert "settings.json" in settings_of(AgentSettings(driver="claude"))
    assert settings_of(AgentSettings(driver="gemini")) == ()
