"""Becomes another program, for which the kernel has no Landlock: `python without.py PROGRAM …`.

A filter of system calls answers as an old kernel does. Standard library only.
"""

import ctypes
import os
import struct
import sys

CREATE_RULESET, NO_SUCH_CALL = 444, 38
NO_NEW_PRIVS, SET_SECCOMP, FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000


def instruction(code: int, yes: int, no: int, value: int) -> bytes:
    return struct.pack("HBBI", code, yes, no, value)


def main() -> None:
    rules = b"".join(
        (
            instruction(LOAD, 0, 0, 0),
            instruction(EQUAL, 0, 1, CREATE_RULESET),
            instruction(RETURN, 0, 0, ERROR | NO_SUCH_CALL),
            instruction(RETURN, 0, 0, ALLOW),
        )
    )
    held = ctypes.create_string_buffer(rules)
    program = struct.pack("HxxxxxxP", len(rules) // 8, ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.prctl(SET_SECCOMP, FILTER, ctypes.create_string_buffer(program), 0, 0) == 0
    os.execvp(sys.argv[1], sys.argv[1:])  # noqa: S606 - that is what it is for


if __name__ == "__main__":
    main()
