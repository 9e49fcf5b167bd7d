"""Variants held against the first of them: figures, tests, their correction, and how they are shown."""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from geosleuth.lab.bench.ablation import AblationReport, ablation_document, ablation_page, ablation_view, preset
from geosleuth.lab.bench.ablation.comparison import compare_variants
from geosleuth.lab.bench.scored import Scored, score_file
from geosleuth.lab.score import compare_paired
from geosleuth.lab.score.metrics import holm
from geosleuth.support.errors import BadInput
from run_folders import PhotoMade, world_photos, write_run

KM = (1.0, 25.0, 200.0)


def scored(folder: Path, photos: Sequence[PhotoMade]) -> Scored:
    run = write_run(folder, photos)
    return score_file(run / "results.jsonl", parser="lenient", distance="geodesic", label=folder.name)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scored]:
    folder = tmp_path_factory.mktemp("three")
    skills = {"full": 0.8, "web": 0.55, "<b>none</b>": 0.3}
    return {
        name: scored(folder / str(at), world_photos(120, skill=skill, thrift=1 - at / 4, failing=0))
        for at, (name, skill) in enumerate(skills.items())
    }


@pytest.fixture(scope="module")
def report(three: dict[str, Scored]) -> AblationReport:
    return compare_variants(three, thresholds_km=KM, words={"web": "tools search_web"})


def test_each_variant_is_paired_with_the_first(three: dict[str, Scored], report: AblationReport) -> None:
    first, second, third = (one.distance_km for one in three.values())
    for found, other in zip(report.against, (second, third), strict=True):
        assert found.comparison == compare_paired(first, other, KM)
    assert report.n == 120
    assert [row.report.summary.within[25.0].hits for row in report.rows] == [
        int((one <= 25).sum()) for one in (first, second, third)
    ]


def test_five_distances_fit_on_80_columns(three: dict[str, Scored]) -> None:
    names = ("full", "web+zoom", "geocode+zoom")
    report = compare_variants(dict(zip(names, three.values(), strict=True)))
    out = io.StringIO()
    Console(file=out, width=80).print(ablation_view(report))
    assert "…" not in out.getvalue().replace("within … km", "")
    for word, times in (("place", 2), ("2500", 2), ("GeoScore", 3), ("geocode+zoom", 3)):
        assert out.getvalue().count(word) == times


def test_p_values_are_corrected_over_the_whole_table(report: AblationReport) -> None:
    raw = [item.p for one in report.against for item in one.comparison.accuracies]
    assert [one.p_adjusted[km] for one in report.against for km in KM] == holm(raw)
    assert [one.geoscore_p_adjusted for one in report.against] == holm(
        [one.comparison.geoscore_p for one in report.against]
    )
    # A better answerer is found to be better, and no p gets smaller by asking more.
    assert report.against[1].p_adjusted[25.0] < 0.001
    assert all(
        one.p_adjusted[item.threshold_km] >= item.p for one in report.against for item in one.comparison.accuracies
    )


def test_the_same_answers_do_not_differ(three: dict[str, Scored]) -> None:
    found = compare_variants({"a": three["full"], "b": three["full"]}, thresholds_km=KM).against[0]
    assert set(found.p_adjusted.values()) == {1.0}
    assert found.geoscore_p_adjusted == 1.0
    assert found.comparison.geoscore_difference.value == 0.0


def test_only_photos_that_all_have_are_counted(tmp_path: Path, three: dict[str, Scored]) -> None:
    few = scored(tmp_path / "few", world_photos(120, skill=0.8, failing=0)[20:70])
    found = compare_variants({"few": few, "full": three["full"]}, thresholds_km=KM, empty=["later"])
    assert (found.n, [row.left_out for row in found.rows]) == (50, [0, 70])
    assert found.rows[1].report.scored.ids == few.ids
    told = ablation_document(found)["remarks"]
    assert any("left out of all figures" in line and line.endswith("full 70") for line in told)
    assert any("later" in line for line in told)


def test_what_it_took_is_a_mean_over_the_same_photos(three: dict[str, Scored], report: AblationReport) -> None:
    photos = world_photos(120, skill=0.8, thrift=1.0, failing=0)
    tries = [photo.tries[-1] for photo in photos]
    calls = np.array([made.spent.calls for made in tries])
    used = report.rows[0].behaviour
    assert used.calls == pytest.approx(calls.mean())
    assert used.called_percent == pytest.approx(100 * (calls > 0).mean())
    assert used.failed_percent == pytest.approx(100 * sum(made.spent.failed_calls for made in tries) / calls.sum())
    assert used.tokens == pytest.approx(np.mean([made.input_tokens + made.output_tokens for made in tries]))
    assert used.usd == pytest.approx(np.mean([made.cost_usd for made in tries]))
    assert len(three["full"]) == 120


def test_what_records_do_not_say_is_not_made_up(three: dict[str, Scored]) -> None:
    silent = replace(three["full"], fields={})
    used = compare_variants({"a": silent, "b": three["web"]}, thresholds_km=KM).rows[0].behaviour
    assert (used.calls, used.tokens, used.usd, used.failed_percent) == (None, None, None, None)


def test_one_variant_alone_is_nothing_to_compare(three: dict[str, Scored]) -> None:
    with pytest.raises(BadInput, match="fewer than two variants have answers"):
        compare_variants({"full": three["full"]})


def printed(report: AblationReport, columns: int = 160) -> str:
    stream = io.StringIO()
    Console(file=stream, width=columns, markup=False, highlight=False).print(ablation_view(report))
    return stream.getvalue()


def test_the_table_says_how_variants_differ_and_what_papers_printed(three: dict[str, Scored]) -> None:
    found = preset("spotagent-tools")
    rows = {name: row for name in ("full", "web") if (row := found.row(name)) is not None}
    report = compare_variants(three, thresholds_km=(1.0, 25.0), published=rows)
    text = printed(report)
    assert "3 variants on the same 120 photos" in text
    assert "Against full" in text
    assert "Full Toolset" in text
    assert "38.10" in text
    assert "2,997 images of Im2GPS3k" in text
    share = report.rows[1].report.summary.within[25.0].percent.value
    assert f"{share:.2f}" in text
    change = share - report.rows[0].report.summary.within[25.0].percent.value
    assert f"{change:+.2f}" in text


def test_the_document_has_every_figure_and_is_json(report: AblationReport) -> None:
    document = json.loads(json.dumps(ablation_document(report), allow_nan=False))
    assert document["baseline"] == "full"
    assert [one["variant"] for one in document["variants"]] == ["full", "web", "<b>none</b>"]
    against = document["against_baseline"][0]["accuracy"]["25"]
    assert against["difference"] < 0
    assert against["only_baseline"] > against["only_variant"]
    assert against["p_adjusted"] >= against["p"]
    assert document["variants"][1]["changes"] == "tools search_web"


def test_the_page_is_one_file_and_can_not_be_injected_into(report: AblationReport) -> None:
    page = ablation_page(report, title="What is it worth?", notes=["a note"], generated="today", command="geosleuth x")
    assert "<b>none</b>" not in page
    assert "&lt;b&gt;none&lt;/b&gt;" in page
    assert "Against full" in page
    assert "http://" not in page
    assert "https://" not in page
    assert page.count("<table") == 3
