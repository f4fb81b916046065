"""Where agents keep settings, logins and sessions, and what becomes of that behind a wall.

- Claude Code and Codex get a directory of the run's own. The user's settings are links in it, which cannot be
  written through from inside; the login is a copy that is kept in step (`logins`).
- The other agents that are known by name write where they always do, but for their settings, which a
  read-only mount keeps as they are.
- A directory of the run's own is furnished anew before every turn: what an agent made of settings is gone.
"""

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from amelia.drive.logins import Login
from amelia.model.agents import AgentSettings, TurnSpec

_LARGEST = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """The directory of an agent: the variable that moves it, its usual place, and what lies in it.

    `settings` are what the user wrote or installed there; `account` is a file of the user's that the agent
    changes all the time, and that lies beside the directory in its usual place, else in it.
    """

    variable: str
    usual: str
    settings: tuple[str, ...]
    login: str
    account: str = ""

    def users(self) -> Path:
        """Returns the user's own directory."""
        own = os.environ.get(self.variable)
        return Path(own) if own else Path.home() / self.usual

    def users_account(self) -> Path:
        """Returns the user's own file with the account."""
        return (self.users() if os.environ.get(self.variable) else Path.home()) / self.account

    def shared_login(self, place: Path) -> Login:
        """Returns the user's login with its copy in a directory of the run's own.

        What lies beside that directory has the name of the agent, and cannot be written from inside: it says
        whose login the copy is.
        """
        users = Path(os.path.realpath(self.users() / self.login))
        return Login(users, place / self.login, place.parent / f"login-{self.usual.removeprefix('.')}")


HOMES: Mapping[str, Home] = {
    "claude": Home(
        variable="CLAUDE_CONFIG_DIR",
        usual=".claude",
        settings=tuple(
            """
            settings.json settings.local.json CLAUDE.md agents commands skills plugins output-styles rules
            hooks keybindings.json
            """.split()
        ),
        login=".credentials.json",
        account=".claude.json",
    ),
    "codex": Home(
        variable="CODEX_HOME",
        usual=".codex",
        settings=(
            "config.toml",
            "AGENTS.md",
            "AGENTS.override.md",
            "prompts",
            "rules",
            "skills",
            "hooks.json",
        ),
        login="auth.json",
    ),
}
"""The agents whose directory can be another one."""

_STATES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "opencode": (
        (".local/share/opencode", ".local/state/opencode", ".cache/opencode", ".config/opencode"),
        (".config/opencode",),
    ),
    "kilo": ((".local/share/kilo", ".local/state/kilo", ".cache/kilo", ".config/kilo"), (".config/kilo",)),
    "gemini": ((".gemini",), (".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/extensions")),
    "qwen": ((".qwen",), (".qwen/settings.json", ".qwen/QWEN.md", ".qwen/extensions")),
    "copilot": ((".copilot",), (".copilot/mcp-config.json", ".copilot/agents")),
    "goose": (
        (".local/share/goose", ".local/state/goose", ".config/goose"),
        (".config/goose/config.yaml", ".config/goose/.goosehints"),
    ),
    "kimi": ((".kimi", ".kimi-code"), (".kimi/config.toml", ".kimi/config.json", ".kimi/mcp.json")),
    "vibe": ((".vibe",), (".vibe/config.toml", ".vibe/prompts", ".vibe/agents")),
    "openhands": ((".openhands",), (".openhands/agent_settings.json", ".openhands/mcp.json")),
    "aider": ((".aider",), ()),
}
"""The other agents: what they write below the home directory, and what of it stays as it is."""


@dataclass(frozen=True, slots=True)
class States:
    """The paths of the user that an agent writes, and those among them that it may not change."""

    writes: tuple[Path, ...] = ()
    fixes: tuple[Path, ...] = ()


_LOGINS: Mapping[str, tuple[str, ...]] = {"copilot": (".config/gh",), "gemini": (".config/gcloud",)}
"""The logins of other programs that an agent uses."""


_OWN_LOGINS: Mapping[str, tuple[str, ...]] = {
    "opencode": (".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json"),
    "kilo": (".local/share/kilo/auth.json", ".local/share/kilo/mcp-auth.json"),
    "gemini": tuple(
        f".gemini/{name}"
        for name in ("oauth_creds.json", "gemini-credentials.json", "mcp-oauth-tokens.json", ".env")
    ),
    "qwen": (".qwen/oauth_creds.json", ".qwen/mcp-oauth-tokens.json", ".qwen/.env"),
    "copilot": (".copilot/config.json", ".config/github-copilot"),
    "goose": (".config/goose/secrets.yaml",),
    "kimi": (".kimi/credentials", ".kimi/config.toml", ".kimi/config.json", ".kimi-code/credentials"),
    "vibe": (".vibe/.env",),
    "openhands": (".openhands/agent_settings.json", ".openhands/settings.json"),
    "aider": (".aider/oauth-keys.env", ".aider.conf.yml"),
}
"""The files below the home directory by which the other agents are logged in."""


