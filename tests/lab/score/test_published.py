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
    papers,
    published_rows,
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
        for row, source in zip(published_rows(paper=key), raw, strict=True)
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
        for row in published_rows(paper=paper, table=table, dataset=dataset)
        if row.system == system and split in ("", row.split) and setting in row.setting
    ]
    assert len(found) == 1, found
    return found[0]


def test_every_listed_table_is_there_with_all_its_rows() -> None:
    counted = {paper.key: {table.number: len(table.rows) for table in paper.tables} for paper in papers()}
    assert counted == {
        "smilegeo": {1: 14 * 2 * 3, 2: 6, 3: 4 * 3, 6: 8},
        "geoagent": {2: 16 * 2, 3: 8, 4: 6, 6: 7},
        "spotagent": {1: 15 * 2, 2: 2, 3: 7, 4: 2, 5: 3, 6: 3, 8: 4, 9: 6},
        "geovista": {2: 9 * 4, 3: 9, 4: 5 * 4, 6: 2 * 2, 7: 4},
        "twm": {3: 11 * 2, 4: 11 * 2, 5: 4, 6: 6 * 2, 8: 8 * 2, 9: 3},
    }


def test_no_row_is_there_twice() -> None:
    names = Counter((row.source, row.dataset, row.split, row.system, row.setting) for row in published_rows())
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize(
    ("source", "dataset", "system", "where", "metric", "expected"),
    [
        (("twm", 3), "MAPBench-easy", "GPT-o3", {}, "acc@0.5km", 7.68),
        (("twm", 3), "MAPBench-hard", "Gemini-3-Pro (w/. Google Search/Map)", {}, "acc@750km", 67.48),
        (("twm", 3), "MAPBench-hard", "+ Parallel×4 & Verifier", {}, "acc@0.5km", 14.86),
        (("twm", 4), "GeoBench", "GPT-5", {}, "acc@0.5km", 33.30),
        (("twm", 4), "GeoBench", "+ Parallel×4 & Verifier", {}, "acc@0.5km", 57.94),
        (("twm", 4), "IMAGEO-2", "Qwen3-VL-30B-A3B", {}, "acc@25km", 12.99),
        (("twm", 5), "MAPBench", "+ map_tool", {}, "acc@0.5km", 16.16),
        (("twm", 6), "MAPBench-easy", "GPT-5", {"setting": "Verifier@4"}, "acc@750km", 92.31),
        (("twm", 8), "IMAGEO-2", "Best@4", {}, "acc@200km", 53.05),
        (("twm", 9), "AMAP-test-all", "PKPO", {}, "acc@750km", 50.41),
        (("spotagent", 1), "Im2GPS3k", "SpotAgent (Ours)", {}, "acc@1km", 14.12),
        (("spotagent", 1), "YFCC4k", "GeoCLIP", {}, "acc@2500km", 74.69),
        (("spotagent", 1), "YFCC4k", "G3", {}, "acc@1km", None),
        (("spotagent", 2), "Street View Text", "Tool-assisted", {}, "acc@1km", 19.65),
        (("spotagent", 3), "Im2GPS3k", "GC & VZ", {}, "acc@2500km", 78.11),
        (("spotagent", 8), "MP16-Pro", "City (25km)", {}, "kept_images", 42764),
        (("spotagent", 8), "MP16-Pro", "Street (1km)", {}, "pass0_percent", 87.17),
        (("spotagent", 9), "Im2GPS3k", "Qwen3-VL-30B", {}, "acc@2500km", 86.42),
        (("geovista", 2), "GeoBench", "Gemini-2.5-pro", {"split": "all"}, "country", 97.20),
        (("geovista", 2), "GeoBench", "Geo-Vista-7B (ours)", {"split": "satellite"}, "city", 44.92),
        (("geovista", 3), "GeoBench", "Mini-o3-7B", {}, "median_km", 13043.70),
        (("geovista", 4), "GeoBench", "w/o HR", {"split": "panorama"}, "city", 75.0),
        (("geoagent", 2), "GeoSeek-Val", "GeoCLIP", {}, "geoscore", 3172.3),
        (("geoagent", 2), "Im2GPS3k", "GLOBE", {}, "acc@25km", 40.18),
        (("geoagent", 2), "GeoSeek-Val", "GLOBE", {}, "acc@2500km", 61.44),
        (("geoagent", 3), "GeoSeek-Val", "GeoAgent w/o Spa & Sem", {}, "acc@750km", 40.43),
        (("geoagent", 6), "GeoSeek-Val", "Gemma3-12B + SFT", {}, "acc@25km", 13.07),
        (("smilegeo", 1), "GeoGlobe", "smileGeo", {"split": "all", "setting": "with web"}, "acc@50km", 84.1799),
        (("smilegeo", 2), "GeoGlobe", "LLM Debate", {}, "tokens", 260756),
        (("smilegeo", 3), "GeoGlobe", "NetVLAD", {"split": "natural"}, "acc@50km", 26.5134),
        (("smilegeo", 6), "GeoGlobe", "smileGeo", {"setting": "at most 50 "}, "response_ms", 57142),
    ],
)
def test_known_cells(
    source: tuple[str, int], dataset: str, system: str, where: dict[str, str], metric: str, expected: float | None
) -> None:
    assert the_row(source, dataset, system, **where).values[metric] == expected


