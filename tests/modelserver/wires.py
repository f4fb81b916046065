"""How an answer travels: Anthropic Messages, OpenAI Responses and Chat Completions, plain and as events.

- A wire is picked by the path of the request.
- An event is its name and its JSON; a name of None stands for a protocol that does not name them.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from modelserver.steps import Answer, Fault, Request, ToolCall

Event: TypeAlias = tuple[str | None, Mapping[str, object]]
Body: TypeAlias = dict[str, object]

REPORT_TOOLS = ("StructuredOutput", "final_result")
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Wire:
    """One protocol: the whole answer, and the same as events."""

    plain: Callable[[Request, Answer], Body]
    events: Callable[[Request, Answer], Iterable[Event]]
    end: bytes = b""


def wire_for(path: str) -> Wire | None:
    """Returns the protocol that is spoken at a path."""
    for ending, wire in WIRES.items():
        if path.endswith(ending):
            return wire
    return None


def error_body(fault: Fault) -> bytes:
    """Returns the body of an error as both providers write it."""
    if fault.body is not None:
        return fault.body.encode()
    kind = ERROR_TYPES.get(fault.status, "api_error")
    error = {"type": kind, "message": fault.message, "code": kind, "param": None}
    return json.dumps({"type": "error", "error": error}).encode()


def encode_events(events: Iterable[Event]) -> Iterator[bytes]:
    """Yields the events as they stand in a stream."""
    for name, data in events:
        head = "" if name is None else f"event: {name}\n"
        yield f"{head}data: {json.dumps(data)}\n\n".encode()


def tools_offered(request: Request) -> frozenset[str]:
    """Returns the names of the tools a request offers, whichever protocol it is in."""
    names: set[str] = set()
    for tool in cast("list[dict[str, object]]", request.body.get("tools") or []):
        function = cast("dict[str, object]", tool.get("function") or tool)
        names.add(str(function.get("name", "")))
    return frozenset(names)


def _settled(request: Request, answer: Answer) -> tuple[str, list[ToolCall]]:
    """Returns the text and the calls of an answer, with its report where the request wants it."""
    if answer.report is None:
        return answer.text, list(answer.tools)
    offered = tools_offered(request)
    for name in REPORT_TOOLS:
        if name in offered:
            return answer.text, [*answer.tools, ToolCall(name, answer.report)]
    return json.dumps(answer.report), list(answer.tools)


def _arguments(call: ToolCall) -> str:
    return call.input if isinstance(call.input, str) else json.dumps(call.input)


def _message_body(request: Request, answer: Answer) -> Body:
    text, calls = _settled(request, answer)
    content: list[Body] = [{"type": "text", "text": text}] if text else []
    for number, call in enumerate(calls):
        name = f"toolu_{request.number}_{number}"
        content.append({"type": "tool_use", "id": name, "name": call.name, "input": call.input})
    return {
        "id": f"msg_{request.number}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": answer.stop or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": answer.usage[0], "output_tokens": answer.usage[1]},
    }


def _message_events(request: Request, answer: Answer) -> Iterator[Event]:
    whole = _message_body(request, answer)
    early = {"input_tokens": answer.usage[0], "output_tokens": 1}
    start: Body = {**whole, "content": [], "stop_reason": None, "usage": early}
    yield "message_start", {"type": "message_start", "message": start}
    for index, block in enumerate(cast("list[Body]", whole["content"])):
        if block["type"] == "text":
            begun: Body = {**block, "text": ""}
            delta: Body = {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        for kind, part in (("start", {"content_block": begun}), ("delta", {"delta": delta}), ("stop", {})):
            name = f"content_block_{kind}"
            yield name, {"type": name, "index": index, **cast("Body", part)}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": stop, "usage": whole["usage"]}
    yield "message_stop", {"type": "message_stop"}


def _response_items(request: Request, answer: Answer) -> Iterator[Body]:
    text, calls = _settled(request, answer)
    if text:
        part: Body = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        yield {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
    for number, call in enumerate(calls):
        named = {"name": call.name, "call_id": f"call_{request.number}_{number}", "status": "completed"}
        if isinstance(call.input, str):
            yield {"type": "custom_tool_call", "input": call.input, **named}
        else:
            yield {"type": "function_call", "arguments": json.dumps(call.input), **named}


def _response_body(request: Request, answer: Answer) -> Body:
    tokens_in, tokens_out = answer.usage
    items = [
        {"id": f"item_{request.number}_{number}", **item}
        for number, item in enumerate(_response_items(request, answer))
    ]
    return {
        "id": f"resp_{request.number}",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if answer.stop else "completed",
        "incomplete_details": {"reason": answer.stop} if answer.stop else None,
        "error": None,
        "model": request.model,
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": tokens_in,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": tokens_out,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens_in + tokens_out,
        },
    }


def _response_events(request: Request, answer: Answer) -> Iterator[Event]:
    for number, (kind, fields) in enumerate(_unnumbered_events(_response_body(request, answer))):
        yield kind, {"type": kind, "sequence_number": number, **fields}


def _unnumbered_events(whole: Body) -> Iterator[tuple[str, Body]]:
    begun: Body = {**whole, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    yield "response.created", {"response": begun}
    for index, item in enumerate(cast("list[Body]", whole["output"])):
        started = {**item, "status": "in_progress"}
        yield "response.output_item.added", {"output_index": index, "item": started}
        if item["type"] == "message":
            [part] = cast("list[Body]", item["content"])
            place: Body = {"item_id": item["id"], "output_index": index, "content_index": 0}
            yield "response.content_part.added", {**place, "part": {**part, "text": ""}}
            yield "response.output_text.delta", {**place, "delta": part["text"], "logprobs": []}
            yield "response.output_text.done", {**place, "text": part["text"], "logprobs": []}
            yield "response.content_part.done", {**place, "part": part}
        yield "response.output_item.done", {"output_index": index, "item": item}
    yield f"response.{whole['status']}", {"response": whole}


def _chat_message(request: Request, answer: Answer) -> Body:
    text, calls = _settled(request, answer)
    message: Body = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "index": number,
                "id": f"call_{request.number}_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call)},
            }
            for number, call in enumerate(calls)
        ]
    return message


def _chat(request: Request, kind: str) -> Body:
    return {"id": f"chat_{request.number}", "object": kind, "created": 0, "model": request.model}


def _chat_usage(answer: Answer) -> Body:
    tokens_in, tokens_out = answer.usage
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }


def _chat_body(request: Request, answer: Answer) -> Body:
    message = _chat_message(request, answer)
    choice = {"index": 0, "message": message, "finish_reason": _chat_stop(answer, message)}
    return {
        **_chat(request, "chat.completion"),
        "choices": [choice],
        "usage": _chat_usage(answer),
    }


def _chat_stop(answer: Answer, message: Body) -> str:
    return answer.stop or ("tool_calls" if "tool_calls" in message else "stop")


def _chat_events(request: Request, answer: Answer) -> Iterator[Event]:
    head = _chat(request, "chat.completion.chunk")
    message = _chat_message(request, answer)
    stop = _chat_stop(answer, message)
    yield None, {**head, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    yield None, {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}
    yield None, {**head, "choices": [], "usage": _chat_usage(answer)}


WIRES = {
    "/v1/messages": Wire(_message_body, _message_events),
    "/v1/responses": Wire(_response_body, _response_events),
    "/v1/chat/completions": Wire(_chat_body, _chat_events, b"data: [DONE]\n\n"),
}
