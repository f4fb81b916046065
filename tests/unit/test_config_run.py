from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.config import load_settings
from amelia.config.fields import settings_of
from amelia.config.found import Found, Kind, Source
from amelia.config.keys import KEYS
from amelia.config.merge import merge
from amelia.config.profiles import layers_of, read_file
from amelia.model.agents import AUTO, DRIVERS, NAMED, AgentSettings, Clocks, Role
from amelia.model.errors import ConfigError
from amelia.model.evidence import VerifySettings
from amelia.model.plan import Mode
from amelia.model.policy import POLICIES, OnFailure, Policy, RetrySession
from amelia.model.settings import RunSettings

ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def read(place: Path, text: str) -> RunSettings:
    (place / "amelia.toml").write_text(text, encoding="utf-8")
    return load_settings(place).run


def refused(place: Path, text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read(place, text)
    return caught.value


def test_without_files_a_run_has_no_driver_and_the_policies_of_the_table(tmp_path: Path) -> None:
    run = load_settings(tmp_path).run
    assert run.agents == dict.fromkeys(Role, AgentSettings())
    assert run.parallel_workers == 1
    assert run.policies == POLICIES
    assert run.policies.keys() == set(Mode)
    assert run.verify == VerifySettings()
    assert run.clocks == Clocks()


def test_a_script_lies_beside_the_file_that_names_it(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "amelia.toml").write_text('driver = "script"\nscript = "demo/agents.toml"\n')
    run = load_settings(inner).run
    assert run.agents[Role.DEVELOPER].driver == "script"
    assert run.agents[Role.REVIEWER].script == str(tmp_path / "demo" / "agents.toml")


def test_a_script_is_absolute_although_the_directory_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "amelia.toml").write_text('script = "agents.toml"\n')
    monkeypatch.chdir(tmp_path)
    assert load_settings(Path()).run.agents[Role.REVIEWER].script == str(tmp_path / "agents.toml")


def test_a_script_may_be_absolute(tmp_path: Path) -> None:
    assert read(tmp_path, 'script = "/demo/agents.toml"').agents[Role.DEVELOPER].script == "/demo/agents.toml"


def test_workers_hold_in_every_mode(tmp_path: Path) -> None:
    run = read(tmp_path, "parallel_workers = 3")
    assert run.parallel_workers == 3
    assert run.policies == {mode: replace(policy, parallel_workers=3) for mode, policy in POLICIES.items()}


@pytest.mark.rows("L21")
def test_workers_are_read_from_project_config_json(tmp_path: Path) -> None:
    (tmp_path / ".project-config.json").write_text('{"parallel_workers": 4, "verify": 1, "driver": 2}')
    run = load_settings(tmp_path).run
    assert run.parallel_workers == 4
    assert {policy.parallel_workers for policy in run.policies.values()} == {4}
    assert run.agents == dict.fromkeys(Role, AgentSettings())


def test_amelia_toml_outranks_the_workers_of_project_config_json(tmp_path: Path) -> None:
    (tmp_path / ".project-config.json").write_text('{"parallel_workers": 4}')
    run = read(tmp_path, "parallel_workers = 2")
    assert run.parallel_workers == 2
    assert {policy.parallel_workers for policy in run.policies.values()} == {2}


def test_other_settings_keep_the_workers_of_project_config_json(tmp_path: Path) -> None:
    (tmp_path / ".project-config.json").write_text('{"parallel_workers": 4}')
    run = read(tmp_path, "[modes.tasks]\nattempts = 1\n")
    assert run.parallel_workers == 4
    assert run.policies[Mode.TASKS] == replace(POLICIES[Mode.TASKS], attempts=1, parallel_workers=4)


@pytest.mark.rows("R22", "L1")
def test_review_iterations_are_the_attempts_of_single_and_tasks_only(tmp_path: Path) -> None:
    policies = read(tmp_path, "max_task_review_iterations = 9").policies
    assert {mode: policy.attempts for mode, policy in policies.items()} == {
        Mode.SINGLE: 9,
        Mode.TASKS: 9,
        Mode.PHASED: 2,
        Mode.LIFECYCLE: 3,
    }


def test_attempts_of_a_mode_outrank_the_review_iterations(tmp_path: Path) -> None:
    policies = read(tmp_path, "max_task_review_iterations = 9\n[modes.tasks]\nattempts = 4\n").policies
    assert policies[Mode.TASKS].attempts == 4
    assert policies[Mode.SINGLE].attempts == 9


