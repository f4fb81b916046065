"""How Claude Code is logged in: by a key, by a program that gives one, by an account, or by a cloud.

- Nothing is asked of anybody, and no value of a key is kept: only where it stands.
- The order is Claude's own: a cloud, a token, a key, `apiKeyHelper`, an account.
- The role of a machine in a cloud is not visible from here: without other credentials there is a doubt, and
  the login counts.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from amelia.drive.claude.settings import CONFIG_DIR, HELPER, ClaudeSettings, config_folder

API_KEY, TOKEN, OAUTH = "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"
_ON = frozenset({"1", "true", "yes", "on"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """A cloud that Claude can ask for its model, and what tells of credentials for it.

    `variables` are Claude's business if it asks there; each of `signs` is a credential, or names one. `files`
    hold credentials, by the variable that may name another place of theirs.
    """

    switch: str
    title: str
    whose: str
    skip: str
    signs: tuple[str, ...]
    more: tuple[str, ...]
    files: Mapping[str, str]
    helpers: tuple[str, ...] = ()
    way: str

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of all variables that decide how the cloud is asked."""
        return (self.switch, self.skip, *self.signs, *self.more, *self.files)


CLOUDS = (
    Cloud(
        switch="CLAUDE_CODE_USE_BEDROCK",
        title="Amazon Bedrock",
        whose="AWS",
        skip="CLAUDE_CODE_SKIP_BEDROCK_AUTH",
        signs=(
            "AWS_BEARER_TOKEN_BEDROCK",
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
        ),
        more=tuple(
            """
            ANTHROPIC_BEDROCK_BASE_URL AWS_CONTAINER_AUTHORIZATION_TOKEN
            AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE AWS_DEFAULT_REGION AWS_REGION AWS_ROLE_ARN
            AWS_ROLE_SESSION_NAME AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN
            """.split()
        ),
        files={"AWS_SHARED_CREDENTIALS_FILE": ".aws/credentials", "AWS_CONFIG_FILE": ".aws/config"},
        helpers=("awsCredentialExport", "awsAuthRefresh"),
        way="run `aws configure` or `aws sso login`, or set AWS_PROFILE",
    ),
    Cloud(
        switch="CLAUDE_CODE_USE_VERTEX",
        title="Google Vertex AI",
        whose="Google",
        skip="CLAUDE_CODE_SKIP_VERTEX_AUTH",
        signs=(),
        more=tuple(
            """
            ANTHROPIC_VERTEX_BASE_URL ANTHROPIC_VERTEX_PROJECT_ID CLOUD_ML_REGION CLOUDSDK_CONFIG
            GCLOUD_PROJECT GOOGLE_CLOUD_PROJECT
            """.split()
        ),
        files={
            "GOOGLE_APPLICATION_CREDENTIALS": ".config/gcloud/application_default_credentials.json",
        },
        way="run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS",
    ),
    Cloud(
        switch="CLAUDE_CODE_USE_FOUNDRY",
        title="Microsoft Foundry",
        whose="Azure",
        skip="CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
        signs=("ANTHROPIC_FOUNDRY_API_KEY", "AZURE_CLIENT_ID"),
        more=tuple(
            """
            ANTHROPIC_FOUNDRY_BASE_URL ANTHROPIC_FOUNDRY_RESOURCE AZURE_CLIENT_CERTIFICATE_PATH
            AZURE_CLIENT_SECRET AZURE_CONFIG_DIR AZURE_FEDERATED_TOKEN_FILE AZURE_TENANT_ID
            """.split()
        ),
        files={"": ".azure/azureProfile.json"},
        way="run `az login`, or set ANTHROPIC_FOUNDRY_API_KEY",
    ),
)


@dataclass(frozen=True, slots=True)
class Login:
    """How Claude is known to its provider, in words, and what makes it doubtful."""

    text: str
    doubts: tuple[str, ...] = ()


def clouds_in_use(own: ClaudeSettings) -> Iterator[Cloud]:
    """Yields the clouds that Claude would ask, by its settings or by the caller's environment."""
    for cloud in CLOUDS:
        if (own.value(cloud.switch) or "").strip().casefold() in _ON:
            yield cloud


def find_login(given: str | None, own: ClaudeSettings) -> Login | None:
    """Returns how Claude is logged in; `given` says what it is handed by Amelia, if it is handed anything."""
    cloud = next(clouds_in_use(own), None)
    if cloud is not None:
        return _of_cloud(cloud, own)
    if given is not None:
        return Login(given)
    for names, places in (
        ((TOKEN, API_KEY), own.variables),
        ((HELPER,), own.keys),
        ((OAUTH,), own.variables),
    ):
        for name in names:
            if name in places:
                return Login(f"{'key from' if name == HELPER else 'key in'} {name} in {places[name].file}")
    return Login("logged in to an account") if _has_account() else None


def _of_cloud(cloud: Cloud, own: ClaudeSettings) -> Login:
    switch = own.variables.get(cloud.switch)
    text = f"asks {cloud.title}, by {cloud.switch}{f' in {switch.file}' if switch else ''}"
    if _is_provided(cloud, own):
        return Login(text)
    named = next(
        (f", for {name} names a file that is not there" for name in cloud.files if own.value(name)), ""
    )
    doubt = f"no {cloud.whose} credentials are visible{named}: {cloud.way}, unless this machine has a role"
    return Login(text, (doubt,))


def _is_provided(cloud: Cloud, own: ClaudeSettings) -> bool:
    if (own.value(cloud.skip) or "").strip().casefold() in _ON:
        return True
    if any(map(own.value, cloud.signs)) or any(key in own.keys for key in cloud.helpers):
        return True
    return any(_place(name, usual, own).is_file() for name, usual in cloud.files.items())


def _place(name: str, usual: str, own: ClaudeSettings) -> Path:
    """Returns where a file with credentials is: where a variable says, or where it usually is."""
    if value := own.value(name):
        return Path(value).expanduser()
    folder, _, file = usual.rpartition("/")
    moved = own.value(_MOVED.get(folder, ""))
    return Path(moved, file) if moved else Path.home() / usual


_MOVED = {".config/gcloud": "CLOUDSDK_CONFIG", ".azure": "AZURE_CONFIG_DIR"}
"""Directories that a variable can put elsewhere."""


def _has_account() -> bool:
    """Tells whether the file of a login is there, or the account of one in a keychain."""
    folder = config_folder()
    if (folder / ".credentials.json").exists():
        return True
    account = (folder if os.environ.get(CONFIG_DIR) else Path.home()) / ".claude.json"
    return account.is_file() and b'"oauthAccount"' in account.read_bytes()
