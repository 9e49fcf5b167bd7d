"""Answers that name a place without a point: placed by every scorer, by one rule, unless ``--strict`` is given."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from geosleuth.answer import Address, Answer
from geosleuth.atlas import Hit, OfflineAtlas
from geosleuth.cli.commands import whole_app
from geosleuth.geo import LatLon
from geosleuth.lab.bench.placed import Placed, create_placer, place_nothing
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.scored import PLACED_LEVEL, score_records, with_placed
from geosleuth.lab.score import Truth
from geosleuth.support.errors import ServiceFault
from printed_replies import printed_labels

PARIS, LYON = LatLon(48.85, 2.35), LatLon(45.76, 4.84)

LABELS = (  # as GeoSeek-Val has them: country; region; place
    ("United States; PR, Luquillo; Luquillo", 18.37, -65.74),
    ("<answer> Zambia; Lusaka Province; </answer>", -15.44, 28.05),
    ("Indonesia; South Sumatra; Palembang", -2.98, 104.76),
    ("Japan; Tokyo; Shibuya", 35.66, 139.70),
    ("Brazil; São Paulo; Campinas", -22.91, -47.06),
    ("Italy; Tuscany; Siena", 43.32, 11.33),
    ("Monaco; ; ", 43.74, 7.42),
    ("Kenya; Nairobi County; Qwyxhurst Gate", -1.29, 36.82),
)


def cli(*words: object) -> dict[str, Any]:
    done = CliRunner().invoke(whole_app(), ["bench", *map(str, words)])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_only_unlocated_answers_that_name_a_place_are_put_on_the_map() -> None:
    records = [
        Record("pointed", Truth(PARIS), answer=Answer(LYON, Address.create("France", None, "Paris"))),
        Record("named", Truth(PARIS), answer=Answer(None, Address.create("France", None, "Paris"))),
        Record("unknown", Truth(PARIS), answer=Answer(None, Address.create(None, None, "Atlantis"))),
        Record("silent", Truth(PARIS), answer=Answer()),
    ]
    plain = score_records(records, label="model", parser="lenient", distance="geodesic")
    placed = with_placed(plain, {"Paris, France": Placed(PARIS, "town")}.get)
    assert placed.label == "model"
    assert placed.notes[0].startswith("of 3 answers without a point 1 placed by their words (1 by town)")
    column = placed.fields[PLACED_LEVEL]
    assert [column.values[code] for code in column.codes] == ["own point", "town", "(unknown)", "(unknown)"]
    assert placed.distance_km[0] == plain.distance_km[0] > 300
    assert placed.distance_km[1] == 0
    assert np.isnan(placed.distance_km[2:]).all()
    assert dict(placed.named_only) == {2: "Atlantis"}
    assert with_placed(plain, place_nothing) is plain


def test_each_text_is_looked_up_once_and_again_only_after_a_fault(atlas_home: Path) -> None:
    asked: list[str] = []

    class Counted(OfflineAtlas):
        async def geocode(self, text: str, **options: Any) -> list[Hit]:
            asked.append(text)
            if len(asked) == 1:
                raise ServiceFault("maps.invalid", "is busy")
            return await super().geocode(text, **options)

    opened: list[OfflineAtlas] = []

    def open_atlas() -> OfflineAtlas:
        opened.append(Counted(atlas_home / "regions"))
        return opened[-1]

    place = create_placer(open_atlas)
    assert not opened
    with pytest.raises(ServiceFault):
        place("Paris, France")
    first = place("Paris, France")
    assert first is not None
    assert [place("Paris, France") is first, place("Xqzvkkw")] == [True, None]
    assert place("Xqzvkkw") is None
    assert asked == ["Paris, France", "Paris, France", "Xqzvkkw"]
    assert len(opened) == 1


def test_score_and_compare_place_words_unless_strict(atlas_home: Path) -> None:
    file = atlas_home / "answers.jsonl"
    truth = {"lat": 48.85, "lon": 2.35}
    file.write_text(json.dumps({"id": "a", "truth": truth, "reply": "France; Île-de-France; Paris"}) + "\n")
    (usual,) = cli("score", file, "--by", "placed", "--json")["files"]
    assert (usual["file"], usual["unlocated"], usual["accuracy"]["25"]["percent"]) == ("answers", 0, 100)
    assert "1 by town" in usual["notes"][0]
    (strict,) = cli("score", file, "--strict", "--json")["files"]
    assert (strict["unlocated"], strict["accuracy"]["25"]["percent"]) == (1, 0)
    both = CliRunner().invoke(whole_app(), ["bench", "score", str(file), "--strict", "--maps", "nominatim"])
    assert "--maps places answers in words" in str(both.exception)
    pair = cli("compare", file, file, "--json")
    assert "100" in json.dumps(pair)


def printed() -> list[tuple[str, float, float]]:
    """The labels that GeoAgent's paper prints, in their form."""
    levels = ("country", "region", "precise")
    return [
        ("; ".join(getattr(address, level).conclusion or "" for level in levels), point.lat, point.lon)
        for address, point in printed_labels()
    ]