def logins_of_others(agent: AgentSettings | None) -> tuple[Path, ...]:
    """Returns the user's files with logins of all agents but one; of all of them if a program is no agent.

    An agent that is started by a command is known by the names in that.
    """
    commands = () if agent is None else (agent.driver, *agent.command, *agent.resume_command)
    words = [Path(word).name for word in commands]
    files = {name: tuple(Path.home() / path for path in paths) for name, paths in _OWN_LOGINS.items()}
    for name, home in HOMES.items():
        account = (home.users_account(),) if home.account else ()
        files[name] = (home.users() / home.login, Path.home() / home.usual / home.login, *account)
    return tuple(
        path for name, paths in files.items() if not any(name in word for word in words) for path in paths
    )


def logins_of(agent: AgentSettings) -> tuple[Path, ...]:
    """Returns the directories with logins that an agent needs to read, besides its own."""
    named = [Path.home() / place for place in _LOGINS.get(agent.driver, ())]
    if agent.driver == "claude" and agent.base_url is None:
        from amelia.drive.claude.login import clouds_in_use  # noqa: PLC0415 - only if it is asked for
        from amelia.drive.claude.settings import read_claude_settings  # noqa: PLC0415

        for cloud in clouds_in_use(read_claude_settings()):
            named += [(Path.home() / usual).parent for usual in cloud.files.values()]
    return tuple(named)


def settings_of(agent: AgentSettings) -> tuple[str, ...]:
    """Returns the names of what a user has said to an agent, in a directory of the run's own."""
    home = HOMES.get(agent.driver)
    return home.settings if home is not None else ()


def states_of(agent: AgentSettings) -> States:
    """Returns what an agent writes in the user's home directory, by its name or by that of its program."""
    words = (agent.driver, *(Path(word).name for word in agent.command[:1]))
    name = next((word for word in words if word in _STATES), None)
    if name is None:
        return States()
    writes, fixes = _STATES[name]
    home = Path.home()
    return States(tuple(home / path for path in writes), tuple(home / path for path in fixes))


@dataclass(frozen=True, slots=True)
class Moved:
    """The directory that an agent has in a turn: the variables that tell it, and its login there, if any."""

    variables: Mapping[str, str]
    login: Login | None = None


def move_in(home: Home, spec: TurnSpec, *, shares_login: bool) -> Moved:
    """Gives an agent behind a wall a directory of the run's own; without one it has the user's."""
    if spec.wall is None:
        return Moved({})
    place = config_in(Path(spec.wall.home))
    furnish(home, place)
    for other in HOMES.values():
        if other != home:  # which had this role before
            other.shared_login(place).remove()
    return Moved({home.variable: str(place)}, home.shared_login(place) if shares_login else None)


def config_in(home: Path) -> Path:
    """Returns the directory of an agent's configuration in what is its own behind the wall."""
    return home / "config"


def folders_of(home: Home, state: Path | None) -> list[Path]:
    """Returns the directories in which an agent may have written sessions of a run, and the user's own."""
    moved = sorted(map(config_in, state.iterdir())) if state is not None and state.is_dir() else []
    return [*(folder for folder in moved if folder.is_dir()), home.users()]


def settle_logins(agents: Iterable[AgentSettings], state: Path) -> None:
    """Brings logins in step that a turn has left behind which was cut off: only those its agent was given."""
    for home in {HOMES[agent.driver] for agent in agents if agent.driver in HOMES}:
        for folder in folders_of(home, state)[:-1]:
            login = home.shared_login(folder)
            if login.common.exists() and os.path.lexists(login.inside):
                login.step()
                login.forget()


def furnish(home: Home, place: Path) -> None:
    """Makes a directory of the run's own what the user's is to the agent, as far as settings go.

    What an agent may have made of them is gone by then.
    """
    place.mkdir(parents=True, exist_ok=True)
    for name in home.settings:
        if not os.path.lexists(place / name):
            _show(home.users() / name, place / name)
    if home.account:
        with suppress(OSError):
            origin = home.users_account()
            if origin.stat().st_size <= _LARGEST:
                (place / home.account).unlink(missing_ok=True)  # which may be a link
                shutil.copyfile(origin, place / home.account)


def _show(origin: Path, path: Path) -> None:
    """Links to a file of the user's, or to all that is in a directory: agents add to some of these."""
    if origin.is_file():
        path.symlink_to(origin.absolute())
    elif origin.is_dir():
        path.mkdir()
        for inner in sorted(origin.iterdir()):
            (path / inner.name).symlink_to(inner.absolute())
