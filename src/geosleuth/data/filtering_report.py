"""What filtering found, written down: a table for people, lists for trainers, a drawing, and all of it as data."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from geosleuth.files import write_text_atomically
from geosleuth.geo import threshold_text
from geosleuth.text.numbers import count, percent, threshold

from .curriculum import Phase
from .filtering import PAPER_KEPT, PAPER_PHOTOS, PAPER_TRIES, Filtered
from .plots import regimes_svg
from .writing import make_folder

FORMAT = "geosleuth-filter"
VERSION = 1
DOCUMENT, TABLE, PHOTOS, DRAWING = "filter.json", "filter.md", "photos.csv", "regimes.svg"


def phase_file(number: int) -> str:
    """The list of a phase's photos."""
    return f"phase-{number}.csv"


def file_names(phases: int) -> list[str]:
    """All that `write_filtered` writes."""
    return [DOCUMENT, TABLE, PHOTOS, DRAWING, *(phase_file(number) for number in range(1, phases + 1))]


def filter_document(found: Filtered, phases: Sequence[Phase], left_out: int = 0) -> dict[str, Any]:
    """The figures as data; ``left_out`` photos had too few tries and were not looked at."""
    counts = found.tries.counts
    return {
        "format": FORMAT,
        "version": VERSION,
        "photos": len(found.tries),
        "left_out": left_out,
        "tries": {
            "all": int(counts.sum()),
            "least": int(counts.min(initial=counts.max(initial=0))),
            "most": int(counts.max(initial=0)),
            "tried_once": found.single_tries,
        },
        "regimes": [
            {
                "km": one.km,
                "kept": one.kept,
                "never": one.never,
                "always": one.always,
                "by_passes": list(one.by_passes),
                "paper_kept": PAPER_KEPT.get(one.km),
            }
            for one in found.regimes
        ],
        "phases": [
            {"phase": phase.number, "km": list(phase.thresholds_km), "photos": len(phase), "pairs": phase.pairs}
            for phase in phases
        ],
        "paper": {"name": "SpotAgent", "photos": PAPER_PHOTOS, "tries": PAPER_TRIES},
    }


def filter_table(found: Filtered, phases: Sequence[Phase], left_out: int = 0) -> str:
    """The figures as Markdown, beside the paper's."""
    photos = len(found.tries)
    counts = found.tries.counts
    least, most = int(counts.min(initial=counts.max(initial=0))), int(counts.max(initial=0))
    each = str(least) if least == most else f"{least} to {most}"
    lines = [
        "# Which photos teach something",
        "",
        f"{count(photos)} photos, {each} tries each. At a distance a photo is kept where some of its tries are "
        "within it and some are not (0 < passes < tries). Each distance stands for itself: a photo may be kept at "
        "several.",
        "",
        "| distance | kept | % | no try within | all within | SpotAgent kept | % |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in found.regimes:
        theirs = PAPER_KEPT.get(one.km)
        paper = ("–", "–") if theirs is None else (count(theirs), percent(100 * theirs / PAPER_PHOTOS))
        lines.append(
            f"| {threshold(one.km)} | {count(one.kept)} | {_share(one.kept, photos)} | {count(one.never)} | "
            f"{count(one.always)} | {' | '.join(paper)} |"
        )
    lines += [
        "",
        f"SpotAgent's counts are of {count(PAPER_PHOTOS)} photos with {PAPER_TRIES} tries of its fine-tuned model. "
        "Other photos, other tries and another model: the two columns show the same rule, and are no contest.",
        "",
        "| phase | learns from | photos | % | photo and distance |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    for phase in phases:
        wanted = ", ".join(threshold(km) for km in phase.thresholds_km)
        lines.append(
            f"| {phase.number} | {wanted} | {count(len(phase))} | {_share(len(phase), photos)} | {count(phase.pairs)} |"
        )
    if left_out:
        lines += ["", f"{count(left_out)} photos had fewer tries than were asked for, and are left out."]
    if found.single_tries:
        lines += ["", f"{count(found.single_tries)} photos were tried only once: they can't be kept at any distance."]
    return "\n".join(lines) + "\n"


def _share(part: int, whole: int) -> str:
    return percent(100 * part / whole if whole else float("nan"))


def write_filtered(folder: Path, found: Filtered, phases: Sequence[Phase], left_out: int = 0) -> list[Path]:
    """Write everything into a folder, each file whole or not at all.

    Raises:
        BadInput: it can't be written there.
    """
    make_folder(folder)
    texts = {
        PHOTOS: photos_csv(found),
        DRAWING: f"{regimes_svg(found.regimes, f'Photos that teach something, of {count(len(found.tries))}')}\n",
        TABLE: filter_table(found, phases, left_out),
        DOCUMENT: f"{json.dumps(filter_document(found, phases, left_out), indent=1)}\n",
    }
    texts |= {phase_file(phase.number): _phase_csv(found, phase) for phase in phases}
    for name, text in texts.items():
        write_text_atomically(folder / name, text)
    return [folder / name for name in texts]


def photos_csv(found: Filtered) -> str:
    """A line a photo: its tries, how many are within each distance, and at which it is kept."""
    names = [threshold_text(km) for km in found.thresholds_km]
    head = ["id", "tries", *(f"within_{name}_km" for name in names), *(f"kept_{name}_km" for name in names)]
    rows = zip(found.tries.ids, found.tries.counts.tolist(), found.within.tolist(), found.kept.tolist(), strict=True)
    return _csv(head, ([one, tries, *within, *map(int, kept)] for one, tries, within, kept in rows))


def _phase_csv(found: Filtered, phase: Phase) -> str:
    columns = [found.thresholds_km.index(km) for km in phase.thresholds_km]
    rows = []
    for row in phase.photos.tolist():
        kept = [threshold_text(found.thresholds_km[column]) for column in columns if found.kept[row, column]]
        rows.append([found.tries.ids[row], " ".join(kept)])
    return _csv(["id", "kept_at_km"], rows)


def _csv(head: Sequence[str], rows: Any) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(head)
    table.writerows(rows)
    return text.getvalue()
