import json
import os
import re
from collections import Counter
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from geosleuth.lab.score import published
from geosleuth.lab.score.published import (
    METRICS,
    PublishedRow,
    canonical_dataset,
    list_published_rows,
    papers,
    read_papers,
    threshold_km,
)
from geosleuth.support.errors import BadInput, DataFault

SHARED = Path(os.environ.get("GEOSLEUTH_SHARED", Path(__file__).parents[3].parent / "shared"))
SEEDS = {"smilegeo": "000_", "geoagent": "001_", "spotagent": "002_", "geovista": "003_", "twm": "004_"}
PERCENT = {"country", "province", "city", "pass8_percent", "pass0_percent", "kept_percent"}

# Flags that say "this figure is no whole count of its n"; every other accuracy must be one.
NO_WHOLE_COUNT = {
    "geoagent-geoseek-fractions",
    "geoagent-im2gps3k-2997",
    "geoagent-im2gps3k-fractions",
    "geovista-mini-o3-province",
    "geovista-no-cold-start-fractions",
    "smilegeo-fractions",
    "spotagent-im2gps3k-fractions",
    "twm-o3-hard-10km",
    "twm-own-single-runs",
    "twm-pooling",
    "twm-verifier2-hard-2km",
}


def printed_rows(key: str) -> list[tuple[PublishedRow, dict[str, str]]]:
    """Each row with its figures as they are printed, trailing zeros and all."""
    text = (files(published) / f"{key}.json").read_text(encoding="utf-8")
    document: Any = json.loads(text, parse_float=str, parse_int=str)
    raw = [row for table in document["tables"] for block in table["blocks"] for row in block["rows"]]
    return [
        (row, {metric: value for metric, value in source["values"].items() if value is not None})
        for row, source in zip(list_published_rows(paper=key), raw, strict=True)
    ]


def is_percent(metric: str) -> bool:
    return threshold_km(metric) is not None or metric in PERCENT


def whole_count(printed: str, n: int) -> bool:
    """Whether some k of n gives this percentage, rounded or cut off."""
    value, step = Decimal(printed), Decimal(1).scaleb(-len(printed.partition(".")[2]))
    nearest = int(value * n / 100)
    shares = (Decimal(100 * k) / n for k in (nearest, nearest + 1))
    return any(value in (share.quantize(step, ROUND_HALF_UP), share.quantize(step, ROUND_DOWN)) for share in shares)


def misfits(printed: dict[str, str], n: int) -> set[str]:
    return {metric for metric, text in printed.items() if is_percent(metric) and not whole_count(text, n)}


def the_row(source: tuple[str, int], dataset: str, system: str, *, split: str = "", setting: str = "") -> PublishedRow:
    paper, table = source
    found = [
        row
        for row in list_published_rows(paper=paper, table=table, dataset=dataset)
        if row.system == system and split in ("", row.split) and setting in row.setting
    ]
    assert len(found) == 1, found
    return found[0]


def test_no_row_is_there_twice() -> None:
    names = Counter((row.source, row.dataset, row.split, row.system, row.setting) for row in list_published_rows())
    assert [name for name, times in names.items() if times > 1] == []


def test_percentages_are_percentages_and_scores_are_scores() -> None:
    for row in list_published_rows():
        for metric, value in row.values.items():
            limit = 100.0 if is_percent(metric) else 5000.0 if metric == "geoscore" else float("inf")
            assert value is None or 0 <= value <= limit, row


def test_accuracy_never_falls_as_the_threshold_grows() -> None:
    for row in list_published_rows():
        by_distance = sorted((km, row.values[name]) for name in row.values if (km := threshold_km(name)) is not None)
        shares = [share for _, share in by_distance if share is not None]
        assert shares == sorted(shares), row


def test_a_smaller_place_is_never_right_more_often_than_the_larger_around_it() -> None:
    for row in list_published_rows(metric="province"):
        assert (row.values["city"] or 0) <= (row.values["province"] or 0) <= (row.values["country"] or 0), row


def test_flags_are_defined_used_and_say_something() -> None:
    used = {flag for row in list_published_rows() for flag in row.flags}
    defined = {flag for paper in papers() for flag in paper.flags}
    assert used == defined
    assert all(len(flag.text) > 60 for flag in defined)


