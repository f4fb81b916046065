"""What an agent leaves on its standard error alone can say how its turn ended."""

import pytest

from amelia.drive.plain import read_plain_line
from amelia.drive.stream import Result
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import Ending, Role, TurnEnded, TurnSpec
from tracing import Trace

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def explain(errors: str) -> Result | None:
    return Result(ending=Ending.SESSION_LOST, detail="no such thread") if "unknown thread" in errors else None


async def end_of(script: str, trace: Trace) -> TurnEnded:
    spec = TurnSpec(
        role=Role.DEVELOPER,
        unit="1",
        attempt=1,
        prompt="do it",
        cwd=str(trace.folder),
        transcript=str(trace.folder / "turn.jsonl"),
        state=str(trace.folder / "agents"),
    )
    environment = agent_environment(spec, {"AMELIA_TRACE": trace.mark})
    program = Program(["sh", "-c", script], environment, read_plain_line, explain)
    *_, ended = [event async for event in ProgramTurn(spec, program).events()]
    assert isinstance(ended, TurnEnded)
    return ended


async def test_an_agent_that_failed_without_a_result_is_explained_by_its_errors(trace: Trace) -> None:
    ended = await end_of("echo unknown thread >&2; exit 1", trace)
    assert ended.ending is Ending.SESSION_LOST
    assert ended.detail.endswith("no such thread")
    assert ended.exit_code == 1


async def test_errors_that_explain_nothing_are_told_as_they_are(trace: Trace) -> None:
    ended = await end_of("echo out of memory >&2; exit 1", trace)
    assert ended.ending is Ending.CRASHED
    assert "out of memory" in ended.detail


OPTIONS = [
    "error: unknown option '--tools'",
    "error: option '--permission-mode <mode>' argument 'x' is invalid. Allowed choices are a, b.",
    "error: unexpected argument '--no-such-flag' found",
    "error: invalid value 'x' for '--sandbox <MODE>'",
    "agent: error: unrecognized arguments: --x",
    "agent: error: argument --mode: invalid choice: 'x'",
    "Error: No such option: --x",
    "Error: unknown flag: --x",
    "unknown shorthand flag: 'x' in -x",
    "flag provided but not defined: -x",
    "agent: invalid option -- 'x'",
    "Unknown argument: x",
]


@pytest.mark.parametrize("line", OPTIONS)
async def test_an_option_that_a_program_does_not_know_makes_it_unusable(line: str, trace: Trace) -> None:
    ended = await end_of(f"printf 'a warning\\n%s\\n\\nUsage: agent\\n' \"{line}\" >&2; exit 2", trace)
    assert (ended.ending, ended.exit_code) == (Ending.UNUSABLE, 2)
    assert ended.detail == f"the agent's program cannot be used as it is: {line}"


@pytest.mark.parametrize("script", ["exec ./no-such-program", "/dev/null"])
async def test_a_program_that_cannot_be_executed_is_unusable(script: str, trace: Trace) -> None:
    ended = await end_of(script, trace)
    assert ended.ending is Ending.UNUSABLE
    assert "not found" in ended.detail or "denied" in ended.detail


@pytest.mark.parametrize(
    "script",
    [
        """echo '{"type": "say", "text": "I work."}'; echo 'error: unknown option --x' >&2; exit 1""",
        "echo 'the tool said: there is an unknown option' >&2; exit 1",
    ],
)
async def test_an_agent_that_was_at_work_or_only_speaks_of_options_has_crashed(
    script: str, trace: Trace
) -> None:
    assert (await end_of(script, trace)).ending is Ending.CRASHED


@pytest.mark.parametrize(
    ("script", "ending"),
    [
        ("echo unknown thread >&2", Ending.NO_REPORT),
        ("""echo unknown thread >&2; echo '{"type": "limit"}'; exit 1""", Ending.LIMITED),
    ],
)
async def test_errors_beside_a_clean_exit_or_a_result_explain_nothing(
    script: str, ending: Ending, trace: Trace
) -> None:
    assert (await end_of(script, trace)).ending is ending
