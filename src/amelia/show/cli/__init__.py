"""The `amelia` command: a table of commands, each imported only when it is asked for.

Nothing but click is imported here, so that `amelia --help` answers at once.
"""

import codecs
import errno
import importlib
import os
import sys
from pathlib import Path
from typing import cast

import click

from amelia import __version__

_COMMANDS = {
    "demo": "See a whole run in a temporary place, without a key or a network.",
    "check": "Read a plan, check it, and show the graph of tasks it is.",
    "plan": "Have a plan written for a goal; show, edit and compare it.",
    "approve": "Let a plan run that waits for approval.",
    "reject": "Have another plan written, and say what should change.",
    "run": "Carry out a plan or a goal: every unit proved, reviewed and landed as one commit.",
    "resume": "Go on with a run from where it stands.",
    "status": "Show the runs of this repository, or where one of them stands.",
    "log": "Show what happened in a run, or to one of its units.",
    "diff": "Show what a unit of a run changed.",
    "report": "Show what a run did, what proves it, and what it cost.",
    "inbox": "Show everything that waits for you.",
    "answer": "Answer a question, or do what else can be done about what waits for you.",
    "retry": "Let a unit that waits for a person try again.",
    "skip": "Take a unit out of a run.",
    "split": "Carry out a unit that waits for a person in pieces.",
    "fix": "Do the work of a unit that waits for a person by hand.",
    "abort": "Give a run up.",
    "cancel": "Stop a run for good.",
    "finish": "Merge the branch of a completed run, or open a pull request for it.",
    "undo": "Take a run back that has landed, without touching other work.",
    "review": "Have what is in your checkout reviewed, and what was found mended.",
    "replay": "Play a run once more, offline, and see whether it comes to the same.",
    "doctor": "See whether everything is there that a run needs, and what to do where it is not.",
    "config": "Show which settings hold, where they come from, and which there are.",
    "init": "Write a settings file for this repository, with what its files tell.",
    "gc": "Remove what finished runs no longer need.",
}
_READING = frozenset({"check", "status", "log", "diff", "report", "inbox", "doctor", "config"})
_ROLE = "AMELIA_ROLE"
_INTERRUPTED = 130


class _LazyGroup(click.Group):
    """A group whose commands are modules beside this one, imported on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"{__name__}.{cmd_name}")
        return cast("click.Command", module.command)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("\ninterrupted; `amelia status` shows what has begun", err=True)
            ctx.exit(_INTERRUPTED)
        except ExceptionGroup as problems:
            # Tasks that write side by side; click ends quietly when the reader of one of them has gone.
            if problems.subgroup(BrokenPipeError) is None:
                raise
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(
    cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, package_name="amelia-orchestrator", prog_name="amelia")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Amelia executes a development plan with coding agents.

    Every task runs in a fresh session and its own git worktree, is proved by tests, reviewed, and landed as
    one commit.
    """
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    if (role := os.environ.get(_ROLE)) and ctx.invoked_subcommand not in _READING:
        _refuse(role, ctx.invoked_subcommand or "")


def _refuse(role: str, name: str) -> None:
    """Refuses a command that changes something to an agent that Amelia has started."""
    from amelia.model.errors import AmeliaError  # noqa: PLC0415 - not needed for --help

    raise AmeliaError(
        f"`amelia {name}` is not for agents, and this is the {role} of a run ({_ROLE} is set)",
        hint="report what you need: a person decides about runs",
    )


def main() -> None:
    """Runs the command line; an error ends it with a message and the exit code of its kind."""
    _speak_unicode()
    from amelia.model.errors import AmeliaError  # noqa: PLC0415 - not needed for --help
    from amelia.show.output import safe_streams, styled  # noqa: PLC0415
    from amelia.show.text import printable  # noqa: PLC0415

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    with safe_streams():
        try:
            group.main(prog_name="amelia")
        except AmeliaError as problem:
            click.echo(styled(printable(f"error: {problem}"), "red"), err=True)
            if hint := _room_hint(problem) or problem.hint:
                click.echo(printable(f"  hint: {hint}"), err=True)
            sys.exit(problem.exit_code)
        except OSError as problem:
            click.echo(styled(f"error: {problem}", "red"), err=True)
            if hint := _room_hint(problem):
                click.echo(printable(f"  hint: {hint}"), err=True)
            sys.exit(1)
        except Exception:  # noqa: BLE001 - a mistake of ours, told while the streams are still safe
            import traceback  # noqa: PLC0415

            click.echo(traceback.format_exc(), err=True, nl=False)
            sys.exit(1)


def _room_hint(problem: Exception) -> str | None:
    """Returns which disk is full, and by how much, if that is the problem."""
    from amelia.system.room import is_out_of_room  # noqa: PLC0415 - not needed for --help

    if not is_out_of_room(problem):
        return None
    from amelia.config.places import state_home  # noqa: PLC0415
    from amelia.system.room import temporary_place, tightest  # noqa: PLC0415

    room = tightest([state_home(), Path(), temporary_place()])
    return f"{room or 'no room is left on a disk'}; make room there, then run `amelia resume`"


def _speak_unicode() -> None:
    """Starts the program anew where Python would take names of files and arguments for ASCII."""
    if codecs.lookup(sys.getfilesystemencoding()).name == "utf-8":
        return
    arguments = [sys.executable, "-X", "utf8", "-m", "amelia", *sys.argv[1:]]
    said = os.environ.get("PYTHONIOENCODING") or sys.stdout.encoding
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONIOENCODING": said}
    os.execve(sys.executable, [os.fsencode(one) for one in arguments], environment)  # noqa: S606 - the same program
