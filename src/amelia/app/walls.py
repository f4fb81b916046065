"""One table: what each kind of program that Amelia starts may write, and what is hidden from it.

| program | writes | caches |
|---|---|---|
| an agent that may change files | its worktree, its own directories | a layer of its lane and role |
| any other agent | its own directories | directories of its lane and role |
| a setup | the worktree of the checks | a layer of the lane |
| tests | the worktree of the checks | a layer that is gone before the next check |
| a hook | the worktree, a git directory of its own | a layer of the lane |
| git, where you have filters | the worktrees, the run's store | a layer of the run |

Own directories are those for temporary files, for git's global settings, and for the agent's configuration.
Hidden are secrets, logins of other agents, sockets of services that act for whoever asks, and everything else
of Amelia's.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from amelia.app.caches import Cached, give_caches, written_below
from amelia.app.checkouts import find_manifests, find_secrets
from amelia.drive.homes import logins_of, logins_of_others, settings_of, states_of
from amelia.model.agents import AgentSettings, Role
from amelia.model.errors import ConfigError
from amelia.model.walls import Network, Wall, WallMode, WallSettings
from amelia.record.runs import RunDirectory
from amelia.system.git_places import Lane, Store
from amelia.system.wall import Kernel, find_kernel
from amelia.workspace.hooks import HOOKS, has_hook
from amelia.workspace.removal import remove

SECRETS = tuple(
    """
    .ssh .aws .azure .gnupg .netrc .git-credentials .kube .docker .pypirc .password-store .pgpass
    .my.cnf .vault-token .terraform.d/credentials.tfrc.json .cargo/credentials.toml .cargo/credentials
    .gem/credentials .config/gh .config/hub .config/glab-cli .config/gcloud .config/op .config/doctl
    .config/git/credentials .config/sops .local/share/keyrings .local/share/kwalletd .mozilla
    .config/google-chrome .config/chromium .config/BraveSoftware .config/containers/auth.json .config/rclone
    .bash_history .zsh_history .local/share/fish/fish_history .python_history .node_repl_history
    .psql_history .mysql_history .sqlite_history .rediscli_history
    """.split()
)
"""What lies below the home directory and is hidden."""
_SOCKETS = ("docker.sock", "docker", "podman", "containerd", "crio", "dbus", "screen", f"user/{os.getuid()}")
DOORS = tuple(f"/run/{name}" for name in _SOCKETS)
"""Sockets of services that act for whoever asks them."""
_MOST_BORROWED = 20
_TMP = Path("/tmp")  # noqa: S108 - the place itself, which programs find something else in
_SCRIPT = "script"

MISSING = "no wall: this kernel has no Landlock, so agents and tests can write whatever you can write"


def check_wall(settings: WallSettings) -> None:
    """Refuses to begin anything where a wall is required and cannot be raised."""
    if settings.mode is WallMode.REQUIRED and not find_kernel().landlock:
        raise ConfigError(
            "[wall] mode is required, and this kernel has no Landlock to raise a wall with",
            hint='use Linux 5.13 or newer with Landlock in its `lsm=` list, or say `[wall] mode = "on"`',
        )


def wall_gaps(settings: WallSettings, kernel: Kernel) -> Iterator[str]:
    """Yields what the wall does not hold back here, as things are; nothing if all of it is there."""
    if settings.mode is WallMode.OFF:
        yield "no wall: `[wall] mode` is off, so agents and tests can write whatever you can write"
    elif not kernel.landlock:
        yield MISSING
    elif not kernel.has_namespaces:
        yield (
            "a wall without namespaces, which this system forbids: nothing is written outside, but secrets "
            "in your home directory can be read"
        )
    if settings.mode is not WallMode.OFF and settings.network is Network.NONE and not kernel.has_networks:
        yield "`[wall] network` is none, but this system cannot take it away: tests reach yours"


@dataclass(frozen=True, kw_only=True, eq=False)
class Walls:
    """The walls of one run."""

    settings: WallSettings
    directory: RunDirectory
    repository: Path
    agents: Mapping[str, AgentSettings] = field(default_factory=dict[str, AgentSettings])

    @property
    def is_up(self) -> bool:
        """Says whether programs get a wall at all."""
        return self.settings.mode is not WallMode.OFF and find_kernel().landlock > 0

    def of_agent(self, role: Role, lane: int, worktree: Path) -> Wall | None:
        """Returns the wall of an agent in a lane; one that may not change files cannot write its worktree."""
        if not self.is_up:
            return None
        home = self.directory.agents / f"{lane}-{role}"
        agent = self.agents.get(role, AgentSettings())
        states = states_of(agent)
        for name in settings_of(agent):  # it is furnished anew
            remove(home / "config" / name, within=self.directory.path)
        own = (home / "config", *states.writes, *((worktree,) if role.may_write else ()))
        needs_no_network = agent.driver == _SCRIPT and not role.may_write
        caches = self._caches(home / "caches", is_layered=role.may_write)
        return self._wall(
            home,
            own,
            caches,
            shows=(worktree,),
            fixes=states.fixes,
            agent=agent,
            may_be_offline=needs_no_network,
        )

    def of_setup(self, worktree: Path) -> Wall | None:
        """Returns the wall of the command that prepares the environment of the tests in a worktree."""
        if not self.is_up:
            return None
        home = self._home_of_checks(worktree)
        return self._wall(home, (worktree,), self._caches(home / "caches"))

    def of_tests(self, worktree: Path) -> Wall | None:
        """Returns the wall of the tests in a worktree, with nothing left of the tests before."""
        if not self.is_up:
            return None
        home = self._home_of_checks(worktree)
        tmp = home / "tmp"
        is_used = tmp.is_dir() and any(tmp.iterdir())
        for left in (*written_below(home / "fresh"), *((tmp,) if is_used else ())):
            remove(left, within=self.directory.path)
        caches = self._caches(home / "fresh", over=home / "caches")
        return self._wall(home, (worktree,), caches, may_be_offline=True)

    def of_hook(self, lane: Lane) -> Wall | None:
        """Returns the wall of the hooks of the user's repository, which look at the work in a lane."""
        if not self.is_up or not any(has_hook(lane.store.source, name) for name in HOOKS):
            return None
        home = self.directory.agents / f"{lane.number}-hooks"
        own = (lane.directory, lane.hook_dir)
        hooks = (lane.store.source.hooks,)
        return self._wall(home, own, self._caches(home / "caches"), shows=hooks)

    def of_filters(self, store: Store) -> Wall | None:
        """Returns the wall of git where it may start filters of the user's on files in lanes."""
        if not self.is_up or not store.source.has_programs:
            return None
        home = self.directory.agents / "filters"
        own = (self.directory.path / "lanes", store.git_dir)
        return self._wall(home, own, self._caches(home / "caches"))

    def _home_of_checks(self, worktree: Path) -> Path:
        return self.directory.checks / "behind" / worktree.parent.name

    def _caches(self, folder: Path, *, over: Path | None = None, is_layered: bool = True) -> Cached:
        written = tuple(map(Path, self.settings.writes))
        has_layers = is_layered and find_kernel().has_namespaces
        manifests = self._manifests if has_layers else frozenset[str]()
        return give_caches(folder, written=written, manifests=manifests, over=over)

    def _wall(
        self,
        home: Path,
        own: tuple[Path, ...],
        caches: Cached,
        *,
        shows: tuple[Path, ...] = (),
        fixes: tuple[Path, ...] = (),
        agent: AgentSettings | None = None,
        may_be_offline: bool = False,
    ) -> Wall:
        temporary, git = home / "tmp", home / "git"
        for folder in (temporary, git, *(path for path in own if path.is_relative_to(home))):
            if not folder.is_dir():
                folder.mkdir(parents=True)
        is_private = find_kernel().has_namespaces and not self._is_in_tmp
        return Wall(
            writes=_texts(*own, git, caches.folder, *map(Path, self.settings.writes)),
            hides=_texts(*self._hidden_from(agent), *self._hidden_by_user),
            shows=_texts(*shows, home, *self._shown),
            fixes=_texts(*fixes),
            layers=caches.layers,
            temporary=str(temporary),
            replaces_tmp=is_private,
            is_offline=may_be_offline and self.settings.network is Network.NONE,
            variables={
                **caches.variables,
                "TMPDIR": str(_TMP if is_private else temporary),
                "GIT_CONFIG_GLOBAL": str(self._copy_git_config(git)),
            },
            home=str(home),
        )

    def _copy_git_config(self, folder: Path) -> Path:
        """Writes down git's global settings of the user where they may be changed; anew, if they were."""
        file, text = folder / "config", _git_config()
        is_alone = [path.name for path in folder.iterdir()] == [file.name] and not file.is_symlink()
        if not is_alone or not file.is_file() or file.read_bytes() != text:
            for left in folder.iterdir():
                remove(left, within=self.directory.path)
            file.write_bytes(text)
        return file

    def _hidden_from(self, agent: AgentSettings | None) -> tuple[Path, ...]:
        """Returns the secrets of the user, doors to services, and everything of Amelia's, as they are now."""
        allowed = tuple(map(Path, self.settings.writes))
        needed = () if agent is None else logins_of(agent)
        secrets = [
            path
            for path in (*(Path.home() / name for name in SECRETS), *logins_of_others(agent))
            if path not in needed and not any(path.is_relative_to(top) for top in allowed)
        ]
        ours = (self._state / "runs", self._state / "reviews")
        return (*secrets, *map(Path, DOORS), *ours, *find_secrets(self.repository, without=self._state))

    @property
    def _hidden_by_user(self) -> tuple[Path, ...]:
        return tuple(map(Path, self.settings.hides))

    @property
    def _state(self) -> Path:
        return self.directory.path.parent.parent

    @cached_property
    def _manifests(self) -> frozenset[str]:
        return find_manifests(self.repository)

    @cached_property
    def _shown(self) -> tuple[Path, ...]:
        """What git needs to read of Amelia's, and what the agents of a replay play."""
        directory = self.directory
        return (directory.store, directory.replica, directory.script, *_borrowed(directory.store / "objects"))

    @cached_property
    def _is_in_tmp(self) -> bool:
        """Whether something lies below /tmp that programs have to find there."""
        words = [word for agent in self.agents.values() for word in (*agent.command, agent.script or "")]
        programs = os.environ.get("PATH", "").split(os.pathsep)
        places = (Path.home(), self.directory.path, self.repository, sys.prefix, *self.settings.writes)
        named = (*places, *programs, *(word for word in words if word.startswith("/")))
        return any(Path(os.path.realpath(place)).is_relative_to(_TMP) for place in named)


def _borrowed(objects: Path) -> Iterator[Path]:
    """Yields the directories of objects that one borrows from, and those that these borrow from."""
    with suppress(OSError):
        for line in (objects / "info" / "alternates").read_bytes().splitlines()[:_MOST_BORROWED]:
            other = Path(os.path.normpath(objects / os.fsdecode(line)))
            yield other
            yield from _borrowed(other)


def _texts(*paths: Path) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(str, paths)))


def _git_config() -> bytes:
    """Returns git's global settings of the user."""
    base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    origins = [Path(named)] if named else [base / "git" / "config", Path.home() / ".gitconfig"]
    parts: list[bytes] = []
    for origin in origins:
        with suppress(OSError):
            text = origin.read_bytes()
            # What it includes is found relative to where it stands.
            parts.append(f"[include]\n\tpath = {origin}\n".encode() if b"include" in text else text)
    return b"\n".join(parts)
