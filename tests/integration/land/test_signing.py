import shutil
from pathlib import Path

import pytest

from amelia.land.commit import check_signing, commit_unit
from amelia.model.errors import ConfigError
from repositories import Repo, Run, executable, git, start_run


def signing(repo: Repo, directory: Path, program: str) -> Run:
    repo.git("config", "commit.gpgSign", "true")
    repo.git("config", "gpg.program", str(executable(directory / "sign", program)))
    return start_run(repo, directory / "run")


# What git asks of a signing program: a status on the descriptor it was given, and the signature on its output.
GOOD = "cat > /dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo '-----BEGIN PGP SIGNATURE-----'; echo x"


def test_without_signing_nothing_is_checked(run: Run) -> None:
    check_signing(run.store)


def test_landed_commits_are_signed_and_snapshots_are_not(repo: Repo, tmp_path: Path) -> None:
    run = signing(repo, tmp_path, GOOD)
    check_signing(run.store)
    run.prepare().write({"new": "x"})
    taken = run.snapshot()
    landed = commit_unit(run.store, taken.tree, parent=run.base, message="Landed\n", stamp=run.stamp)
    assert "gpgsig" in git(run.store.git_dir, "cat-file", "commit", landed)
    assert "gpgsig" not in git(run.store.git_dir, "cat-file", "commit", taken.commit)


def test_a_key_that_does_not_work_is_found_before_any_work(repo: Repo, tmp_path: Path) -> None:
    run = signing(repo, tmp_path, "echo no secret key >&2; exit 2")
    with pytest.raises(ConfigError, match=r"gpgSign.*failed to sign") as caught:
        check_signing(run.store)
    assert "key" in (caught.value.hint or "")


@pytest.mark.slow
def test_signatures_by_ssh_keys_are_real(repo: Repo, tmp_path: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("no ssh-keygen here")
    import subprocess  # noqa: PLC0415, TID251 - only where there is an ssh-keygen

    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"ada@example.com {key.with_suffix('.pub').read_text()}")
    for name, value in {
        "commit.gpgSign": "true",
        "gpg.format": "ssh",
        "user.signingKey": str(key),
        "gpg.ssh.allowedSignersFile": str(allowed),
    }.items():
        repo.git("config", name, value)
    run = start_run(repo, tmp_path / "run")
    check_signing(run.store)
    run.prepare()
    taken = run.snapshot()
    landed = commit_unit(run.store, taken.tree, parent=run.base, message="Landed\n", stamp=run.stamp)
    assert git(run.store.git_dir, "log", "-1", "--format=%G?", landed) == "G"
