"""Retrieval as a baseline: the nearest photo of a gallery, from an index, a matrix, or any encoder on disk."""

import csv
import json
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseline_tasks import ask
from geosleuth.geo import LatLon, distance_km
from geosleuth.lab.baselines.gallery import open_encoder
from geosleuth.lab.baselines.nearest import NearestPolicy, Neighbours, NeighbourVote, count_votes, learn_odds, recall
from geosleuth.lab.baselines.options import picture_key
from geosleuth.models import make_policy
from geosleuth.photo import open_photo
from geosleuth.photo.image_encoder import unit_rows
from geosleuth.support.errors import BadInput
from geosleuth.tools.similar import build_index
from scenery import save, scene

Matrix = npt.NDArray[np.float32]


def write_gallery(
    folder: Path, features: npt.NDArray[np.floating], points: Sequence[tuple[float, float]], encoder: str | None = None
) -> Path:
    """A gallery as a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "features.npy", features)
    with (folder / "places.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([("id", "lat", "lon"), *((f"p{i}", *at) for i, at in enumerate(points))])
    if encoder is not None:
        (folder / "encoder").write_text(encoder + "\n")
    return folder


def write_queries(folder: Path, rows: dict[str, Matrix]) -> None:
    """Features of photos in question."""
    np.save(folder / "queries.npy", np.stack(list(rows.values())))
    (folder / "queries.csv").write_text("pixels\n" + "".join(f"{key}\n" for key in rows))


def unit(*numbers: float) -> Matrix:
    row: Matrix = unit_rows(np.array([numbers]))[0]
    return row


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six scenes at six places, each in two sizes; the smaller one is in the index."""
    folder = tmp_path_factory.mktemp("photos")
    for number in range(6):
        save(scene(number, (320, 240)), folder / f"{number}.jpg", LatLon(10.0 * number, 5.0 * number))
    out = folder.with_suffix(".index")
    build_index(folder, out)
    return out


def test_a_photo_is_placed_where_the_one_that_looks_alike_is(index: Path) -> None:
    policy = make_policy(f"nearest:{index},k=3")
    for number in (1, 4):
        answer = ask(policy, scene(number, (640, 480)))
        assert answer.point is not None
        assert distance_km(answer.point, LatLon(10.0 * number, 5.0 * number)) < 0.1
        assert f"{number}.jpg" in (answer.explanation or "")
        assert answer.probability is None  # six photos can't say how often they are right
        assert answer.radius_km == 25.0
    assert policy.hosts == frozenset()


def test_a_photo_of_the_gallery_is_no_evidence_for_itself(index: Path) -> None:
    folder = index.with_suffix("")
    image = open_photo(folder / "2.jpg").photo.image
    answer = ask(make_policy(f"nearest:{index}"), image)
    assert answer.point is not None
    assert distance_km(answer.point, LatLon(20.0, 10.0)) > 100
    assert "2.jpg" not in (answer.explanation or "")


@pytest.mark.parametrize("known_by", ["pixels", "features"])
def test_what_a_photo_was_before_something_was_hidden_is_no_evidence_either(
    tmp_path: Path, index: Path, known_by: str
) -> None:
    place = LatLon(20.0, 10.0)
    folder = index.with_suffix("")
    whole = open_photo(folder / "2.jpg").photo.image
    gallery = index
    if known_by == "features":
        photos = [open_photo(folder / f"{number}.jpg").photo.image for number in range(6)]
        rows, points = open_encoder("bundled").features(photos), [(10.0 * number, 5.0 * number) for number in range(6)]
        gallery = write_gallery(tmp_path / "g", rows, points, encoder="bundled")
    hidden = whole.copy()
    hidden.paste((90, 90, 90), (40, 40, 90, 80))
    policy = make_policy(f"nearest:{gallery},k=3")
    assert isinstance(policy, NearestPolicy)
    found, kept_out = ask(policy, hidden), ask(policy.excluding([[whole]]), hidden)
    assert found.point is not None
    assert distance_km(found.point, place) < 0.1, "so that there is something to leave out"
    assert kept_out.point is not None
    assert kept_out.point == ask(policy, whole).point != found.point
    assert all(one.point is None or distance_km(one.point, place) > 100 for one in kept_out.candidates)


