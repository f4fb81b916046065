"""What an error of an agent of the Agent Client Protocol means for a turn, without input or output.

Kinds and codes decide first. The protocol has none for what a provider does, so texts are read too, as
`fault_texts` reads them.
"""

import re
from collections.abc import Iterable, Iterator

from amelia.drive.acp.updates import Table, table_of
from amelia.drive.fault_texts import KINDS, fault_of_provider, faults_in
from amelia.drive.status import ending_of_status
from amelia.drive.stream import DETAIL_LIMIT, text_of
from amelia.model.agents import Ending

LOGIN_IS_NEEDED = -32000
_FAULTS = range(400, 600)
_EMPTY_PREFIX = "Internal error: "  # how the protocol's own library opens every error that it does not know
_SHOWN_STATUS = re.compile(r'"statusCode"\s{0,9}:\s{0,9}(\d{3})\b')
_SILENCE = 30.0  # seconds; a model that has nothing to say is quicker
_OF_A_PROVIDER = frozenset({"APIError", "AI_APICallError", "APICallError"})


def words_of(error: Table) -> str:
    """Returns for people what an error says."""
    return ": ".join(_texts(error)) or "an error without a message"


def ending_of(error: Table) -> Ending:
    """Returns how a turn ends whose request was answered with this error."""
    if error.get("code") == LOGIN_IS_NEEDED:
        return Ending.AUTH
    told = (*_by_kind(error), *_by_code(error), *_by_text(_texts(error)), *_by_provider(error))
    return told[0] if told else Ending.FAILED


def is_of_provider(error: Table) -> bool:
    """Says whether an agent tells of an error that it is its provider's."""
    return table_of(error.get("data")).get("errorName") in _OF_A_PROVIDER


def ending_shown(session: str) -> Ending | None:
    """Returns how a turn ends by the last status that a whole session holds, as its agent shows it."""
    found = _SHOWN_STATUS.findall(session)
    return ending_of_status(int(found[-1])) if found and int(found[-1]) in _FAULTS else None


def ending_of_silence(seconds: float, *, has_spoken: bool) -> Ending | None:
    """Returns how a turn ends that is over without a word: its provider did not answer, if that took long.

    An agent is known that asks its provider again for minutes, and then ends the turn in peace.
    """
    return Ending.LIMITED if not has_spoken and seconds >= _SILENCE else None


def failure_of(answer: Table) -> tuple[Ending, str] | None:
    """Returns how a prompt failed whose answer is no error, with what is said of it; None if it did not.

    An agent of which that is known would else tell its failure as a message and end the turn in peace.
    """
    meta = table_of(table_of(table_of(answer.get("_meta")).get("jetbrains")).get("air"))
    failure = table_of(meta.get("sessionFailure"))
    if failure.get("severity") != "error":
        return None
    words, actions = text_of(failure.get("title"), DETAIL_LIMIT), failure.get("actions")
    # No wait makes a full context or a spent session fit again.
    is_for_good = isinstance(actions, list) and "new_session" in actions
    match failure.get("category"):
        case "access":
            return Ending.AUTH, words
        case "limit":
            return Ending.OVERFLOW if is_for_good else Ending.LIMITED, words
        case "service" | "connection":  # what a refused request is called, too
            return next(_by_text([words]), Ending.LIMITED), words
        case _:
            return Ending.FAILED, words


def _texts(error: Table) -> list[str]:
    data = table_of(error.get("data"))
    given = (error.get("message"), data.get("details"), data.get("message"))
    texts = dict.fromkeys(text_of(text, DETAIL_LIMIT) for text in given)
    return [text for text in texts if text]


def _by_kind(error: Table) -> Iterator[Ending]:
    data = table_of(error.get("data"))
    for kind in (data.get("errorKind"), data.get("codexErrorInfo"), data.get("errorName")):
        if isinstance(kind, str) and kind in KINDS:
            yield KINDS[kind]


def _by_code(error: Table) -> Iterator[Ending]:
    """Yields what statuses of HTTP mean, where an error has fields for them."""
    data = table_of(error.get("data"))
    causes = map(table_of, table_of(data.get("codexErrorInfo")).values())
    codes = [error.get("code"), *(cause.get("httpStatusCode") for cause in (data, *causes))]
    for code in codes:
        if isinstance(code, int) and code in _FAULTS:
            yield ending_of_status(code)


def _by_text(texts: Iterable[str]) -> Iterator[Ending]:
    for text in texts:
        yield from faults_in(text.removeprefix(_EMPTY_PREFIX))


def _by_provider(error: Table) -> Iterator[Ending]:
    """Yields what the words of a provider mean, where an agent says that they are a provider's."""
    if is_of_provider(error):
        yield from fault_of_provider(" ".join(_texts(error)).removeprefix(_EMPTY_PREFIX))
