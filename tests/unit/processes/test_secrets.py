"""Secrets are taken out of what programs write, whole and in pieces."""

import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.system.secrets import Redactor, secrets_of

SECRET = "sEcReT-0a1b2c3d4e5f6071-Zz9"  # noqa: S105 - it is none
PROXIES = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "DATABASE_URL", "PIP_INDEX_URL", "X"]


def leaked(text: str, secret: str = SECRET) -> int:
    """Returns how long the longest piece of a secret is in a text."""
    return max(
        (
            end - start
            for start in range(len(secret))
            for end in range(start, len(secret) + 1)
            if secret[start:end] in text
        ),
        default=0,
    )


@pytest.mark.parametrize("at", range(1, len(SECRET)))
@pytest.mark.parametrize("between", ["\n", "\r\n", "\\n", "\n    ", "  \n"])
def test_a_secret_that_is_broken_over_lines_is_taken_out(at: int, between: str) -> None:
    text = f"the key is {SECRET[:at]}{between}{SECRET[at:]} as you see"
    shown = Redactor([SECRET]).redact(text.encode()).decode()
    assert leaked(shown) <= len(SECRET) // 4
    assert shown.startswith("the key is ")
    assert shown.endswith(" as you see")


@pytest.mark.parametrize("at", range(1, len(SECRET)))
def test_a_secret_that_is_split_over_two_reads_is_taken_out_of_each(at: int) -> None:
    redactor = Redactor([SECRET])
    halves = [f"key: {SECRET[:at]}", f"{SECRET[at:]} it is"]
    assert leaked("".join(redactor.redact(half.encode()).decode() for half in halves)) <= len(SECRET) // 4


def test_a_secret_in_many_short_lines_is_taken_out() -> None:
    lines = [SECRET[at : at + 9] for at in range(0, len(SECRET), 9)]
    redactor = Redactor([SECRET])
    assert redactor.redact("\n".join(lines).encode()) == b"\n".join([b"[redacted]"] * len(lines))
    assert [redactor.redact(line.encode()) for line in lines] == [b"[redacted]"] * len(lines)


def test_a_secret_that_is_split_over_two_messages_is_taken_out_and_they_stay_json() -> None:
    redactor = Redactor([SECRET])
    for at in range(9, len(SECRET) - 9):
        for text in (f"it is {SECRET[:at]}", f"{SECRET[at:]}, well"):
            shown = redactor.redact(json.dumps({"type": "delta", "text": text}).encode()).decode()
            assert leaked(json.loads(shown)["text"]) <= len(SECRET) // 3


def test_words_that_a_secret_begins_with_stay_in_messages() -> None:
    line = b'{"status": "pass", "words": "ends in word", "pass": 1}'
    assert Redactor(["passphrase-of-a-password"]).redact(line) == line


def test_a_secret_is_known_as_json_writes_it() -> None:
    secret = 'quo"ted\\secret'  # noqa: S105
    assert Redactor([secret]).redact(json.dumps([secret]).encode()) == b'["[redacted]"]'


def test_a_key_of_nobody_that_goes_on_in_the_next_line_is_taken_out_to_its_end() -> None:
    first, second = "sk-ant-" + "a1" * 20, "B2" * 20
    assert Redactor().redact(f"{first}\n{second}\nthe end".encode()) == b"[redacted]\nthe end"
    assert Redactor().redact(f"{first}\nand {second}".encode()) == f"[redacted]\nand {second}".encode()


@pytest.mark.parametrize("name", PROXIES)
@pytest.mark.parametrize("password", ["hunter2", "p@ss:wörd", "s3cr3t-and-long"])
def test_a_url_with_a_password_is_a_secret_whatever_its_variable_is_called(name: str, password: str) -> None:
    url = f"http://user:{quote(password)}@proxy.example:8080"
    redactor = Redactor(secrets_of({name: url, "HOME": "/home/user"}))
    said = f"{url}/ {password} {quote(password)} user:{quote(password)}@ /home/user http://proxy.example:8080"
    shown = redactor.redact(said.encode()).decode()
    assert password not in shown
    assert quote(password) not in shown
    assert url not in shown
    assert "/home/user http://proxy.example:8080" in shown


@pytest.mark.parametrize("value", ["http://proxy:3128", "https://user@host/", "localhost:8080", "a:b@c", ""])
def test_a_url_without_a_password_is_none(value: str) -> None:
    assert secrets_of({"http_proxy": value}) == []


@given(st.binary(), st.lists(st.sampled_from([SECRET.encode()[:13], SECRET.encode()[13:], b"\n", b'"'])))
def test_what_is_left_over_needs_no_second_time(data: bytes, more: list[bytes]) -> None:
    redactor = Redactor([SECRET])
    once = redactor.redact(data + b"".join(more))
    assert redactor.redact(once) == once
    assert SECRET.encode() not in b"".join(once.split())


def test_pieces_are_found_in_linear_time() -> None:
    redactor = Redactor(["a" * 100, "b" * 3000])
    redactor.redact(b"a" * 99 + b"\n" + b'"aaaa"' * 200_000 + b"\\n" * 100_000)
