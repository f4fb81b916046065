"""The fault of a provider that a program tells in words, without input or output.

- A text counts in the shapes in which programs write: a status of HTTP as in `HTTP 429`, `error: 429` or
  `429 Too Many Requests`, the name of an error as in `RateLimitError`, a sentence of a provider as in
  `Incorrect API key provided`. A text that merely holds a number or speaks of a limit says nothing.
- An agent's message counts only if it is a notice of an error and nothing else: a short text that opens as
  such notices do, holds no report and tells of no work. What an agent writes about limits and logins in its
  work is no fault.
- Whoever reads an error that is known to be one takes the first fault in it.
"""

import re
from collections.abc import Iterator, Mapping

from amelia.drive.objects import objects_in
from amelia.drive.status import ending_of_status
from amelia.model.agents import Ending

NOTICE_LIMIT = 2_000
"""Characters of the longest message that can be a notice of an error."""

_FAULTS = range(400, 600)
_PHRASES = r"""(?:Unauthorized|Forbidden|Too[ ]Many[ ]Requests|Internal[ ]Server[ ]Error|Bad[ ]Gateway
    |Service[ ]Unavailable|Gateway[ ]Time-?out|Bad[ ]Request|Not[ ]Found|Payment[ ]Required)\b"""

# The names by which agents, their adapters and the providers behind them tell the kind of an error.
_REFUSALS = """
    authentication_failed oauth_org_not_allowed unauthorized authentication_error permission_error
    invalid_api_key ProviderAuthError AuthenticationError PermissionDeniedError UNAUTHENTICATED
    PERMISSION_DENIED
"""
_LIMITS = """
    rate_limit overloaded server_error usageLimitExceeded serverOverloaded rate_limit_error overloaded_error
    api_error rate_limit_exceeded RateLimitError RateLimitExceededError OverloadedError InternalServerError
    ServiceUnavailableError APIConnectionError APITimeoutError APIConnectionTimeoutError Timeout
    RESOURCE_EXHAUSTED UNAVAILABLE
"""
_MISTAKES = "invalid_request badRequest invalid_request_error BadRequestError INVALID_ARGUMENT"
_UNKNOWN_MODELS = "model_not_found not_found_error NotFoundError NOT_FOUND"
_TOO_LONG = """
    context_length_exceeded contextWindowExceeded ContextWindowExceededError ContextOverflowError
"""
# These say more than the status that comes with them.
_PRECISE = {
    **dict.fromkeys("insufficient_quota billing_error".split(), Ending.NO_CREDIT),
    **dict.fromkeys(_TOO_LONG.split(), Ending.OVERFLOW),
}
KINDS = {
    **dict.fromkeys(_REFUSALS.split(), Ending.AUTH),
    **dict.fromkeys(_LIMITS.split(), Ending.LIMITED),
    **dict.fromkeys(_MISTAKES.split(), Ending.FAILED),
    **dict.fromkeys(_UNKNOWN_MODELS.split(), Ending.MODEL_NOT_FOUND),
    **_PRECISE,
}
"""How a turn ends that ends with an error of this name."""

