"""The card of a store, computed from its contents, and the check that a store is complete."""

import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_text_atomically
from geosleuth.support.text.numbers import count, distance, percent

from .rows import SMALL_COLUMNS, About, build_sample
from .trajectory_store import CARD, IMAGES, SHARDS, Store, compute_checksum, image_name, no_progress, read_batches

_MAX_LINES = 12
# Columns whose distribution is reported, besides the number of images.
_SPREAD_COLUMNS = ("turns", "calls", "characters", "error_km")

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class StoreSpread:
    """Distribution of a figure over the samples; all None where no sample has it."""

    count: int
    least: float | None = None
    median: float | None = None
    p95: float | None = None
    most: float | None = None

    @classmethod
    def from_values(cls, values: Sequence[float]) -> "StoreSpread":
        """Return the distribution of these values."""
        if not values:
            return cls(0)
        found = np.quantile(np.asarray(values, dtype=np.float64), (0.0, 0.5, 0.95, 1.0))
        return cls(len(values), *(round(float(item), 6) for item in found))


@dataclass(frozen=True, slots=True)
class Figures:
    """A store in figures.

    ``calls`` counts policies' calls by tool. ``rejected`` counts by source, then by reason. ``shares`` of samples
    within a distance are in percent.
    """

    samples: int
    scenes: int
    countries: int
    image_files: int
    image_bytes: int
    splits: Mapping[str, int]
    sources: Mapping[str, int]
    ends: Mapping[str, int]
    answered_by: Mapping[str, int]
    by_country: Mapping[str, int]
    calls: Mapping[str, int]
    failed_calls: int
    without_calls: int
    turns: Mapping[int, int]
    spreads: Mapping[str, StoreSpread]
    rejected: Mapping[str, Mapping[str, int]]
    scenes_in_several_splits: int = 0

    @property
    def rejections(self) -> int:
        """Return how many trajectories were rejected."""
        return sum(sum(reasons.values()) for reasons in self.rejected.values())


def compute_store_figures(store: Store) -> Figures:
    """Compute a store's figures with one row in memory at a time.

    Raises:
        BadInput: the store is damaged.
    """
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    turns: Counter[int] = Counter()
    scenes: dict[str, set[str]] = {}
    images: dict[str, int] = {}
    values: dict[str, list[float]] = {name: [] for name in (*_SPREAD_COLUMNS, "images")}
    failed_calls = without_calls = 0
    for row in store.rows(SMALL_COLUMNS):
        counts["splits"][row["split"]] += 1
        counts["sources"][row["source"]] += 1
        counts["ends"][row["end"] or "broke off"] += 1
        counts["answered_by"][row["answered_by"] or "nobody"] += 1
        counts["by_country"].update([row["truth_country"]] if row["truth_country"] else [])
        counts["calls"].update(row["tools"])
        turns[row["turns"]] += 1
        failed_calls += row["failed_calls"]
        without_calls += not row["tools"]
        scenes.setdefault(row["scene"], set()).add(row["split"])
        images |= {image["sha256"]: image["bytes"] for image in row["images"]}
        for name in _SPREAD_COLUMNS:
            if row[name] is not None:
                values[name].append(row[name])
        values["images"].append(len(row["images"]))
    rejected: dict[str, Counter[str]] = {}
    for item in store.read_rejected():
        rejected.setdefault(item.source, Counter())[item.reason] += 1
    return Figures(
        samples=counts["splits"].total(),
        scenes=len(scenes),
        countries=len(counts["by_country"]),
        image_files=len(images),
        image_bytes=sum(images.values()),
        splits=_sort_counts(counts["splits"]),
        sources=_sort_counts(counts["sources"]),
        ends=_sort_counts(counts["ends"]),
        answered_by=_sort_counts(counts["answered_by"]),
        by_country=_sort_counts(counts["by_country"]),
        calls=_sort_counts(counts["calls"]),
        failed_calls=failed_calls,
        without_calls=without_calls,
        turns=dict(sorted(turns.items())),
        spreads={name: StoreSpread.from_values(found) for name, found in values.items()},
        rejected={source: _sort_counts(reasons) for source, reasons in sorted(rejected.items())},
        scenes_in_several_splits=sum(len(splits) > 1 for splits in scenes.values()),
    )


