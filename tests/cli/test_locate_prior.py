"""``geosleuth locate --prior``: the look of a photo among the evidence, and as a tool for whoever thinks."""

import json
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import geosleuth
from geosleuth.agent import read_trajectory
from geosleuth.evidence.visual import default_prior_path, learn
from geosleuth.geo import LatLon
from geosleuth.lab.cli.handlers.bench_run import BenchRequest, prepare
from geosleuth.photo.image_encoder import load_encoder
from geosleuth.pipeline.request import LocateRequest
from locating import FINAL, locate_here
from openai_server import openai_server
from scenery import save, scene

pytestmark = pytest.mark.usefixtures("atlas_home")

SIZE = (240, 180)
CORNERS = ((46.5, 2.5), (40.0, -4.0), (51.0, 10.0), (52.0, 19.5))
SPAIN = 1


@pytest.fixture(scope="module")
def prior(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learned from France, Spain, Germany and Poland, whose pictures show different things."""
    numbers = [(kind, number) for kind in range(len(CORNERS)) for number in range(12)]
    points = [
        LatLon(CORNERS[kind][0] + 1.3 * (number % 3 - 1), CORNERS[kind][1] + 0.9 * (number % 4 - 2))
        for kind, number in numbers
    ]
    encoder = load_encoder()
    features = encoder.features([scene(4 * number + kind, SIZE) for kind, number in numbers])
    path = tmp_path_factory.mktemp("prior") / "my.prior"
    learn(features, points, encoder=encoder.name).save(path)
    return path


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    return save(scene(4 * 18 + SPAIN, SIZE), tmp_path / "asked.jpg")


def test_the_detective_has_the_look_among_its_evidence(prior: Path, photo: Path) -> None:
    told = locate_here(photo, "--offline", "--prior", prior, "--json").document
    assert "visual_prior" in told["tools"]
    assert "photos that look alike are from Spain" in told["answer"]["explanation"]
    # Four countries are known: that the photo is like those from Spain is no proof against the rest of the world.
    assert "lat" not in told["answer"]
    names = [one["name"] for one in told["answer"]["candidates"]]
    assert "Spain" in names
    assert "France" not in names


def test_python_takes_it_too(prior: Path, photo: Path) -> None:
    finding = geosleuth.locate(photo, prior=prior, offline=True)
    assert "Spain" in (finding.answer.explanation or "")


def test_any_policy_is_offered_the_tool(prior: Path, photo: Path, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai")
    kept = tmp_path / "kept.jsonl"
    with openai_server([FINAL]) as url:
        model = ("--model", "server:m", "--base-url", url, "--method", "geovista", "--trajectory", kept)
        assert locate_here(photo, *model, "--prior", prior).code == 0
        (request,) = url.requests
    assert "visual_prior" in json.dumps(request.json)
    assert read_trajectory(kept).started.tools == ("image_zoom_in_tool", "visual_prior")


def test_one_that_was_learned_is_at_hand_for_the_detective_unless_it_is_not_wanted(prior: Path, photo: Path) -> None:
    at_hand = default_prior_path()
    at_hand.parent.mkdir(parents=True, exist_ok=True)
    at_hand.write_bytes(prior.read_bytes())
    try:
        assert "visual_prior" in locate_here(photo, "--offline", "--json").document["tools"]
        assert "visual_prior" not in locate_here(photo, "--offline", "--prior", "none", "--json").document["tools"]
    finally:
        at_hand.unlink()


COUNTRY_KM = 500.0
"""A cell is smaller; the radius of a country that is a candidate is not."""


def test_at_country_level_no_cell_is_told(prior: Path, photo: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    done = locate_here(photo, "--offline", "--prior", prior, "--granularity", "country", "--trajectory", kept, "--json")
    assert done.code == 0
    for text in (done.out, done.err, kept.read_text(encoding="utf-8")):
        assert not [radius for radius in re.findall(r'"radius_km": ([\d.]+)', text) if float(radius) < COUNTRY_KM]
        assert "look alike" not in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--prior", "gone.prior"), "learn one with: geosleuth prior learn FOLDER"),
        (("--prior", "geoclip:gone"), "gone"),
        (("--prior", "PRIOR", "--tools", "read_text"), "add it to --tools"),
    ],
)
def test_what_can_not_be_asked_is_said_at_once(prior: Path, photo: Path, words: tuple[str, ...], says: str) -> None:
    given = [str(prior) if word == "PRIOR" else word for word in words]
    assert says in locate_here(photo, "--offline", *given).refusal


def test_a_benchmark_run_notices_another_prior(prior: Path, photo: Path, tmp_path: Path) -> None:
    table = tmp_path / "photos.csv"
    table.write_text(f"image,lat,lon\n{photo},1,2\n")
    mine = tmp_path / "mine.prior"

    def settings(locate: LocateRequest) -> Mapping[str, Any]:
        return prepare(BenchRequest(data=str(table), locate=locate, out=tmp_path / "run")).manifest.settings

    shutil.copyfile(prior, mine)
    first = settings(LocateRequest(prior=str(mine)))
    assert first == settings(LocateRequest(prior=str(prior)))
    with zipfile.ZipFile(mine, "a") as archive:
        archive.comment = b"another"
    other = settings(LocateRequest(prior=str(mine)))
    assert {name for name in first if first[name] != other[name]} == {"prior"}
    assert "prior" not in settings(LocateRequest())
    default_prior_path().parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(mine, default_prior_path())
    try:
        assert settings(LocateRequest())["prior"] == other["prior"], "one at hand is asked, too"
    finally:
        default_prior_path().unlink()
