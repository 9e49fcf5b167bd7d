"""Answers tested against themselves: which clue carries them, and how far they move without it."""

from dataclasses import replace

import pytest

from geosleuth.evidence.clue import Clue, ClueKind, CluePlace, TextSeen
from geosleuth.evidence.decision import decide
from geosleuth.evidence.posterior import posterior
from geosleuth.evidence.selftest import Sign, self_test
from geosleuth.geo import LatLon
from geosleuth.models.detective.evidence import disagreement

HELSINKI, MONACO = LatLon(60.1699, 24.9384), LatLon(43.7371, 7.4215)


def named(seen: str, point: LatLon, country: str, kind: ClueKind = "business", weight: float = 0.9) -> Clue:
    return Clue(kind, seen, seen, 0.75, {}, (CluePlace(seen, point, 0.1, weight, country),))


PHONE = Clue("phone", "+358", "a Finnish number", 0.9, {"FI": 1.0})
FINNISH = Clue("language", "apteekki", "Finnish", 0.85, {"FI": 0.95, "SE": 0.05})
SHOP = named("Kosmos", HELSINKI, "FI")
STREET = named("Kalevankatu", HELSINKI, "FI", "street")


def test_an_answer_of_one_clue_hangs_on_it() -> None:
    tested = self_test(posterior([SHOP]))
    assert tested.decision.level == "spot"
    assert tested.is_sensitive_to(SHOP)
    assert tested.decisive == (SHOP,)
    (alone,) = tested.without
    assert alone.decision.level == "none"
    assert alone.moved_km is None
    assert alone.country_changes


def test_an_answer_of_several_agreeing_clues_hangs_on_none() -> None:
    tested = self_test(posterior([SHOP, STREET, PHONE, FINNISH]))
    assert tested.decisive == ()
    assert not tested.is_sensitive_to(SHOP)
    assert all(one.moved_km == pytest.approx(0, abs=0.5) for one in tested.without)


def test_the_country_may_stand_while_the_place_hangs_on_one_clue() -> None:
    tested = self_test(posterior([SHOP, PHONE, FINNISH]))
    without_shop = next(one for one in tested.without if one.clue == SHOP)
    assert tested.decision.level == "spot"
    assert without_shop.decision.level == "country"
    assert not without_shop.country_changes
    other = LatLon(65.01, 25.47)
    far = self_test(posterior([named("Oulun Kauppa", other, "FI"), PHONE, FINNISH]))
    lost = next(one for one in far.without if isinstance(one.clue, Clue) and one.clue.kind == "business")
    assert lost.moved_km == pytest.approx(540, rel=0.05), "from Oulu to the largest city"
    assert [one.seen for one in far.decisive if isinstance(one, Clue)] == ["Oulun Kauppa"]


def test_a_misleading_clue_is_not_what_the_answer_hangs_on() -> None:
    bus = named("Monaco Tours", MONACO, "MC", "place", 0.6)
    tested = self_test(posterior([SHOP, STREET, PHONE, bus]))
    assert not tested.is_sensitive_to(bus)
    without_bus = next(one for one in tested.without if one.clue == bus)
    assert without_bus.decision.probability_raw >= tested.decision.probability_raw
    assert bus not in {part.clue for part in without_bus.decision.contributions}


def test_leaving_a_clue_out_is_the_same_as_never_having_seen_it() -> None:
    clues = [SHOP, STREET, PHONE, FINNISH]
    for one in self_test(posterior(clues)).without:
        anew = decide(posterior([clue for clue in clues if clue != one.clue]))
        assert one.decision.level == anew.level
        assert one.decision.country == anew.country
        assert one.decision.probability_raw == pytest.approx(anew.probability_raw, abs=0.01)


def on_sign(top: float, *clues: Clue, image: str = "image-1") -> list[Clue]:
    return [
        replace(clue, where=TextSeen(clue.seen, image, (40, top + 40 * row, 240, top + 30 + 40 * row), 1, ""))
        for row, clue in enumerate(clues)
    ]


MONACO_BUS = (
    named("Monaco Tours", MONACO, "MC", "place", 0.6),
    Clue("phone", "+377 93 00 00 00", "", 0.9, {"MC": 1.0}),
    Clue("tld", "tours.mc", "", 0.85, {"MC": 1.0}),
)


def test_an_answer_may_hang_on_a_sign_and_on_none_of_its_clues() -> None:
    tested = self_test(posterior([*on_sign(40, SHOP, STREET, PHONE, FINNISH), *on_sign(600, *MONACO_BUS)]))
    assert tested.decision.country == "FI"
    (sign,) = tested.decisive
    assert isinstance(sign, Sign)
    assert sign.panel.texts[0] == SHOP.seen
    without = next(one for one in tested.without if one.clue == sign)
    assert without.decision.country == "MC"
    (other,) = sign.disputed_by
    assert other.alone.country == "MC"
    assert len(tested.conflicting_signs) == 2


def test_signs_that_agree_are_not_disputed() -> None:
    tested = self_test(posterior([*on_sign(40, SHOP, PHONE), *on_sign(600, STREET, FINNISH)]))
    assert tested.conflicting_signs == ()
    assert tested.decisive == ()
    assert sum(isinstance(one.clue, Sign) for one in tested.without) == 2


def test_a_single_sign_is_not_left_out() -> None:
    tested = self_test(posterior(on_sign(40, SHOP, STREET, PHONE, FINNISH)))
    assert tested.signs == ()
    assert all(isinstance(one.clue, Clue) for one in tested.without)


def test_photos_of_one_place_may_disagree() -> None:
    bus = on_sign(40, *MONACO_BUS, image="image-2")
    tested = self_test(posterior([*on_sign(40, SHOP, STREET, PHONE, FINNISH), *bus]))
    first, second = tested.conflicting_signs
    assert {first.panel.image, second.panel.image} == {"image-1", "image-2"}
    assert "photos disagree" in disagreement(tested.conflicting_signs)
    assert "Monaco" in disagreement(tested.conflicting_signs)
    assert "different places" in disagreement(
        self_test(posterior([*on_sign(40, SHOP, STREET, PHONE), *on_sign(600, *MONACO_BUS)])).conflicting_signs
    )
    assert disagreement(()) == ""
