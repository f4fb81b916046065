import json
from pathlib import Path

import pytest

from amelia.config import load_settings
from amelia.model.errors import ConfigError
from amelia.model.settings import Settings, SizeLimits, TddRule

UNREADABLE = Path("/proc/self/mem")


def test_without_files_the_defaults_hold(tmp_path: Path) -> None:
    assert load_settings(tmp_path) == Settings()


def test_amelia_toml_is_read_from_a_directory_above(tmp_path: Path) -> None:
    (tmp_path / "amelia.toml").write_text(
        'tdd = "warn"\nenable_phased_execution = false\n[task_size_limits]\nmax_input_tokens = 8000\nauto_split = false\n'
    )
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    settings = load_settings(inner).plan
    assert settings.tdd is TddRule.WARN
    assert not settings.enable_phased_execution
    assert settings.limits == SizeLimits(max_input_tokens=8000, auto_split=False)


def test_the_search_stops_at_the_repository(tmp_path: Path) -> None:
    (tmp_path / "amelia.toml").write_text('tdd = "off"\n')
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (repository / ".git" / "HEAD").touch()
    assert load_settings(repository) == Settings()


@pytest.mark.parametrize(
    ("name", "text"),
    [("amelia.toml", ""), ("pyproject.toml", "[tool.amelia]\n"), (".project-config.json", "{}")],
)
def test_the_search_stops_at_the_nearest_file_even_if_it_says_nothing(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "amelia.toml").write_text('tdd = "off"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / name).write_text(text)
    assert load_settings(inner) == Settings()


def test_pyproject_holds_settings_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.amelia]\ntdd = "off"\n')
    assert load_settings(tmp_path).plan.tdd is TddRule.OFF


def test_a_pyproject_without_amelia_is_nobodys_business(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "amelia.toml").write_text('tdd = "off"\n')
    assert load_settings(tmp_path).plan.tdd is TddRule.OFF


@pytest.mark.rows("L9")
@pytest.mark.parametrize("key", ["max_criteria_per_task", "max_acceptance_criteria"])
def test_project_config_json_gives_limits_in_both_spellings(tmp_path: Path, key: str) -> None:
    (tmp_path / ".project-config.json").write_text(json.dumps({"task_size_limits": {key: 4}, "other": 1}))
    assert load_settings(tmp_path).plan.limits == SizeLimits(max_acceptance_criteria=4)


@pytest.mark.rows("L9")
def test_amelia_toml_outranks_project_config_json(tmp_path: Path) -> None:
    (tmp_path / ".project-config.json").write_text(
        '{"task_size_limits": {"complexity_threshold": 3, "auto_split": false}}'
    )
    (tmp_path / "amelia.toml").write_text("[task_size_limits]\ncomplexity_threshold = 7.5\n")
    assert load_settings(tmp_path).plan.limits == SizeLimits(complexity_threshold=7.5, auto_split=False)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("amelia.toml", 'tdd = "maybe"', 'amelia.toml: tdd must be one of strict, warn, off, not "maybe"'),
        ("amelia.toml", "tdd = []", "amelia.toml: tdd must be one of strict, warn, off, not []"),
        (
            "amelia.toml",
            'enable_phased_execution = "no"',
            'enable_phased_execution must be true or false, not "no"',
        ),
        (
            "amelia.toml",
            "[task_size_limits]\nmax_files_to_create = 0",
            "amelia.toml: task_size_limits.max_files_to_create must be a whole number from 1 to 1000, not 0",
        ),
        (
            "amelia.toml",
            "[task_size_limits]\nmax_files_to_create = true",
            "task_size_limits.max_files_to_create must be a whole number from 1 to 1000, not true",
        ),
        (
            "amelia.toml",
            "[task_size_limits]\ncomplexity_threshold = 14",
            "task_size_limits.complexity_threshold must be a number from 0 to 13, not 14",
        ),
        (
            ".project-config.json",
            '{"task_size_limits": {"max_criteria_per_task": "7"}}',
            '.project-config.json: task_size_limits.max_criteria_per_task must be a whole number from 1 to 1000, not "7"',
        ),
        (".project-config.json", '{"task_size_limits": 3}', "task_size_limits must be a table, not 3"),
        (".project-config.json", "[]", "the file must be a table, not []"),
        (".project-config.json", "{", "not valid JSON"),
        ("amelia.toml", "tdd =", "amelia.toml: not valid TOML"),
        ("amelia.toml", 'tddd = "off"', "amelia.toml: unknown key tddd"),
        ("pyproject.toml", "[tool]\namelia = 3", "tool.amelia must be a table, not 3"),
    ],
)
def test_a_wrong_value_names_file_key_and_what_is_allowed(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path)
    assert message in str(caught.value)


def test_a_misspelt_key_is_told_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "amelia.toml").write_text("[task_size_limits]\nmax_file_to_create = 3\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path)
    assert caught.value.hint == "did you mean task_size_limits.max_files_to_create?"


def test_settings_in_two_places_are_refused(tmp_path: Path) -> None:
    (tmp_path / "amelia.toml").write_text("")
    (tmp_path / "pyproject.toml").write_text("[tool.amelia]\n")
    with pytest.raises(ConfigError, match="both amelia"):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tdd = " + "9" * 5000, "not valid TOML"),
        ("tdd = " + "[" * 3000 + "]" * 3000, "amelia.toml: "),
        ("#" * 1_000_001, "are not read"),
    ],
)
def test_hostile_settings_are_refused_with_a_message(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "amelia.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path)
    assert message in str(caught.value)


def test_settings_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "amelia.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not valid UTF-8"):
        load_settings(tmp_path)


@pytest.mark.skipif(not UNREADABLE.exists(), reason="needs a file that even root cannot read")
def test_settings_that_cannot_be_read_are_an_error_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "amelia.toml").symlink_to(UNREADABLE)
    with pytest.raises(ConfigError, match=r"amelia\.toml: cannot be read: ."):
        load_settings(tmp_path)
