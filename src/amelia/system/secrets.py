"""Keys and passwords in what programs write: found and taken out, also in pieces.

- A secret is the value of a variable that is called like one, a URL with a password, and that password.
- What has the shape of a key is one, whoever gave it.
- A secret that is broken over lines, messages or reads is taken out piece by piece, for nobody has to wait
  for the rest: of its pieces only those are left that are too short to tell anything.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH(?!OR)", re.IGNORECASE)
REDACTED = b"[redacted]"
SHORTEST_SECRET = 8
_SHORTEST_PASSWORD = 4  # of a URL; a shorter one is a part of every other word
_LONGEST_PIECE = 16  # of a secret that is longer still, more than this tells too much

_USER = re.compile(
    r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://(?P<user>[^\s/?#@:]*):(?P<password>[^\s/?#]*)@[^\s,;'\"]+"
)

# Every alternative either fails within a few bytes or consumes what it matched: linear on any input.
# A key that is broken over lines goes on with lines that are nothing else.
KEY_SHAPES = rb"""
    (?<![A-Za-z0-9])(?:
        sk-[A-Za-z0-9_-]{16,}
      | gh[pousr]_[A-Za-z0-9]{20,}
      | github_pat_[A-Za-z0-9_]{20,}
      | glpat-[A-Za-z0-9_-]{16,}
      | npm_[A-Za-z0-9]{30,}
      | xox[abprs]-[A-Za-z0-9-]{10,}
      | AKIA[0-9A-Z]{16}
      | AIza[0-9A-Za-z_-]{30,}
    )(?:(?:\r|\n|\\[rn]){1,2}[A-Za-z0-9_-]{16,}(?![^\r\n\\"]))*
    | -----BEGIN\ [A-Z ]{0,30}PRIVATE\ KEY-----[^-"]*
"""
# A part of every shape, from its rarest letter on: in most lines nothing else needs to be looked for, and
# that takes a fifth of the time.
KEY_SIGNS = re.compile(rb"k-|p(?:at[-_]|m_)|xox|KIA|Iza|gh[pousr]_|-----BEGIN")

_BREAK = re.compile(rb"(\\[rn]|[\r\n])")
_STRING = re.compile(rb'[^"\r\n]+')


def looks_secret(name: str) -> bool:
    """Tells whether a variable of this name is likely to hold a key."""
    return SECRET_NAME.search(name) is not None


def secrets_of(environment: Mapping[str, str]) -> list[str]:
    """Returns the values of variables that are called like a secret, and URLs with passwords."""
    called_so = [value for name, value in environment.items() if looks_secret(name)]
    return [*called_so, *(secret for value in environment.values() for secret in passwords_in(value))]


def passwords_in(value: str) -> Iterator[str]:
    """Yields the URLs with a password that a value holds, and their passwords, also as they are typed."""
    for found in _USER.finditer(value):
        password = found["password"]
        yield found[0].rstrip("/")
        yield f"{found['user']}:{password}@"
        for written in {password, unquote(password)}:
            if len(written) >= _SHORTEST_PASSWORD:
                yield _Password(written)


class _Password(str):
    """A secret that may be shorter than others."""

    __slots__ = ()


class Redactor:
    """Takes keys out of what a program writes: those it was given, and what has the shape of one."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {
            form.encode(errors="replace")
            for secret in secrets
            if len(secret) >= SHORTEST_SECRET or isinstance(secret, _Password)
            for form in (secret, json.dumps(secret)[1:-1])
        }
        self._known = sorted(known, key=lambda secret: (len(secret), secret), reverse=True)
        self._pattern = re.compile(b"|".join([*map(re.escape, self._known), KEY_SHAPES]), re.VERBOSE)
        self._pieces = [_Pieces(secret) for secret in self._known if len(secret) >= SHORTEST_SECRET]

    def redact(self, data: bytes) -> bytes:
        """Returns the bytes without keys."""
        if KEY_SIGNS.search(data) is not None or any(secret in data for secret in self._known):
            data = self._pattern.sub(REDACTED, data)
        for pieces in self._pieces:
            if pieces.may_be_in(data):
                data = pieces.take_out(data)
        return data


class _Pieces:
    """The pieces that a secret falls into where it is broken over lines, messages or reads."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._least = max(4, min(len(secret) // 4, _LONGEST_PIECE))
        # A string of a message may be a word that a secret begins with as well: "pass".
        self._least_quoted = max(8, min(len(secret) // 3, _LONGEST_PIECE))

    def may_be_in(self, data: bytes) -> bool:
        """Tells quickly whether a piece may be in the bytes."""
        secret, least = self._secret, self._least
        if secret[:least] in data or secret[-least:] in data:
            return True
        return least <= len(data.strip()) < len(secret) and data.strip() in secret

    def take_out(self, data: bytes) -> bytes:
        """Returns the bytes without the pieces that begin or end a line or a string of JSON."""
        # Every second part is what breaks lines.
        parts = enumerate(_BREAK.split(data))
        data = b"".join(part if at % 2 else self._clean(part, self._least) for at, part in parts)
        return _STRING.sub(lambda text: self._clean(text[0], self._least_quoted), data)

    def _clean(self, text: bytes, least: int) -> bytes:
        inner = text.strip(b" \t")
        if not inner or inner == REDACTED:
            return text
        before, after = text.split(inner, 1) if inner != text else (b"", b"")
        if least <= len(inner) < len(self._secret) and inner in self._secret:
            return before + REDACTED + after
        if (size := self._begun(inner, least)) is not None:
            inner = inner[: len(inner) - size] + REDACTED
        if (size := self._ended(inner, least)) is not None:
            inner = REDACTED + inner[size:]
        return before + inner + after

    def _begun(self, text: bytes, least: int) -> int | None:
        """Returns how much of the secret a text ends with."""
        tail = text[-len(self._secret) :]
        at = tail.find(self._secret[:least])
        while at >= 0:
            if self._secret.startswith(tail[at:]):
                return len(tail) - at
            at = tail.find(self._secret[:least], at + 1)
        return None

    def _ended(self, text: bytes, least: int) -> int | None:
        """Returns how much of the secret's end a text begins with."""
        head = text[: len(self._secret)]
        at = head.rfind(self._secret[-least:])
        while at >= 0:
            if self._secret.endswith(head[: at + least]):
                return at + least
            at = head.rfind(self._secret[-least:], 0, at + least - 1)
        return None