def test_a_mode_is_changed_and_the_others_stay(tmp_path: Path) -> None:
    policies = read(
        tmp_path,
        """
        [modes.phased]
        attempts = 7
        retry_session = "same"
        keeps_workspace = true
        on_failure = "continue"
        """,
    ).policies
    assert policies == {
        **POLICIES,
        Mode.PHASED: Policy(
            attempts=7,
            retry_session=RetrySession.SAME,
            keeps_workspace=True,
            on_failure=OnFailure.CONTINUE,
        ),
    }
    assert isinstance(policies[Mode.PHASED].retry_session, RetrySession)
    assert isinstance(policies[Mode.PHASED].on_failure, OnFailure)


def test_everything_about_verification_can_be_set(tmp_path: Path) -> None:
    verify = read(
        tmp_path,
        """
        [verify]
        command = ["python", "-m", "pytest", "-q"]
        junit = "out/report.xml"
        setup = ["uv", "sync"]
        timeout_minutes = 0.5
        scope = "enforce"
        protected = [".github/workflows/**", "Makefile"]
        """,
    ).verify
    assert verify == VerifySettings(
        command=("python", "-m", "pytest", "-q"),
        junit="out/report.xml",
        setup=("uv", "sync"),
        timeout=timedelta(seconds=30),
        scope="enforce",
        protected=(".github/workflows/**", "Makefile"),
    )


def test_one_clock_is_set_and_the_others_stay(tmp_path: Path) -> None:
    assert read(tmp_path, "[clocks]\nsilence_minutes = 1.5\n").clocks == Clocks(silence=timedelta(seconds=90))
    everything = "[clocks]\nfirst_event_minutes = 1\nsilence_minutes = 2\nwall_minutes = 3\n"
    assert read(tmp_path, everything).clocks == Clocks(
        first_event=timedelta(minutes=1), silence=timedelta(minutes=2), wall=timedelta(minutes=3)
    )


@pytest.mark.parametrize(
    ("written", "argv"),
    [
        ("'pytest -k \"a and b\"'", ("pytest", "-k", "a and b")),
        ("'  make   test '", ("make", "test")),
        ('["sh", "-c", "a && b", ""]', ("sh", "-c", "a && b", "")),
        ('["prog", "|"]', ("prog", "|")),
    ],
)
def test_a_command_is_a_list_or_a_text_that_is_split(
    tmp_path: Path, written: str, argv: tuple[str, ...]
) -> None:
    verify = read(tmp_path, f"[verify]\ncommand = {written}\nsetup = {written}\n").verify
    assert verify.command == argv
    assert verify.setup == argv


@pytest.mark.parametrize("key", ["command", "setup"])
@pytest.mark.parametrize(
    "written",
    ["3", "[]", "''", "' '", "['']", "[' ', 'x']", "['a', 3]", "[['a']]", '["a\\u0000"]', '"a\\u0000"'],
)
def test_a_command_without_a_program_is_refused(tmp_path: Path, key: str, written: str) -> None:
    error = refused(tmp_path, f"[verify]\n{key} = {written}\n")
    assert (
        f"amelia.toml: verify.{key} must be a program and its arguments, as a list of texts or as one text, not "
        in str(error)
    )


def test_a_command_with_an_open_quote_is_told_to_close_it(tmp_path: Path) -> None:
    error = refused(tmp_path, "[verify]\ncommand = 'pytest \"x'\n")
    assert "verify.command must be a program" in str(error)
    assert error.hint == "close every quote, or write a list"


