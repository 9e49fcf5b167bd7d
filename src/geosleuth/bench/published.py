"""Published rows beside our own: what must be said about each so that nobody compares what can't be compared."""

from collections.abc import Sequence

from geosleuth.errors import BadInput
from geosleuth.score import PublishedRow, papers, published_rows

from .report import FileReport


def rows_for(dataset: str) -> tuple[PublishedRow, ...]:
    """The papers' accuracy rows on a data set.

    Raises:
        BadInput: no paper reports accuracies on it; the message lists the sets that are there.
    """
    rows = tuple(row for row in published_rows(dataset=dataset) if _has_accuracy(row))
    if not rows:
        known = sorted({row.dataset for paper in papers() for row in paper.rows if _has_accuracy(row)})
        raise BadInput(f"no published accuracy on {dataset!r}; there are rows on: {', '.join(known)}")
    return rows


def _has_accuracy(row: PublishedRow) -> bool:
    return any(metric.startswith("acc@") for metric in row.values)


def beside(row: PublishedRow, reports: Sequence[FileReport]) -> str:
    """How a row's images relate to the scored ones: the same data set, another subset of it, or other images."""
    sets = {
        _plain(name)
        for report in reports
        if (column := report.scored.fields.get("data_source")) is not None
        for name in column.values
    }
    ours = _plain(row.dataset)
    if not any(name.startswith(ours) or ours.startswith(name) for name in sets if name):
        return f"on {row.dataset}: other images"
    counts = {report.summary.n for report in reports}
    if row.n is None:
        return f"on {row.dataset}, number of images unknown: perhaps other images"
    if row.n not in counts:
        return f"on another subset of {row.dataset}: other images"
    return f"on {row.dataset}, as many images"


def _plain(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())
