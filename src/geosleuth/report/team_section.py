"""Results of each attempt or member for a photo, as lines of a card and a section of a page."""

from collections.abc import Iterator

from geosleuth.agent.locate import Finding
from geosleuth.pipeline.team import NEAR_KM, agreement, are_tries, find_failed_verifier, voices
from geosleuth.report.markup import Html, clean, el, name
from geosleuth.support.text.numbers import plural
from geosleuth.teams.parallel import evidence_named, has_answer


def agreement_line(finding: Finding) -> str:
    """Return agreement, such as "4 tries: 3 agree within 1 km"; for a team, how many members replied."""
    if not are_tries(finding):
        spoke = len({step.model for step in finding.trajectory.steps if step.model})
        return f"{plural(spoke, 'member', 'members')} of the team spoke" if spoke else "a team worked on it"
    count, together = len(finding.team), agreement(finding)
    head = plural(count, "try", "tries")
    failed = sum(not has_answer(item) for item in finding.team)
    trouble = f", {failed} failed" if failed else ""
    if together < 2:
        return f"{head}: {'no two agree' if count > 1 else 'one answer'}{trouble}"
    if finding.granularity != "exact":
        return f"{head}: {together} name the same place{trouble}"
    return f"{head}: {together} agree within {NEAR_KM:g} km{trouble}"


def evidence_line(finding: Finding) -> str:
    """Return which evidence of which tries decided, by the verifier; nothing if unknown or not allowed."""
    exact = finding.granularity == "exact" and are_tries(finding)
    marks = evidence_named(finding.trajectory, finding.team) if exact else ()
    return f"decided by {', '.join(marks)}" if marks else ""


def team_lines(finding: Finding) -> Iterator[str]:
    """Yield lines for a card: how far they agree, and what each said."""
    if not finding.team:
        return
    yield agreement_line(finding)
    if failed := find_failed_verifier(finding):
        yield str(failed)
    for voice in voices(finding):
        sure = f" ({voice.sure})" if voice.sure else ""
        yield f"{voice.who}: {voice.failed or voice.place}{sure}"


def team_section(finding: Finding) -> Html:
    """Return a section of a page: how far they agree, and what each said."""
    if not finding.team:
        return Html("")
    rows = [
        el(
            "tr",
            None,
            el("td", None, name(voice.who, 80)),
            el("th", {"scope": "row"}, clean(voice.failed or voice.place, 160)),
            el("td", None, voice.sure or "not said"),
        )
        for voice in voices(finding)
    ]
    head = el("tr", None, *(el("th", {"scope": "col"}, words) for words in ("Who", "Answer", "How sure")))
    table = el("table", {"class": "rivals"}, el("thead", None, head), el("tbody", None, *rows))
    words = "; ".join(filter(None, (agreement_line(finding), evidence_line(finding))))
    return el(
        "section",
        {"id": "team", "aria-labelledby": "team-h"},
        el("h2", {"id": "team-h"}, "Who said what"),
        el("p", {"class": "lead"}, clean(_sentence(words), 600)),
        el("p", None, clean(_sentence(str(failed)), 600)) if (failed := find_failed_verifier(finding)) else "",
        el("div", {"class": "scroll"}, table) if rows else "",
    )


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