def test_galleries_differ_by_their_encoder_and_by_whose_queries_they_hold(tmp_path: Path) -> None:
    def mark(name: str, encoder: str | None, key: str) -> str:
        gallery = write_gallery(tmp_path / name, np.eye(3), [(1, 1), (2, 2), (3, 3)], encoder)
        write_queries(gallery, {key: unit(0, 1, 0.1)})
        policy = make_policy(f"nearest:{gallery}")
        assert isinstance(policy, NearestPolicy)
        return policy.fingerprint

    first = mark("one", "bundled", "aa")
    assert first == mark("other", "bundled", "aa")
    assert len({first, mark("blind", None, "aa"), mark("else", "bundled", "ab")}) == 3


def test_features_of_any_encoder_come_as_a_matrix(tmp_path: Path) -> None:
    gallery = write_gallery(tmp_path / "g", np.eye(4), [(1, 1), (2, 2), (3, 3), (4, 4)])
    photo, other = scene(1), scene(2)
    write_queries(gallery, {picture_key([photo]): unit(0.1, 0.1, 0.9, 0)})
    policy = make_policy(f"nearest:{gallery}")
    assert ask(policy, photo).point == LatLon(3, 3)
    assert getattr(policy, "fingerprint") == getattr(make_policy(f"nearest:{gallery},k=2"), "fingerprint")  # noqa: B009
    unknown = ask(policy, other)
    assert not unknown.located
    assert "No features of this photo" in (unknown.explanation or "")


def test_queries_may_lie_apart(tmp_path: Path) -> None:
    gallery = write_gallery(tmp_path / "g", np.eye(3), [(1, 1), (2, 2), (3, 3)], encoder="bundled")
    apart = tmp_path / "q"
    apart.mkdir()
    write_queries(apart, {picture_key([scene(1)]): unit(0, 1, 0.1)})
    assert ask(make_policy(f"nearest:{gallery},queries={apart}"), scene(1)).point == LatLon(2, 2)
    with pytest.raises(BadInput, match="1280 features, and the gallery has 3"):
        ask(make_policy(f"nearest:{gallery}"), scene(1))


def test_several_that_agree_outvote_one_that_is_more_alike(tmp_path: Path) -> None:
    rows = np.stack([unit(1, 0.1, 0), unit(1, 0.2, 0.02), unit(1, 0.2, 0), unit(1, 0.21, 0), unit(0, 0, 1)])
    points = [(48.0, 2.0), (35.0, 139.0), (35.05, 139.05), (35.0, 139.1), (0.0, 0.0)]
    gallery = write_gallery(tmp_path / "g", rows, points)
    write_queries(gallery, {picture_key([scene(1)]): unit(1, 0.05, 0)})
    assert ask(make_policy(f"nearest:{gallery},k=4"), scene(1)).point == LatLon(48.0, 2.0)
    spread = ask(make_policy(f"nearest:{gallery},k=4,vote=spread"), scene(1))
    assert spread.point is not None
    assert distance_km(spread.point, LatLon(35.0, 139.05)) < 15


def test_stated_odds_are_how_often_it_is_right() -> None:
    """Places with a look of their own, photos that show more or less of it: some can be told, some can't."""
    chance = np.random.default_rng(4)
    place = chance.integers(0, 150, 1500)
    looks, blur = chance.normal(size=(150, 16)), chance.uniform(0.2, 2.5, (1500, 1))
    features = unit_rows(looks[place] + blur * chance.normal(size=(1500, 16)))
    lats, lons = chance.uniform(-60, 60, 150)[place], chance.uniform(-180, 180, 150)[place]
    neighbours = Neighbours(features[:750], "exact")
    odds = learn_odds(neighbours, features[:750], lats[:750], lons[:750], 10, "first", 25.0)
    assert odds is not None
    stated, right = [], []
    rows, cosines = neighbours.search(features[750:], 10)
    for number, (near, alike) in enumerate(zip(rows, cosines, strict=True), 750):
        vote = count_votes(lats[near], lons[near], alike, "first", 25.0)
        stated.append(odds.probability(vote))
        right.append(place[near[vote.chosen]] == place[number])
    said, was = np.array(stated), np.array(right)
    assert 0.2 < was.mean() < 0.8
    order = np.array_split(np.argsort(said), 5)
    assert max(abs(said[part].mean() - was[part].mean()) for part in order) < 0.12
    assert was[order[-1]].mean() > was[order[0]].mean() + 0.3


