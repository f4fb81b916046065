"""The command driver with small programs: what reaches them, and what they cannot be asked for."""

import json
import os
import shlex
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amelia.drive.command.driver import LONGEST_ARGUMENT, CommandDriver
from amelia.model.agents import AgentSettings, Ending, Role, SessionId, TurnEnded, TurnSpec
from amelia.model.errors import ConfigError
from repositories import executable

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

REPORT = '{"status": "completed"}'


class Desk:
    """A folder to work in, and a program that writes down what reaches it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tree = folder / "tree"
        self.tree.mkdir()
        self.program = str(self.put("agent", f"echo {shlex.quote(REPORT)}"))

    def put(self, name: str, body: str) -> Path:
        log = shlex.quote(str(self.folder / "asked"))
        told = f"printf '%s\\0' \"$@\" > {log}.arguments; env -0 > {log}.variables; cat > {log}.input\n"
        return executable(self.folder / "bin" / name, told + body)

    def asked(self, what: str) -> list[str]:
        return (self.folder / f"asked.{what}").read_text().split("\0")[:-1]

    @property
    def input(self) -> str:
        return (self.folder / "asked.input").read_text()

    def spec(self, **facts: Any) -> TurnSpec:
        asked = TurnSpec(
            role=Role.DEVELOPER,
            unit="1",
            attempt=1,
            prompt="Write {session} and {role}.",
            cwd=str(self.tree),
            session=SessionId("s1"),
            transcript=str(self.folder / "turn.jsonl"),
            state=str(self.folder / "state"),
        )
        return replace(asked, **facts)

    async def take(self, *arguments: str, settings: dict[str, Any] | None = None, **facts: Any) -> TurnEnded:
        agent = AgentSettings(driver="command", command=(self.program, *arguments), **(settings or {}))
        return await self.drive(agent, **facts)

    async def drive(self, agent: AgentSettings, **facts: Any) -> TurnEnded:
        turn = await CommandDriver(agent).start(self.spec(**facts))
        async with aclosing(turn.events()) as events:
            ended = [event async for event in events][-1]
        assert isinstance(ended, TurnEnded)
        return ended


def text_of(file: str) -> str:
    return Path(file).read_text()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def test_places_are_filled_once_and_other_braces_stay(desk: Desk) -> None:
    ended = await desk.take("-p", "{prompt}", "--as={role}", '{"json": {}}', "{unknown}")
    assert (ended.ending, ended.report) == (Ending.OK, json.loads(REPORT))
    assert desk.asked("arguments") == [
        "-p",
        "Write {session} and {role}.",
        "--as=developer",
        '{"json": {}}',
        "{unknown}",
    ]
    assert desk.input == "", "it is told once"


async def test_a_line_without_a_place_for_the_prompt_gets_it_by_its_input(desk: Desk) -> None:
    await desk.take("--quiet")
    assert desk.input == "Write {session} and {role}."


async def test_a_prompt_file_holds_the_prompt_and_lies_outside_the_worktree(desk: Desk) -> None:
    await desk.take("{prompt_file}", unit="a/b: c", prompt="Do it.\udcff")
    [file] = desk.asked("arguments")
    assert text_of(file) == "Do it.?"
    assert not file.startswith(str(desk.tree))
    assert desk.input == ""


async def test_a_prompt_that_no_argument_can_hold_is_pointed_to(desk: Desk) -> None:
    long = "x" * (LONGEST_ARGUMENT + 1)
    ended = await desk.take("{prompt}", prompt=long)
    assert ended.ending is Ending.OK
    [told] = desk.asked("arguments")
    assert len(told) < 1000
    file = next(word.rstrip(",") for word in told.split() if word.startswith("/"))
    assert text_of(file) == long


async def test_a_session_goes_on_by_its_own_line(desk: Desk) -> None:
    settings = {"resume_command": (desk.program, "again", "{session}"), "model": None}
    began = await desk.take("begin", "{session}", settings=settings)
    assert began.session == "s1"
    assert desk.asked("arguments") == ["begin", "s1"]
    went_on = await desk.take("begin", "{session}", settings=settings, resume=True)
    assert (went_on.ending, went_on.session) == (Ending.OK, "s1")
    assert desk.asked("arguments") == ["again", "s1"]


async def test_a_program_that_cannot_go_on_has_no_session_to_go_on_with(desk: Desk) -> None:
    assert (await desk.take("begin", "{session}")).session is None
    lost = await desk.take("begin", resume=True)
    assert (lost.ending, lost.report) == (Ending.SESSION_LOST, None)


async def test_the_model_and_the_variables_of_the_settings_reach_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_KEY", "sk-made-up-for-these-tests")
    monkeypatch.setenv("TEAM_PLACE", "here")
    monkeypatch.setenv("OTHER_KEY", "sk-of-somebody-else")
    await desk.take("{model}", settings={"model": "m1", "key": "TEAM_KEY", "passes": ("TEAM_PLACE",)})
    assert desk.asked("arguments") == ["m1"]
    seen = dict(line.split("=", 1) for line in desk.asked("variables") if "=" in line)
    assert (seen["TEAM_KEY"], seen["TEAM_PLACE"]) == ("sk-made-up-for-these-tests", "here")
    assert "OTHER_KEY" not in seen


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (AgentSettings(driver="command"), "no command line"),
        (AgentSettings(driver="command", command=("sh",), model="m"), "no place for it"),
        (AgentSettings(driver="command", command=("sh", "{model}")), "wants a model"),
        (AgentSettings(driver="command", command=("sh",), base_url="http://x"), "base_url"),
        (AgentSettings(driver="command", command=("sh",), max_turns=3), "max_turns"),
        (AgentSettings(driver="command", command=("sh",), key="NO_SUCH_KEY_HERE"), "NO_SUCH_KEY_HERE"),
        (AgentSettings(driver="command", command=("no-such-program",)), "not installed"),
        (AgentSettings(driver="aider", command=("no-such-program",), model="m"), "not installed"),
        (AgentSettings(driver="aider", command=("sh",)), "no model is set"),
    ],
)
async def test_what_a_program_cannot_be_given_is_said_before_a_run_relies_on_it(
    settings: AgentSettings, says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as problem:
        await CommandDriver(settings).probe()
    assert problem.value.hint


async def test_a_probe_of_any_program_says_what_nobody_knows_of_it(desk: Desk) -> None:
    info = await CommandDriver(AgentSettings(driver="command", command=(desk.program,))).probe()
    assert (info.program, info.version, info.is_ready) == (desk.program, "unknown", True)
    assert any("budget" in note for note in info.notes)


@pytest.mark.parametrize(
    ("started", "resumed", "is_told"),
    [
        ((), ("--resume", "{session}"), True),
        (("--session", "{session}"), ("--resume", "{session}"), False),
        ((), (), False),
    ],
)
async def test_a_probe_says_where_a_session_goes_on_only_if_the_program_tells_its_id(
    desk: Desk, started: tuple[str, ...], resumed: tuple[str, ...], *, is_told: bool
) -> None:
    again = (desk.program, *resumed) if resumed else ()
    settings = AgentSettings(
        driver="command", command=(desk.program, *started), resume_command=again, trusts_repository=True
    )
    info = await CommandDriver(settings).probe()
    assert any("{session}" in note and "`resume_command`" in note for note in info.notes) is is_told
    assert len(info.notes) == 1 + is_told


async def test_an_agent_by_its_name_gets_the_line_of_its_recipe(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = f"case $1 in --version) echo aider 0.86.2;; *) echo {shlex.quote(REPORT)};; esac"
    program = desk.put("aider", body)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("AIDER_ARCHITECT", "true")
    agent = AgentSettings(driver="aider", model="m1")
    info = await CommandDriver(agent).probe()
    assert (info.program, info.version, info.is_ready) == (str(program), "0.86.2", True)
    ended = await desk.drive(agent)
    assert (ended.ending, ended.session) == (Ending.OK, None)
    line = desk.asked("arguments")
    assert line[:2] == ["--message-file", line[1]]
    assert line[-2:] == ["--model", "m1"]
    assert "--edit-format" in line
    assert "AIDER_ARCHITECT=true" in desk.asked("variables")
    await desk.drive(agent, role=Role.REVIEWER)
    assert "--dry-run" in desk.asked("arguments")


async def test_a_version_that_is_too_old_is_told(desk: Desk) -> None:
    program = desk.put("aider", "echo aider 0.50.1")
    info = await CommandDriver(AgentSettings(driver="aider", command=(str(program),), model="m")).probe()
    assert not info.is_ready
    assert "0.86.0 or newer is needed" in info.notes[0]


async def test_a_program_that_says_no_version_is_not_believed_to_be_the_agent(desk: Desk) -> None:
    program = desk.put("aider", "echo what; exit 1")
    with pytest.raises(ConfigError, match="says no version: what"):
        await CommandDriver(AgentSettings(driver="aider", command=(str(program),), model="m")).probe()
