"""A finding on a small card for notebooks, and the evidence that every view of a finding puts first."""

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from geosleuth.answer import GRANULARITIES, Answer, Granularity, coarsest
from geosleuth.answer.granularity import withheld
from geosleuth.answer.wording import envelope, how_sure, percent_words, radius_words
from geosleuth.atlas.outlines import found_country
from geosleuth.geo import coordinates
from geosleuth.policies.detective import Detective
from geosleuth.text import printable

from .trajectory import Trajectory

if TYPE_CHECKING:
    from .locating import Finding

BEST = 3
LEAD = "A lead, not a verdict."
"""What every view of a finding says of it."""

AGAINST = "Against: "
"""What comes after it in a candidate's evidence speaks against that candidate."""

_WITHHELD: dict[str, Granularity] = {withheld(level): level for level in GRANULARITIES if level != "exact"}
_LONGEST_LINE = 400


def best_evidence(trajectory: Trajectory, most: int | None = BEST) -> tuple[str, ...]:
    """The best pieces of evidence for the answer, the strongest first, each once.

    First what the answer itself gives for its finest level, then what it gives for the coarser ones, then what was
    noted for the candidate that became the answer. Whatever was left out for the sake of granularity is not among
    them, nor what speaks for the country and against the place.
    """
    unique = dict.fromkeys(line.strip() for line in _evidence(trajectory))
    against = _against(trajectory)
    kept = tuple(line for line in unique if line and line not in _WITHHELD and line not in against)
    return kept if most is None else kept[:most]


def tells_evidence_alone(trajectory: Trajectory) -> bool:
    """Whether its explanation says nothing beyond its evidence: the detective's does not, a model's may."""
    return trajectory.started.method == Detective.name


def is_withheld(text: str) -> bool:
    """Whether a text stands for one that was left out for the sake of granularity."""
    return text in _WITHHELD


def told_no_finer_than(trajectory: Trajectory) -> Granularity:
    """How finely this trajectory may be told, as what was left out of it says: ``exact`` where nothing was."""
    found = [_WITHHELD[text] for text in _texts(trajectory) if text in _WITHHELD]
    return coarsest(found)


def is_capped(trajectory: Trajectory) -> bool:
    """Whether all free text was left out of it, as `geosleuth.agent.capping` does below ``exact``."""
    return all(text in _WITHHELD for text in _texts(trajectory) if text)


def _texts(trajectory: Trajectory) -> Iterator[str]:
    yield trajectory.started.system
    yield (trajectory.answer or Answer()).explanation or ""
    for step in trajectory.steps:
        yield step.text
        yield step.thinking
    for observation in trajectory.observations:
        yield observation.text


def _evidence(trajectory: Trajectory) -> Iterator[str]:
    answer = trajectory.answer
    if answer is None:
        return
    for level in (answer.address.precise, answer.address.region, answer.address.country):
        yield from level.clues
    for hypothesis in trajectory.pool:
        if hypothesis.fate == "answered":
            yield from hypothesis.evidence_for


def _against(trajectory: Trajectory) -> str:
    answer = trajectory.answer or Answer()
    said = [line for one in trajectory.pool if one.fate == "answered" for line in one.evidence_against]
    said += [
        (one.evidence or "").partition(AGAINST)[2]
        for one in answer.candidates
        if one.point is not None and one.point == answer.point
    ]
    return "\n".join(said)


def sure_line(answer: Answer) -> str:
    """How sure an answer is, in words and as a number; nothing where there is no place."""
    if answer.point is None and not answer.address:
        return ""
    if answer.probability is None:
        within = "" if answer.radius_km is None else f", within {radius_words(answer.radius_km)} or so"
        return f"How sure was not said{within}"
    reach = "that this is the place"
    if found_country(answer):
        reach = f"that it lies in {answer.address.country.conclusion}"
    elif answer.radius_km is not None:
        reach = f"that it lies within {radius_words(answer.radius_km)}"
    return f"{how_sure(answer.probability).capitalize()}: {percent_words(answer.probability)} {reach}"


def notebook_card(finding: "Finding") -> str:
    """A finding as a piece of HTML with no outside needs; whatever it says is escaped."""
    answer = finding.answer
    if answer.point is None and not answer.address:
        head, sure = "No place was found", answer.explanation or ""
    else:
        head, sure = envelope(answer.address) or "An unnamed place", sure_line(answer)
    where = "" if answer.point is None else coordinates(answer.point, answer.radius_km)
    evidence = "".join(f"<li>{_text(line)}</li>" for line in best_evidence(finding.trajectory))
    why = ""
    if where and not tells_evidence_alone(finding.trajectory) and not is_withheld(answer.explanation or ""):
        why = answer.explanation or ""
    claim = "The file's own metadata claims another place." if True in finding.conflicts else ""
    rows = (
        f'<div style="font-size:1.25em;font-weight:600"><bdi>{_text(head)}</bdi></div>',
        f"<div>{_text(sure)}</div>" if sure else "",
        f"<div><code>{where}</code></div>" if where else "",
        f'<div style="margin-top:.5em">{_text(why)}</div>' if why else "",
        f'<ol style="margin:.5em 0;padding-left:1.4em">{evidence}</ol>' if evidence else "",
        f"<div><strong>{claim}</strong></div>" if claim else "",
        f'<div style="opacity:.7">{LEAD} Found by <bdi>{_text(finding.trajectory.started.policy)}</bdi>.</div>',
    )
    style = "border:1px solid #8888;border-radius:.5em;padding:.8em 1em;max-width:44em;line-height:1.45"
    return f'<div style="{style}">{"".join(rows)}</div>'


def _text(value: str) -> str:
    short = value if len(value) <= _LONGEST_LINE else value[: _LONGEST_LINE - 1] + "…"
    return escape(printable(short).encode("utf-8", "replace").decode("utf-8"))
