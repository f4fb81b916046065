"""The text of a project's file: what was found out, in a few lines; or every key, the others as comments.

- What it holds can be read, also if every comment that is a key is made one: tables are always there, so
  that a key belongs to the table it stands in.
- Keys that are the user's to say are left out, and so are other names of a key: it is called here what
  `amelia config show` calls it, but for `[agents]`, which stands for every role.
"""

import json
from collections.abc import Iterator, Mapping
from typing import TypeGuard, cast

from amelia.config.fields import SETTLED, default_of, written
from amelia.config.keys import AGENT, POLICY, PROFILE
from amelia.config.merge import SYNONYMS
from amelia.config.tables import Keys, Named, Table
from amelia.config.values import Reader, Schema
from amelia.model.agents import Role
from amelia.model.plan import Mode

_HEAD = """\
# Settings of Amelia for this repository. A line like #key = … is a key that is not set: it shows the default,
# or an example where there is none. Programs, addresses, keys and trust of agents are for your own file.
# `amelia config show --origin` says what holds, and why.
"""
_SHORT_HEAD = """\
# Settings of Amelia for this repository. What does not stand here has a default.
# `amelia config show --origin` says what holds, and why; `amelia config show --all` prints every key, and
# `amelia init --all --force` writes them here with what they mean. A line like #key = … is an example.
"""
_SHOWN = ("verify.command", "verify.setup")
"""Keys that a short file shows, also if nothing is known of them."""
_PROFILES = """
# Settings under a name, over those above: amelia run PLAN --profile thorough
[profiles.thorough]
#modes.tasks.attempts = 10
"""


def short_text(said: Mapping[str, object], examples: Mapping[str, object], remarks: Mapping[str, str]) -> str:
    """Returns a file that says some things by dotted key, and shows how to say others; with remarks."""
    lines = [
        _SHORT_HEAD,
        *_comment(_with("how work is proved", remarks.get("verify", ""))),
        "[verify]",
        *(_short_line(key, said, examples) for key in _SHOWN),
        "",
        *_comment(_with("which agent does the work", remarks.get("agents", ""))),
        "#[agents]",
        _short_line("agents.driver", {}, examples),
    ]
    return "\n".join(lines) + "\n"


def _short_line(key: str, said: Mapping[str, object], examples: Mapping[str, object]) -> str:
    name = key.rpartition(".")[2]
    if key in said:
        return f"{name} = {toml_value(said[key])}"
    usual = toml_value(examples[key]) if key in examples else _usual(key, dict(PROFILE.leaves())[key])
    return f"#{name} = {usual}"


def _with(note: str, remark: str) -> str:
    return f"{note}; {remark}" if remark else note


def file_text(said: Mapping[str, object], remarks: Mapping[str, str]) -> str:
    """Returns a file with every key: some are said, the others are comments; with remarks on some tables."""
    lines = [_HEAD, *_keys("", PROFILE, said)]
    for name, table in PROFILE.readers.items():
        if _is_shown(table):
            lines += ["", *_comment(table.note), *_comment(remarks.get(name, "")), *_body(name, table, said)]
    return "\n".join(lines) + "\n" + _PROFILES


def _is_shown(table: Keys) -> TypeGuard[Table | Named]:
    """Says whether a table holds anything that a repository may say."""
    if isinstance(table, Table):
        return not all(reader.is_users for _, reader in table.leaves())
    return isinstance(table, Named) and bool(table.example)


def toml_value(value: object) -> str:
    """Returns a value as TOML, which is JSON for all that settings hold, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _body(name: str, table: Table | Named, said: Mapping[str, object]) -> Iterator[str]:
    if name == "modes":
        yield from _modes(said)
        return
    yield f"[{name}]"
    if isinstance(table, Table):
        yield from _keys(f"{name}.", table, said)
    elif isinstance(table.each, Reader):
        yield f"#{table.example} = {toml_value(table.each.example)}"


def _modes(said: Mapping[str, object]) -> Iterator[str]:
    for mode in Mode:
        if mode is not Mode.SINGLE:
            yield ""
        yield f"[modes.{mode}]"
        for line in _keys(f"modes.{mode}.", POLICY, said):
            if mode is Mode.SINGLE or not line.startswith("# "):  # said once is enough
                yield line


def _keys(prefix: str, table: Table, said: Mapping[str, object]) -> Iterator[str]:
    for name, reader in table.readers.items():
        key = prefix + name
        if not isinstance(reader, Reader) or reader.is_users or key in SYNONYMS:
            continue
        yield from _comment(f"{reader.note}{_allowed(reader.schema)}")
        yield f"{name} = {toml_value(said[key])}" if key in said else f"#{name} = {_usual(key, reader)}"


def _usual(key: str, reader: Reader) -> str:
    """Returns the default of a key, or an example where there is none."""
    settled = _settled(key)
    default = written(key, default_of(settled)) if settled in SETTLED else None
    return toml_value(written(key, reader.example) if default is None else default)


def _settled(key: str) -> str:
    """Returns a key that holds what is said of everybody, of whom all have the same default."""
    table, _, name = key.rpartition(".")
    return f"agents.{Role.DEVELOPER}.{name}" if table == "agents" and name in AGENT.readers else key


def _allowed(schema: Schema) -> str:
    """Returns what a person should know of the values that a key takes."""
    if "enum" in schema:
        return f": {', '.join(cast('list[str]', schema['enum']))}"
    (first, *_) = cast("list[Schema]", schema.get("anyOf", [schema]))
    return f" ({first['minimum']} to {first['maximum']})" if "minimum" in first else ""


def _comment(text: str) -> list[str]:
    return [f"# {text}"] if text else []