_QUOTED_KIND = re.compile(r'"(?:type|code|status|name)"\s?:\s?"(\w+)"')
_CLASS = re.compile(r"(?<![\w.])(?:\w{1,30}\.){0,4}([A-Z][A-Za-z]{1,40}Error)\b")
_WRITTEN_STATUS = re.compile(
    rf"""\b(?:HTTP(?:/\d(?:\.\d)?)?|API[ ]Error|status)(?:[ _]?(?:status|code|error))*"?[:=]?[ ]?(\d{{3}})\b
    |\b(\d{{3}})[ ]{_PHRASES}
    |(?:^|\b(?:error|exception|failed|failure)(?:[ ]code)?"?[ ]?[:(\[]{{1,2}}[ ]?)
        (\d{{3}})(?=[\])]?(?:[ :,.]|$))
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WRITTEN_PHRASE = re.compile(rf"\d{{3}}[ ]{_PHRASES}", re.IGNORECASE | re.VERBOSE)
_BARE_STATUS = re.compile(r"\A[45]\d\d[ ]")
# Sentences of providers, and of the libraries that ask them, where no status is told.
_REFUSED = r"""
    \b(?:invalid|incorrect|wrong|expired|revoked|missing|no)[ ](?:x-)?api[ _-]?key\b
    |\bapi[ _-]?key[ ](?:is[ ]|was[ ]|has[ ])?(?:not[ ]valid|invalid|expired|revoked|missing|not[ ]found)\b
    |\b(?:invalid|expired)[ ](?:access|auth|authentication|bearer|oauth|refresh)[ ]token\b
    |\b(?:access|auth|bearer|oauth|refresh)[ ]token[ ](?:is[ ]|has[ ])?(?:invalid|expired|revoked)\b
    |\b(?:authentication|authorization|login)[ ](?:is[ ])?(?:required|failed)\b
    |^(?:you[ ]are[ ])?not[ ](?:logged|signed)[ ]in\b|\bno[ ]auth[ ]credentials\b
    |^(?:error:[ ])?(?:unauthorized|forbidden)(?=[.!]?$)
"""
_UNPAID = r"""
    \bcredit[ ]balance[ ]is[ ]too[ ]low\b|\binsufficient[ ](?:credits?|funds|balance)\b
    |\byour[ ](?:[\w-]{1,20}[ ]){0,2}?(?:is|are)[ ]out[ ]of[ ]credits?\b
"""
_LIMITED = r"""
    (?:^|\b(?:error|exception):[ ])(?:claude[ ]ai[ ])?(?:rate|usage|weekly|daily|monthly|session|hourly)
        [ -]limit[ ](?:was[ ]|is[ ])?(?:reached|exceeded|hit)\b
    |\byou(?:'ve|[ ]have)?[ ](?:hit|reached|exceeded)[ ]your[ ](?:[\w-]{1,20}[ ]){0,3}?(?:limit|quota|cap)\b
    |^(?:error:[ ])?(?:too[ ]many[ ]requests|overloaded|internal[ ]server[ ]error|bad[ ]gateway
        |service[ ]unavailable|gateway[ ]time-?out)(?=[.!]?$)
    |(?:\bthe[ ])?\b(?:server|service|model|engine|provider|api)[ ]is[ ](?:currently[ ]|temporarily[ ])?
        (?:overloaded|unavailable|at[ ]capacity|busy)\b
    |\bthe[ ]server[ ]had[ ]an[ ]error\b|\bexperiencing[ ]high[ ]demand\b
"""
_OUT_OF_REACH = r"""
    \b(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EPIPE)\b|\bsocket[ ]hang[ ]up\b
    |\b(?:connection|connect)[ ](?:error|refused|reset|timed[ ]out|closed|failed)\b|\bfetch[ ]failed\b
    |\b(?:request|stream)[ ]timed[ ]out\b|\b(?:cannot|unable[ ]to|failed[ ]to)[ ]connect[ ]to\b
    |\berror[ ]sending[ ]request\b|\bnetwork[ ]error\b
"""


def _sentences(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


_SPOKEN = (
    (_sentences(_UNPAID), Ending.NO_CREDIT),
    (_sentences(_REFUSED), Ending.AUTH),
    (_sentences(_LIMITED), Ending.LIMITED),
)
_UNREACHED = _sentences(_OUT_OF_REACH)
FULL = re.compile(
    r"context[ _](?:length|window|size)|(?:prompt|input) is too long|too many (?:input )?tokens",
    re.IGNORECASE,
)
"""How servers say of a request that they refused that it is too long for the model."""
# A message is such a sentence if it opens with one that comes to an end there.
_WHOLE = re.compile(r"\s*(?:$|[^\w\s]|\n|(?:for|in|on|at|by|while|provided|found|please|check|try)\b)")
# How a notice of an error opens; the fault itself may stand behind notices of attempts before it.
_OPENING = re.compile(
    r"""[^\w\n{]{0,6}(?:(?:info|warning|warn|notice|note):[ ])?(?:
        (?:\w[\w.'-]{0,30}[ ]){0,4}?[\w.]{0,60}(?:error|exception|failure)[ ]?[:(\[]
        |(?:\w[\w.'-]{0,30}[ ]){0,3}?(?:request|call|run|turn|prompt|completion|generation|inference
            |authentication|authorization|connection|login|llm|api|model|provider)[ ](?:has[ ])?failed
            (?=[.:,;(!]|[ ](?:with|for|due|because|to|after|at)\b|$)
        |failed[ ]to[ ](?:get|fetch|generate|call|connect|reach|complete|send|process|authenticate|stream)\b
        |HTTP[ ][45]\d\d\b|[45]\d\d:[ ]
    )|\{\s{0,9}"(?:error"|type"\s?:\s?"error")""",
    re.IGNORECASE | re.VERBOSE,
)
# How an agent tells of its work and of tests, which no notice of an error does.
_MET = "encountered|experienced|received|reached|exceeded|failed|tried|retried|timed|stopped"
_WORK = re.compile(
    rf"""\bI(?:['\u2019]ve|[ ]have)?[ ](?:(?:just|also|then|now|\w{{2,20}}ly)[ ])?
        (?:(?!(?:{_MET})\b)\w{{2,20}}ed|wrote|rewrote|made|put|set|caught|built)\b
    |(?:^\W*|[:;,.][ ]{{1,3}})(?:added|fixed|implemented|handled|mended|resolved|corrected|updated|changed
        |created|wrote)\b
    |\A\W*fix\b|\bassert(?:ion)?(?:error)?\b|\btest_\w|\btests?[ ](?:now[ ])?pass(?:es|ed)?\b
    |\b(?:is|are|does|do)[ ]now\b(?![ ](?:unavailable|overloaded|blocked|disabled|expired))
    |\bnow[ ](?:\w{{2,20}}(?:s|ed)|pass|see|raise|return|show|work)\b
    |\b(?:handled|fixed|retried|mapped|passes|pass|works|shown)[ ]now\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_OF_AN_ERROR = frozenset({"error", "errors", "message", "detail", "code"})

# Words that tell the kind of an error that is known to be a provider's, in the order they are looked for.
_WORDS = (
    (re.compile(r"\b(?:context\b|too long\b)", re.IGNORECASE), Ending.OVERFLOW),
    (
        re.compile(r"\bmodel\b.{0,100}\b(?:not found|does not exist)\b", re.IGNORECASE),
        Ending.MODEL_NOT_FOUND,
    ),
    (re.compile(r"\b(?:maximum|max_tokens|not found|does not exist)", re.IGNORECASE), Ending.FAILED),
    (
        re.compile(
            r"\b(?:auth\w*|unauthori[sz]ed|api[ _-]?key|credentials?|log ?in|forbidden)\b", re.IGNORECASE
        ),
        Ending.AUTH,
    ),
    (
        re.compile(
            r"\b(?:rate|limit\w*|quota|capacity|overload\w*|unavailable|internal|upstream|time[d -]?out\w*"
            r"|try again|retry|busy)\b|\bserver error\b",
            re.IGNORECASE,
        ),
        Ending.LIMITED,
    ),
)


def faults_in(text: str) -> Iterator[Ending]:
    """Yields how a turn ends by the faults that the text of an error tells, the surest first."""
    told = [*_kinds_in(text, _PRECISE), *_statuses_in(text), *_kinds_in(text, KINDS)]
    if FULL.search(text) and all(ending is Ending.FAILED for ending in told):
        yield Ending.OVERFLOW
    yield from told
    for sentence, ending in (*_SPOKEN, (_UNREACHED, Ending.LIMITED)):
        if sentence.search(text):
            yield ending


def _statuses_in(text: str) -> Iterator[Ending]:
    for found in _WRITTEN_STATUS.finditer(text):
        if (status := int(found[1] or found[2] or found[3])) in _FAULTS:
            yield ending_of_status(status)


def _kinds_in(text: str, kinds: Mapping[str, Ending]) -> Iterator[Ending]:
    for kind in (*_QUOTED_KIND.findall(text), *_CLASS.findall(text)):
        if kind in kinds:
            yield kinds[kind]


def fault_of_provider(text: str) -> Iterator[Ending]:
    """Yields what a text means that is known to be a provider's answer to a request it did not serve."""
    for words, ending in _WORDS:
        if words.search(text):
            yield ending
            return


def fault_of_message(text: str, *, is_idle: bool) -> Ending | None:
    """Returns the fault of the provider that an agent's message is a notice of; None if it is none.

    An agent that was idle, and used no tool before its message, may also have put it in a mere sentence.
    """
    notice = text.strip()
    if len(notice) > NOTICE_LIMIT or not (_OPENING.match(notice) or (is_idle and _is_sentence(notice))):
        return None
    if _holds_report(notice) or _WORK.search(notice):
        return None
    fault = next(faults_in(notice), None)
    return None if fault is Ending.FAILED else fault


def is_answer_of_provider(value: Mapping[str, object]) -> bool:
    """Says whether a JSON object is what a provider answers to a request it did not serve, not a report."""
    return any(value.get(name) for name in _OF_AN_ERROR)


def _holds_report(text: str) -> bool:
    return any(each.stands_alone and not is_answer_of_provider(each.value) for each in objects_in(text))


def _is_sentence(text: str) -> bool:
    """Says whether a text opens with what a provider says, and not with a sentence about that."""
    said = _BARE_STATUS.sub("", text)
    opened = [found for sentence, _ in _SPOKEN if (found := sentence.match(said))]
    return any(_WHOLE.match(said, found.end()) for found in opened) or bool(_WRITTEN_PHRASE.match(text))
