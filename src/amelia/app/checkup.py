"""What a checkup finds, and how it is worded; nothing here looks at anything.

`FAILED` is kept for what a run cannot do without: nothing else makes a checkup end badly.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from amelia.app.agents import best_of, candidates
from amelia.app.walls import wall_gaps
from amelia.model.agents import AUTO, AgentSettings, DriverInfo, Role
from amelia.model.errors import AmeliaError
from amelia.model.evidence import TestCommand
from amelia.model.walls import WallSettings
from amelia.system.git_places import Source
from amelia.system.wall import Kernel

_MEGABYTE = 1_000_000
_TOO_LITTLE = 100 * _MEGABYTE
_LITTLE = 2_000 * _MEGABYTE
_MOST_NAMED = 3
_LOG_IN = "log in to it, or give it a key; its own line says what is missing"
_INSTALL = "one of them is enough; its own line says how to get it"


class Health(StrEnum):
    """How well something is."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what was found, and what to do about it.

    `is_in_the_way` tells of a warning that a run would stumble over, as things are.
    """

    name: str
    health: Health
    text: str
    hint: str | None = None
    is_in_the_way: bool = False


def well(name: str, text: str) -> Check:
    """Returns a check with nothing to do about it."""
    return Check(name, Health.OK, text)


def doubtful(name: str, text: str, hint: str | None = None) -> Check:
    """Returns a check that a run can live with."""
    return Check(name, Health.WARNING, text, hint)


def broken(name: str, problem: AmeliaError | OSError) -> Check:
    """Returns a check of something that a run cannot live with."""
    hint = problem.hint if isinstance(problem, AmeliaError) else None
    return Check(name, Health.FAILED, str(problem), hint)


def verdict(checks: Iterable[Check]) -> str:
    """Says in one line what all of it comes to."""
    told = tuple(checks)
    if failed := sum(check.health is Health.FAILED for check in told):
        return f"{failed} failed: a run cannot start like this"
    left = dict.fromkeys(check.name for check in told if check.is_in_the_way)
    return f"ready to run but for: {', '.join(left)}" if left else "ready to run"


def no_repository(problem: AmeliaError) -> Check:
    """Says that a directory is in no repository."""
    hint = "a run needs one; everything else can be looked at"
    return Check("repository", Health.WARNING, str(problem), hint, is_in_the_way=True)


def files_check(files: Sequence[Path]) -> Check:
    """Says which files hold settings."""
    return well("settings", ", ".join(map(str, files)) if files else "no file; the defaults hold")


def repository_check(source: Source, uncommitted: int) -> Check:
    """Says where the repository stands."""
    if source.head is None:
        return doubtful("repository", f"{source.top} has no commits; a run starts from an empty one")
    where = f"{source.top} on {source.branch or 'no branch'} at {source.head[:12]}"
    if uncommitted:
        files = f"{uncommitted} uncommitted file{'s' if uncommitted > 1 else ''}"
        return doubtful("repository", f"{where}, {files}", "a run sees only what is committed")
    return well("repository", where)


def command_check(command: TestCommand | None) -> Check:
    """Says how the repository would be tested."""
    if command is None:
        hint = 'say how in amelia.toml:  [verify]  command = ["python", "-m", "pytest"]'
        return doubtful("tests", "no way to run tests was found", hint)
    others = f" ({', '.join(command.others)} would be possible too)" if command.others else ""
    return well("tests", f"{' '.join(command.argv)}{others}; tried when a run begins")


def home_check(home: Path, *, free: int, is_writable: bool) -> Check:
    """Says whether there is room for runs."""
    text = f"{home}, {free / _MEGABYTE:,.0f} MB free"
    if not is_writable:
        return Check(
            "state", Health.FAILED, f"{home} cannot be written to", "set AMELIA_HOME to another place"
        )
    if free < _LITTLE:
        health = Health.FAILED if free < _TOO_LITTLE else Health.WARNING
        return Check("state", health, text, "make room, or set AMELIA_HOME to another disk")
    return well("state", text)


def runs_checks(
    *,
    finished: int,
    interrupted: Sequence[str],
    unreadable: Sequence[str],
    strangers: Sequence[str] = (),
    clears: str = "amelia gc",
) -> Iterable[Check]:
    """Says which runs a person may want to do something about; `clears` is the command that makes room.

    `strangers` are directories among them that are not Amelia's own.
    """
    if strangers:
        hint = "nothing there is removed; `amelia gc --all --dry-run` says why, and what you can do"
        yield doubtful("runs", f"not Amelia's own: {_named(strangers)}", hint)
    if unreadable:
        hint = "`amelia status` in their repository says why"
        yield doubtful("runs", f"cannot be read: {_named(unreadable)}", hint)
    if interrupted:
        hint = f"go on: amelia resume {interrupted[0]}; or give it up: amelia abort {interrupted[0]}"
        yield doubtful("runs", f"interrupted: {_named(interrupted)}", hint)
    if finished:
        yield doubtful("runs", f"{finished} finished, whose files are still there", f"make room: {clears}")
    if not (unreadable or interrupted or finished or strangers):
        yield well("runs", "none that needs anything")


def wall_check(settings: WallSettings, kernel: Kernel) -> Check:
    """Says what holds programs back that are not Amelia's own."""
    if gaps := "; ".join(wall_gaps(settings, kernel)):
        return doubtful("wall", gaps, "docs/concepts/wall.md says what can be reached without it")
    return well("wall", f"Landlock {kernel.landlock} and namespaces; network {settings.network}")


