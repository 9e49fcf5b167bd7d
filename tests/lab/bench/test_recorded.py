"""The recorded answers of real models reproduce the published tables; made-up replies cover the same code anywhere."""

import json
import os
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from geosleuth.answer import ParserName
from geosleuth.geo import LatLon
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.bench.report import report_file, tier_files
from geosleuth.lab.bench.scored import Scored, score_file

ROOT = Path(__file__).parents[3]
RECORDED = Path(os.environ.get("GEOSLEUTH_SHARED", ROOT.parent / "shared")) / "data" / "recorded"
GEOBENCH = ("geobench_gpt5", "geobench_qwen3vl235b", "geobench_qwen3vl30b")
MAPBENCH = ("mapbench_gpt5", "mapbench_o3", "mapbench_qwen3vl235b")
needs_recorded = pytest.mark.skipif(
    not RECORDED.is_dir(),
    reason=f"the recorded answers are not at {RECORDED}; set GEOSLEUTH_SHARED to the folder that holds data/recorded",
)


@cache
def scored(name: str, parser: ParserName) -> Scored:
    return score_file(RECORDED / f"{name}.jsonl", parser=parser, distance="geodesic")


def percentages(found: Scored, *thresholds_km: float) -> list[str]:
    summary = report_file(found).summary
    return [f"{summary.within[km].percent.value:.2f}" for km in thresholds_km]


@needs_recorded
@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("geobench_gpt5", "33.30 46.90 59.64 63.17 67.13 75.05"),
        ("geobench_qwen3vl235b", "19.38 46.68 66.60 71.52 78.05 91.54"),
    ],
)
def test_strict_reproduces_the_published_row(name: str, published: str) -> None:
    assert percentages(scored(name, "strict"), 0.5, 2, 10, 25, 200, 750) == published.split()


@needs_recorded
def test_lenient_locates_all_that_strict_loses() -> None:
    found = report_file(scored("geobench_gpt5", "lenient")).summary
    assert (found.n, found.located) == (934, 934)
    assert found.within[25.0].percent.value == pytest.approx(78.91, abs=0.2)


@needs_recorded
@pytest.mark.parametrize("name", [*GEOBENCH, *(pytest.param(name, marks=pytest.mark.slow) for name in MAPBENCH)])
def test_lenient_keeps_every_point_that_strict_finds(name: str) -> None:
    strict, lenient = scored(name, "strict"), scored(name, "lenient")
    located = ~np.isnan(strict.lat)
    assert strict.ids == lenient.ids
    assert located.any()
    assert lenient.lat[located].tolist() == strict.lat[located].tolist()
    assert lenient.lon[located].tolist() == strict.lon[located].tolist()


@needs_recorded
def test_replies_without_coordinates_stay_unlocated() -> None:
    path = RECORDED / "mapbench_o3.jsonl"
    replies = [record.reply or "" for record in read_records(path)]
    lost = np.isnan(scored("mapbench_o3", "lenient").lat)
    assert 190 <= lost.sum() <= 230
    pair = re.compile(r'"?lat(?:itude)?"?\s*[:=]\s*"?[-+−]?\d+\.\d+\D{1,20}lon', re.IGNORECASE)
    readable = [reply[-300:] for reply, gone in zip(replies, lost, strict=True) if gone and pair.search(reply)]
    assert readable == []


@needs_recorded
@pytest.mark.parametrize("name", MAPBENCH)
def test_mapbench_files_hold_repeated_images_and_say_so(name: str) -> None:
    found = scored(name, "strict")
    assert len(found) == len(set(found.ids)) == 2500
    notes = " ".join(found.notes)
    assert "2 image(s) occur more than once" in notes
    assert "1 of them with different true places" in notes


@needs_recorded
def test_tiers_of_the_three_mapbench_files() -> None:
    tiers = tier_files([scored(name, "strict") for name in MAPBENCH])
    assert (len(tiers.ids), int(tiers.easy.sum())) == (2500, 599)


# From here on nothing outside the repository is needed. Made-up replies in the shapes that real ones have, each with
# the point that strict and lenient reading find.
TRUTH = LatLon(48.0, 2.0)
OBJECT = '{"lat": 48.1, "lon": 2.0, "city": "A", "country": "B"}'
MADE_UP: dict[str, tuple[str, LatLon | None, LatLon | None]] = {
    "object": (OBJECT, LatLon(48.1, 2.0), LatLon(48.1, 2.0)),
    "prose first": (f"I think \u2028 so.\n\n{OBJECT}", LatLon(48.1, 2.0), LatLon(48.1, 2.0)),
    "fenced": (f"```json\n{OBJECT}\n```", LatLon(48.1, 2.0), LatLon(48.1, 2.0)),
    "unquoted city": ('{"lat": 48.2, "lon": 2.0, "city": A, "country": "B"}', None, LatLon(48.2, 2.0)),
    "no city": ('{"lat": 48.3, "lon": 2.0, "country": "B"}', None, LatLon(48.3, 2.0)),
    "letters": ("Latitude: 48.4° N, Longitude: 2.0° E", None, LatLon(48.4, 2.0)),
    "out of range": ('{"lat": 480.1, "lon": 2.0, "city": "A", "country": "B"}', None, None),
    "names only": ("It must be Rouen in France.", None, None),
    "refusal": ("I'm sorry, I can't help with that.", None, None),
    "empty": ("", None, None),
}


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    path = tmp_path / "made_up.jsonl"
    lines = [
        {
            "index": number,
            "data_source": "Made up",
            "ground_truth": {"lat": TRUTH.lat, "lon": TRUTH.lon, "image": name, "split": "test"},
            "solution_str": reply,
        }
        for number, (name, (reply, _, _)) in enumerate(MADE_UP.items())
    ]
    path.write_bytes(b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines))
    return path


@pytest.mark.parametrize("parser", ["strict", "lenient"])
def test_made_up_replies_give_known_figures(made_up: Path, parser: ParserName) -> None:
    found = score_file(made_up, parser=parser, distance="geodesic")
    wanted = [points[0 if parser == "strict" else 1] for _, *points in MADE_UP.values()]
    for lat, lon, point in zip(found.lat, found.lon, wanted, strict=True):
        assert (np.isnan(lat) and np.isnan(lon)) if point is None else (lat, lon) == (point.lat, point.lon)
    summary = report_file(found).summary
    assert (summary.n, summary.unlocated) == (10, 7 if parser == "strict" else 4)
    # A tenth of a degree of latitude is 11.1 km here.
    assert percentages(found, 10, 25, 50) == (
        ["0.00", "30.00", "30.00"] if parser == "strict" else ["0.00", "40.00", "60.00"]
    )


def test_made_up_tiers(made_up: Path) -> None:
    strict = score_file(made_up, parser="strict", distance="geodesic")
    lenient = score_file(made_up, parser="lenient", distance="geodesic")
    tiers = tier_files([strict, lenient, lenient], threshold_km=30.0)
    assert {name for name, easy in zip(tiers.ids, tiers.easy, strict=True) if easy} == {
        "object", "prose first", "fenced", "unquoted city",
    }  # fmt: skip
