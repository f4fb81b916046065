"""The guide about settings can be followed, command by command."""

import os
import re
import subprocess  # noqa: TID251 - documents show commands; they are run
import sys
from pathlib import Path

import pytest

GUIDE = (Path(__file__).parents[2] / "docs/guides/settings.md").read_text(encoding="utf-8")
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the guide names the place of the file on Linux")
def test_the_guide_can_be_followed(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(SHELL.findall(GUIDE))],
        cwd=tmp_path,
        env={"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shop, own = tmp_path / "shop" / "amelia.toml", tmp_path / ".config/amelia/config.toml"
    assert f"wrote {shop}" in done.stdout
    shown = {line.strip() for line in done.stdout.splitlines()}
    assert f"{'budget.run_cost = 20.0':<60}  # {own}:5" in shown
    assert f"{'verify.scope = ' + chr(34) + 'enforce' + chr(34):<60}  # AMELIA_VERIFY__SCOPE" in shown
    assert any(line.startswith("verify.command") and str(shop) in line for line in shown)
