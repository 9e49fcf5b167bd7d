"""Files side by side: paired by image, never by position."""

from math import isnan

import numpy as np
import pytest

from geosleuth.answer import Answer
from geosleuth.geo import LatLon, destination
from geosleuth.lab.bench.records import Record
from geosleuth.lab.bench.report import compare_files, tier_files
from geosleuth.lab.bench.scored import Scored, score_records
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput

HOME = LatLon(48.0, 2.0)


def file(label: str, errors_km: dict[str, float | None], truth: LatLon = HOME) -> Scored:
    records = [
        Record(name, Truth(truth), answer=Answer(None if km is None else destination(truth, 90.0, km)))
        for name, km in errors_km.items()
    ]
    return score_records(records, label=label, parser="lenient", distance="great-circle")


def test_images_are_paired_by_id_whatever_their_order() -> None:
    first = file("one", {"a": 1, "b": 500, "c": None, "d": 7})
    second = file("two", {"d": 7, "c": 2, "b": 500, "a": 900})
    pair = compare_files(first, second, (25.0,))
    (city,) = pair.comparison.accuracies
    assert (city.first_percent, city.second_percent, city.only_first, city.only_second) == (50, 50, 1, 1)
    assert [item.id for item in pair.moved] == ["c", "a"]
    gained, lost = pair.moved
    assert isnan(gained.first_km)
    assert gained.second_km == pytest.approx(2)
    assert gained.gain > 4900
    assert lost.gain < -1900
    assert (pair.first.label, pair.second.label) == ("one", "two")


def test_images_in_one_file_only_are_left_out_and_counted() -> None:
    pair = compare_files(file("one", {"a": 1, "b": 2, "c": 3}), file("two", {"x": 1, "b": 2}))
    assert (pair.comparison.n, pair.first.left_out, pair.second.left_out) == (1, 2, 1)
    assert pair.moved == ()


def test_unlocated_images_are_counted_among_the_shared_ones() -> None:
    pair = compare_files(file("one", {"a": None, "b": 2, "c": None}), file("two", {"a": None, "b": None}))
    assert (pair.first.n, pair.first.unlocated, pair.second.unlocated) == (2, 1, 2)
    assert (pair.first.parser, pair.first.distance) == ("lenient", "great-circle")


def test_files_without_a_shared_image_are_refused() -> None:
    with pytest.raises(BadInput, match="one and two share no image id"):
        compare_files(file("one", {"a": 1}), file("two", {"b": 1}))


@pytest.mark.parametrize("lon", [2.0, 179.9])
def test_conflicting_truths_are_refused_wherever_they_lie(lon: float) -> None:
    one, two = (file(name, {"a": 1}, LatLon(48.0, lon + shift)) for name, shift in (("one", 0), ("two", 0.0001)))
    with pytest.raises(BadInput, match=r"disagree on where 1 image\(s\) were taken, for example a"):
        compare_files(one, two)


def test_repeated_images_are_each_paired_with_their_own() -> None:
    truth = Truth(HOME)
    near, far = Answer(HOME), Answer(destination(HOME, 0.0, 3000.0))

    def runs(label: str, *answers: Answer) -> Scored:
        records = [Record("a", truth, answer=answer, repeat="same") for answer in answers]
        return score_records(records, label=label, parser="lenient", distance="great-circle")

    pair = compare_files(runs("one", near, far), runs("two", near, near))
    assert pair.comparison.n == 2
    assert len(pair.moved) == 1


def test_tiers_over_shared_images_in_any_order() -> None:
    tiers = tier_files(
        [
            file("one", {"easy": 1, "hard": 1, "lost": None, "alone": 1}),
            file("two", {"lost": None, "hard": 99, "easy": 9}),
            file("three", {"hard": 99, "easy": 99, "lost": 1}),
        ]
    )
    assert dict(zip(tiers.ids, tiers.easy.tolist(), strict=True)) == {"easy": True, "hard": False, "lost": False}
    assert tuple(judge.label for judge in tiers.judges) == ("one", "two", "three")


@pytest.mark.parametrize("count", [0, 1])
def test_tiers_need_company(count: int) -> None:
    with pytest.raises(BadInput, match="at least two files"):
        tier_files([file("one", {"a": 1})] * count)


def test_truths_on_both_names_of_the_antimeridian_agree() -> None:
    east, west = file("one", {"a": 1}, truth=LatLon(10, 180)), file("two", {"a": 1}, truth=LatLon(10, -180))
    assert np.allclose(compare_files(east, west).comparison.geoscore_difference.value, 0)
