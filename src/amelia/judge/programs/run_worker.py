"""Runs the source that is its last argument as `python -c` does, with pytest imported: a worker of xdist."""

from __future__ import annotations

import sys

import run_pytest

if __name__ == "__main__":
    run_pytest.guard_plugins()
    run_pytest.PATH.enter_tree()
    main = sys.modules["__main__"]
    del main.__file__  # a process that `multiprocessing` starts would run this program again
    source = sys.argv[-1]
    sys.argv[:] = ["-c"]
    exec(source, vars(main))  # noqa: S102 - that is what a worker is