@pytest.mark.parametrize("key", SEEDS)
def test_percentages_are_whole_counts_of_n_unless_flagged(key: str) -> None:
    for row, printed in printed_rows(key):
        flags = {flag.id for flag in row.flags}
        known = set()
        if "twm-parallel2-easy-2km" in flags and row.table == 3:
            known = {"acc@2km"}
        if "twm-parallel2-hard-750km" in flags and row.table == 6:
            known = {"acc@750km"}
        if "twm-globe-mapbench" in flags and row.dataset == "MAPBench-hard":
            known = {"acc@2km", "acc@10km", "acc@25km", "acc@200km", "acc@750km"}
        if not flags & NO_WHOLE_COUNT:
            assert misfits(printed, row.n or 0) <= known, row
        elif printed:
            assert misfits(printed, row.n or 0), f"needlessly flagged: {row}"


def test_geovista_city_figures_add_up_over_the_kinds_of_image() -> None:
    for row in list_published_rows(paper="geovista", table=2, metric="country"):
        parts = [
            the_row(("geovista", 2), "GeoBench", row.system, split=split)
            for split in ("panorama", "photo", "satellite")
        ]
        hits = sum(round((part.values["city"] or 0) * (part.n or 0) / 100) for part in parts)
        assert sum(part.n or 0 for part in parts) == row.n
        assert round(100 * hits / (row.n or 1), 2) == row.values["city"], row


def test_spotagent_filter_counts_add_up() -> None:
    for row in list_published_rows(paper="spotagent", table=8):
        parts = [row.values[f"{part}_images"] or 0 for part in ("pass8", "pass0", "kept")]
        assert sum(parts) == row.n
        for part, images in zip(("pass8", "pass0", "kept"), parts, strict=True):
            assert row.values[f"{part}_percent"] == pytest.approx(100 * images / sum(parts), abs=0.005)


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("IM2GPS3K", "Im2GPS3k"),
        ("yfcc4K", "YFCC4k"),
        ("imageo2", "IMAGEO-2"),
        ("MAPBench-test-hard", "MAPBench-hard"),
        ("street_view_text", "Street View Text"),
        ("my holiday", None),
    ],
)
def test_data_sets_are_found_however_they_are_written(written: str, ours: str | None) -> None:
    assert canonical_dataset(written) == ours
    assert {row.dataset for row in list_published_rows(dataset=written)} == ({ours} if ours else set())


def test_unknown_papers_and_metrics_are_named_with_what_there_is() -> None:
    with pytest.raises(BadInput, match="twm"):
        list_published_rows(paper="smileyGeo")
    with pytest.raises(BadInput, match="acc@<km>km"):
        list_published_rows(metric="accuracy")
    assert all(list_published_rows(metric=name) for name in METRICS if "<" not in name)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"twm"', '"twm'),
        ('"acc@0.5km"', '"acc@500m"'),
        ('"group": "closed"', '"group": "secret"'),
        ('"dataset": "GeoBench"', '"dataset": "geobench"'),
        ('"flags": ["twm-imageo-n"]', '"flags": ["no-such-flag"]'),
        ('"values"', '"figures"'),
        ('"n_note"', '"note"'),
        ('"acc@2km": 35.23', '"acc@2km": "many"'),
        ('"twm-pooling":', '"smilegeo-tokens":'),
    ],
)
def test_a_damaged_file_is_a_fault_of_ours_that_names_the_file(tmp_path: Path, before: str, after: str) -> None:
    for key in SEEDS:
        text = (files(published) / f"{key}.json").read_text(encoding="utf-8")
        assert key != "twm" or before in text
        (tmp_path / f"{key}.json").write_text(text.replace(before, after) if key == "twm" else text, encoding="utf-8")
    with pytest.raises(DataFault, match=r"twm\.json"):
        read_papers(tmp_path)


@pytest.mark.parametrize("key", SEEDS)
def test_every_figure_stands_in_the_paper(key: str) -> None:
    found = sorted((SHARED / "seeds").glob(f"{SEEDS[key]}*.txt"))
    if not found:
        pytest.skip(f"the papers' texts are not at {SHARED / 'seeds'}; set GEOSLEUTH_SHARED to where they are")
    text = found[0].read_text(encoding="utf-8")
    numbers = [number.replace(",", "") for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]
    there, in_order = set(numbers), f" {' '.join(numbers)} "
    for row, printed in printed_rows(key):
        assert set(printed.values()) <= there, row
        if len(printed) > 2:
            assert f" {' '.join(printed.values())} " in in_order, row
