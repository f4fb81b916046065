"""Decides which of the user's git settings hold in a run's own repositories, and writes them down.

- What changes how files or commits look travels: identity, line endings, filters, merge drivers, signing, and
  whatever a hook may read.
- What leads elsewhere or acts on its own does not: remotes, credentials, addresses, aliases, maintenance, the
  place of the worktree, the format of the repository, and what describes the user's file system.
- Settings of the user or the machine are read by git anyway; of these only what may be bound to the place of
  the repository (`includeIf`) is written down.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from amelia.system.git_places import ConfigEntry, Source

_OWN_SCOPES = frozenset({"local", "worktree"})
_BOUND_TO_PLACES = frozenset(
    {"user", "author", "committer", "gpg", "commit", "core", "filter", "i18n", "merge"}
)
_STAY = frozenset(
    """
    alias branch browser credential extensions feature fetch gc http imap include includeif index init
    instaweb maintenance man pack pager protocol pull push receive remote repack rerere safe scalar sendemail
    sequence ssh submodule transfer uploadarchive uploadpack url web worktree
    """.split()
)
_CORE_STAYS = frozenset(
    """
    alternaterefscommand alternaterefsprefixes askpass bare checkstat editor filemode fsmonitor
    fsmonitorhookversion fsync fsyncmethod gitproxy hookspath ignorecase ignorestat logallrefupdates pager
    precomposeunicode prefersymlinkrefs repositoryformatversion sharedrepository sparsecheckout
    sparsecheckoutcone splitindex sshcommand symlinks trustctime untrackedcache usereplacerefs worktree
    """.split()
)
_LOOKS = frozenset({"apply", "author", "committer", "core", "diff", "i18n", "merge", "user"})
_PROGRAMS = (".command", ".driver", ".textconv")
_OWN_MERGE = "git merge-file --quiet %A %O %B"  # what git does where no driver is named
_DO_NOT_SIGN = (
    ConfigEntry("local", "commit.gpgsign", "false"),
    ConfigEntry("local", "tag.gpgsign", "false"),
)


def store_config(source: Source) -> str:
    """Returns what is added to the configuration of the store, where hooks run and commits are signed."""
    own = (
        ConfigEntry("local", "core.hookspath", str(source.hooks)),
        ConfigEntry("local", "gc.auto", "0"),
        ConfigEntry("local", "maintenance.auto", "false"),
    )
    return render((*_portable(source.config), *own))


def agent_config(source: Source) -> str:
    """Returns the configuration of the repository that an agent sees: no hooks of the user, no signing."""
    return render((*_portable(source.config), *_plain(source), *_DO_NOT_SIGN))


def replica_config(source: Source, *, hooks: Path) -> str:
    """Returns the configuration of a repository that files look the same in, and that starts no program.

    Programs that the user's own file names count everywhere, so each is replaced by what git does itself.
    """
    looks = [
        entry
        for entry in _portable(source.config)
        if entry.key.partition(".")[0] in _LOOKS and not entry.key.endswith(_PROGRAMS)
    ]
    drivers = {
        entry.key
        for entry in source.config
        if entry.key.startswith("merge.") and entry.key.endswith(".driver")
    }
    own = (
        *(ConfigEntry("local", key, _OWN_MERGE) for key in sorted(drivers)),
        ConfigEntry("local", "user.name", source.identity.name),
        ConfigEntry("local", "user.email", source.identity.email),
        ConfigEntry("local", "core.hookspath", str(hooks)),
        ConfigEntry("local", "core.fsmonitor", "false"),
    )
    return render((*looks, *_plain(source), *own, *_DO_NOT_SIGN))


def render(entries: Iterable[ConfigEntry]) -> str:
    """Writes entries in the syntax of git's configuration files."""
    return "".join(f"{_header(entry.key)}\t{_assignment(entry)}\n" for entry in entries)


def _portable(config: Iterable[ConfigEntry]) -> Iterator[ConfigEntry]:
    for entry in config:
        section, _, rest = entry.key.partition(".")
        travels = section not in _STAY if entry.scope in _OWN_SCOPES else section in _BOUND_TO_PLACES
        if travels and not (section == "core" and rest in _CORE_STAYS):
            yield entry


def _plain(source: Source) -> Iterator[ConfigEntry]:
    """Yields what every repository with a worktree needs to say of itself."""
    is_usual = source.object_format == "sha1"
    yield ConfigEntry("local", "core.repositoryformatversion", "0" if is_usual else "1")
    yield ConfigEntry("local", "core.bare", "false")
    yield ConfigEntry("local", "gc.auto", "0")
    if not is_usual:
        yield ConfigEntry("local", "extensions.objectformat", source.object_format)


def _header(key: str) -> str:
    section, _, rest = key.partition(".")
    subsection, dot, _ = rest.rpartition(".")
    if not dot:
        return f"[{section}]\n"
    quoted = subsection.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{section} "{quoted}"]\n'


def _assignment(entry: ConfigEntry) -> str:
    name = entry.key.rpartition(".")[2]
    if entry.value is None:
        return name
    value = entry.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'{name} = "{value}"'
