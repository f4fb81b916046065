"""`amelia config` and `amelia init`, as a person uses them."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from amelia.config import load_project
from amelia.config.schema import schema_text
from programs import few_programs, users_settings, with_claude
from repositories import executable
from stories import Stage, make_stage

MADE_UP = "made-up-value-of-a-key-0123456789"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path)


def fresh(place: Path) -> Path:
    """Makes a directory that is meant to be a repository, and holds nothing else."""
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return place


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A project of which there are no settings yet; the checkout of the stage is not to be touched."""
    place = fresh(tmp_path / "fresh")
    (place / "inner").mkdir()
    (place / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return place


def test_what_holds_is_shown_as_a_file_that_would_say_the_same(stage: Stage, tmp_path: Path) -> None:
    own = users_settings(
        stage.room,
        '[agents]\ndriver = "api"\nmodel = "a:b"\n[budget]\nrun_cost = "none"\n[prompts]\ntask = "/a.md"\n',
    )
    shown = stage.amelia("config", "show", env=own)
    assert (shown.code, shown.err) == (0, "")
    said = tomllib.loads(shown.out)
    assert said["agents"]["reviewer"]["model"] == "a:b"
    assert said["budget"] == {
        "unit_cost": 10.0,
        "unit_tokens": 20_000_000,
        "run_cost": "none",
        "run_tokens": 200_000_000,
    }
    assert said["prompts"] == {"task": "/a.md"}
    again = stage.amelia("config", "show", env=users_settings(stage.room, shown.out), cwd=tmp_path)
    assert again.out == shown.out


def test_every_value_says_where_it_comes_from(stage: Stage) -> None:
    own = users_settings(stage.room, "\n[profiles.night.clocks]\nwall_minutes = 9\n")
    done = stage.amelia("config", "show", "--origin", "--profile", "night", env={**own, "AMELIA_TDD": "off"})
    origins = dict(line.split("  # ", 1) for line in done.out.splitlines())
    origins = {line.strip(): origin for line, origin in origins.items()}
    assert origins['tdd = "off"'] == "AMELIA_TDD"
    assert origins["clocks.wall_minutes = 9"] == f"{stage.room / 'config.toml'}:3"
    assert origins['verify.command = ["sh", "check.sh"]'] == f"{stage.repo.path / 'amelia.toml'}:2"
    assert origins["parallel_workers = 1"] == "default"
    assert tomllib.loads(done.out)["tdd"] == "off"


def test_keys_without_a_value_are_shown_to_whoever_wants_all(stage: Stage) -> None:
    short = stage.amelia("config", "show", "--origin").out.splitlines()
    every = stage.amelia("config", "show", "--origin", "--all").out.splitlines()
    assert [line for line in short if line.startswith("#")] == []
    assert f"{'# verify.junit':<60}  # default" in every
    assert "# prompts.task" in {line.partition("  ")[0] for line in every}
    assert [line for line in every if not line.startswith("#")] == short


def test_machines_get_keys_without_a_value_only_if_they_want_all(stage: Stage) -> None:
    short = stage.amelia("config", "show", "--json").json["settings"]
    every = stage.amelia("config", "show", "--json", "--all").json["settings"]
    assert every["verify.junit"]["value"] is None
    assert short == {key: setting for key, setting in every.items() if setting["value"] is not None}


def test_machines_read_the_same(stage: Stage) -> None:
    shown = stage.amelia("config", "show", "--json", env={"AMELIA_VERIFY__SCOPE": "enforce"}).json
    assert shown["files"] == [str(stage.repo.path / "amelia.toml")]
    assert shown["profile"] is None
    assert shown["settings"]["verify.scope"] == {
        "value": "enforce",
        "origin": {"kind": "variable", "name": "AMELIA_VERIFY__SCOPE", "line": None},
        "variable": "AMELIA_VERIFY__SCOPE",
    }
    command = shown["settings"]["verify.command"]
    assert command["value"] == ["sh", "check.sh"]
    assert command["origin"] == {"kind": "file", "name": str(stage.repo.path / "amelia.toml"), "line": 2}


def test_a_key_is_never_shown_and_a_terminal_obeys_nothing(stage: Stage) -> None:
    own = users_settings(stage.room, f'[agents]\ncommand = ["agent", "--token={MADE_UP}", "\\u001b[31m"]\n')
    env = {**own, "MY_API_KEY": MADE_UP}
    for arguments in (("--origin",), ("--json",)):
        done = stage.amelia("config", "show", *arguments, env=env)
        assert done.code == 0
        assert MADE_UP not in done.out
        assert "\x1b" not in done.out


def test_a_wrong_setting_is_said_and_a_slip_too(stage: Stage) -> None:
    wrong = stage.amelia("config", "show", env={"AMELIA_TDD": "maybe"})
    assert wrong.code == 3
    assert 'error: AMELIA_TDD: tdd must be one of strict, warn, off, not "maybe"' in wrong.err
    slip = stage.amelia("config", "show", env={"AMELIA_TDDD": "off"})
    assert slip.code == 0
    table = stage.amelia("config", "show", env={"AMELIA_BUDGET": "["})
    assert table.code == 3
    assert 'error: AMELIA_BUDGET: budget must be a table, which no variable can hold, not "["' in table.err
    assert "note: AMELIA_TDDD is not a setting, and is not used; did you mean AMELIA_TDD?" in slip.err


def test_the_schema_can_be_had(stage: Stage) -> None:
    done = stage.amelia("config", "schema")
    assert done.out == schema_text()
    assert json.loads(done.out)["properties"]["tdd"]["default"] == "strict"


def test_the_first_settings_hold_what_the_repository_tells(stage: Stage, place: Path) -> None:
    (place / "uv.lock").touch()
    env = with_claude(stage.room / "few")
    executable(stage.room / "few" / "uv", "true")
    done = stage.amelia("init", cwd=place / "inner", env=env)
    assert done.code == 0, done
    lines = done.out.splitlines()
    assert lines[:4] == [
        "languages  Python",
        "tests      python -m pytest",
        "setup      uv sync --frozen",
        "claude     ready",
    ]
    assert f"wrote {place / 'amelia.toml'}" in lines
    text = (place / "amelia.toml").read_text(encoding="utf-8")
    assert "claude" in text
    verify = load_project(place).run.verify
    assert (verify.command, verify.setup) == (("python", "-m", "pytest"), ("uv", "sync", "--frozen"))
    assert sorted(path.name for path in place.iterdir()) == [
        ".git",
        "amelia.toml",
        "inner",
        "pyproject.toml",
        "uv.lock",
    ]


@pytest.mark.parametrize("files", [[], ["pyproject.toml"], ["pyproject.toml", "uv.lock", "package.json"]])
def test_the_first_settings_are_about_ten_lines_with_what_was_found_and_where_more_is(
    stage: Stage, tmp_path: Path, files: list[str]
) -> None:
    place = fresh(tmp_path / "plain")
    for name in files:
        (place / name).write_text("[tool.pytest.ini_options]\n" if name == "pyproject.toml" else "{}")
    done = stage.amelia("init", cwd=place, env=few_programs(stage.room / "few", "git"))
    assert done.code == 0, done
    text = (place / "amelia.toml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 12, text
    assert "amelia init --all" in text
    assert "amelia config show" in text
    assert "docs/" not in text  # a page of this repository, which the user's has not
    for named in re.findall(r"`amelia ([^`]+)`", text):
        assert stage.amelia(*named.split(), "--help", cwd=place).code == 0, named
    assert "`amelia config show --all`" in text
    said = re.sub(r"(?m)^#(?=[\w\[])", "", text)  # what is only shown can be taken over
    (place / "amelia.toml").write_text(said)
    assert set(tomllib.loads(said)) <= {"verify", "agents"}
    assert load_project(place).run.verify.command == ("python", "-m", "pytest", *([] if files else ["-q"]))


def test_every_key_is_written_for_whoever_wants_all(stage: Stage, place: Path) -> None:
    done = stage.amelia("init", "--all", cwd=place, env=with_claude(stage.room / "few"))
    assert done.code == 0, done
    text = (place / "amelia.toml").read_text(encoding="utf-8")
    assert "# ready where this file was written: claude\n[agents]\n" in text
    assert "#max_files_to_create = 5\n" in text
    assert len(text.splitlines()) > 100


def test_typescript_is_called_typescript(stage: Stage, tmp_path: Path) -> None:
    place = fresh(tmp_path / "web")
    (place / "src").mkdir()
    (place / "package.json").write_text('{"scripts": {"test": "vitest run"}}')
    (place / "src" / "index.ts").touch()
    done = stage.amelia("init", cwd=place, env=few_programs(stage.room / "few", "git"))
    assert done.out.startswith("languages  TypeScript\n")
    text = (place / "amelia.toml").read_text()
    assert "JavaScript" not in text
    assert '\n#setup = ["npm", "ci"]\n' in text


def test_what_is_there_is_not_overwritten_unless_it_is_wanted(stage: Stage, place: Path) -> None:
    env = few_programs(stage.room / "few", "git")
    (place / "amelia.toml").write_text('tdd = "maybe"\n')
    refused = stage.amelia("init", "--yes", cwd=place, env=env)
    assert refused.code == 3
    assert f"{place / 'amelia.toml'}: is there already" in refused.err
    assert (place / "amelia.toml").read_text() == 'tdd = "maybe"\n'
    done = stage.amelia("init", "--force", "--json", cwd=place, env=env)
    assert done.code == 0, done
    assert done.json["file"] == str(place / "amelia.toml")
    assert done.json["tests"] == ["python", "-m", "pytest"]
    assert done.json["setup"] is None
    assert "not installed" in done.json["agents"]["claude"]
    assert load_project(place).run.verify.command == ("python", "-m", "pytest")


def test_settings_in_pyproject_stay_where_they_are(stage: Stage, place: Path) -> None:
    (place / "pyproject.toml").write_text("[tool.amelia]\n")
    done = stage.amelia("init", "--force", cwd=place)
    assert done.code == 3
    assert "[tool.amelia] holds the settings already" in done.err
    assert not (place / "amelia.toml").exists()


@pytest.mark.parametrize("options", [[], ["--force", "--yes"], ["--all", "--json"]])
def test_outside_of_a_repository_no_settings_are_written(
    stage: Stage, tmp_path: Path, options: list[str]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    done = stage.amelia("init", *options, cwd=outside, env=few_programs(stage.room / "few", "git"))
    assert (done.code, done.out) == (3, "")
    assert f"{outside} is not in a git repository" in done.err
    assert "git init" in done.err
    assert list(outside.iterdir()) == []


def test_a_repository_that_tells_nothing_gets_a_file_all_the_same(stage: Stage, tmp_path: Path) -> None:
    bare = fresh(tmp_path / "bare")
    done = stage.amelia("init", cwd=bare, env=few_programs(stage.room / "few", "git"))
    assert done.code == 0, done
    assert "no way to run tests was found" in done.out
    assert load_project(bare).run.verify.command is None


@pytest.mark.parametrize(
    ("options", "answer", "is_written"), [([], "n", False), ([], "y", True), (["--yes"], "", True)]
)
def test_a_person_is_asked_first_unless_they_said_yes(
    stage: Stage, place: Path, options: list[str], answer: str, *, is_written: bool
) -> None:
    said = stage.at_terminal(
        "init", *options, answers=f"{answer}\n", cwd=place, env=few_programs(stage.room / "few", "git")
    ).out
    assert (place / "amelia.toml").exists() == is_written
    assert (f"Write {place / 'amelia.toml'}?" in said) == (options == [])


def test_a_place_that_cannot_be_written_to_is_said(stage: Stage, place: Path) -> None:
    (place / "amelia.toml").mkdir()
    done = stage.amelia("init", "--force", cwd=place, env=few_programs(stage.room / "few", "git"))
    assert done.code == 3
    assert "amelia.toml: cannot be written" in done.err
    assert [path.name for path in place.iterdir() if path.name.startswith(".amelia")] == []


def test_the_first_settings_call_keys_what_config_show_calls_them(stage: Stage, place: Path) -> None:
    env = few_programs(stage.room / "few", "git")
    assert stage.amelia("init", "--yes", "--all", cwd=place, env=env).code == 0
    text = re.sub(r"(?m)^#(?=\S)", "", (place / "amelia.toml").read_text())
    written = {key for key in _dotted(tomllib.loads(text)) if not key.startswith("profiles.")}
    shown = set(stage.amelia("config", "show", "--json", "--all", cwd=place, env=env).json["settings"])
    for key in written:
        assert key in shown or key.replace("agents.", "agents.developer.") in shown


def _dotted(table: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(cast("dict[str, Any]", value), f"{prefix}{key}.")
        else:
            yield prefix + key