@pytest.mark.parametrize("line", ["uv sync && pytest", "pytest | tee log", "pytest > log", "a ; b"])
def test_a_command_for_a_shell_is_refused_and_told_how(tmp_path: Path, line: str) -> None:
    error = refused(tmp_path, f'[verify]\nsetup = "{line}"\n')
    assert f'verify.setup must be one program and its arguments, not "{line}"' in str(error)
    assert error.hint == 'no shell reads it; write ["sh", "-c", "…"] if one must'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("driver = 3", f"driver must be one of {', '.join((AUTO, *DRIVERS, *NAMED))}, not 3"),
        ('driver = " "', f'driver must be one of {", ".join((AUTO, *DRIVERS, *NAMED))}, not " "'),
        ('script = ""', 'script must be a text that is not empty, not ""'),
        ('script = "a\\u0000"', "script must be a text that is not empty, not"),
        ("parallel_workers = 0", "parallel_workers must be a whole number from 1 to 64, not 0"),
        ("parallel_workers = 65", "parallel_workers must be a whole number from 1 to 64, not 65"),
        ("parallel_workers = 2.0", "parallel_workers must be a whole number from 1 to 64, not 2.0"),
        (
            "parallel_workers = 0x" + "f" * 5000,
            "parallel_workers must be a whole number from 1 to 64, not that",
        ),
        (
            "max_task_review_iterations = 101",
            "max_task_review_iterations must be a whole number from 1 to 100",
        ),
        ("verify = 1", "verify must be a table, not 1"),
        ('[verify]\njunit = "/tmp/x"', 'verify.junit must be a path inside the repository, not "/tmp/x"'),
        ('[verify]\njunit = "a/../../x"', "verify.junit must be a path inside the repository"),
        ('[verify]\njunit = "."', "verify.junit must be a path inside the repository"),
        ('[verify]\njunit = "a\\u0000"', "verify.junit must be a path inside the repository"),
        ('artifacts_dir = "../x"', 'artifacts_dir must be a path inside the repository, not "../x"'),
        *(
            (f"artifacts_dir = {place}", "artifacts_dir must be a path where the repository can have files")
            for place in ('".git"', '"docs/.GIT/x"', '"a\\nb"', f'"{"x" * 201}"')
        ),
        ("[verify]\njunit = []", "verify.junit must be a path inside the repository, not []"),
        ("[verify]\ntimeout_minutes = 0", "verify.timeout_minutes must be a number from 0.01 to 1440, not 0"),
        (
            "[verify]\ntimeout_minutes = nan",
            "verify.timeout_minutes must be a number from 0.01 to 1440, not NaN",
        ),
        ("[verify]\ntimeout_minutes = true", "verify.timeout_minutes must be a number from 0.01 to 1440"),
        ('[verify]\nscope = "none"', 'verify.scope must be one of report, enforce, not "none"'),
        ('[verify]\nprotected = "x"', 'verify.protected must be a list of paths, not "x"'),
        ('[verify]\nprotected = ["a", "/b"]', "verify.protected[1] must be a path inside the repository"),
        (
            "[clocks]\nwall_minutes = 1441",
            "clocks.wall_minutes must be a number from 0.001 to 1440, not 1441",
        ),
        ("modes = []", "modes must be a table, not []"),
        ("[modes]\ntasks = 3", "modes.tasks must be a table, not 3"),
        ("[modes.tasks]\nattempts = 0", "modes.tasks.attempts must be a whole number from 1 to 100, not 0"),
        (
            '[modes.tasks]\nretry_session = "new"',
            'modes.tasks.retry_session must be one of same, fresh, not "new"',
        ),
        ("[modes.tasks]\nkeeps_workspace = 1", "modes.tasks.keeps_workspace must be true or false, not 1"),
        (
            '[modes.tasks]\non_failure = "stop"',
            'modes.tasks.on_failure must be one of halt, continue, not "stop"',
        ),
    ],
)
def test_a_wrong_value_of_a_run_names_file_key_and_what_is_allowed(
    tmp_path: Path, text: str, message: str
) -> None:
    assert f"{tmp_path / 'amelia.toml'}: {message}" in str(refused(tmp_path, text))


def test_wrong_workers_in_project_config_json_name_that_file(tmp_path: Path) -> None:
    (tmp_path / ".project-config.json").write_text('{"parallel_workers": "many"}')
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path)
    message = '.project-config.json: parallel_workers must be a whole number from 1 to 64, not "many"'
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "unknown", "hint"),
    [
        ('drivr = "script"', "drivr", "did you mean driver?"),
        ("[verify]\ntimeout = 3", "verify.timeout", "did you mean verify.timeout_minutes?"),
        (
            "[clocks]\nx = 3",
            "clocks.x",
            "known keys: first_event_minutes, silence_minutes, wall_minutes",
        ),
        ("[modes.task]\nattempts = 3", "modes.task", "did you mean modes.tasks?"),
        ("[modes.tasks]\nattempt = 3", "modes.tasks.attempt", "did you mean modes.tasks.attempts?"),
    ],
)
def test_an_unknown_key_of_a_run_is_refused_with_the_nearest(
    tmp_path: Path, text: str, unknown: str, hint: str
) -> None:
    error = refused(tmp_path, text)
    assert str(error) == f"{tmp_path / 'amelia.toml'}: unknown key {unknown}"
    assert error.hint == hint


def test_the_table_in_pyproject_holds_tables_too(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.amelia.verify]\ncommand = "make test"\n')
    assert load_settings(tmp_path).run.verify.command == ("make", "test")


@pytest.mark.slow
@given(key=st.sampled_from(sorted(KEYS.readers)), inner=st.text(max_size=3), value=ANYTHING)
def test_whatever_a_key_holds_it_is_read_or_refused(key: str, inner: str, value: Any) -> None:
    for held in (value, {inner: value}):
        with suppress(ConfigError):
            found = Found({key: held}, Source(Kind.FILE, "amelia.toml", Path()))
            settings_of(merge(layers_of([read_file(KEYS, found)], None)))
