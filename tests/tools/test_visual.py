"""The tool `visual_prior`: probabilities with their reach, in words and as data; the command where there is none."""

from dataclasses import dataclass, field

import pytest
from PIL import Image

from geosleuth.evidence.visual import Cell, Distribution, Reach
from geosleuth.geo import LatLon
from geosleuth.tools.image_tools import visual_prior
from tool_cases import call, case_of, sign

USUAL = Reach(0.4, 0.9, "Such pictures are common in the collection.")


@dataclass
class Known:
    """A prior that has made up its mind."""

    reach: Reach = USUAL
    name: str = "test photos"
    seen: list[Image.Image] = field(default_factory=list)

    def look(self, image: Image.Image) -> Distribution:
        self.seen.append(image)
        cells = (Cell(1, LatLon(46.2, 2.2), 80.0, "FR", 0.7), Cell(2, LatLon(41.9, 12.5), 60.0, "IT", 0.3))
        return Distribution({"FR": 0.7, "IT": 0.3}, {"FR": 0.5, "IT": 0.5}, cells, self.reach, self.name)


def test_without_a_prior_the_command_that_learns_one_is_named() -> None:
    seen = call(visual_prior, case_of(sign("A")))
    assert seen.failure == "refused"
    assert "geosleuth prior learn FOLDER" in seen.text


def test_countries_come_with_probabilities_and_the_reach() -> None:
    case = case_of(sign("A"))
    case.visual = Known()
    seen = call(visual_prior, case)
    assert seen.failure is None
    assert seen.text.splitlines()[0] == "By its look alone, image-1 may be from these countries:"
    assert "Such pictures are common" in seen.text
    assert "46.2, 2.2" in seen.text
    assert seen.sources == ("test photos",)
    data = seen.data
    assert (data["image"], data["reliability"], data["familiarity"]) == ("image-1", 0.9, 0.4)
    assert data["countries"]["FR"] > data["countries"]["IT"]
    assert sum(data["countries"].values()) <= 1 + 1e-9
    best, *_ = data["cells"]
    assert best.keys() == {"lat", "lon", "radius_km", "probability", "country"}
    assert (best["lat"], best["lon"], best["country"]) == (46.2, 2.2, "FR")


def test_a_part_of_an_image_can_be_looked_at() -> None:
    case = case_of(sign("A"), sign("B"))
    known = Known()
    case.visual = known
    seen = call(visual_prior, case, {"image": "image-2", "bbox": [0, 0, 300, 200]})
    assert "that part of image-2" in seen.text
    assert len(known.seen) == 2
    assert known.seen[1].width / known.seen[1].height == pytest.approx(1.5, rel=0.02)


def test_what_is_beyond_reach_names_no_country() -> None:
    case = case_of(sign("A"))
    known = Known(Reach(0.0, 0.0, "Nothing in the collection looks like this picture."))
    case.visual = known
    seen = call(visual_prior, case, {"bbox_2d": [0, 0, 300, 200]})
    assert "says nothing" in seen.text
    assert "France" not in seen.text
    assert seen.data["reliability"] == 0
    # A part of a picture that says nothing is not looked at: it might be in the collection itself.
    assert len(known.seen) == 1
