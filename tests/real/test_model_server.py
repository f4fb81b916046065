"""The scripted model itself: what it says in every protocol, how it fails, and what it remembers."""

import gzip
import http.client
import json
import socket
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from modelserver.server import ModelServer
from modelserver.steps import Answer, Breakdown, Fault, Request, Step, ToolCall

TOOLS = [{"name": "Write"}]
PATHS = {
    "messages": "/v1/messages?beta=true",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
}


class Reply:
    """What came back."""

    def __init__(self, status: int, headers: Mapping[str, str], data: bytes) -> None:
        self.status = status
        self.headers = headers
        self.data = data

    @property
    def json(self) -> Any:
        return json.loads(self.data)

    @property
    def events(self) -> list[Any]:
        lines = [line for line in self.data.decode().splitlines() if line.startswith("data: ")]
        return [json.loads(line[6:]) if line != "data: [DONE]" else "done" for line in lines]


def connect(server: ModelServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(str(urlsplit(server.url).netloc), timeout=5)


def ask(
    server: ModelServer,
    path: str,
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
    **body: Any,
) -> Reply:
    data = json.dumps({"model": "m1", "tools": TOOLS, **body}) if method == "POST" else None
    connection = connect(server)
    try:
        connection.request(method, path, data, dict(headers or {}))
        response = connection.getresponse()
        return Reply(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


WRITE = ToolCall("Write", {"path": "a"})


def test_messages_are_answered_as_a_whole() -> None:
    with ModelServer([Answer(text="Hello", tools=[WRITE], usage=(7, 8))]) as server:
        message = ask(server, PATHS["messages"]).json
    assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
    assert message["content"][1]["input"] == {"path": "a"}
    assert message["stop_reason"] == "tool_use"
    assert message["usage"] == {"input_tokens": 7, "output_tokens": 8}


def test_messages_are_streamed_to_their_stop() -> None:
    with ModelServer([Answer(text="Hello", tools=[WRITE], usage=(7, 8))]) as server:
        events = ask(server, PATHS["messages"], stream=True).events
    assert events[0]["message"]["usage"] == {"input_tokens": 7, "output_tokens": 1}
    assert "".join(event["delta"].get("text", "") for event in events if "delta" in event) == "Hello"
    [given] = [event["delta"]["partial_json"] for event in events if "partial_json" in event.get("delta", ())]
    assert json.loads(given) == {"path": "a"}
    assert events[-2]["usage"]["output_tokens"] == 8
    assert events[-1] == {"type": "message_stop"}


def test_responses_carry_functions_and_free_tools() -> None:
    patch = ToolCall("apply_patch", "*** Begin Patch")
    with ModelServer([Answer(text="Hello", tools=[WRITE, patch], usage=(7, 8))] * 2) as server:
        whole = ask(server, PATHS["responses"]).json
        events = ask(server, PATHS["responses"], stream=True).events
    assert [item["type"] for item in whole["output"]] == ["message", "function_call", "custom_tool_call"]
    assert whole["output"][2]["input"] == "*** Begin Patch"
    assert whole["usage"]["total_tokens"] == 15
    assert events[-1]["type"] == "response.completed"
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == events[-1]["response"]["output"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert whole["output"][1]["call_id"] != done[1]["call_id"], "an id is used once"


def test_chats_end_with_their_usage() -> None:
    with ModelServer([Answer(text="Hello", tools=[WRITE], usage=(7, 8))] * 2) as server:
        whole = ask(server, PATHS["chat"]).json
        *chunks, last, done = ask(server, PATHS["chat"], stream=True).events
    [choice] = whole["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"path": "a"}
    assert whole["usage"]["total_tokens"] == last["usage"]["total_tokens"] == 15
    assert chunks[0]["choices"][0]["delta"]["content"] == "Hello"
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"
    assert done == "done"


def test_a_report_goes_where_the_request_wants_it() -> None:
    with ModelServer([Answer(report={"done": True})] * 2) as server:
        by_tool = ask(server, PATHS["messages"], tools=[{"name": "StructuredOutput"}]).json
        by_text = ask(server, PATHS["chat"], tools=[{"function": {"name": "shell"}}]).json
    assert by_tool["content"][0]["input"] == {"done": True}
    assert json.loads(by_text["choices"][0]["message"]["content"]) == {"done": True}


def test_a_reason_to_stop_can_be_scripted() -> None:
    with ModelServer([Answer(text="No", stop="refusal")] * 3) as server:
        assert ask(server, PATHS["messages"]).json["stop_reason"] == "refusal"
        assert ask(server, PATHS["chat"]).json["choices"][0]["finish_reason"] == "refusal"
        assert ask(server, PATHS["responses"], stream=True).events[-1]["type"] == "response.incomplete"


def test_side_requests_take_no_step_unless_they_are_to() -> None:
    with ModelServer([Answer(text="Hello")]) as server:
        assert ask(server, PATHS["messages"], tools=[]).json["content"][0]["text"] == "ok"
        assert (server.left, len(server.requests), len(server.log)) == (1, 0, 1)
    with ModelServer([Answer(text="Hello")], side_requests=False) as server:
        assert ask(server, PATHS["messages"], tools=[]).json["content"][0]["text"] == "Hello"
        assert (server.left, len(server.requests)) == (0, 1)


def test_after_its_end_the_script_says_so_or_goes_on_as_asked() -> None:
    with ModelServer() as server:
        reply = ask(server, PATHS["messages"])
        assert reply.status == 400
        assert "at its end" in reply.json["error"]["message"]
    with ModelServer([Fault(status=500)], then=Answer(text="again")) as server:
        assert [ask(server, PATHS["chat"]).status for _ in range(3)] == [500, 200, 200]


def test_a_script_can_look_at_the_request() -> None:
    def script(request: Request) -> Step:
        return Answer(text=f"{request.model} asks")

    with ModelServer(script) as server:
        assert ask(server, PATHS["messages"]).json["content"][0]["text"] == "m1 asks"
        assert server.left == 0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503, 529])
def test_faults_have_status_headers_and_the_usual_body(status: int) -> None:
    with ModelServer([Fault(status=status, headers={"retry-after": "5"}, message="no")]) as server:
        reply = ask(server, PATHS["responses"])
    assert (reply.status, reply.headers["retry-after"]) == (status, "5")
    assert reply.json["error"]["message"] == "no"
    assert reply.json["error"]["type"].endswith("_error")


def test_a_fault_can_have_any_body() -> None:
    with ModelServer([Fault(status=502, body="<bad gateway>")]) as server:
        assert ask(server, PATHS["chat"]).data == b"<bad gateway>"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("how", [Breakdown.HANG, Breakdown.HANG_MID_STREAM])
def test_a_hang_lasts_until_the_server_is_closed(how: Breakdown, *, stream: bool) -> None:
    ended = threading.Event()

    def hang(server: ModelServer) -> None:
        with pytest.raises((http.client.HTTPException, OSError)):
            ask(server, PATHS["messages"], stream=stream)
        ended.set()

    with ModelServer([how]) as server:
        thread = threading.Thread(target=hang, args=(server,))
        thread.start()
        while not server.requests:
            time.sleep(0.002)
        assert not ended.wait(0.05)
        closed = time.monotonic()
    thread.join(5)
    assert ended.is_set()
    assert time.monotonic() - closed < 2


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("how", [Breakdown.CUT_STREAM, Breakdown.DROP])
def test_a_broken_connection_is_seen_by_the_client(how: Breakdown, *, stream: bool) -> None:
    with ModelServer([how]) as server, pytest.raises((http.client.HTTPException, OSError)):
        ask(server, PATHS["chat"], stream=stream)


def test_garbage_is_a_success_that_nobody_can_read() -> None:
    with ModelServer([Breakdown.GARBAGE, Breakdown.BROKEN_EVENTS]) as server:
        page = ask(server, PATHS["messages"])
        assert (page.status, page.headers["content-type"]) == (200, "text/html")
        broken = ask(server, PATHS["messages"])
        assert (broken.status, broken.headers["content-type"]) == (200, "text/event-stream")
        assert b"{not JSON" in broken.data


def test_requests_are_kept_without_their_keys() -> None:
    with ModelServer([Answer()]) as server:
        ask(server, PATHS["messages"], headers={"X-Api-Key": "sk-fake", "Authorization": "Bearer sk-fake"})
        [request] = server.requests
    assert request.path == "/v1/messages"
    assert request.model == "m1"
    assert request.headers["x-api-key"] == "[key]"
    assert "sk-fake" not in repr(request)


def test_a_proxy_that_leads_nowhere_keeps_who_wanted_to_go_where() -> None:
    with ModelServer([Answer(text="Hello")]) as server:
        assert ask(server, "elsewhere.test:443", method="CONNECT").status == 403
        assert ask(server, "http://plain.test/x", method="GET").status == 403
        assert ask(server, "http://plain.test/v1/messages").status == 403
        assert server.connects == ["elsewhere.test:443", "plain.test", "plain.test"]
        assert ask(server, f"{server.url}/v1/messages").status == 200, "through the proxy to ourselves"
        assert set(server.environment()) >= {"HTTPS_PROXY", "NO_PROXY"}


def test_what_agents_ask_besides_is_answered() -> None:
    with ModelServer() as server:
        assert ask(server, "/", method="HEAD").status == 200
        assert ask(server, "/v1/messages/count_tokens").json["input_tokens"]
        assert ask(server, "/v1/models", method="GET").json["data"]
        assert ask(server, "/v1/nothing", method="GET").status == 404
        assert ask(server, "/v1/nothing").status == 404
        assert not server.requests


def test_bodies_come_in_chunks_packed_and_broken() -> None:
    body = json.dumps({"model": "m2", "tools": TOOLS}).encode()
    with ModelServer([Answer()] * 2, side_requests=False, then=Answer()) as server:
        connection = connect(server)
        connection.request("POST", PATHS["chat"], iter([body[:9], body[9:]]), encode_chunked=True)
        assert connection.getresponse().status == 200
        connection.close()
        for data, packed in ((gzip.compress(body), {"content-encoding": "gzip"}), (b"{", {}), (b"[]", {})):
            connection.request("POST", PATHS["chat"], data, packed)
            assert connection.getresponse().status == 200
            connection.close()
        assert [request.model for request in server.requests] == ["m2", "m2", "", ""]


def test_an_idle_connection_does_not_keep_it_open() -> None:
    with ModelServer() as server:
        address = urlsplit(server.url)
        idle = socket.create_connection((address.hostname or "", address.port or 0))
        begun = time.monotonic()
    idle.close()
    assert time.monotonic() - begun < 2
