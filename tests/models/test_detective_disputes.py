"""Photos of one place that speak for different countries."""

from dataclasses import replace
from typing import Any, cast

import pytest

from geosleuth.evidence.decision import Decision
from geosleuth.evidence.selftest import SelfTest, Sign
from geosleuth.evidence.sign_layout import SignPanel
from geosleuth.geo import LatLon
from geosleuth.models.detective.reasoning import Reasoning
from geosleuth.models.detective.stated import StatedFacts

MONACO = Decision("spot", LatLon(43.73, 7.42), 1.0, 0.99, "Monaco", "MC", 0.99, 0.99, 3)
THAILAND = Decision("city", LatLon(18.79, 98.98), 5.0, 0.99, "Chiang Mai", "TH", 0.99, 0.99, 3)


def reasoning(*images: str) -> Reasoning:
    first, second = (
        Sign(SignPanel((), (), image, 0.1), (), alone) for image, alone in zip(images, (MONACO, THAILAND), strict=True)
    )
    signs = (replace(first, disputed_by=(second,)), replace(second, disputed_by=(first,)))
    found = Reasoning(cast("Any", None), StatedFacts())
    found.__dict__["self_test_result"] = SelfTest(MONACO, (), signs)
    return found


def test_the_probability_falls_where_photos_disagree_on_the_country() -> None:
    in_one, in_two = reasoning("image-1", "image-1").probability, reasoning("image-1", "image-2").probability
    assert in_one > 0.9
    assert in_two == pytest.approx(0.5, abs=0.1)
