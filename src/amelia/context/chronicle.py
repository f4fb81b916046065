"""What the record of a run tells, unit by unit: a fold over the journal, like the state, but for reading.

The state knows what is decided by; the chronicle keeps what was said on the way: what attempts left and
reported, why they were not accepted, what was landed on what, and what it all used.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce

from amelia.model import events as ev
from amelia.model.agents import Ending, Role, Spent, Usage
from amelia.model.findings import Disposition, Finding, Ruling, Weight
from amelia.model.git import CommitId
from amelia.model.outcome import Cause
from amelia.model.plan import Unit, UnitId
from amelia.model.splitting import with_pieces

_RULED_OUT = frozenset({Disposition.REJECT, Disposition.DEFER})


@dataclass(frozen=True, slots=True)
class Tried:
    """What one turn of the developer left, and what its agent said of it."""

    turn: int
    commit: CommitId
    ending: Ending
    said: str


@dataclass(frozen=True, slots=True)
class Objection:
    """Why the work of a turn was not accepted, by whom, and in which words."""

    turn: int
    by: str
    text: str


@dataclass(frozen=True, slots=True)
class Proof:
    """A verification that passed: the tree that was tested, and the digest of the receipt.

    `red` are the tests that failed, as they should: a later unit implements what they test. `changed` are
    those that the unit itself changed, and that fail as they were.
    """

    tree: str | None
    digest: str | None
    notes: tuple[str, ...] = ()
    red: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Landing:
    """The commit that a unit is, and the one it was put on."""

    base: CommitId
    commit: CommitId


@dataclass(frozen=True, slots=True)
class Reply:
    """What a person was asked and answered; or nobody did, and the default counts."""

    question: str
    answer: str
    is_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """What happened to one unit.

    `open` are the findings of the last review, until they are ruled; `ruled` those that were rejected or
    deferred; `remarks` those with which it was approved all the same. `asked` is the text that a person was
    last asked to answer. `fixed` is the person's work by hand, as long as no agent was told to try again.
    `granted` are the files of tests that a person let the unit change.
    """

    unit: Unit
    tried: tuple[Tried, ...] = ()
    objections: tuple[Objection, ...] = ()
    cause: Cause | None = None
    proof: Proof | None = None
    open: tuple[Finding, ...] = ()
    ruled: tuple[tuple[Finding, Ruling], ...] = ()
    remarks: tuple[Finding, ...] = ()
    replies: tuple[Reply, ...] = ()
    landing: Landing | None = None
    asked: str = ""
    granted: tuple[str, ...] = ()
    fixed: ev.UnitFixed | None = None
    spent: Mapping[Role, Spent] = field(default_factory=dict[Role, Spent])

    @property
    def last(self) -> Tried | None:
        """What the last turn left."""
        return self.tried[-1] if self.tried else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chronicle:
    """What happened in a run.

    `tip` is the last commit of its branch, `proof` what the whole branch showed, and `drafting` what was used
    before there was a unit to charge.
    """

    facts: ev.RunStarted
    chapters: dict[UnitId, Chapter]
    tip: CommitId
    proof: Proof | None = None
    drafting: Mapping[Role, Spent] = field(default_factory=dict[Role, Spent])

    @property
    def landed(self) -> CommitId | None:
        """The commit that landed last; None if nothing has."""
        return None if self.tip == self.facts.base else self.tip


def opened(facts: ev.RunStarted) -> Chronicle:
    """Returns the chronicle of a run that has just started."""
    chapters = {unit.id: Chapter(unit=unit) for unit in facts.units}
    return Chronicle(facts=facts, chapters=chapters, tip=facts.base)


def told(chronicle: Chronicle, events: Iterable[ev.Event]) -> Chronicle:
    """Returns the chronicle with more that happened; most events are not worth telling."""
    # Copied once, and not for every event: a long run is to be read in time that grows with it.
    return reduce(_after, events, replace(chronicle, chapters=dict(chronicle.chapters)))


def _after(chronicle: Chronicle, event: ev.Event) -> Chronicle:
    """Returns the chronicle with one more event; its chapters are this fold's own, and change in place."""
    if isinstance(event, ev.RunStarted):
        return replace(opened(event), drafting=chronicle.drafting)
    unit = getattr(event, "unit", None)
    if unit is None or unit in chronicle.chapters:
        return _told(chronicle, event)
    if isinstance(event, ev.UsageReported):
        return replace(chronicle, drafting=_charged(chronicle.drafting, event.role, event.usage))
    return chronicle


def _told(chronicle: Chronicle, event: ev.Event) -> Chronicle:  # noqa: PLR0911 - a line per event
    match event:
        case ev.UnitLanded(unit, commit=commit):
            return replace(_with(chronicle, unit, landing=Landing(chronicle.tip, commit)), tip=commit)
        case ev.BranchVerified(passed=True, receipt=receipt):
            return replace(chronicle, proof=Proof(receipt, None))
        case ev.UnitFixed(unit):
            return _with(chronicle, unit, fixed=event, remarks=())
        case ev.UnitReset(unit):
            granted = _granted(chronicle, event)
            return _with(chronicle, unit, fixed=None, cause=None, granted=granted)
        case ev.UnitParked(unit, detail=detail):
            return _with(chronicle, unit, asked=detail)
        case ev.QuestionAnswered():
            return _answered(chronicle, event)
        case ev.UnitSplit():
            return _split(chronicle, event)
        case ev.UsageReported(unit=unit, role=role, usage=usage):
            return _with(chronicle, unit, spent=_charged(chronicle.chapters[unit].spent, role, usage))
        case _:
            return _attempted(chronicle, event)