def test_odds_stay_steady_where_all_are_right_or_all_wrong() -> None:
    features = unit_rows(np.random.default_rng(0).normal(size=(60, 8)))
    everywhere = np.linspace(-60, 60, 60)
    for lats, expected in ((np.zeros(60), 0.9), (everywhere, 0.1)):
        odds = learn_odds(Neighbours(features), features, lats, np.zeros(60), 5, "first", 25.0)
        assert odds is not None
        probability = odds.probability(NeighbourVote(0, float(expected > 0.5), 0.5))
        assert 0 < probability < 1
        assert (probability > 0.8) == (expected > 0.5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 40), st.integers(1, 12))
def test_exact_neighbours_are_the_nearest(seed: int, rows: int, count: int) -> None:
    chance = np.random.default_rng(seed)
    features, wanted = unit_rows(chance.normal(size=(rows, 5))), unit_rows(chance.normal(size=(3, 5)))
    found, cosines = Neighbours(features, "exact").search(wanted, count)
    for query, near, alike in zip(wanted, found, cosines, strict=True):
        expected = np.sort(features @ query)[::-1][: min(count, rows)]
        assert np.allclose(alike, expected, atol=1e-6)
        assert np.allclose((features @ query)[near], expected, atol=1e-6)


def test_the_graph_finds_nearly_all_and_is_kept(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    chance = np.random.default_rng(5)
    features = unit_rows(chance.normal(size=(3000, 24)))
    wanted = unit_rows(chance.normal(size=(50, 24)))
    expected, _ = Neighbours(features, "exact").search(wanted, 10)
    first = Neighbours(features, "usearch", tmp_path)
    found, cosines = first.search(wanted, 10)
    assert recall(found, expected) > 0.95
    assert np.allclose(cosines, np.take_along_axis(wanted @ features.T, found, axis=1), atol=1e-3)
    (kept,) = tmp_path.glob("*.usearch")
    again, _ = Neighbours(features, "usearch", tmp_path).search(wanted, 10)
    assert recall(again, expected) > 0.95
    kept.write_bytes(b"no graph")
    mended, _ = Neighbours(features, "usearch", tmp_path).search(wanted, 10)
    assert recall(mended, expected) > 0.95


def test_those_who_come_at_once_build_one_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usearch = pytest.importorskip("usearch.index")
    built = []

    class Counted(usearch.Index):  # type: ignore[misc, name-defined]  # usearch comes without types here
        def add(self, *given: Any, **named: Any) -> Any:
            built.append(threading.current_thread().name)
            time.sleep(0.05)
            return super().add(*given, **named)

    monkeypatch.setattr(usearch, "Index", Counted)
    features = unit_rows(np.random.default_rng(2).normal(size=(100, 8)))
    neighbours = Neighbours(features, "usearch", tmp_path)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda row: int(neighbours.search(features[row : row + 1], 1)[0][0, 0]), range(4)))
    assert found == [0, 1, 2, 3]
    assert len(built) == 1


def test_a_gallery_too_large_to_go_through_is_asked_by_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("usearch")
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path / "home"))
    features = unit_rows(np.random.default_rng(1).normal(size=(200, 16)))
    gallery = write_gallery(tmp_path / "g", features, [(i * 0.4, 0.0) for i in range(200)])
    write_queries(gallery, {picture_key([scene(1)]): unit_rows(features[:1] + 0.05)[0]})
    answer = ask(make_policy(f"nearest:{gallery},index=usearch,k=5"), scene(1))
    assert answer.point == LatLon(0.0, 0.0)
    assert answer.probability is not None


