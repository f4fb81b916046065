"""How an agent of the Agent Client Protocol is logged in to, without input or output.

- Nobody is there to answer a question: only ways are tried that may need none, and the person is told of the
  others.
- A way is not tried if it would choose a provider for the person: of several ways that are no key of the
  environment, none is.
"""

from collections.abc import Container, Iterator
from typing import cast

from amelia.drive.acp.updates import Table, table_of, tables_of
from amelia.drive.stream import text_of

_LONGEST = 200
_MOST_NAMED = 4


def ways_without_a_person(hello: Table, environment: Container[str]) -> list[str]:
    """Returns the ids of the ways to log in that may need nobody, the surest first.

    They are those whose key is in the environment, else the only one there is, if the agent itself carries it
    out: an agent with a login of its own answers that at once.
    """
    offered = _methods(hello)
    keys = [name for name, method in offered.items() if _has_its_keys(name, method, environment)]
    alone = [name for name, method in offered.items() if _kind(method) == "agent" and len(offered) == 1]
    return keys or alone


def how_to_log_in(hello: Table, program: str, known: str = "") -> str:
    """Returns for people how to log in: the command that is known, else what the agent says of it."""
    if known:
        return f"log in with `{known}`"
    ways = [_in_words(method, program) for method in _methods(hello).values()]
    named = "; or ".join(ways[:_MOST_NAMED])
    return f"it offers: {named}" if named else f"log in to it outside of Amelia, with {program}"


def _methods(hello: Table) -> dict[str, Table]:
    return {
        name: method
        for method in tables_of(hello.get("authMethods"))
        if (name := text_of(method.get("id"), _LONGEST))
    }


def _kind(method: Table) -> str:
    told = method.get("type") or table_of(method.get("_meta")).get("type")
    return text_of(told, _LONGEST) or "agent"


def _has_its_keys(name: str, method: Table, environment: Container[str]) -> bool:
    """Says whether the keys of a way to log in are there: those it names, or the one it is called after."""
    if _kind(method) == "terminal":
        return False
    wanted = [text_of(variable.get("name")) for variable in tables_of(method.get("vars"))]
    return all(each in environment for each in wanted or [name.upper().replace("-", "_")])


def _in_words(method: Table, program: str) -> str:
    name = text_of(method.get("name"), _LONGEST) or text_of(method.get("id"), _LONGEST)
    return f"{name} ({said})" if (said := ", ".join(_details(method, program))) else name


def _details(method: Table, program: str) -> Iterator[str]:
    given = method.get("args") or table_of(method.get("_meta")).get("args")
    if _kind(method) == "terminal" and isinstance(given, list):
        yield f"run `{' '.join([program, *map(str, cast('list[object]', given))])}`"
    variables = [text_of(variable.get("name"), _LONGEST) for variable in tables_of(method.get("vars"))]
    if variables:
        yield f"set {', '.join(variables)}"
    if description := text_of(method.get("description"), _LONGEST):
        yield description