def _sort_counts(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def write_card(store: Store) -> None:
    """Write the card into the store.

    Raises:
        BadInput: the store is damaged, or can't be written.
    """
    write_text_atomically(store.path / CARD, card_text(store.about, compute_store_figures(store)))


def card_text(about: About, figures: Figures) -> str:
    """Return the card as Markdown."""
    parts = [
        f"# {about.title}",
        about.how_made,
        _format_markdown_table(
            ("what", "how many"),
            [
                ("trajectories", count(figures.samples)),
                ("scenes or photos", count(figures.scenes)),
                ("countries", count(figures.countries)),
                ("pictures", f"{count(figures.image_files)} files, {figures.image_bytes / 1e6:,.1f} MB"),
                ("licence", about.licence),
            ],
        ),
        "## Where it comes from",
        _bullets(about.sources, "Not stated."),
        _counts("how it was made", figures.sources),
        "## Splits",
        _counts("split", figures.splits),
        *(
            [f"{count(figures.scenes_in_several_splits)} scenes stand in more than one split."]
            if figures.scenes_in_several_splits
            else ["No scene is in more than one split."]
        ),
        "## What was rejected",
        _rejections(figures),
        "## What the trajectories are like",
        _spreads(figures),
        _counts("turns", {str(turns): number for turns, number in figures.turns.items()}),
        "### Tools",
        _tools(figures),
        "### How they end",
        _counts("end", figures.ends),
        _counts("who gave the answer", figures.answered_by),
        "### Countries",
        _counts("country", figures.by_country) if figures.by_country else "No truth names a country.",
        "## Settings",
        _format_markdown_table(
            ("setting", "value"), [(name, _setting(value)) for name, value in about.settings.items()]
        )
        if about.settings
        else "None are noted.",
        "## Known faults",
        _bullets(about.faults, "None are noted, which does not mean that there are none."),
    ]
    return "\n\n".join(parts) + "\n"


def _setting(value: Any) -> str:
    """Format a setting: pairs as words, lists with commas, lists of pairs with semicolons."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    if isinstance(value, list):
        between = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return between.join(map(_setting, value)) or "none"
    return str(value)


def _rejections(figures: Figures) -> str:
    if not figures.rejections:
        return "Nothing, or rejections were not recorded."
    made = figures.samples + figures.rejections
    rows = []
    for source, reasons in figures.rejected.items():
        whole = figures.sources.get(source, 0) + sum(reasons.values())
        rows += [(source, reason, count(number), percent(100 * number / whole)) for reason, number in reasons.items()]
        kept = figures.sources.get(source, 0)
        rows.append((source, "(kept)", count(kept), percent(100 * kept / whole)))
    said = f"{count(figures.samples)} of {count(made)} were kept, {percent(100 * figures.samples / made)} %."
    return f"{said}\n\n{_format_markdown_table(('made by', 'why not', 'how many', '% of what it made'), rows)}"


def _spreads(figures: Figures) -> str:
    names = {
        "turns": "turns",
        "calls": "calls carried out",
        "characters": "characters said and thought",
        "images": "pictures",
        "error_km": "distance of the answer from the truth",
    }
    rows = []
    for key, name in names.items():
        spread = figures.spreads[key]
        values = (spread.least, spread.median, spread.p95, spread.most)
        rows.append((name, count(spread.count), *(_format_figure(value, km=key == "error_km") for value in values)))
    return _format_markdown_table(("", "trajectories", "least", "median", "95 %", "most"), rows)


def _format_figure(value: float | None, *, km: bool) -> str:
    if value is None:
        return "–"
    return distance(value) if km else f"{value:,.6g}"


def _tools(figures: Figures) -> str:
    if not figures.calls:
        return "No trajectory calls a tool."
    total = sum(figures.calls.values())
    rows = [(tool, count(number), percent(100 * number / total)) for tool, number in figures.calls.items()]
    said = (
        f"{count(figures.failed_calls)} of the calls that were carried out failed; "
        f"{count(figures.without_calls)} trajectories call nothing."
    )
    return f"{_format_markdown_table(('tool', 'calls', '%'), rows)}\n\n{said}"


def _counts(title: str, counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    rows = [(name, count(number), percent(100 * number / total)) for name, number in counts.items()]
    if len(rows) > _MAX_LINES:
        rest = sum(list(counts.values())[_MAX_LINES:])
        others = f"({count(len(rows) - _MAX_LINES)} others)"
        rows = [*rows[:_MAX_LINES], (others, count(rest), percent(100 * rest / total))]
    return _format_markdown_table((title, "trajectories", "%"), rows)


def _format_markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _bullets(lines: Sequence[str], without: str) -> str:
    return "\n".join(f"- {' '.join(line.split())}" for line in lines) or without


def check_store(store: Store, progress: Progress = no_progress) -> Iterator[str]:
    """Yield what is wrong with a store, one line each; nothing if it is complete.

    Shards must have the bytes that the manifest states; rows must parse as trajectories and describe them correctly;
    keys must be unique; pictures must exist, be JPEG files of the size that the trajectory states, match their checksum
    and carry no metadata.
    """
    keys: set[str] = set()
    seen: dict[str, tuple[int, int] | None] = {}
    rows, read_all = 0, True
    for shard in store.manifest.shards:
        trouble = _shard_trouble(store.path / shard.file, shard.sha256)
        if trouble:
            yield f"{shard.file}: {trouble}"
            read_all = False
            continue
        found = 0
        try:
            for row in _read_rows(store, shard.file):
                found, rows = found + 1, rows + 1
                yield from _row_troubles(store, row, keys, seen)
                progress(rows)
        except BadInput as error:
            yield str(error)
            read_all = False
            continue
        if found != shard.rows:
            yield f"{shard.file}: holds {found} rows, and the manifest counts {shard.rows}"
    try:
        for row in store.pending():
            rows += 1
            yield from _row_troubles(store, row, keys, seen)
            progress(rows)
    except BadInput as error:
        yield f"what waits for its shard can't be read: {error}"
        read_all = False
    yield from _rejection_troubles(store, keys)
    yield from _stray_shards(store)
    # A picture may belong to a row that can't be read.
    if read_all:
        yield from _stray_pictures(store, seen)


def _shard_trouble(path: Path, digest: str) -> str | None:
    try:
        found = compute_checksum(path)
    except OSError as error:
        return f"can't be read: {error.strerror or error}"
    return None if found == digest else "was changed after it was written"


def _read_rows(store: Store, file: str) -> Iterator[dict[str, Any]]:
    for batch in read_batches(store.path / file):
        yield from batch


def _row_troubles(
    store: Store, row: Mapping[str, Any], keys: set[str], seen: dict[str, tuple[int, int] | None]
) -> Iterator[str]:
    key = str(row.get("key"))
    if key in keys:
        yield f"{key}: appears twice"
    keys.add(key)
    try:
        sample = build_sample(row, {})
    except BadInput as error:
        yield str(error)
        return
    run = sample.trajectory
    stated = (row["trajectory_id"], row["turns"], row["calls"])
    if stated != (run.id, run.spent.turns, run.spent.calls):
        yield f"{key}: its columns don't say what its trajectory says"
    sizes = {image.handle: image.size for image in run.images}
    kept = {image["handle"] for image in row["images"]}
    if missing := sorted(sizes.keys() - kept):
        yield f"{key}: has no picture for {', '.join(missing[:5])}"
    for image in row["images"]:
        digest = image["sha256"]
        if digest not in seen:
            try:
                path = store.path / image_name(digest)
            except BadInput as error:
                yield f"{key}: {error}"
                continue
            seen[digest], trouble = _check_picture(path, digest)
            if trouble:
                yield f"{image_name(digest)}: {trouble}"
        size = seen[digest]
        if size is not None and size != sizes.get(image["handle"]):
            yield f"{key}: {image['handle']} has {size[0]} x {size[1]} pixels, which is not what its trajectory says"


def _check_picture(path: Path, digest: str) -> tuple[tuple[int, int] | None, str | None]:
    """Return the size of a picture, and its defect if it has one."""
    from PIL import Image

    try:
        data = path.read_bytes()
    except OSError as error:
        return None, f"can't be read: {error.strerror or error}"
    if sha256(data).hexdigest() != digest:
        return None, "was changed after it was written"
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG",)) as image:
            metadata = sorted(name for name in ("exif", "xmp", "comment", "photoshop") if image.info.get(name))
            return image.size, f"carries metadata ({', '.join(metadata)})" if metadata else None
    except (OSError, ValueError, Image.DecompressionBombError):
        return None, "is not a JPEG file"


def _rejection_troubles(store: Store, keys: set[str]) -> Iterator[str]:
    try:
        twice = sorted({item.key for item in store.read_rejected()} & keys)
    except BadInput as error:
        yield f"what was rejected can't be read: {error}"
        return
    if twice:
        yield f"{twice[0]}: was both kept and rejected"


def _stray_shards(store: Store) -> Iterator[str]:
    shards = {shard.file for shard in store.manifest.shards}
    for path in sorted((store.path / SHARDS).glob("*")):
        if f"{SHARDS}/{path.name}" not in shards:
            yield f"{SHARDS}/{path.name}: not in the manifest; a killed writer left it, and the next replaces it"


def _stray_pictures(store: Store, seen: Mapping[str, object]) -> Iterator[str]:
    wanted = {image_name(digest) for digest in seen}
    strays = [
        path for path in sorted((store.path / IMAGES).rglob("*"))
        if path.is_file() and path.relative_to(store.path).as_posix() not in wanted
    ]  # fmt: skip
    if strays:
        yield f"{strays[0].relative_to(store.path).as_posix()}: belongs to no trajectory ({len(strays)} such files)"
