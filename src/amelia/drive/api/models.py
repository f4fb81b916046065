"""From `provider:model` to a model that can be asked, and what its answers cost.

- A server behind a base URL of somebody's own speaks Chat Completions when it is called `openai`: nearly all
  of them do, and few the newer protocol.
- Such a server gets the key that was given for it, or none; never one that the environment holds for others.
- The price of such a server is nobody's guess: it is unknown.
"""

from collections.abc import Mapping
from importlib.metadata import version

from pydantic_ai import ModelResponse
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from amelia.drive.api.assignment import Assignment
from amelia.model.agents import Usage

NO_KEY = "none"
"""What is sent as a key where there is none: the libraries would else look for one, or refuse to ask."""


class ModelError(ValueError):
    """The model cannot be asked at all: an unknown provider, or a missing library."""


class MissingKeyError(ModelError):
    """There is no key for the provider."""


def make_model(assignment: Assignment, key: str | None) -> Model:
    """Returns the model; a `ModelError` says why there is none."""
    name = assignment.model
    if assignment.base_url and name.startswith("openai:"):
        name = name.replace("openai:", "openai-chat:", 1)
    if assignment.base_url:
        key = key or NO_KEY
    given = {name: value for name, value in (("base_url", assignment.base_url), ("api_key", key)) if value}
    try:
        return infer_model(name, lambda provider: _make_provider(provider, given))
    except UserError as error:  # of the provider, which looked for its key
        if key:
            raise ModelError(f"{assignment.model}: {error}") from error
        raise MissingKeyError(f"{assignment.model}: there is no key for this provider") from error
    except (ImportError, ValueError) as error:
        raise ModelError(f"{assignment.model}: {error}") from error
    except TypeError as error:
        raise ModelError(f"{assignment.model}: this provider takes no base URL, or no key") from error


def check_model(assignment: Assignment) -> str:
    """Returns the version of the library, once the model could be made; the key itself plays no part."""
    make_model(assignment, NO_KEY if assignment.has_key else None)
    return version("pydantic-ai-slim")


def usage_of(response: ModelResponse, base_url: str | None) -> Usage | None:
    """Returns what one answer used; None if the provider does not tell."""
    used = response.usage
    if not used.total_tokens:
        return None
    cost = None if base_url or used.cost is None else float(used.cost)
    return Usage(used.input_tokens, used.output_tokens, cost)


def _make_provider(name: str, given: Mapping[str, str]) -> Provider[object]:
    return infer_provider_class(name)(**given) if given else infer_provider(name)
