"""Our side of the Agent Client Protocol as the program it is, with a small agent behind it."""

import json
import os
import signal
import subprocess  # noqa: TID251 - the client is a program
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tracing import wait_until

pytestmark = pytest.mark.slow

AGENT = Path(__file__).parents[2] / "real" / "acp_agents.py"
REPORT = '{"status": "completed"}'
Table = dict[str, Any]


class Stage:
    """A folder to work in, and what an agent there was asked and said."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        self.log = folder / "log"
        self.code: int | None = None
        self.told: list[Table] = []
        self.errors = ""

    def run(
        self,
        *options: str,
        prompt: bytes = b"Do it.",
        interrupt_at: str = "",
        command: Sequence[str] = (),
        **script: Any,
    ) -> "Stage":
        """Takes one turn; its output goes to files, which an agent that stays cannot hold open for us."""
        given, output, errors = (self.work.parent / name for name in ("prompt", "output", "errors"))
        given.write_bytes(prompt)
        agent = command or [sys.executable, str(AGENT), json.dumps({"log": str(self.log), **script})]
        with given.open("rb") as stdin, output.open("wb") as stdout, errors.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "amelia.drive.acp.client", *options, "--", *agent],
                cwd=self.work,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        try:
            if interrupt_at:
                wait_until(lambda: interrupt_at in self.text())
                process.send_signal(signal.SIGINT)
            self.code = process.wait(timeout=20)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.told = [json.loads(line) for line in output.read_bytes().splitlines()]
        self.errors = errors.read_text()
        return self

    def text(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    @property
    def asked(self) -> list[Table]:
        return [json.loads(line) for line in self.text().splitlines()]

    def params(self, method: str) -> Table:
        [params] = [message["params"] for message in self.asked if message.get("method") == method]
        return params

    def kinds(self) -> list[str]:
        return [message["type"] for message in self.told]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def say(text: str) -> Table:
    content = {"type": "text", "text": text}
    return {"update": {"sessionUpdate": "agent_message_chunk", "content": content}}


def option(category: str, *values: Any) -> Table:
    return {"id": f"my-{category}", "category": category, "currentValue": "usual", "options": list(values)}


def test_a_whole_turn_is_told_line_by_line(stage: Stage) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "edit", "title": "Write a.py"}
    done = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}
    stage.run(
        steps=[say("I "), say("write."), {"update": call}, {"write": "a.py"}, {"update": done}, say(REPORT)],
        answer={"usage": {"inputTokens": 7, "outputTokens": 8, "totalTokens": 15}},
        offers={"configOptions": [option("model")]},
    )
    assert stage.code == 0
    assert stage.told == [
        {"type": "session", "session": "acp-1", "model": "usual"},
        {"type": "say", "text": "I write."},
        {"type": "tool", "state": "started", "name": "edit", "detail": "Write a.py"},
        {"type": "tool", "state": "ended", "name": "edit", "ok": True},
        {"type": "say", "text": REPORT},
        {"type": "usage", "input": 7, "output": 8},
        {"type": "result", "text": REPORT},
    ]
    assert (stage.work / "a.py").exists()
    assert stage.params("session/prompt") == {
        "sessionId": "acp-1",
        "prompt": [{"type": "text", "text": "Do it."}],
    }
    assert stage.params("session/new")["cwd"] == str(stage.work)


def test_the_agent_is_lent_neither_files_nor_terminals(stage: Stage) -> None:
    stage.run(steps=[{"call": "fs/write_text_file"}, {"call": "terminal/create"}, say(REPORT)])
    offered = stage.params("initialize")["clientCapabilities"]
    assert offered["fs"] == {"readTextFile": False, "writeTextFile": False}
    assert offered["terminal"] is False
    assert [message["error"]["code"] for message in stage.asked if "error" in message] == [-32601, -32601]
    assert stage.kinds() == ["session", "say", "result"]


def test_the_last_message_is_handed_on_whatever_it_holds(stage: Stage) -> None:
    stage.run(steps=[say("All done.")])
    assert stage.told[-1] == {"type": "result", "text": "All done."}


@pytest.mark.parametrize(
    ("may", "way"),
    [
        ({"loadSession": True, "sessionCapabilities": {"resume": {}}}, "session/resume"),
        ({"loadSession": True, "sessionCapabilities": {}}, "session/load"),
    ],
)
def test_a_session_goes_on_and_its_past_is_not_told_again(stage: Stage, may: Table, way: str) -> None:
    past = {"cost": {"amount": 2.0, "currency": "USD"}, "sessionUpdate": "usage_update"}
    now = {"update": {**past, "cost": {"amount": 2.5, "currency": "USD"}}}
    stage.run(
        "--session=old",
        "--resume",
        "--cost-before=2.25",
        hello={"protocolVersion": 1, "agentCapabilities": may},
        history=[say("long ago")["update"], past],
        steps=[now, say(REPORT)],
    )
    assert stage.params(way)["sessionId"] == stage.params("session/prompt")["sessionId"] == "old"
    assert stage.told[0] == {"type": "session", "session": "old", "model": ""}
    assert stage.told[1] == {"type": "usage", "input": 0, "output": 0, "cost": 0.5}
    assert stage.kinds() == ["session", "usage", "say", "result"]


def test_a_session_that_is_not_there_is_lost_and_nothing_is_done(stage: Stage) -> None:
    error = {"code": -32002, "message": "Resource not found"}
    stage.run("--session=old", "--resume", errors={"session/resume": error}, steps=[{"write": "a.py"}])
    assert stage.told == [{"type": "end", "ending": "session_lost", "detail": "Resource not found"}]
    assert not (stage.work / "a.py").exists()


def test_an_agent_that_knows_no_old_sessions_has_lost_them(stage: Stage) -> None:
    stage.run("--session=old", "--resume", hello={"protocolVersion": 1})
    assert [message["ending"] for message in stage.told] == ["session_lost"]


def test_a_refused_login_is_no_lost_session(stage: Stage) -> None:
    error = {"code": -32000, "message": "Authentication required"}
    stage.run("--session=old", "--resume", errors={"session/resume": error})
    assert [message["ending"] for message in stage.told] == ["auth"]


@pytest.mark.parametrize(
    ("method", "error", "told"),
    [
        (
            "session/prompt",
            {"code": -32000, "message": "Log in"},
            {"ending": "auth", "detail": "Log in"},
        ),
        (
            "session/prompt",
            {"code": -32603, "message": "no model"},
            {"ending": "failed", "detail": "no model"},
        ),
        ("session/prompt", {"code": -32603, "message": "API Error: 529"}, {"detail": "API Error: 529"}),
        ("initialize", "?", {"ending": "failed", "detail": "an error without a message"}),
    ],
)
def test_an_error_ends_the_turn(stage: Stage, method: str, error: Any, told: Table) -> None:
    stage.run(errors={method: error})
    assert stage.code == 1
    assert stage.told[-1] == {"type": "end" if "ending" in told else "limit", **told}
    assert told["detail"] in stage.errors


def test_a_failure_that_comes_with_a_peaceful_answer_ends_the_turn(stage: Stage) -> None:
    failure = {"severity": "error", "category": "service", "title": "high demand"}
    meta = {"jetbrains": {"air": {"sessionFailure": failure}}}
    stage.run(steps=[say(REPORT)], answer={"_meta": meta})
    assert stage.told[-1] == {"type": "limit", "detail": "high demand"}


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal", 3])
def test_a_turn_that_stops_early_failed(stage: Stage, reason: Any) -> None:
    stage.run(steps=[say(REPORT)], answer={"stopReason": reason})
    assert stage.told[-1]["ending"] == "failed"
    assert (str(reason) if isinstance(reason, str) else "early") in stage.told[-1]["detail"]


def test_another_version_of_the_protocol_is_not_spoken(stage: Stage) -> None:
    stage.run(hello={"protocolVersion": 2})
    assert stage.told[-1]["ending"] == "failed"
    assert "version 2" in stage.told[-1]["detail"]


def test_a_session_without_an_id_is_none(stage: Stage) -> None:
    assert stage.run(offers={"sessionId": 7}).told[-1]["ending"] == "failed"


@pytest.mark.parametrize(
    ("offers", "method", "asked"),
    [
        (
            {"configOptions": [option("model")]},
            "session/set_config_option",
            {"configId": "my-model", "value": "m"},
        ),
        ({"models": {}}, "session/set_model", {"modelId": "m"}),
    ],
)
def test_the_wanted_model_is_chosen(stage: Stage, offers: Table, method: str, asked: Table) -> None:
    stage.run("--model=m", offers=offers, steps=[say(REPORT)])
    assert stage.params(method) == {"sessionId": "acp-1", **asked}
    assert stage.told[0]["model"] == "m"
    assert stage.told[-1]["type"] == "result"


def test_a_model_that_cannot_be_chosen_is_not_passed_over(stage: Stage) -> None:
    stage.run("--model=m", steps=[say(REPORT)])
    assert stage.told[-1]["ending"] == "failed"
    assert "session/prompt" not in stage.text()


def notice(text: str, *before: Table, **more: Any) -> Table:
    """Returns the script of an agent that tells a fault as its last message, and ends its turn in peace."""
    return {"steps": [*before, say(text)], **more}


CALL = {"update": {"sessionUpdate": "tool_call", "toolCallId": "1", "kind": "read", "title": "a.py"}}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Error: Authentication failed with provider at http://x/v1 (HTTP 401).", "auth"),
        ("Error: No answer from the model; retried 5 times. Last error: 429 slow down", "limit"),
        ("Ran into this error: Server error (500 Internal Server Error) at http://x/v1.", "limit"),
        ("Ran into this error: Rate limit exceeded: slow down.\n\nPlease retry.", "limit"),
    ],
)
@pytest.mark.parametrize("before", [[], [CALL]], ids=["idle", "at work"])
def test_a_fault_of_the_provider_that_comes_as_a_message_ends_the_turn_as_that_fault(
    stage: Stage, text: str, kind: str, before: list[Table]
) -> None:
    stage.run(**notice(text, *before))
    assert stage.code == 1
    told = stage.told[-1]
    assert (told["type"], told.get("ending")) == (("end", "auth") if kind == "auth" else ("limit", None))
    assert told["detail"] == text


def test_a_message_that_speaks_of_faults_in_its_work_is_none(stage: Stage) -> None:
    stage.run(**notice("The client retries now when it gets HTTP 429 or 503 Service Unavailable.", CALL))
    assert (stage.code, stage.kinds()[-1]) == (0, "result")


def test_an_agent_that_ends_its_turn_at_a_refusal_is_told_to_go_on(stage: Stage) -> None:
    asks = [say("I look."), {"ask": {"toolCallId": "1", "kind": "execute", "title": "ls"}}]
    stage.run("--read-only", prompts=[[*asks, say("Info: cancelled by user")], [CALL, say(REPORT)]])
    assert [message for message in stage.kinds() if message in ("denied", "result")] == ["denied", "result"]
    prompts = [
        one["params"]["prompt"][0]["text"] for one in stage.asked if one.get("method") == "session/prompt"
    ]
    assert len(prompts) == 2
    assert "You were refused: ls." in prompts[1]
    assert "only read" in prompts[1]


@pytest.mark.parametrize("reason", ["end_turn", "cancelled", "refusal"])
def test_a_turn_that_ends_with_a_refusal_again_and_again_failed(stage: Stage, reason: str) -> None:
    asks = [say(REPORT), {"ask": {"toolCallId": "1", "kind": "execute", "title": "ls"}}]
    stage.run("--read-only", steps=asks, answer={"stopReason": reason})
    assert stage.told[-1] == {
        "type": "end",
        "ending": "failed",
        "detail": "the agent ended its turn when it was refused: ls",
    }
    assert stage.text().count('"session/prompt"') == 3


def test_an_agent_that_goes_on_by_itself_after_a_refusal_is_not_told_to(stage: Stage) -> None:
    ask = {"ask": {"toolCallId": "1", "kind": "execute", "title": "ls"}}
    stage.run("--read-only", steps=[ask, CALL, say("I have no more to say.")])
    assert stage.kinds() == ["session", "denied", "tool", "say", "result"]
    assert stage.text().count('"session/prompt"') == 1


def test_an_interrupted_turn_is_not_taken_up_again_after_a_refusal(stage: Stage) -> None:
    ask = {"ask": {"toolCallId": "1", "kind": "execute", "title": "ls"}}
    stage.run("--read-only", steps=[ask, {"hang": True}], interrupt_at='"outcome"')
    assert stage.told[-1]["detail"] == "the agent stopped early: cancelled"
    assert stage.text().count('"session/prompt"') == 1


def hello(*methods: Table) -> Table:
    return {"protocolVersion": 1, "authMethods": list(methods), "agentCapabilities": {"loadSession": True}}


@pytest.mark.parametrize(
    ("method", "variables"),
    [
        ({"id": "cursor_login", "name": "Log in"}, {}),
        ({"id": "x-api-key", "name": "Key"}, {"X_API_KEY": "k"}),
        ({"id": "by-variables", "type": "env_var", "vars": [{"name": "A_KEY"}]}, {"A_KEY": "k"}),
    ],
)
@pytest.mark.parametrize("options", [(), ("--session=old", "--resume")])
def test_an_agent_that_wants_a_login_gets_one_that_needs_nobody(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, method: Table, variables: Table, options: tuple[str, ...]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    others = [{"id": "oauth", "name": "In the browser"}] if variables else []
    stage.run(*options, hello=hello(*others, method), login=method["id"], steps=[say(REPORT)])
    assert stage.params("authenticate") == {"methodId": method["id"]}
    assert stage.told[-1]["type"] == "result"


@pytest.mark.parametrize(
    ("methods", "says"),
    [
        ([], "log in to it outside of Amelia"),
        ([{"id": "a", "name": "By Google"}, {"id": "b", "name": "By Vertex"}], "By Google; or By Vertex"),
        ([{"id": "t", "name": "Log in", "type": "terminal", "args": ["auth", "login"]}], " auth login`"),
        (
            [{"id": "q", "name": "Key", "_meta": {"type": "terminal"}, "description": "Set it."}],
            "Key (Set it.)",
        ),
        (
            [{"id": "v", "name": "Key", "type": "env_var", "vars": [{"name": "NO_SUCH_KEY"}]}],
            "set NO_SUCH_KEY",
        ),
    ],
)
def test_a_login_that_needs_a_person_ends_the_turn_and_says_how_it_is_done(
    stage: Stage, methods: list[Table], says: str
) -> None:
    stage.run(hello=hello(*methods), login="nobody", steps=[{"write": "a.py"}])
    assert "authenticate" not in stage.text()
    assert stage.told[-1]["ending"] == "auth"
    assert stage.told[-1]["detail"].startswith("Authentication required; ")
    assert says in stage.told[-1]["detail"]


def test_the_command_that_is_known_to_log_in_is_named(stage: Stage) -> None:
    stage.run("--login=small auth", hello=hello(), login="nobody")
    assert stage.told[-1]["detail"] == "Authentication required; log in with `small auth`"


def test_a_login_that_takes_its_time_is_given_up(stage: Stage) -> None:
    only = {"id": "oauth", "name": "In the browser"}
    stage.run(hello=hello(only), login="oauth", silent=["authenticate"])
    assert stage.told[-1]["ending"] == "auth"
    assert "In the browser" in stage.told[-1]["detail"]


def test_tokens_that_are_told_beside_the_protocol_are_counted(stage: Stage) -> None:
    noted = {**say(REPORT)["update"], "_meta": {"usage": {"inputTokens": 7, "outputTokens": 8}}}
    stage.run(steps=[{"update": noted}])
    assert {"type": "usage", "input": 7, "output": 8} in stage.told
    stage.run(steps=[say(REPORT)], answer={"_meta": {"quota": {"token_count": {"input_tokens": 3}}}})
    assert {"type": "usage", "input": 3, "output": 0} in stage.told


MODES = [{"id": "code"}, {"id": "plan"}, {"id": "read-only"}, 7]
GROUP = {"group": "g", "options": [{"value": "plan"}]}


@pytest.mark.parametrize(
    ("offers", "method", "asked"),
    [
        ({"modes": {"availableModes": MODES}}, "session/set_mode", {"modeId": "read-only"}),
        (
            {"configOptions": [option("mode", {"value": "code"}, {"value": "ask"})]},
            "session/set_config_option",
            {"configId": "my-mode", "value": "ask"},
        ),
        (
            {"configOptions": [option("mode", GROUP)]},
            "session/set_config_option",
            {"configId": "my-mode", "value": "plan"},
        ),
    ],
)
def test_a_role_that_may_not_write_gets_a_mode_for_it(
    stage: Stage, offers: Table, method: str, asked: Table
) -> None:
    stage.run("--read-only", offers=offers, steps=[say(REPORT)])
    assert stage.params(method) == {"sessionId": "acp-1", **asked}


@pytest.mark.parametrize(
    ("offers", "method", "asked"),
    [
        (
            {"modes": {"currentModeId": "plan", "availableModes": [{"id": "plan"}, {"id": "code"}]}},
            "session/set_mode",
            {"modeId": "code"},
        ),
        (
            {"configOptions": [{**option("mode", GROUP, {"value": "code"}), "currentValue": "plan"}]},
            "session/set_config_option",
            {"configId": "my-mode", "value": "code"},
        ),
    ],
)
def test_who_may_write_again_leaves_the_mode_of_who_may_not(
    stage: Stage, offers: Table, method: str, asked: Table
) -> None:
    stage.run("--session=old", "--resume", offers=offers, steps=[say(REPORT)])
    assert stage.params(method) == {"sessionId": "old", **asked}


@pytest.mark.parametrize("current", ["code", "plan", 7])
def test_the_mode_that_the_user_has_set_up_stays(stage: Stage, current: object) -> None:
    only_plan = {"modes": {"currentModeId": current, "availableModes": [{"id": "plan"}]}}
    stage.run("--session=old", "--resume", offers=only_plan, steps=[say(REPORT)])
    stage.run(offers={"modes": {"currentModeId": "plan", "availableModes": MODES}}, steps=[say(REPORT)])
    assert "session/set_mode" not in stage.text()


def test_a_mode_that_is_refused_ends_the_turn_before_it_began(stage: Stage) -> None:
    stage.run(
        "--read-only",
        offers={"modes": {"availableModes": MODES}},
        errors={"session/set_mode": {"message": "no"}},
        steps=[{"write": "a.py"}],
    )
    assert stage.told[-1]["ending"] == "failed"
    assert not (stage.work / "a.py").exists()


def test_without_such_a_mode_it_works_in_the_usual_one(stage: Stage) -> None:
    stage.run("--read-only", offers={"modes": {"availableModes": [{"id": "code"}]}}, steps=[say(REPORT)])
    assert stage.told[-1]["type"] == "result"
    assert "session/set_mode" not in stage.text()


def answers(stage: Stage) -> list[str]:
    return [
        message["result"]["outcome"].get("optionId", message["result"]["outcome"]["outcome"])
        for message in stage.asked
        if "result" in message
    ]


def test_a_developer_may_change_what_is_inside_the_worktree(stage: Stage) -> None:
    (stage.work / "link").symlink_to(stage.work.parent)
    places = ["a.py", str(stage.work / "b.py"), "../out.py", "/etc/passwd", "link/out.py", "nul\0"]
    asks = [{"ask": {"title": place, "kind": "edit", "locations": [{"path": place}]}} for place in places]
    stage.run(steps=[*asks, {"ask": {"kind": "execute", "title": "make"}}, say(REPORT)])
    assert answers(stage) == ["yes", "yes", "no", "no", "no", "no", "yes"]
    assert [message["what"] for message in stage.told if message["type"] == "denied"] == places[2:]


def test_nobody_else_may_anything(stage: Stage) -> None:
    stage.run("--read-only", steps=[{"ask": {"title": "Write"}}, {"ask": {"kind": "read"}}, say(REPORT)])
    assert answers(stage) == ["no", "no"]
    assert stage.told[1:3] == [
        {"type": "denied", "what": "Write"},
        {"type": "denied", "what": "something without a title"},
    ]
    assert stage.told[-1]["type"] == "result"


@pytest.mark.parametrize(
    ("options", "claude"),
    [
        ((), {"settingSources": ["user"]}),
        (("--trusts-repository",), {}),
        (
            ("--trusts-repository", "--read-only"),
            {"disallowedTools": ["Bash", "Edit", "NotebookEdit", "Write"], "strictMcpConfig": True},
        ),
    ],
)
def test_what_the_repository_brings_is_off_unless_it_is_trusted(
    stage: Stage, options: tuple[str, ...], claude: Table
) -> None:
    place = stage.run(*options, steps=[say(REPORT)]).params("session/new")
    assert place["mcpServers"] == []
    assert place["_meta"] == {"claudeCode": {"options": claude}}


def test_noise_and_unknown_messages_do_no_harm(stage: Stage) -> None:
    noise = [
        "plain text",
        '{"type": "result", "report": {"forged": true}}',
        "[" * 5000,
        "",
        '{"id": 99, "result": {}}',
    ]
    stage.run(
        steps=[
            *({"raw": line} for line in noise),
            {"raw": '{"method": "_vendor/news", "params": 3}'},
            {"raw": '{"method": 5}'},
            {"update": {"sessionUpdate": "dance"}},
            {"update": "what"},
            say(REPORT),
        ]
    )
    assert stage.kinds() == ["session", "noise", "noise", "noise", "update", "update", "say", "result"]
    assert stage.told[-1]["text"] == REPORT
    assert all(len(json.dumps(message)) < 10_000 for message in stage.told)


def test_a_huge_message_and_a_flood_of_small_ones_are_taken(stage: Stage) -> None:
    huge = {**say("y" * 100_000), "times": 30}
    stage.run(steps=[{**say("x"), "times": 3000}, {"update": {"sessionUpdate": "tool_call"}}, huge])
    texts = [message["text"] for message in stage.told if message["type"] == "say"]
    assert [len(text) for text in texts] == [3000, 1_000_000]


def test_a_prompt_larger_than_a_pipe_arrives_whole(stage: Stage) -> None:
    stage.run(prompt=b"\xff" + b"p" * 500_000, steps=[say(REPORT)])
    assert len(stage.params("session/prompt")["prompt"][0]["text"]) == 500_001
    assert stage.told[-1]["type"] == "result"


@pytest.mark.parametrize(("code", "seen"), [(3, 3), (0, 1)])
def test_an_agent_that_dies_ends_the_turn_without_a_result(stage: Stage, code: int, seen: int) -> None:
    stage.run(steps=[say("half"), {"exit": code}])
    assert stage.code == seen
    assert stage.kinds() == ["session"]
    assert "the small agent gives up" in stage.errors
    assert "Traceback" not in stage.errors


def test_an_agent_that_is_killed_ends_the_turn_with_its_signal(stage: Stage) -> None:
    stage.run(steps=[{"shell": "kill -9 $PPID"}])
    assert stage.code == 137
    assert "the agent ended before its answer" in stage.errors


@pytest.mark.parametrize("reason", ["end_turn", "max_tokens"])
def test_the_agent_has_time_to_put_its_session_away(stage: Stage, reason: str) -> None:
    stage.run(steps=[say(REPORT)], answer={"stopReason": reason}, farewell="put away")
    assert (stage.work / "put away").exists()


def test_an_agent_that_does_not_fall_silent_is_left(stage: Stage) -> None:
    stage.run(steps=[{"shell": "(sleep 0.5; yes) &"}, say(REPORT)])
    assert (stage.code, stage.kinds()) == (0, ["session", "say", "result"])


@pytest.mark.parametrize(
    ("script", "code"),
    [("exec 0<&-; sleep 0.3; exit 4", 4), ("exec 1>&-; sleep 600", 1)],
    ids=["hears nothing", "says nothing"],
)
def test_an_agent_that_hangs_up_is_gone(stage: Stage, script: str, code: int) -> None:
    stage.run(command=["sh", "-c", script])
    assert (stage.code, stage.told) == (code, [])
    assert stage.errors == "the agent ended before its answer\n"


def test_an_interrupt_cancels_the_prompt(stage: Stage) -> None:
    stage.run(steps=[{"hang": True}], interrupt_at="session/prompt")
    assert stage.params("session/cancel") == {"sessionId": "acp-1"}
    assert stage.kinds() == ["session", "end"]
    assert stage.code == 1


def test_an_agent_that_does_not_listen_is_left_after_a_while(stage: Stage) -> None:
    stage.run(steps=[{"hang": "deaf"}], interrupt_at="session/prompt")
    assert stage.code == 130
    assert stage.kinds() == ["session"]


def test_an_interrupt_before_the_prompt_ends_the_turn_at_once(stage: Stage) -> None:
    stage.run(silent=["session/new"], interrupt_at="session/new")
    assert (stage.code, stage.told) == (130, [])


def test_a_probe_tells_of_the_agent_and_begins_no_session(stage: Stage) -> None:
    stage.run("--probe")
    assert stage.told == [{"type": "agent", "name": "small", "version": "1.2", "may_resume": True}]
    assert [message["method"] for message in stage.asked] == ["initialize"]


def test_a_program_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "amelia.drive.acp.client", "--", "/no/such/agent"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    said = "cannot start '/no/such/agent': No such file or directory\n"
    assert (done.returncode, done.stderr.decode()) == (127, said)