def test_percentages_are_percentages_and_scores_are_scores() -> None:
    for row in published_rows():
        for metric, value in row.values.items():
            limit = 100.0 if is_percent(metric) else 5000.0 if metric == "geoscore" else float("inf")
            assert value is None or 0 <= value <= limit, row


def test_accuracy_never_falls_as_the_threshold_grows() -> None:
    for row in published_rows():
        by_distance = sorted((km, row.values[name]) for name in row.values if (km := threshold_km(name)) is not None)
        shares = [share for _, share in by_distance if share is not None]
        assert shares == sorted(shares), row


def test_a_smaller_place_is_never_right_more_often_than_the_larger_around_it() -> None:
    for row in published_rows(metric="province"):
        assert (row.values["city"] or 0) <= (row.values["province"] or 0) <= (row.values["country"] or 0), row


def test_flags_are_defined_used_and_say_something() -> None:
    used = {flag for row in published_rows() for flag in row.flags}
    defined = {flag for paper in papers() for flag in paper.flags}
    assert used == defined
    assert all(len(flag.text) > 60 for flag in defined)


@pytest.mark.parametrize(
    ("flag", "metric", "figures"),
    [
        ("geoagent-own-figures", "acc@25km", {("geoagent", 2, 15.69), ("geoagent", 3, 15.69), ("geoagent", 4, 15.36)}),
        ("geoagent-qwen-base", "acc@25km", {("geoagent", 2, 3.57), ("geoagent", 3, 1.39), ("geoagent", 6, 1.39)}),
        ("im2gps3k-translocator", "acc@25km", {("geoagent", 2, 31.1), ("spotagent", 1, 20.3)}),
        ("im2gps3k-geodecoder", "acc@25km", {("geoagent", 2, 33.5), ("spotagent", 1, 10.3)}),
        ("im2gps3k-geoclip-750km", "acc@750km", {("geoagent", 2, 69.97), ("spotagent", 1, 69.67)}),
        ("spotagent-ydc-1km", "acc@1km", {("spotagent", 6, 14.41)}),
        ("smilegeo-claude-overall", "acc@50km", {("smilegeo", 1, v) for v in (22.06, 37.38, 16.5468)}),
        (
            "smilegeo-own-figures",
            "acc@50km",
            {("smilegeo", 1, 63.0457), ("smilegeo", 2, 63.273), ("smilegeo", 6, 62.8141)},
        ),
        ("smilegeo-tokens", "tokens", {("smilegeo", 2, 17145)}),
        ("twm-geobench-n", "acc@0.5km", {("twm", 4, 33.30), ("twm", 4, 57.94), ("twm", 8, 61.92)}),
        ("twm-mapbench-n", "acc@0.5km", {("twm", 3, 44.98), ("twm", 3, 14.86), ("twm", 6, 45.82)}),
        ("twm-parallel2-easy-2km", "acc@2km", {("twm", 3, 54.38), ("twm", 6, 54.35)}),
        ("twm-parallel2-hard-750km", "acc@750km", {("twm", 3, 68.85), ("twm", 6, 68.86)}),
        ("geovista-7b-on-geobench", "acc@3km", {("geovista", 3, 52.83)}),
        ("geovista-7b-on-geobench", "acc@10km", {("twm", 4, 45.50)}),
    ],
)
def test_known_contradictions_are_flagged_where_they_stand(
    flag: str, metric: str, figures: set[tuple[str, int, float]]
) -> None:
    flagged = {
        (row.paper, row.table, row.values[metric])
        for row in published_rows(metric=metric)
        if flag in {each.id for each in row.flags}
    }
    assert figures <= flagged


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