def _split(chronicle: Chronicle, event: ev.UnitSplit) -> Chronicle:
    """Puts the pieces of a unit in its place; what it used until then is told of the first of them."""
    facts, old = with_pieces(chronicle.facts, event), chronicle.chapters
    chapters = {
        unit.id: replace(old[unit.id], unit=unit) if unit.id in old else Chapter(unit=unit)
        for unit in facts.units
    }
    whole, first = old[event.unit], event.pieces[0].id
    chapters[first] = replace(chapters[first], spent=whole.spent, ruled=whole.ruled, replies=whole.replies)
    return replace(chronicle, facts=facts, chapters=chapters)


def _answered(chronicle: Chronicle, event: ev.QuestionAnswered) -> Chronicle:
    """Keeps what was answered; findings that a person left count as rejected."""
    chapter = chronicle.chapters[event.unit]
    out = tuple(
        (found, Ruling(found.id, Disposition.REJECT, f"a person: {event.answer}"))
        for found in chapter.open
        if found.id in event.dismissed
    )
    return _with(
        chronicle,
        event.unit,
        replies=(*chapter.replies, Reply(chapter.asked, event.answer, event.by_default)),
        ruled=(*chapter.ruled, *out),
        granted=_granted(chronicle, event),
    )


def _granted(chronicle: Chronicle, event: ev.UnitReset | ev.QuestionAnswered) -> tuple[str, ...]:
    """Returns the files that a person let a unit change, with those of one more decision."""
    return tuple(dict.fromkeys((*chronicle.chapters[event.unit].granted, *event.granted)))


def _attempted(chronicle: Chronicle, event: ev.Event) -> Chronicle:  # noqa: PLR0911 - a line per event
    match event:
        case ev.AttemptEnded(unit=unit):
            return _written(chronicle, chronicle.chapters[unit], event)
        case ev.AttemptVerified(unit=unit, passed=True, receipt=tree, proof=digest, notes=notes, red=red):
            proof = Proof(tree, digest, notes, red, event.edits.ruled)
            return _with(chronicle, unit, proof=proof)
        case ev.AttemptVerified(unit=unit, attempt=attempt, feedback=text):
            return _objected(chronicle, unit, Objection(attempt, "the executed checks", text))
        case ev.AttemptReviewed(unit=unit, findings=findings):
            remarks = _remarks(event, chronicle.chapters[unit])
            return _with(chronicle, unit, open=findings, remarks=remarks)
        case ev.FindingsEvaluated():
            return _ruled(chronicle, event)
        case ev.LandingRefused(unit, attempt, _, text):
            return _objected(chronicle, unit, Objection(attempt, "the branch it was to land on", text))
        case ev.UnitRetried(unit, cause=cause):
            return _with(chronicle, unit, cause=cause, remarks=())
        case ev.UnitIterated(unit):
            return _with(chronicle, unit, cause=Cause.CHECKS_FAILED)
        case _:
            return chronicle


def _remarks(review: ev.AttemptReviewed, chapter: Chapter) -> tuple[Finding, ...]:
    """Returns the findings of a review that do not keep the work from landing, and that nobody rules."""
    ruled = {finding.id for finding, _ in chapter.ruled}
    left = tuple(finding for finding in review.findings if finding.id not in ruled)
    is_blocked = any(finding.weight is Weight.BLOCKING for finding in left)
    return left if review.approved and not is_blocked else ()


def _with(chronicle: Chronicle, unit: UnitId, **changes: object) -> Chronicle:
    chapter = replace(chronicle.chapters[unit], **changes)  # pyright: ignore[reportArgumentType]
    chronicle.chapters[unit] = chapter
    return chronicle


def _written(chronicle: Chronicle, chapter: Chapter, event: ev.AttemptEnded) -> Chronicle:
    tried = Tried(event.attempt, event.work.commit, event.ending, event.summary)
    others = tuple(other for other in chapter.tried if other.turn != event.attempt)
    written = _with(chronicle, event.unit, tried=(*others, tried))
    if event.refused is not None:
        return _objected(written, event.unit, Objection(event.attempt, "the repository", event.refused))
    if event.ending in {Ending.OK, Ending.LIMITED, Ending.OUT_OF_BUDGET}:
        return written
    return _objected(written, event.unit, Objection(event.attempt, "the agent itself", event.summary))


def _objected(chronicle: Chronicle, unit: UnitId, objection: Objection) -> Chronicle:
    return _with(chronicle, unit, objections=(*chronicle.chapters[unit].objections, objection))


def _ruled(chronicle: Chronicle, event: ev.FindingsEvaluated) -> Chronicle:
    """Takes in what the evaluator says: what is left is an objection, what is not is told in the report."""
    chapter = chronicle.chapters[event.unit]
    found = {finding.id: finding for finding in chapter.open}
    pairs = [(found[ruling.finding], ruling) for ruling in event.rulings if ruling.finding in found]
    out = tuple(pair for pair in pairs if pair[1].disposition in _RULED_OUT)
    chronicle = _with(chronicle, event.unit, ruled=(*chapter.ruled, *out))
    left = [finding for finding, ruling in pairs if ruling.disposition not in _RULED_OUT]
    if not left:
        return chronicle
    text = "\n".join(f"- {finding}" for finding in left)
    return _objected(chronicle, event.unit, Objection(event.attempt, "the reviewer", text))


def _charged(spent: Mapping[Role, Spent], role: Role, usage: Usage | None) -> dict[Role, Spent]:
    return {**spent, role: spent.get(role, Spent()).plus(usage)}
