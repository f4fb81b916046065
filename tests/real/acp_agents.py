"""A small agent of the Agent Client Protocol: a program that behaves as its one argument, a JSON object, says.

    {"log": FILE,          every message it gets is written there, a line each
     "hello": {...},       its answer to `initialize`; the usual one if left out
     "offers": {...},      what a new or resumed session offers
     "history": [...],     updates that loading a session repeats
     "errors": {METHOD: ERROR},
     "silent": [METHOD],   it never answers that
     "login": METHOD,      it opens no session before it was asked to authenticate so
     "steps": [...],       what it does with the prompt
     "prompts": [[...]],   what it does with each prompt, one after the other, instead of the steps
     "answer": {...},      its answer to the prompt, `end_turn` if left out
     "farewell": FILE}     written a moment after it was left alone

A step is an `update` (with `times`), an `ask` for permission, a `call` of some method of the client, a `raw`
line, a `write` of a file, a `shell` command, an `exit` code, or a `hang` that ends when it is cancelled; with
`"hang": "deaf"` it does not. Standard library only.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

SESSION = "acp-1"
HELLO: dict[str, Any] = {
    "protocolVersion": 1,
    "agentInfo": {"name": "small", "version": "1.2"},
    "agentCapabilities": {"loadSession": True, "sessionCapabilities": {"resume": {}}},
}
OPTIONS = [
    {"optionId": "for-ever", "kind": "allow_always", "name": "Always"},
    {"optionId": "yes", "kind": "allow_once", "name": "Yes"},
    {"optionId": "no", "kind": "reject_once", "name": "No"},
]


class Agent:
    """Speaks the protocol on its standard input and output."""

    def __init__(self, script: dict[str, Any]) -> None:
        self.script = script
        self.number = 0
        self.is_known = "login" not in script

    def serve(self) -> None:
        while message := self.receive():
            if "method" in message and "id" in message:
                self.answer(message)
        if farewell := self.script.get("farewell"):
            time.sleep(0.2)
            Path(farewell).touch()

    def receive(self) -> dict[str, Any] | None:
        line = sys.stdin.readline()
        if not line:
            return None
        if log := self.script.get("log"):
            with Path(log).open("a") as file:
                file.write(line)
        return json.loads(line)

    def send(self, **message: Any) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def answer(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if method in self.script.get("silent", []):
            return
        if error := self.script.get("errors", {}).get(method):
            self.send(id=message["id"], error=error)
            return
        if method == "authenticate" and message["params"]["methodId"] == self.script.get("login"):
            self.is_known = True
        if method.startswith("session/") and not self.is_known:
            self.send(id=message["id"], error={"code": -32000, "message": "Authentication required"})
            return
        self.send(id=message["id"], result=self.result(method))

    def result(self, method: str) -> Any:
        offers = self.script.get("offers", {})
        match method:
            case "initialize":
                return self.script.get("hello", HELLO)
            case "session/new":
                return {"sessionId": SESSION, **offers}
            case "session/load" | "session/resume":
                self.repeat(self.script.get("history", []))
                return offers
            case "session/prompt":
                rounds = self.script.get("prompts")
                steps = rounds.pop(0) if rounds else self.script.get("steps", [])
                stopped = [self.perform(step) for step in steps]
                return {
                    "stopReason": "cancelled" if any(stopped) else "end_turn",
                    **self.script.get("answer", {}),
                }
            case _:
                return None

    def repeat(self, updates: list[Any]) -> None:
        for update in updates:
            self.send(method="session/update", params={"sessionId": SESSION, "update": update})

    def perform(self, step: dict[str, Any]) -> bool:
        """Does one thing; tells whether it was cancelled in it."""
        match step:
            case {"update": update}:
                self.repeat([update] * step.get("times", 1))
            case {"ask": call}:
                options = step.get("options", OPTIONS)
                self.call("session/request_permission", {"toolCall": call, "options": options})
            case {"call": method}:
                self.call(method, {})
            case {"raw": text}:
                sys.stdout.write(text + "\n")
                sys.stdout.flush()
            case {"write": path}:
                Path(path).write_text(step.get("text", "x"))
            case {"shell": command}:
                os.waitpid(os.posix_spawnp("sh", ["sh", "-c", command], os.environ), 0)
            case {"exit": code}:
                sys.stderr.write("the small agent gives up\n")
                sys.exit(code)
            case _:
                return self.hang(is_deaf=step["hang"] == "deaf")
        return False

    def call(self, method: str, params: dict[str, Any]) -> None:
        self.number += 1
        self.send(id=f"a{self.number}", method=method, params={"sessionId": SESSION, **params})
        while (message := self.receive()) and message.get("id") != f"a{self.number}":
            pass

    def hang(self, *, is_deaf: bool) -> bool:
        while is_deaf:
            time.sleep(3600)
        while (message := self.receive()) and message.get("method") != "session/cancel":
            pass
        return True


if __name__ == "__main__":
    Agent(json.loads(sys.argv[1])).serve()