def subjects(agents: Mapping[Role, AgentSettings]) -> dict[AgentSettings, tuple[Role, ...]]:
    """Returns every agent that may be used, and the roles that rely on exactly this one.

    That is what a role names, and what `auto` may choose from, also where no settings say anything.
    """
    found: dict[AgentSettings, tuple[Role, ...]] = {}
    for role, agent in agents.items():
        if agent.driver != AUTO:
            found[agent] = (*found.get(agent, ()), role)
    for agent in _choices(agents):
        for candidate in candidates(agent):
            found.setdefault(candidate, ())
    return found


def _choices(agents: Mapping[Role, AgentSettings]) -> Sequence[AgentSettings]:
    """Returns the agents that `auto` stands for."""
    wanted = agents.values() if agents else (AgentSettings(),)
    return [agent for agent in dict.fromkeys(wanted) if agent.driver == AUTO]


def agent_check(
    agent: AgentSettings, roles: Sequence[Role], found: DriverInfo | AmeliaError | OSError
) -> Check:
    """Says how an agent answered; one that no role relies on may be missing."""
    name = f"{agent.driver} ({', '.join(roles)})" if roles else agent.driver
    if isinstance(found, DriverInfo):
        text = "; ".join(filter(None, (f"{found.version} at {found.program}", found.login)))
        if not found.notes:
            return well(name, text)
        noted, is_needed = f"{text}; {'; '.join(found.notes)}", bool(roles) and not found.is_ready
        return Check(name, Health.WARNING, noted, is_in_the_way=is_needed)
    check = broken(name, found)
    return check if roles else doubtful(name, check.text, check.hint)


def candidate_checks(
    agents: Mapping[Role, AgentSettings], found: Mapping[AgentSettings, DriverInfo | AmeliaError | OSError]
) -> Iterable[Check]:
    """Says how the agents answered that `auto` may choose from: those it does not choose are no doubt.

    Without settings nobody knows whom it chooses.
    """
    for choice in _choices(agents):
        answers = {each: found[each] for each in candidates(choice)}
        is_any_there = any(isinstance(answer, DriverInfo) for answer in answers.values())
        best = best_of(answers) if is_any_there and agents else None
        for each, answer in answers.items():
            if each in agents.values():  # which is told of with the roles that rely on it
                continue
            if each == best or (agents and not is_any_there):
                yield agent_check(each, (), answer)
            elif isinstance(answer, DriverInfo):
                yield well(
                    each.driver, f"{answer.version} at {answer.program}{'; not chosen' if best else ''}"
                )


def auto_checks(
    agents: Mapping[Role, AgentSettings], found: Mapping[AgentSettings, DriverInfo | AmeliaError | OSError]
) -> Iterable[Check]:
    """Says what `auto` would choose for the roles that leave it the choice."""
    for agent in _choices(agents) if agents else ():
        answers = {each: found[each] for each in candidates(agent)}
        roles = ", ".join(role for role, wanted in agents.items() if wanted == agent)
        try:
            best = best_of(answers)
        except AmeliaError as problem:
            yield Check(AUTO, Health.FAILED, str(problem), _INSTALL)
        else:
            yield _choice(f"{best.driver} would take: {roles}", answers[best])


def _choice(text: str, answer: DriverInfo | AmeliaError | OSError) -> Check:
    if isinstance(answer, DriverInfo) and not answer.is_ready:
        return Check(AUTO, Health.WARNING, f"{text}, although it is not ready", _LOG_IN, is_in_the_way=True)
    return well(AUTO, text)


def _named(runs: Sequence[str]) -> str:
    more = f" and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
    return ", ".join(runs[:_MOST_NAMED]) + more