@pytest.mark.parametrize(
    ("dataset", "systems", "fits", "fits_not"),
    [
        ("GeoBench", {"GPT-o3", "GPT-5", "Qwen3-VL-235B-A22B", "Qwen3-VL-30B-A3B"}, 934, (428, 1132, 1142)),
        ("GeoBench", {"+ Parallel×2 & Verifier", "+ Parallel×4 & Verifier"}, 428, (934, 1132, 1142)),
        ("GeoBench", {"+ Thinking with Map", "+ Reinforcement Learning"}, 4 * 428, (428, 934, 1132, 1142)),
        ("MAPBench-easy", {"GPT-o3", "GPT-5", "Qwen3-VL-235B-A22B", "Qwen3-VL-30B-A3B"}, 599, (598,)),
        ("MAPBench-easy", {"+ Parallel×4 & Verifier"}, 598, (599,)),
        ("MAPBench-hard", {"+ Parallel×2 & Verifier", "+ Parallel×4 & Verifier"}, 1891, (1901,)),
        ("IMAGEO-2", {"GPT-o3", "GLOBE-7B", "+ Parallel×4 & Verifier"}, 901, (902,)),
        ("IMAGEO-2", {"GPT-5"}, 889, (901, 902)),
    ],
)
def test_thinking_with_map_rows_rest_on_different_images(
    dataset: str, systems: set[str], fits: int, fits_not: tuple[int, ...]
) -> None:
    main = [pair for pair in printed_rows("twm") if pair[0].table in (3, 4) and pair[0].dataset == dataset]
    chosen = [(row, printed) for row, printed in main if row.system in systems]
    assert {row.system for row, _ in chosen} == systems
    for row, printed in chosen:
        assert misfits(printed, fits) == set(), row
        assert all(misfits(printed, n) for n in fits_not), row


def test_geovista_city_figures_add_up_over_the_kinds_of_image() -> None:
    for row in published_rows(paper="geovista", table=2, metric="country"):
        parts = [
            the_row(("geovista", 2), "GeoBench", row.system, split=split)
            for split in ("panorama", "photo", "satellite")
        ]
        hits = sum(round((part.values["city"] or 0) * (part.n or 0) / 100) for part in parts)
        assert sum(part.n or 0 for part in parts) == row.n
        assert round(100 * hits / (row.n or 1), 2) == row.values["city"], row


def test_spotagent_filter_counts_add_up() -> None:
    for row in published_rows(paper="spotagent", table=8):
        parts = [row.values[f"{part}_images"] or 0 for part in ("pass8", "pass0", "kept")]
        assert sum(parts) == row.n
        for part, images in zip(("pass8", "pass0", "kept"), parts, strict=True):
            assert row.values[f"{part}_percent"] == pytest.approx(100 * images / sum(parts), abs=0.005)


def test_rows_say_what_their_n_is_worth() -> None:
    for row in published_rows():
        assert row.n_note.startswith(("stated", "inferred")), row
        assert row.n is not None, row
        assert row.n > 0, row


def test_filters_combine() -> None:
    rows = published_rows(dataset="geobench", paper="Thinking with Map", table=4, metric="acc@0.5km")
    assert len(rows) == 11
    assert {row.source for row in rows} == {"Thinking with Map, table 4"}
    assert {row.paper for row in published_rows(dataset="GeoBench")} == {"geovista", "twm"}


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
    assert {row.dataset for row in published_rows(dataset=written)} == ({ours} if ours else set())


def test_rows_with_a_dash_don_t_count_as_having_the_metric() -> None:
    assert "G3" not in {row.system for row in published_rows(dataset="YFCC4k", metric="acc@25km")}
    assert "G3" in {row.system for row in published_rows(dataset="YFCC4k")}


def test_unknown_papers_and_metrics_are_named_with_what_there_is() -> None:
    with pytest.raises(BadInput, match="twm"):
        published_rows(paper="smileyGeo")
    with pytest.raises(BadInput, match="acc@<km>km"):
        published_rows(metric="accuracy")
    assert all(published_rows(metric=name) for name in METRICS if "<" not in name)


def test_rows_can_t_be_changed_and_can_be_collected() -> None:
    row = published_rows()[0]
    with pytest.raises(TypeError):
        row.values["acc@50km"] = 100.0  # type: ignore[index]
    assert len(set(published_rows())) == len(published_rows())


def test_tables_know_their_data_sets_and_thresholds() -> None:
    tables = {(paper.key, table.number): table for paper in papers() for table in paper.tables}
    assert list(tables["twm", 3].datasets) == ["MAPBench-easy", "MAPBench-hard"]
    assert list(tables["twm", 3].thresholds_km) == [0.5, 2, 10, 25, 200, 750]
    assert list(tables["geovista", 3].metrics) == ["acc@3km", "median_km"]


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


def test_a_missing_file_is_a_fault_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DataFault, match=r"smilegeo\.json"):
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
