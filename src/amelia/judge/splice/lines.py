"""Lists of what a repository needs, a line for each: those of tools that test are the judge's.

Pure. `requirements.txt` of Python and `go.mod` of Go are such lists.
"""

import re

from amelia.judge.splice.tables import is_tool, names_tool

_GO_BLOCK = re.compile(r"^(?P<word>require|replace|exclude)\s*\(\s*$")
_GO_LINE = re.compile(r"^(?:(?:require|replace|exclude)\s+)?(?P<module>[\w.~/-]+\.[\w.~/-]+)\s")


def requirement_parts(text: str) -> list[str]:
    """Returns the requirements of tools that test."""
    return [line.strip() for line in text.splitlines() if names_tool(line)]


def join_requirements(before: str, after: str) -> str:
    """Returns a list of requirements with those of tools as they were."""
    kept = [line for line in after.splitlines() if not names_tool(line)]
    return "\n".join((*kept, *requirement_parts(before))) + "\n"


def go_parts(text: str) -> list[str]:
    """Returns what `go.mod` says of modules that test, each as a line of its own."""
    return sorted(line for line, is_judges in _go_lines(text) if is_judges)


def join_go(before: str, after: str) -> str:
    """Returns `go.mod` with the modules that test as they were."""
    kept = [line for line, is_judges in _go_lines(after) if not is_judges]
    return "\n".join((*kept, *go_parts(before))) + "\n"


def _go_lines(text: str) -> list[tuple[str, bool]]:
    """Returns the lines of a file without blocks, and whether each is of a module that tests."""
    found: list[tuple[str, bool]] = []
    word = ""
    for raw in text.splitlines():
        line = raw.partition("//")[0].strip()
        if block := _GO_BLOCK.match(line):
            word = f"{block['word']} "
        elif word and line == ")":
            word = ""
        elif line:
            whole = word + line
            module = _GO_LINE.match(whole + " ")
            found.append((whole, module is not None and is_tool(module["module"])))
    return found