@pytest.mark.parametrize("method", ["default", "geoagent"])
@pytest.mark.parametrize(("labels", "share"), [(LABELS, 75), (None, 33)], ids=["ours", "printed"])
def test_a_model_that_repeats_the_labels_is_right_in_run_score_and_report(
    atlas_home: Path, tmp_path: Path, method: str, labels: Sequence[tuple[str, float, float]] | None, share: float
) -> None:
    assert atlas_home.is_dir()
    labels = labels or printed()
    data, answers, out = tmp_path / "val", tmp_path / "answers.jsonl", tmp_path / "run"
    data.mkdir()
    rows, replies = [], []
    for number, (label, lat, lon) in enumerate(labels):
        stream = io.BytesIO()
        Image.new("RGB", (64, 48), (90, 120, 10 * number)).save(stream, "JPEG")
        (data / f"{number}.jpg").write_bytes(stream.getvalue())
        rows.append(json.dumps({"image": f"{number}.jpg", "solution": label, "lat": lat, "lng": lon}))
        replies.append(json.dumps({"id": f"{number}.jpg", "truth": {"lat": lat, "lon": lon}, "reply": label}))
    (data / "GeoSeek-Val.jsonl").write_text("\n".join(rows) + "\n")
    answers.write_text("\n".join(replies) + "\n")
    words = ("run", "--data", f"geoseek-val:{data}", "--model", f"replay:{answers}", "--method", method, "--out", out)
    run = cli(*words, "--json")
    (score,) = cli("score", out, "--json")["files"]
    (direct,) = cli("score", answers, "--json")["files"]
    assert (run["photos"], run["unlocated"], sum(run["placed"].values())) == (len(labels), 0, len(labels))
    for km, percent in run["accuracy"]["percent_within_km"].items():
        assert percent == pytest.approx(score["accuracy"][km]["percent"], abs=1e-4), km
        assert percent == pytest.approx(direct["accuracy"][km]["percent"], abs=1e-4), km
    assert run["accuracy"]["median_km"] == pytest.approx(score["median_km"]["value"], abs=1e-3)
    assert run["accuracy"]["percent_within_km"]["750"] == 100
    assert run["accuracy"]["percent_within_km"]["25"] >= share
    (reported,) = cli("report", out, "--json")["runs"]
    assert reported["figures"]["accuracy"] == score["accuracy"]
    assert reported["unlocated"] == 0
    # The figures alone change: results keep the answers as they were given.
    assert all("lat" not in json.loads(line)["answer"] for line in (out / "results.jsonl").read_text().splitlines())
    strict = cli(*words, "--strict", "--json")
    assert (strict["unlocated"], strict["accuracy"]["percent_within_km"]["25"]) == (len(labels), 0)
