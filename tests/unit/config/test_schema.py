"""The schema and the first file of a project are made from the table of keys, and agree with the reader."""

import json
import re
import tomllib
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from amelia.config import load_project, load_settings
from amelia.config.fields import SETTLED
from amelia.config.keys import KEYS
from amelia.config.schema import schema_text
from amelia.config.template import file_text
from amelia.model.agents import Role
from amelia.model.errors import ConfigError
from amelia.model.settings import Settings

DOCS = Path(__file__).parents[3] / "docs"
BLOCK = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = ("reference/settings.md", "guides/agents.md", "guides/settings.md")
EXAMPLES = [
    pytest.param(text, id=f"{name}-{number}")
    for name in PAGES
    for number, text in enumerate(BLOCK.findall((DOCS / name).read_text(encoding="utf-8")))
]
SHIPPED = files("amelia.config").joinpath("schema.json").read_text(encoding="utf-8")
DETECTED = {"verify.command": ["python", "-m", "pytest"], "verify.setup": ["uv", "sync"]}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "config.toml"
    monkeypatch.setenv("AMELIA_CONFIG", str(file))
    return file


@pytest.fixture(scope="module")
def schema() -> Any:
    """What validates settings; a development dependency that an old environment may not have yet."""
    pytest.importorskip("jsonschema")
    validators = import_module("jsonschema")
    validators.Draft7Validator.check_schema(json.loads(SHIPPED))
    return validators.Draft7Validator(json.loads(SHIPPED))


def uncommented(text: str) -> str:
    return re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE)


def test_the_schema_that_is_shipped_is_that_of_the_table() -> None:
    assert schema_text() == SHIPPED, "write it anew: amelia config schema > src/amelia/config/schema.json"


def test_every_key_says_what_it_decides() -> None:
    assert [key for key, reader in KEYS.leaves() if not reader.note] == []


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_schema_takes_what_the_documents_show(text: str, schema: Any) -> None:
    assert [problem.message for problem in schema.iter_errors(tomllib.loads(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        'tdd = "maybe"',
        "parallel_workers = 0",
        "parallel_workers = true",
        "tddd = 1",
        "[verify]\nscope = 3",
        "[verify]\ncommand = []",
        "[verify]\nprotected = 'x'",
        "[agents.reviewr]",
        "[agents.reviewer]\nkey = 'sk-ant-1'",
        "[agents]\nbase_url = 'https://a:b@example.com'",
        "[budget]\nrun_cost = 'no'",
        "[prompts]\ntask = 3",
        "[profiles.p]\nprofile = 'q'",
        "[profiles.p.modes.tasks]\nattempts = 'x'",
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(
    text: str, schema: Any, tmp_path: Path, own: Path
) -> None:
    own.write_text(text)
    with pytest.raises(ConfigError):
        load_settings(tmp_path)
    assert list(schema.iter_errors(tomllib.loads(text)))


def test_the_first_file_says_what_was_found_and_nothing_else(tmp_path: Path, schema: Any) -> None:
    text = file_text(DETECTED, {"verify": "found: Python"})
    (tmp_path / "amelia.toml").write_text(text, encoding="utf-8")
    assert not list(schema.iter_errors(tomllib.loads(text)))
    verify = load_project(tmp_path).run.verify
    assert (verify.command, verify.setup) == (("python", "-m", "pytest"), ("uv", "sync"))
    (tmp_path / "amelia.toml").write_text(file_text({}, {}), encoding="utf-8")
    assert load_project(tmp_path) == Settings()


def test_the_first_file_shows_every_key_of_a_project_and_they_can_be_taken_as_they_are(
    tmp_path: Path, schema: Any
) -> None:
    text = uncommented(file_text(DETECTED, {"agents": "ready: claude"}))
    (tmp_path / "amelia.toml").write_text(text, encoding="utf-8")
    settings = load_project(tmp_path)
    assert not list(schema.iter_errors(tomllib.loads(text)))
    assert (settings.plan, settings.run.budget) == (Settings().plan, Settings().run.budget)
    assert settings.run.clocks == Settings().run.clocks
    assert settings.run.policies == Settings().run.policies
    shown = set(re.findall(r"^(\w+) =", text, re.MULTILINE))
    theirs = {key.rpartition(".")[2] for key, reader in KEYS.leaves() if not reader.is_users}
    assert theirs - shown == {"profile", "max_acceptance_criteria", "max_task_review_iterations"}
    assert shown - theirs == {"task"}


def test_a_remark_stands_above_its_table() -> None:
    text = file_text({}, {"agents": "ready: claude"})
    assert "# ready: claude\n[agents]\n" in text


def test_every_role_and_mode_is_settled() -> None:
    assert {key.split(".")[1] for key in SETTLED if key.startswith("agents.")} == set(Role)
    assert "driver" not in SETTLED
    assert "agents.driver" not in SETTLED
