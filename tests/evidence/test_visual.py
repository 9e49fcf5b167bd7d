"""A prior learned from photos: better than what is simple, honest about its reach, kept whole in one file."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from geosleuth.evidence.country_prior import country_prior
from geosleuth.evidence.visual import (
    Cell,
    Distribution,
    LearnedPrior,
    Reach,
    compare,
    default_prior_path,
    learn,
    load_prior,
    prior_at_hand,
    visual_clue,
)
from geosleuth.evidence.visual.learned import LINEAR, NEIGHBOUR, PRIOR
from geosleuth.geo import LatLon
from geosleuth.support.errors import BadInput
from looks import Looks, make_looks
from scenery import scene


@pytest.fixture(scope="module")
def halves() -> tuple[Looks, Looks]:
    return make_looks("linear", 2, 1000, 64, blur=1.0).split()


@pytest.fixture(scope="module")
def prior(halves: tuple[Looks, Looks]) -> LearnedPrior:
    known, _ = halves
    return learn(known.features, known.points, encoder="made up")


@pytest.mark.slow
def test_other_places_are_told_better_than_by_what_is_simple(prior: LearnedPrior, halves: tuple[Looks, Looks]) -> None:
    _, asked = halves
    found = compare(prior, asked.features, asked.points)
    ours = found.everywhere[PRIOR]
    for simple in (NEIGHBOUR, LINEAR):
        assert ours.country_top1 > found.everywhere[simple].country_top1 + 0.05
        assert ours.country_top5 > found.everywhere[simple].country_top5 + 0.05
        assert ours.acc_750 > found.everywhere[simple].acc_750 + 0.05
        assert ours.median_km < found.everywhere[simple].median_km
    assert ours.photos == len(asked.points)
    assert found.known == 0
    # None of the photos is near one learned from, so that both sets are the same.
    assert found.elsewhere == found.everywhere


@pytest.mark.slow
def test_what_it_states_comes_true_as_often(prior: LearnedPrior, halves: tuple[Looks, Looks]) -> None:
    assert prior.knowledge.held_out.country_calibration < 0.05
    _, asked = halves
    guess = prior.guess(asked.features)
    right = compare(prior, asked.features, asked.points).everywhere[PRIOR].country_top1
    assert abs(float(guess.shares.max(axis=1).mean()) - right) < 0.08
    assert guess.shares.sum(axis=1) == pytest.approx(np.ones(len(asked.points)), abs=1e-4)


def test_a_distribution_adds_up_and_names_the_likeliest_first(prior: LearnedPrior, halves: tuple[Looks, Looks]) -> None:
    _, asked = halves
    for seen in prior.judge(asked.features[:5]):
        for shares in (seen.seen, seen.base, seen.countries):
            assert sum(shares.values()) == pytest.approx(1.0)
            assert list(shares.values()) == sorted(shares.values(), reverse=True)
        assert sum(cell.share for cell in seen.cells) == pytest.approx(1.0)
        assert seen.countries.keys() >= country_prior().keys()
        assert 0 < seen.reach.trust < 1


def test_a_photo_is_no_evidence_for_itself(prior: LearnedPrior, halves: tuple[Looks, Looks]) -> None:
    known, asked = halves
    (seen,) = prior.judge(known.features[:1])
    assert seen.reach.trust == 0
    assert "no evidence for itself" in seen.reach.says
    assert seen.countries == pytest.approx(dict(country_prior()))
    mixed = np.concatenate([known.features[:7], asked.features])
    found = compare(prior, mixed, known.points[:7] + asked.points)
    assert found.known == 7
    assert found.everywhere[PRIOR].photos == len(asked.points)


def test_what_looks_like_nothing_known_says_nothing(prior: LearnedPrior, halves: tuple[Looks, Looks]) -> None:
    _, asked = halves
    trusts = [seen.reach.trust for seen in prior.judge(asked.features[:100])]
    assert np.median(trusts) > 0.85
    swapped = [seen.reach.trust for seen in prior.judge(asked.features[:100, ::-1])]
    assert np.median(swapped) < 0.25
    strange = prior.judge(np.eye(asked.features.shape[1])[:10])
    assert max(seen.reach.trust for seen in strange) == 0
    assert strange[0].countries == pytest.approx(dict(country_prior()))
    assert "Nothing in the collection" in strange[0].reach.says


def test_a_prior_comes_back_from_its_file_as_it_was(
    prior: LearnedPrior, halves: tuple[Looks, Looks], tmp_path: Path
) -> None:
    _, asked = halves
    path = tmp_path / "my.prior"
    prior.save(path)
    again = load_prior(path)
    assert isinstance(again, LearnedPrior)
    assert (again.encoder, len(again)) == ("made up", len(prior))
    assert again.knowledge.held_out == prior.knowledge.held_out
    assert again.judge(asked.features[:3]) == prior.judge(asked.features[:3])
    assert [one.name for one in tmp_path.iterdir()] == ["my.prior"]


@pytest.mark.slow
def test_the_same_photos_make_the_same_prior(halves: tuple[Looks, Looks]) -> None:
    known, asked = halves
    some = known.only(np.arange(len(known.points)) < 150)
    first, second = (learn(some.features, some.points, encoder="x", seed=4) for _ in range(2))
    assert first.judge(asked.features[:3]) == second.judge(asked.features[:3])


def _without(path: Path, gone: str, **changed: npt.NDArray[np.generic]) -> None:
    with np.load(path) as arrays:
        kept = {name: arrays[name] for name in arrays.files if name != gone} | changed
    with path.open("wb") as stream:
        np.savez(stream, **kept)


def test_a_file_that_is_no_prior_is_refused_in_one_line(prior: LearnedPrior, tmp_path: Path) -> None:
    path = tmp_path / "my.prior"
    with pytest.raises(BadInput, match="geosleuth prior learn"):
        LearnedPrior.load(path)
    for content in (b"", b"no prior", b"PK\x03\x04 cut"):
        path.write_bytes(content)
        with pytest.raises(BadInput, match="no prior, or a damaged one"):
            LearnedPrior.load(path)
    prior.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match="damaged"):
        LearnedPrior.load(path)
    path.write_bytes(whole)
    _without(path, "label")
    with pytest.raises(BadInput, match="damaged"):
        LearnedPrior.load(path)
    path.write_bytes(whole)
    _without(path, "", lats=np.zeros(3))
    with pytest.raises(BadInput, match="damaged"):
        LearnedPrior.load(path)
    path.write_bytes(whole)
    _without(path, "", header=np.frombuffer(json.dumps({"format": 99}).encode(), dtype=np.uint8))
    with pytest.raises(BadInput, match="format 99"):
        LearnedPrior.load(path)


def test_other_eyes_than_it_was_learned_with_are_refused(prior: LearnedPrior) -> None:
    with pytest.raises(BadInput, match="made up"):
        prior.look(scene(1))


def test_nothing_is_learned_from_too_little(halves: tuple[Looks, Looks]) -> None:
    known, _ = halves
    with pytest.raises(BadInput, match="at least 30"):
        learn(known.features[:29], known.points[:29], encoder="x")
    with pytest.raises(BadInput, match="at least 30"):
        learn(known.features[:50], [LatLon(0, -150)] * 50, encoder="x")
    with pytest.raises(BadInput, match="several regions"):
        learn(known.features[:50], [LatLon(48.8, 2.3)] * 50, encoder="x")
    with pytest.raises(BadInput):
        compare(learn(known.features[:60], known.points[:60], encoder="x"), known.features[:0], [])


def test_the_prior_of_the_user_is_found_where_there_is_one(
    prior: LearnedPrior, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path))
    assert prior_at_hand() is None
    default_prior_path().parent.mkdir(parents=True)
    prior.save(default_prior_path())
    found = prior_at_hand()
    assert found is not None
    assert found.name == prior.name


def _seen(seen: dict[str, float], base: dict[str, float], trust: float = 0.9) -> Distribution:
    cells = tuple(
        Cell(number, LatLon(10.0 * number, 0), 100, code, share) for number, (code, share) in enumerate(seen.items())
    )
    return Distribution(seen, base, cells, Reach(0.5, trust, "Such pictures are common."), "test")


def test_a_clue_lifts_countries_by_what_was_seen_and_not_by_how_often_they_were_photographed() -> None:
    base = {"MC": 0.9, "FR": 0.05, "IT": 0.05}
    clue = visual_clue(_seen({"MC": 0.8, "FR": 0.19, "IT": 0.01}, base))
    world = country_prior()
    lift = {code: clue.countries[code] / world[code] for code in ("MC", "FR", "IT", "DE", "US")}
    assert lift["FR"] > 3 * lift["DE"] > lift["MC"]
    assert lift["IT"] < 0.3 * lift["DE"]
    assert lift["DE"] == pytest.approx(lift["US"])
    assert (clue.kind, clue.reliability, clue.where) == ("visual", 0.9, None)
    assert sum(clue.countries.values()) == pytest.approx(1.0)
    assert sum(spot.weight for spot in clue.spots) <= 1 + 1e-9
    assert clue.spots[0].country == "FR"


def test_the_bundled_eyes_look_at_pictures() -> None:
    from geosleuth.photo.image_encoder import load_encoder

    encoder = load_encoder()
    pictures = [scene(number, (160, 120)) for number in range(32)]
    points = [LatLon(47.0 + number % 4, 3.0 * (number % 8)) for number in range(32)]
    own = learn(encoder.features(pictures), points, encoder=encoder.name)
    assert own.look(pictures[3]).reach.trust == 0
    told = own.look(Image.effect_noise((160, 120), 80).convert("RGB"))
    assert sum(told.countries.values()) == pytest.approx(1.0)
