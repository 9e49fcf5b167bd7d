"""Published rows beside our own: what must be said about each so that nobody compares what can't be compared."""

from collections.abc import Iterable, Sequence

from geosleuth.errors import BadInput
from geosleuth.geo import threshold_text
from geosleuth.score import PublishedRow, papers, published_rows
from geosleuth.score.published import canonical_dataset
from geosleuth.text.numbers import count

from .report import FileReport
from .scored import UNKNOWN


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
    """How a row's images relate to the scored ones: as many of the same set, another subset of it, or other images.

    The records' field ``data_source`` decides; where a file lacks it, nobody can know.
    """
    sources = [column.values for report in reports if (column := report.scored.fields.get("data_source")) is not None]
    ours = {canonical_dataset(name) for names in sources for name in names}
    if row.dataset not in ours and _whole(row.dataset) not in ours:
        silent = len(sources) < len(reports) or any(UNKNOWN in names for names in sources)
        return f"not known whether the same images: {row.dataset}" if silent else f"other images: {row.dataset}"
    if row.n is None:
        return f"{row.dataset}, number of images not known"
    if row.n in {report.summary.n for report in reports}:
        return f"{row.dataset}, same n"
    return f"{row.dataset}, another subset (n = {count(row.n)})"


def _whole(dataset: str) -> str:
    """The set that a tier of it belongs to."""
    return dataset.removesuffix("-easy").removesuffix("-hard")


def reported_percent(row: PublishedRow, km: float) -> float | None:
    """The percentage that a row reports within a distance; None where it reports none."""
    return row.values.get(f"acc@{threshold_text(km)}km")


def with_any_of(rows: Sequence[PublishedRow], thresholds_km: Iterable[float]) -> list[PublishedRow]:
    """The rows that report at least one of the distances: the others would be lines without a figure."""
    wanted = list(thresholds_km)
    return [row for row in rows if any(reported_percent(row, km) is not None for km in wanted)]
