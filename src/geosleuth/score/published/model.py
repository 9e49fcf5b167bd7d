"""A published figure with everything needed to read it rightly."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from .vocabulary import threshold_km


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that is wrong, contradictory or easily misread about a published figure."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One system's figures on one split of one data set.

    ``system`` is the name as printed, without citation marks; ``setting`` tells rows of the same name apart. A value is
    None where the paper prints a dash (or where a flag says that the figure is missing). ``n`` is the number of images,
    None where it can't be known; ``n_note`` begins with "stated" or "inferred" and says from what.
    """

    paper: str
    table: int
    dataset: str
    split: str
    system: str
    setting: str
    group: str
    n: int | None
    n_note: str
    values: Mapping[str, float | None] = field(hash=False)
    flags: tuple[Flag, ...]
    source: str


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table of a paper: what it measures, in which units, and its rows."""

    number: int
    measures: str
    units: str
    rows: tuple[PublishedRow, ...]

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets of its rows, in printed order."""
        return tuple(dict.fromkeys(row.dataset for row in self.rows))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of its rows, in printed order."""
        return tuple(dict.fromkeys(metric for row in self.rows for metric in row.values))

    @property
    def thresholds_km(self) -> tuple[float, ...]:
        """The distances of its accuracies, ascending."""
        found = (threshold_km(metric) for metric in self.metrics)
        return tuple(sorted(km for km in found if km is not None))


@dataclass(frozen=True, slots=True)
class Paper:
    """One source paper. ``identifier`` is there only if the paper's own text prints one."""

    key: str
    short_name: str
    title: str
    authors: str
    year: int
    year_note: str
    identifier: str | None
    tables: tuple[PublishedTable, ...]
    flags: tuple[Flag, ...]

    @property
    def rows(self) -> tuple[PublishedRow, ...]:
        """The rows of all its tables."""
        return tuple(row for table in self.tables for row in table.rows)
