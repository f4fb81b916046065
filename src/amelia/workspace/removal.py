"""Removes and opens what an agent left behind, and never follows a link out of the worktree."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path


def remove(path: Path) -> None:
    """Removes a file, a link or a whole directory, whatever its permissions are; nothing there is fine."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except PermissionError:
        open_up(path)
        shutil.rmtree(path)


def real_directory(path: Path) -> Path:
    """Makes sure that a path is a directory of its own, not a link to one."""
    if path.is_symlink() or not path.is_dir():
        remove(path)
        path.mkdir(parents=True)
    return path


def open_up(directory: Path) -> None:
    """Gives us back what an agent took from itself: access to the directories and files it owns."""
    _allow(directory, stat.S_IRWXU)
    for folder, folders, files in os.walk(directory):
        for name in folders:
            _allow(Path(folder, name), stat.S_IRWXU)
        for name in files:
            _allow(Path(folder, name), stat.S_IRUSR | stat.S_IWUSR)


def _allow(path: Path, wanted: int) -> None:
    with suppress(OSError):
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & wanted != wanted:
            path.chmod(stat.S_IMODE(mode) | wanted)
