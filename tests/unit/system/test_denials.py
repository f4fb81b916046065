"""Which paths a wall denied, by what programs say of it."""

from pathlib import Path

import pytest

from amelia.model.walls import Layer, Wall
from amelia.system.denials import Denials, denial_note, denials_in


def wall(tmp_path: Path) -> Wall:
    for name in ("work", "tmp", "cache", "outside"):
        (tmp_path / name).mkdir(exist_ok=True)
    layer = Layer(place=str(tmp_path / "cache"), upper="", work="")
    return Wall(
        writes=(str(tmp_path / "work"),),
        temporary=str(tmp_path / "tmp"),
        layers=(layer,),
        replaces_tmp=False,
    )


@pytest.mark.parametrize(
    "line",
    [
        "PermissionError: [Errno 13] Permission denied: '{path}'",
        "sh: 1: cannot create {path}: Permission denied",
        "touch: cannot touch '{path}': Permission denied",
        "Error: EACCES: permission denied, open '{path}'",
        "open {path}: permission denied",
        'failed to open file "{path}": Permission denied (os error 13)',
        "error: could not lock config file {path}: Permission denied",
        "mkdir {path}: Read-only file system",
        "OSError: [Errno 30] Read-only file system: '{path}'",
        "Error: EROFS: read-only file system, mkdir '{path}'",
        '{{"type": "result", "text": "line one\\nopen {path}: permission denied\\nline three"}}',
    ],
)
def test_a_complaint_names_the_path(tmp_path: Path, line: str) -> None:
    denials = Denials(wall(tmp_path))
    path = str(tmp_path / "outside/new")
    denials.hear(line.format(path=path).encode())
    assert denials.paths == (path,)
    assert path in denial_note(denials.paths)
    assert "[wall] writes" in denial_note(denials.paths)


def test_the_hint_names_the_settings_file_of_the_user() -> None:
    note = denial_note(["/x"])
    assert "`[wall] writes` in your own settings file" in note
    assert "~/.config/amelia/config.toml" in note
    assert "$AMELIA_CONFIG" in note


@pytest.mark.parametrize("place", ["work/file", "tmp/file", "cache/file"])
def test_what_the_wall_allows_has_another_reason(tmp_path: Path, place: str) -> None:
    denials = Denials(wall(tmp_path))
    denials.hear(f"open {tmp_path / place}: permission denied".encode())
    denials.hear(b"open /proc/1/mem: permission denied; open /: permission denied; 3/4: permission denied")
    denials.hear(f"open {tmp_path / 'outside/file'}: no such file".encode())
    assert denials.paths == ()
    assert denial_note(()) == ""


def test_only_the_first_few_are_told(tmp_path: Path) -> None:
    output = tmp_path / "output"
    lines = (f"open {tmp_path}/outside/{number}: permission denied\n" for number in range(20))
    output.write_text("".join(lines))
    assert len(denials_in(output, wall(tmp_path))) == 5
    assert denials_in(output, None) == ()


def test_a_private_tmp_denies_nothing() -> None:
    denials = Denials(Wall(replaces_tmp=True))
    denials.hear(b"open /tmp/somewhere/x: permission denied")
    assert denials.paths == ()
