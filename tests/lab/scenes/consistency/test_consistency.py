"""The judge by rule: it follows clues, and can't be talked into a conclusion."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn import examples
from geosleuth.answer import Address, Answer, Level
from geosleuth.evidence import CluePlace
from geosleuth.geo import LatLon
from geosleuth.lab.scenes.consistency import RuleReader
from geosleuth.lab.score import AnswerNames, Truth
from geosleuth.lab.score.rewards import Helpers, Reasoning, Reward, without_conclusions

READER = RuleReader()
CONSISTENCY = Reward.from_dict({"parts": {"consistency": {"steepness": 1000}}})
NOWHERE = Truth(LatLon(0, 0))


def told(country: str, region: str = "", precise: str = "") -> AnswerNames:
    [derived] = READER.derive([Reasoning(country, region, precise)])
    return derived


@pytest.mark.parametrize(
    ("reasoning", "country"),
    [
        ("The shop fronts are in Hungarian.", "Hungary"),
        ("The web address ends in .pt, and the signs are in Portuguese.", "Portugal"),
        ("A van gives the number +354 555 1234.", "Iceland"),
        ("All numbers begin with +372.", "Estonia"),
        ('One sign reads "ร้านอาหาร", another "ขายยา".', "Thailand"),
        ("price: 249 Kč", "Czechia"),
        ('The poster says "Sprzedaż mieszkań" and traffic keeps to the right.', "Poland"),
    ],
)
def test_countries_follow_from_clues(reasoning: str, country: str) -> None:
    assert told(reasoning).country == country


@pytest.mark.parametrize(
    "reasoning",
    ["", "It looks familiar.", "Obviously this is …, without a doubt …!", "The sky is blue and the trees are green."],
)
def test_where_nothing_tells_nothing_is_derived(reasoning: str) -> None:
    assert told(reasoning, reasoning, reasoning) == AnswerNames()


def test_what_is_set_aside_does_not_count() -> None:
    derived = told("Signs are in Hungarian. The coach from +351 211 234 567 is far from home and left aside.")
    assert derived.country == "Hungary"


def test_an_area_code_derives_region_and_town() -> None:
    number = "phone: +49 351 1234567"
    derived = told(number, number, number)
    assert (derived.country, derived.region) == ("Germany", "Saxony")
    assert derived.precise == "Dresden"


def test_a_level_without_words_of_its_own_derives_nothing() -> None:
    derived = told("", "phone: +49 351 1234567", "")
    assert (derived.country, derived.precise) == (None, None)
    assert derived.region == "Saxony"


def test_a_town_derives_no_country_but_a_region_of_one() -> None:
    assert told("I think of Lyon, Marseille and Toulouse.").country is None
    assert told("The signs are in French, the address in .fr.", "The bus goes to Quimper.").region == "Brittany"


def test_a_map_finds_what_signs_name() -> None:
    def search(name: str, country: str) -> Sequence[CluePlace]:
        there = name == "Café Sol" and country == "ES"
        return [CluePlace("Soria", LatLon(41.764, -2.465), 1.0, 0.9, "ES")] if there else []

    reasoning = Reasoning("The signs are in Spanish, prices in €.", "business: Café Sol", 'The front says "Café Sol".')
    [without] = READER.derive([reasoning])
    [derived] = RuleReader(search).derive([replace(reasoning, country="Tel. +34 975 21 00 00")])
    assert (without.region, without.precise) == (None, None)
    assert derived == AnswerNames("Spain", "Castille and León", "Soria")


@pytest.mark.parametrize("piece", ["a", "a.", "0 ", "A b ", '"', "+4", "$1", "…", "www.", "keep on the "])
def test_endless_texts_end(piece: str) -> None:
    endless = piece * (40_000 // len(piece))
    begin = time.process_time()
    told(endless, endless, endless)
    assert time.process_time() - begin < 10


@given(text=st.text(max_size=300))
@settings(max_examples=examples(25), deadline=None)
def test_any_text_is_borne(text: str) -> None:
    assert isinstance(told(text, text, text), AnswerNames)


HONEST = [
    Address(
        Level("Hungary", (), "The signs are in Hungarian and prices in Ft."),
        Level("Baranya", ("phone: +36 72 123 456",), None),
        Level("Pécs", ("phone: +36 72 123 456",), None),
    ),
    Address(
        Level("Germany", ("web address: www.baecker.de",), "Long words in German, and +49 numbers."),
        Level("Saxony", ("phone: +49 351 1234567",), "The area code is of a town on the Elbe."),
        Level("Dresden", ("phone: +49 351 1234567",), None),
    ),
    Address(
        Level("Thailand", ("language: ร้านอาหาร",), "The script is Thai, traffic keeps to the left."),
        Level("Chiang Mai", ("phone: +66 53 123 456",), None),
        Level("Chiang Mai", ("phone: +66 53 123 456",), None),
    ),
    Address(
        Level("Portugal", ("web address: www.sol.pt",), "The signs are in Portuguese."),
        Level("Évora", ("phone: +351 266 123 456",), None),
        Level("Évora", ("phone: +351 266 123 456",), None),
    ),
]  # fmt: skip


def earned(addresses: Sequence[Address]) -> np.ndarray:
    replies = [Answer(address=address) for address in addresses]
    groups = list(range(len(replies)))
    return CONSISTENCY.score(replies, [NOWHERE] * len(replies), Helpers(judge=READER), groups).total


def with_reasoning(conclusions: Address, reasoning: Address, leak: str = "") -> Address:
    levels = []
    for own, other in zip(levels_of(conclusions), levels_of(reasoning), strict=True):
        levels.append(Level(own.conclusion, other.clues, f"{other.reasoning or ''} {leak}".strip()))
    return Address(*levels)


def levels_of(address: Address) -> tuple[Level, Level, Level]:
    return address.country, address.region, address.precise


def test_honest_reasonings_are_paid_and_shuffled_ones_are_not() -> None:
    assert earned(HONEST).mean() >= 0.7
    for shift in (1, 2, 3):
        others = HONEST[shift:] + HONEST[:shift]
        shuffled = [with_reasoning(own, other) for own, other in zip(HONEST, others, strict=True)]
        assert earned(shuffled).tolist() == [0.0] * len(HONEST)


def leaks_of(address: Address) -> list[str]:
    names = [level.conclusion for level in levels_of(address)]
    country, region, precise = names
    foreign = {"Hungary": "Magyarország, Ungarn, ハンガリー 🇭🇺", "Germany": "Deutschland, Allemagne, 德国 🇩🇪",
               "Thailand": "ประเทศไทย, Thaïlande, 泰国 🇹🇭", "Portugal": "Πορτογαλία, 葡萄牙 🇵🇹"}  # fmt: skip
    return [
        f"So it is {precise}, {region}, {country}.",
        f'The sign says "{precise}" and "{country}". town name: {precise}',
        f"{country} {country} {country}: {foreign[country or '']}",
        f"{' '.join(country or '')} and {'.'.join(precise or '')}; www.visit{(precise or '').lower()}.com",
        f"{(country or '').upper()}! {(region or '').lower()}? {precise}'s streets",
    ]


@pytest.mark.parametrize("own", HONEST, ids=lambda address: address.country.conclusion)
def test_leaving_the_conclusion_in_the_text_earns_nothing(own: Address) -> None:
    for leak in leaks_of(own):
        bare = Address(*(Level(level.conclusion, (leak,), leak) for level in levels_of(own)))
        assert earned([bare]).tolist() == [0.0], leak
        other = next(address for address in HONEST if address is not own)
        assert earned([with_reasoning(own, other, leak)]).tolist() == [0.0], leak


def test_the_judge_never_sees_a_conclusion() -> None:
    for own in HONEST:
        for leak in leaks_of(own):
            seen = without_conclusions(with_reasoning(own, own, leak))
            text = " ".join((seen.country, seen.region, seen.precise)).casefold()
            for level in levels_of(own):
                assert level.conclusion is not None
                assert level.conclusion.casefold() not in text
