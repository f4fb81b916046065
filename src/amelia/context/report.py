"""The report of a run: what landed and what proves it, what was put off, what waits, what it cost.

What nobody knows is called unknown, never nothing. Texts of agents are one line each, and bounded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from amelia.context.chronicle import Chapter, Chronicle
from amelia.context.quoting import one_line
from amelia.context.summary import let_change, shortened
from amelia.model.agents import Spent
from amelia.model.findings import Disposition
from amelia.model.git import branch_ref
from amelia.model.interventions import Accepted
from amelia.model.outcome import Reason
from amelia.model.plan import Mode, UnitId, milestone_title, unit_heading
from amelia.model.standing import MilestoneStanding, RunStanding, UnitStanding, by_hand

_LONGEST = 500
_MOST_FILES = 20
_MAY_SHOW = str.maketrans({"`": "'", "|": "/", "<": "‹", ">": "›"})


@dataclass(frozen=True, slots=True)
class Cost:
    """What was used: dollars as far as they are known, tokens without a price, turns that told nothing."""

    dollars: float | None
    unpriced_tokens: int
    untold_turns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitReport:
    """What became of one unit; files are None where nobody knows them any more.

    `granted` are the files of tests that a person let it change.
    """

    unit: str
    title: str
    stories: tuple[str, ...]
    status: str
    attempts: int
    iterations: int
    turns: int
    commit: str | None = None
    by_person: bool = False
    reviewed: bool = False
    accepted: tuple[Accepted, ...] = ()
    files: tuple[str, ...] | None = None
    receipts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    granted: tuple[str, ...] = ()
    reason: str | None = None
    detail: str = ""
    cost: Cost | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MilestoneReport:
    """Where a milestone stands, and how many of its tasks are done."""

    id: str
    title: str
    description: str
    task_ids: tuple[str, ...]
    status: str
    done: int


@dataclass(frozen=True, slots=True)
class Ruled:
    """A finding that was not followed, and what shows that it need not be."""

    unit: str
    finding: str
    because: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding with which a review approved all the same."""

    unit: str
    remark: str


@dataclass(frozen=True, slots=True)
class Replied:
    """A question, and what a person answered, or what counts because nobody did."""

    unit: str
    question: str
    answer: str
    is_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Everything worth knowing about a run when it is over, or stops."""

    run: str
    goal: str
    status: str
    status_in_words: str
    branch: str | None
    base: str
    tip: str
    record: str
    milestones: tuple[MilestoneReport, ...]
    units: tuple[UnitReport, ...]
    rejected: tuple[Ruled, ...]
    deferred: tuple[Ruled, ...]
    remarks: tuple[Remark, ...]
    replies: tuple[Replied, ...]
    cost: Cost
    cost_by_role: Mapping[str, Cost]
    unheld: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a landed unit besides the journal: its files, its receipts, and notes about them."""

    files: tuple[str, ...] | None
    receipts: tuple[str, ...]
    notes: tuple[str, ...] = ()


def report_of(chronicle: Chronicle, standing: RunStanding, evidence: Mapping[UnitId, Evidence]) -> RunReport:
    """Returns the report of a run."""
    facts, chapters = chronicle.facts, chronicle.chapters.values()
    roles: dict[str, list[Spent]] = {role: [spent] for role, spent in chronicle.drafting.items()}
    for chapter in chapters:
        for role, spent in chapter.spent.items():
            roles.setdefault(role, []).append(spent)
    cost = _cost(spent for each in roles.values() for spent in each)
    return RunReport(
        run=facts.run,
        goal=facts.goal,
        status=standing.status,
        status_in_words=standing.in_words,
        branch=branch_ref(facts.run).removeprefix("refs/heads/") if chronicle.landed is not None else None,
        base=facts.base,
        tip=chronicle.tip,
        record=facts.record_place.path,
        milestones=tuple(map(_milestone, standing.milestones)),
        units=tuple(
            _unit(chapter, standing.units[unit], mode=facts.mode, evidence=evidence.get(unit))
            for unit, chapter in chronicle.chapters.items()
        ),
        rejected=_ruled(chapters, Disposition.REJECT),
        deferred=_ruled(chapters, Disposition.DEFER),
        remarks=tuple(
            Remark(chapter.unit.id, str(finding)) for chapter in chapters for finding in chapter.remarks
        ),
        replies=tuple(
            Replied(chapter.unit.id, shortened(reply.question, _LONGEST), reply.answer, reply.is_default)
            for chapter in chapters
            for reply in chapter.replies
        ),
        cost=cost,
        cost_by_role={role: _cost(each) for role, each in roles.items()},
        unheld=facts.unheld(cost.untold_turns),
    )


