"""What other programs may see of our environment: what they need to work, nothing that looks like a key."""

import os
from collections.abc import Mapping
from pathlib import Path

from amelia.model.walls import Wall
from amelia.system.secrets import looks_secret

ALLOWED = frozenset(
    """
    HOME LANG LANGUAGE LOGNAME PATH SHELL TERM TMPDIR TZ USER
    SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
    HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
    """.split()
)
ALLOWED_PREFIXES = ("LC_", "XDG_")


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Returns what another program may see of the caller's environment, with `extra` on top."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if (name in ALLOWED or name.startswith(ALLOWED_PREFIXES)) and not looks_secret(name)
    }
    if (active := os.environ.get("VIRTUAL_ENV")) and "PATH" in kept:
        own = {str(Path(active) / folder) for folder in ("bin", "Scripts")}
        kept["PATH"] = os.pathsep.join(
            folder for folder in kept["PATH"].split(os.pathsep) if folder.rstrip("/") not in own
        )
    return {**kept, **extra}


DOORS = frozenset({"XDG_RUNTIME_DIR"})
"""Variables that lead to services of the user, which act for whoever asks them; the others, such as those of
Docker, D-Bus and tmux, are not in `ALLOWED`."""


def behind_wall(env: Mapping[str, str], wall: Wall) -> dict[str, str]:
    """Returns the environment of a program that gets a wall."""
    return {**{name: value for name, value in env.items() if name not in DOORS}, **wall.variables}
