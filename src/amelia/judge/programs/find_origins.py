"""Prints where modules would be imported from: `NAMES [OPTIONS-OF-PYTEST]`.

With options it asks inside of pytest, whose settings change where it looks for modules.
"""

# ruff: noqa: PLC0415 - pytest is imported only where it is there

from __future__ import annotations

import importlib.util
import json
import sys

import amelia_report

MARK = "amelia-origins:"


def tell_origins() -> None:
    """Prints the places of the modules that are found."""
    found = {}
    for name in sys.argv[1].split(","):
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError, AttributeError):
            continue
        if spec is not None:
            found[name] = [*(spec.submodule_search_locations or [spec.origin])]
    sys.stdout.write(f"\n{MARK}{json.dumps(found)}\n")
    sys.stdout.flush()


def ask_in_pytest(options: list[str]) -> None:
    """Starts pytest as far as its settings are read."""
    import run_pytest

    class Canary:
        @run_pytest.pytest.hookimpl(tryfirst=True)
        def pytest_sessionstart(self) -> None:
            tell_origins()
            run_pytest.pytest.exit("seen", returncode=0)

    run_pytest.guard_plugins()
    run_pytest.PATH.enter_tree()
    run_pytest.pytest.main(options, plugins=[Canary()])


if __name__ == "__main__":
    if sys.argv[2:]:
        ask_in_pytest(sys.argv[2:])
    else:
        amelia_report.ModulePath().enter_tree()
        tell_origins()