def report_page(report: RunReport) -> str:
    """Returns a report as Markdown."""
    landed = [unit for unit in report.units if unit.commit is not None]
    others = [unit for unit in report.units if unit.commit is None]
    parts = [
        f"# {_shown(report.goal) or 'Report'}",
        f"Run `{report.run}`: {report.status_in_words}; {len(landed)} of {len(report.units)} units landed.",
        "## Milestones\n" + _each(map(_far, report.milestones)) if report.milestones else "",
        "## What landed\n" + (_each(map(_landed, landed)) or "Nothing."),
        "## What did not land\n" + (_each(map(_waiting, others)) or "Nothing."),
        "## Findings that were rejected\n" + (_each(map(_finding, report.rejected)) or "None."),
        "## Findings that were put off\n" + (_each(map(_finding, report.deferred)) or "None."),
        "## Remarks of reviews that approved\n" + (_each(map(_remark, report.remarks)) or "None."),
        "## Questions and answers\n" + (_each(map(_replied, report.replies)) or "None."),
        "## What it cost\n" + _costs(report),
        "## How to look at it, and how to undo it\n" + _commands(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def cost_text(cost: Cost) -> str:
    """Returns what was used in words; what is not known is said to be unknown."""
    missing = [
        f"{cost.unpriced_tokens} tokens without a known price" if cost.unpriced_tokens else "",
        f"turns whose use nobody reported: {cost.untold_turns}" if cost.untold_turns else "",
    ]
    unknown = "; ".join(part for part in missing if part)
    if cost.dollars is None:
        return f"unknown ({unknown})" if unknown else "nothing was used"
    return f"${cost.dollars:.2f}" + (f", and unknown: {unknown}" if unknown else "")


def _unit(chapter: Chapter, standing: UnitStanding, *, mode: Mode, evidence: Evidence | None) -> UnitReport:
    reason, counters = standing.reason, standing.counters
    return UnitReport(
        unit=chapter.unit.id,
        title=unit_heading(chapter.unit, mode),
        stories=tuple(piece.user_story for piece in chapter.unit.pieces if piece.user_story),
        status=standing.status.value,
        attempts=counters.attempts,
        iterations=counters.iterations,
        turns=counters.turns,
        commit=chapter.landing.commit if chapter.landing is not None else None,
        by_person=standing.by_person,
        reviewed=standing.is_reviewed,
        accepted=standing.accepted,
        files=evidence.files if evidence is not None else None,
        receipts=evidence.receipts if evidence is not None else (),
        notes=evidence.notes if evidence is not None else (),
        granted=chapter.granted,
        reason=reason.value if reason is not None else None,
        detail=shortened(standing.detail, _LONGEST),
        cost=_cost(chapter.spent.values()) if chapter.spent else None,
    )


def _ruled(chapters: Iterable[Chapter], how: Disposition) -> tuple[Ruled, ...]:
    return tuple(
        Ruled(chapter.unit.id, str(finding), ruling.reason)
        for chapter in chapters
        for finding, ruling in chapter.ruled
        if ruling.disposition is how
    )


def _cost(spent: Iterable[Spent]) -> Cost:
    total = reduce(Spent.and_, spent, Spent())
    return Cost(total.cost, total.unpriced, total.untold)


def _milestone(standing: MilestoneStanding) -> MilestoneReport:
    stone = standing.milestone
    return MilestoneReport(
        id=stone.id,
        title=milestone_title(stone),
        description=stone.description,
        task_ids=stone.task_ids,
        status=standing.status.value,
        done=standing.done,
    )


def _far(stone: MilestoneReport) -> str:
    about = f"\n  - {_shown(stone.description)}" if stone.description else ""
    return f"{_shown(stone.title)}: {stone.status}, {stone.done} of {len(stone.task_ids)} tasks done{about}"


def _landed(unit: UnitReport) -> str:
    files = unit.files
    if files is None:
        told = "files unknown"
    else:
        rest = f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
        told = ", ".join(f"`{_shown(file)}`" for file in files[:_MOST_FILES]) + rest or "no files"
    whose = f"\n  - {by_hand(unit.accepted)}" if unit.by_person else ""
    proofs = "".join(f"\n  - proved: {_shown(receipt)}" for receipt in unit.receipts)
    notes = "".join(f"\n  - noted: {_shown(note)}" for note in unit.notes)
    more = f"{_stories(unit)}{whose}{_granted(unit)}{proofs}{notes}"
    return f"{_shown(unit.title)}: `{unit.commit}` ({told}){more}"


def _waiting(unit: UnitReport) -> str:
    why = f": {Reason(unit.reason).meaning}" if unit.reason else ""
    said = f" ({_shown(unit.detail)})" if unit.detail else ""
    return f"{_shown(unit.title)}: {unit.status}{why}{said}{_stories(unit)}{_granted(unit)}"


def _granted(unit: UnitReport) -> str:
    return f"\n  - {let_change(_shown(file) for file in unit.granted)}" if unit.granted else ""


def _stories(unit: UnitReport) -> str:
    return "".join(f"\n  - story: {_shown(story)}" for story in dict.fromkeys(unit.stories))


def _finding(ruled: Ruled) -> str:
    return (
        f"{_shown(ruled.unit)}: {_shown(ruled.finding)}\n  - because: {_shown(ruled.because) or 'not said'}"
    )


def _remark(remark: Remark) -> str:
    return f"{_shown(remark.unit)}: {_shown(remark.remark)}"


def _replied(replied: Replied) -> str:
    by = "nobody answered, so" if replied.is_default else "answered"
    return f"{_shown(replied.unit)}: {_shown(replied.question)}\n  - {by}: {_shown(replied.answer)}"


def _costs(report: RunReport) -> str:
    rows = [
        ("all", report.cost),
        *((f"all turns of the {role}", cost) for role, cost in report.cost_by_role.items()),
        *((_shown(unit.title), unit.cost) for unit in report.units if unit.cost is not None),
    ]
    lines = (f"| {what} | {cost_text(cost)} |" for what, cost in rows)
    table = "\n".join(("| for | used |", "|---|---|", *lines))
    return f"{table}\n\n{report.unheld.capitalize()}." if report.unheld else table


def _commands(report: RunReport) -> str:
    look = [f"amelia log {report.run}", f"amelia diff {report.run} UNIT"]
    if report.branch is not None:
        look.insert(0, f"git log {report.base}..{report.branch}")
    return "```sh\n" + "\n".join((*look, f"amelia undo {report.run}")) + "\n```"


def _each(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _shown(text: str) -> str:
    """Returns a text of others on one line, without what Markdown would obey."""
    return one_line(shortened(one_line(text), _LONGEST)).translate(_MAY_SHOW)
