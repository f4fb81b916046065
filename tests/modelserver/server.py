"""A model that says what its script says, on loopback, for agents that think it is their provider.

- It speaks Anthropic Messages (base URL `url`), OpenAI Responses and Chat Completions (base URL `url`/v1).
- Every request that counts takes the next step of the script; when there is none left, `then` answers.
  A request that offers no tools is a side request (a title, a check of quota): it is answered "ok" and takes
  no step, unless `side_requests` is off.
- As a proxy it forwards nothing: what somebody wanted to reach through it stands in `connects`.
- Nothing outlives the block: hangs end, sockets are closed, threads are joined.
"""

import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self, cast
from urllib.parse import urlsplit

from modelserver.steps import Answer, Breakdown, Fault, Request, Script, Step
from modelserver.wires import Wire, encode_events, error_body, wire_for

SECRET_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "cookie", "proxy-authorization"})
AT_ITS_END = Fault(status=400, message="the script of the model server is at its end")
OK = Answer(text="ok", usage=(0, 0))
HALF = Answer(text="half a sen", usage=(100, 20))
HTML = b"<html><body>Please sign in to the hotel's network.</body></html>"


class ModelServer:
    """Serves one script for the length of a block."""

    def __init__(
        self,
        steps: Sequence[Step] | Script = (),
        *,
        then: Step = AT_ITS_END,
        side_requests: bool = True,
    ) -> None:
        self.connects: list[str] = []
        self.closing = threading.Event()
        self._steps = steps
        self._then = then
        self._has_side_requests = side_requests
        self._taken = 0
        self._log: list[Request] = []
        self._lock = threading.Lock()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it is: the base URL of Anthropic; that of OpenAI has `/v1` behind it."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """The requests to the model that count, in their order."""
        return [request for request in self.log if wire_for(request.path) and not request.is_side]

    @property
    def log(self) -> list[Request]:
        """Everything that was asked of the server itself, side requests included."""
        with self._lock:
            return list(self._log)

    @property
    def left(self) -> int:
        """How many steps of the script nobody has asked for yet."""
        return 0 if callable(self._steps) else max(0, len(self._steps) - self._taken)

    def environment(self) -> dict[str, str]:
        """Returns the variables that send everything an agent wants from elsewhere to the log of this server."""
        proxy = dict.fromkeys(("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), self.url)
        return {**proxy, "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost"}

    def is_side(self, body: Mapping[str, object]) -> bool:
        """Tells whether a request takes no step of the script."""
        return self._has_side_requests and not body.get("tools")

    def note(self, request: Callable[[int], Request]) -> Request:
        """Keeps a request under its number."""
        with self._lock:
            self._log.append(request(len(self._log) + 1))
            return self._log[-1]

    def next_step(self, request: Request) -> Step:
        """Returns what a request is answered with."""
        if request.is_side:
            return OK
        with self._lock:
            if callable(self._steps):
                return self._steps(request)
            self._taken += 1
            return self._steps[self._taken - 1] if self._taken <= len(self._steps) else self._then

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.hang_up()
        self._http.server_close()
        self._thread.join()


class _Http(ThreadingHTTPServer):
    """Knows its open connections, so that it can end them."""

    daemon_threads = False
    request_queue_size = 64

    def __init__(self, model: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Talk)
        self.model = model
        self._open: set[socket.socket] = set()

    def process_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        assert isinstance(request, socket.socket)
        self._open.add(request)
        super().process_request(request, client_address)  # pyright: ignore[reportArgumentType] - any address

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        assert isinstance(request, socket.socket)
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Keeps quiet: a client that hangs up is nothing to report; anything else fails the test by itself."""

    def hang_up(self) -> None:
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Talk(BaseHTTPRequestHandler):
    """One connection; it carries one request."""

    protocol_version = "HTTP/1.1"

    @property
    def model(self) -> ModelServer:
        return cast("_Http", self.server).model

    def do_CONNECT(self) -> None:
        self.model.connects.append(self.path)
        self._send(403, b"this proxy leads nowhere")

    def do_HEAD(self) -> None:
        if self._is_ours():
            self._send(200, b"")

    def do_GET(self) -> None:
        if self._is_ours():
            self._ask()
            listing = {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]}
            is_list = urlsplit(self.path).path.endswith("/models")
            self._send_json(listing) if is_list else self._send(404, b"{}")

    def do_POST(self) -> None:
        if not self._is_ours():
            return
        request = self._ask()
        wire = wire_for(request.path)
        if wire is not None:
            self._answer(request, wire, self.model.next_step(request))
        elif request.path.endswith("/count_tokens"):
            self._send_json({"input_tokens": 100})
        else:
            self._send(404, error_body(Fault(status=404)))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - named by the standard library
        """Writes nothing: the log is `requests`."""

    def _is_ours(self) -> bool:
        """Tells a request to this server from one that is to be forwarded, which is refused."""
        target = urlsplit(self.path)
        if not target.netloc or f"http://{target.netloc}" == self.model.url:
            return True
        self.model.connects.append(target.netloc)
        self._send(403, b"this proxy leads nowhere")
        return False

    def _ask(self) -> Request:
        """Reads and keeps the request."""
        data = self._read_body()
        try:
            value = cast("object", json.loads(data or b"{}"))
        except ValueError:
            value = {"unreadable": data.decode("utf-8", "replace")}
        body = cast("dict[str, object]", value) if isinstance(value, dict) else {"value": value}
        headers = {
            name.lower(): "[key]" if name.lower() in SECRET_HEADERS else text
            for name, text in self.headers.items()
        }
        path = urlsplit(self.path).path
        is_side = wire_for(path) is not None and self.model.is_side(body)
        return self.model.note(
            lambda number: Request(number, self.command, path, headers, body, is_side=is_side)
        )

    def _read_body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = b"".join(self._read_chunks())
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        is_packed = self.headers.get("content-encoding") in {"gzip", "deflate"}
        return zlib.decompress(data, zlib.MAX_WBITS | 32) if is_packed else data

    def _read_chunks(self) -> Iterable[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _answer(self, request: Request, wire: Wire, step: Step) -> None:
        match step:
            case Answer() if request.body.get("stream"):
                parts = [*encode_events(wire.events(request, step)), wire.end]
                self._stream(parts)
                self._write(b"0\r\n\r\n")
            case Answer():
                self._send_json(wire.plain(request, step))
            case Fault():
                self._send(step.status, error_body(step), step.headers)
            case _:
                self._break_down(request, wire, step)

    def _break_down(self, request: Request, wire: Wire, how: Breakdown) -> None:
        match how:
            case Breakdown.HANG:
                self.model.closing.wait()
            case Breakdown.HANG_MID_STREAM:
                self._stream(self._half(request, wire))
                self.model.closing.wait()
            case Breakdown.CUT_STREAM:
                self._stream(self._half(request, wire))
            case Breakdown.DROP:
                pass
            case Breakdown.GARBAGE:
                self._send(200, HTML, {"content-type": "text/html"})
            case Breakdown.BROKEN_EVENTS:
                self._stream([b"data: {not JSON\n\n", b"event: \x80\xff\ndata: []\n\n"])
                self._write(b"0\r\n\r\n")
        self._hang_up()

    def _half(self, request: Request, wire: Wire) -> list[bytes]:
        if not request.body.get("stream"):
            return [json.dumps(wire.plain(request, HALF)).encode()[:40]]
        events = list(encode_events(wire.events(request, HALF)))
        return events[: len(events) // 2]

    def _send_json(self, body: Mapping[str, object]) -> None:
        self._send(200, json.dumps(body).encode())

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, text in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("content-length", str(len(body)))
        self.send_header("connection", "close")
        self.end_headers()
        self._write(body)

    def _stream(self, parts: Iterable[bytes]) -> None:
        """Sends the beginning of a stream; whoever calls decides how it ends."""
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.send_header("connection", "close")
        self.end_headers()
        for part in filter(None, parts):
            self._write(b"%x\r\n%s\r\n" % (len(part), part))

    def _write(self, data: bytes) -> None:
        with suppress(OSError):  # the client has gone
            self.wfile.write(data)

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)
