"""Letters as masks: they fill the room that was measured for them, in every manner."""

from typing import get_args

import numpy as np
import pytest

from geosleuth.lab.scenes.drawing import drawable
from geosleuth.lab.scenes.drawing.lettering import Lettering, height_em, letters, width_em

TEXTS = ("Bäckerei Huber", "Улица Ленина", "さくら薬局", "شارع النيل", "ถนนสุขุมวิท", "रेलवे स्टेशन", "Λεωφόρος 12")


@pytest.mark.parametrize("lettering", get_args(Lettering))
@pytest.mark.parametrize("text", TEXTS)
def test_a_mask_is_as_wide_and_tall_as_was_measured(text: str, lettering: Lettering) -> None:
    mask = letters(text, 30.0, lettering)
    assert mask.width == pytest.approx(30 * width_em(text, lettering), rel=0.06, abs=3)
    assert mask.height == pytest.approx(30 * height_em(text), abs=3)
    assert np.asarray(mask).max() > 200


def test_what_no_font_has_is_known_beforehand() -> None:
    assert drawable("Gümüş Sokağı 5")
    assert not drawable("\U00012000")
    with pytest.raises(ValueError, match="no font"):
        letters("\U00012000", 20.0, "plain")
