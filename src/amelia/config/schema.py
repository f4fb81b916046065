"""The JSON schema of a settings file, made from the table of keys: for editors, and for other programs.

`schema.json` beside this module is the same, as a file of the package; a test compares the two.
"""

import json
from typing import Any, assert_never

from amelia.config.fields import SETTLED, default_of, written
from amelia.config.keys import KEYS, PROFILE
from amelia.config.tables import Keys, Named, Table
from amelia.config.values import Reader

_DRAFT = "http://json-schema.org/draft-07/schema#"
_PROFILE = "#/definitions/profile"


def schema_text() -> str:
    """Returns the schema as it is shipped."""
    return json.dumps(settings_schema(), indent=1, ensure_ascii=False) + "\n"


def settings_schema() -> dict[str, Any]:
    """Returns what a settings file may hold."""
    tables = {key: reader for key, reader in PROFILE.readers.items() if isinstance(reader, Table)}
    definitions = {key: _schema(key, table) for key, table in tables.items()}
    definitions["profile"] = _table(PROFILE)
    return {
        "$schema": _DRAFT,
        "title": "Settings of Amelia",
        "definitions": definitions,
        **_table(KEYS),
    }


def _table(table: Table) -> dict[str, Any]:
    """Returns the schema of the top of a file, or of a profile: both have the same tables."""
    inner = {
        key: {"$ref": f"#/definitions/{key}"} if isinstance(reader, Table) else _schema(key, reader)
        for key, reader in table.readers.items()
    }
    return {"type": "object", "additionalProperties": False, "properties": inner}


def _schema(key: str, reader: Keys) -> dict[str, Any]:
    match reader:
        case Reader():
            return {**reader.schema, "description": _description(reader), **_default(key)}
        case Table():
            inner = {name: _schema(f"{key}.{name}", each) for name, each in reader.readers.items()}
            about = {"description": reader.note} if reader.note else {}
            return {"type": "object", **about, "additionalProperties": False, "properties": inner}
        case Named():
            each = {"$ref": _PROFILE} if isinstance(reader.each, Table) else _schema("", reader.each)
            return {"type": "object", "description": reader.note, "additionalProperties": each}
        case _:
            assert_never(reader)


def _description(reader: Reader) -> str:
    return f"{reader.note} (in your own file only)" if reader.is_users else reader.note


def _default(key: str) -> dict[str, Any]:
    # A role has no defaults of its own: it takes over what is said of everybody.
    if key not in SETTLED or key.startswith("agents."):
        return {}
    default = written(key, default_of(key))
    return {} if default is None else {"default": default}
