"""What was run: all that decided the answers, as the manifests have it."""

from collections.abc import Sequence

from geosleuth.bench.page.canvas import series
from geosleuth.bench.page.markup import Html, el, name
from geosleuth.bench.report_run.told import RunReport


def facts_section(runs: Sequence[RunReport]) -> Html:
    """Each run's settings; what differs between runs is marked."""
    facts = [run.facts for run in runs]
    return el(
        "section",
        {"id": "runs", "aria-labelledby": "runs-h"},
        el("h2", {"id": "runs-h"}, "What was run"),
        el("p", {"class": "lead"}, "What differs between the runs is marked.") if len(runs) > 1 else "",
        el("div", {"class": "pair"}, *(_run(run, index, facts) for index, run in enumerate(runs))),
    )


def _run(run: RunReport, index: int, facts: Sequence[dict[str, str]]) -> Html:
    terms = []
    for key, value in run.facts.items():
        differs = any(other.get(key) != value for other in facts)
        shown = el("code", {"class": "sha"}, value) if key.endswith("sha256") else name(value, 200)
        terms += [el("dt", None, name(key, 60)), el("dd", {"class": "differs" if differs else None}, shown)]
    return el(
        "div",
        None,
        el("h3", None, el("span", {"class": f"key {series(index)}"}), name(run.label)),
        el("dl", {"class": "facts"}, *terms),
    )