def test_networks_of_pytorch_look_too(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    class Squares(torch.nn.Module):  # type: ignore[misc, name-defined]  # torch comes without types here
        def forward(self, pixels: Any) -> Any:
            return torch.nn.functional.adaptive_avg_pool2d(pixels, 4).flatten(1)

    folder = tmp_path / "cosplace"
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its scripts old-fashioned
        torch.jit.trace(Squares(), torch.zeros(1, 3, 32, 48)).save(str(folder / "model.pt"))
    (folder / "preprocessor_config.json").write_text(
        json.dumps({"size": {"height": 32, "width": 48}, "do_normalize": False})
    )
    with pytest.raises(BadInput, match=r"runs code when it is loaded; .* --trust-code"):
        open_encoder(str(folder))
    encoder = open_encoder(str(folder), trust_code=True)
    (seen,) = encoder.features([scene(3)])
    small = np.asarray(scene(3).resize((48, 32)), dtype=np.float32).reshape(4, 8, 4, 12, 3).mean(axis=(1, 3))
    expected = small.transpose(2, 0, 1).ravel()
    assert encoder.dimension == 48
    assert np.allclose(seen, expected / np.linalg.norm(expected), atol=0.02)
    rows = np.concatenate([seen[None], encoder.features([scene(4)])])
    gallery = write_gallery(tmp_path / "g", rows, [(7, 7), (1, 1)], encoder=str(folder))
    with pytest.raises(BadInput, match=f"which is code; if you trust it, add ,encoder={folder},trust_code=yes"):
        make_policy(f"nearest:{gallery},trust_code=yes")
    with pytest.raises(BadInput, match=",trust_code=yes"):
        make_policy(f"nearest:{gallery},encoder={folder}")
    answer = ask(make_policy(f"nearest:{gallery},encoder={folder},trust_code=yes"), scene(3).crop((10, 10, 630, 470)))
    assert answer.point == LatLon(7, 7)
    (folder / "model.pt").write_bytes(b"nothing")
    with pytest.raises(BadInput, match="TorchScript"):
        open_encoder(str(folder), trust_code=True).features([scene(1)])


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("features.npy", "there is no such matrix"),
        ("places.csv", "can't be read"),
        ("short", "2 places for 3 rows"),
        ("point", r"line 3: '95', '2' is no point"),
        ("encoder", "nothing says how photos are looked at"),
        ("weights", "weights alone are no network"),
        ("nan", "not finite"),
        ("text", "no matrix that numpy.save wrote"),
    ],
)
def test_what_does_not_fit_together_is_told_in_one_line(tmp_path: Path, damage: str, told: str) -> None:
    gallery = write_gallery(tmp_path / "g", np.eye(3), [(1, 1), (2, 2), (3, 3)], encoder="bundled")
    if damage == "short":
        (gallery / "places.csv").write_text("lat,lon\n1,1\n2,2\n")
    elif damage == "point":
        (gallery / "places.csv").write_text("lat,lon\n1,1\n95,2\n3,3\n")
    elif damage == "weights":
        (gallery / "encoder").write_text("netvlad.pth")
    elif damage == "nan":
        np.save(gallery / "features.npy", np.full((3, 3), np.nan))
    elif damage == "text":
        (gallery / "features.npy").write_text("1,2,3")
    else:
        (gallery / damage).unlink()
    with pytest.raises(BadInput, match=told) as caught:
        make_policy(f"nearest:{gallery}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", ["k=0", "k=1001", "vote=most", "within=-1", "index=faiss", "radius=3"])
def test_options_that_make_no_sense_are_refused(tmp_path: Path, options: str) -> None:
    gallery = write_gallery(tmp_path / "g", np.eye(3), [(1, 1), (2, 2), (3, 3)], encoder="bundled")
    with pytest.raises(BadInput):
        make_policy(f"nearest:{gallery},{options}")


def test_there_must_be_a_gallery(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no index"):
        make_policy(f"nearest:{tmp_path / 'none'}")


@pytest.mark.slow
def test_torch_still_starts_after_the_graph_was_asked(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    pytest.importorskip("torch")
    script = (
        "import numpy as np; from pathlib import Path\n"
        "from geosleuth.lab.baselines.nearest import Neighbours\n"
        "rows = np.eye(9, dtype=np.float32)\n"
        f"Neighbours(rows, 'usearch', Path({str(tmp_path)!r})).search(rows, 2)\n"
        "import torch; print(torch.ones(2).sum().item())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "2.0", done.stderr
