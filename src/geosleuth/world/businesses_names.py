"""What businesses are called: names that stand once in the world, chains, and names that strangers share.

Every language's names are counted through, and each of its towns has a stretch of its own, so that no two towns draw
the same and none needs to know what another drew.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import gcd
from typing import Final

from .lands import Tongue
from .lands.names import spelled
from .lands.tongue import KINDS
from .towns import WorldTown, towns_by_tongue

CHAIN_SHARE: Final = 0.12
"""Of a town's businesses, those that are branches of a chain; one branch in `ABROAD_EVERY` is of a chain that stands
in every land."""

HOMONYM_SHARE: Final = 0.08
"""Of a town's businesses, those whose name an unrelated business elsewhere has as well."""

TOWN_SHARE: Final = 0.05
"""Of a town's businesses, those that are called after it."""

ABROAD_EVERY: Final = 4
_GOLDEN: Final = 0.6180339887

WORLD_CHAINS: Final = (
    ("Velora", "shop=clothes"), ("Brenko", "shop=hardware"), ("Kaffa & Co", "amenity=cafe"),
    ("Ottima", "shop=optician"), ("Nordlo", "tourism=hotel"), ("Zapatek", "shop=shoes"),
    ("Burgerama", "amenity=fast_food"), ("Minimaxo", "shop=convenience"), ("Pastavia", "amenity=restaurant"),
    ("Autofixa", "shop=car_repair"),
)  # fmt: skip
"""Chains of no land: they stand everywhere under the same Latin letters."""


@dataclass(frozen=True, slots=True)
class Called:
    """A name, what kind of business has it, and whether it stands elsewhere too."""

    name: str
    kind: str
    chain: bool = False
    homonym: bool = False


def names_of(town: WorldTown, seed: int, count: int, *, chains: bool, homonyms: bool) -> list[Called]:
    """So many names for a town; those of chains and homonyms are replaced by names of their own where not wanted."""
    tongue = town.tongue
    chance = random.Random(f"names {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    of_chains, shared = round(count * CHAIN_SHARE), round(count * HOMONYM_SHARE)
    of_town = round(count * TOWN_SHARE)
    found = _branches(town, of_chains, seed) if chains else []
    found += _shared(town, shared, seed) if homonyms else []
    own = _own(tongue, town.number, towns_by_tongue(seed)[tongue.code], seed, chance)
    after_town = _after_town(town, chance)
    places = of_chains + shared
    found += [next(own) for _ in range(places - len(found))]
    found += [after_town[number] for number in range(of_town)]
    seen = {one.name.casefold() for one in found}
    while len(found) < count:
        one = next(own)
        if one.name.casefold() not in seen:
            seen.add(one.name.casefold())
            found.append(one)
    order = random.Random(f"order {seed} {town.geonames}")  # noqa: S311 - no secret depends on it
    order.shuffle(found)
    return [replace(one, name=spelled(one.name, town.country)) for one in found]


def _branches(town: WorldTown, count: int, seed: int) -> list[Called]:
    """Branches of the chains of the language, in turn, and now and then of one that stands in every land."""
    home = town.tongue.chains
    abroad = [WORLD_CHAINS[(town.geonames + seed + 3 * turn) % len(WORLD_CHAINS)] for turn in range(3)]
    found: list[tuple[str, str]] = []
    for turn in range(count):
        if turn % ABROAD_EVERY == ABROAD_EVERY - 1:
            found.append(abroad[turn // ABROAD_EVERY % len(abroad)])
        else:
            found.append(home[(town.number * 2 + turn) % len(home)])
    return [Called(name, kind, chain=True) for name, kind in dict.fromkeys(found)]


@cache
def _pool(tongue: Tongue) -> tuple[tuple[str, str], ...]:
    """Names that stand in every other town, each with its kind, mixed."""
    pool = [
        (tongue.common_form.format(trade=words[0], house=house), kind)
        for kind, words in zip(KINDS, tongue.trades, strict=True)
        for house in tongue.common
    ]
    random.Random(f"common {tongue.code}").shuffle(pool)  # noqa: S311 - no secret depends on it
    return tuple(pool)


def _shared(town: WorldTown, count: int, seed: int) -> list[Called]:
    """Names out of a pool half as large as there are towns of the language, so that each is used again."""
    towns = towns_by_tongue(seed)[town.tongue.code]
    pool = _pool(town.tongue)[: max(1, towns // 2)]
    picked = [pool[(town.number + turn) % len(pool)] for turn in range(min(count, len(pool)))]
    return [Called(name, kind, homonym=towns > 1) for name, kind in picked]


def _after_town(town: WorldTown, chance: random.Random) -> list[Called]:
    words = list(town.tongue.trade_words)
    chance.shuffle(words)
    return [Called(town.tongue.town_form.format(trade=word, town=town.name_on_signs), kind) for kind, word in words]


def _own(tongue: Tongue, number: int, towns: int, seed: int, chance: random.Random) -> Iterator[Called]:
    """Names that no other town of the language has, the forms mixed."""
    forms = _forms(tongue)
    stretches = [
        _stretch(len(form), number, towns, f"{seed} {tongue.code} {index}") for index, form in enumerate(forms)
    ]
    left = list(range(len(forms)))
    while left:
        index = chance.choice(left)
        place = next(stretches[index], None)
        if place is None:
            left.remove(index)
            continue
        called = forms[index].at(place)
        if called is not None:
            yield called
    raise AssertionError(f"too few names for the towns that speak {tongue.code}")


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to put names together, which can be counted through."""

    form: str
    words: tuple[tuple[str, str], ...]
    parts: tuple[tuple[str, tuple[str, ...]], ...]

    def __len__(self) -> int:
        total = len(self.words)
        for _, options in self.parts:
            total *= len(options)
        return total

    def at(self, place: int) -> Called | None:
        """The name at a place; None where it would say the same word twice."""
        place, at = divmod(place, len(self.words))
        kind, word = self.words[at]
        filled = {}
        for key, options in self.parts:
            place, at = divmod(place, len(options))
            filled[key] = options[at]
        if len(set(filled.values())) < len(filled):
            return None
        return Called(self.form.format(trade=word, **filled), kind)


@cache
def _forms(tongue: Tongue) -> tuple[_Form, ...]:
    options = {
        "person": tongue.people, "second": tongue.people, "house": tongue.houses, "second_house": tongue.houses,
    }  # fmt: skip
    return tuple(
        _Form(
            form,
            tongue.trade_words if "{trade}" in form else tuple((kind, "") for kind in KINDS),
            tuple((key, words) for key, words in options.items() if f"{{{key}}}" in form),
        )
        for form in tongue.forms
    )


def _stretch(total: int, number: int, towns: int, key: str) -> Iterator[int]:
    """One town's part of so many places, spread over all of them; the parts of different towns share none."""
    length = total // towns
    step = int(total * _GOLDEN) | 1
    while gcd(step, total) > 1:
        step += 2
    start = random.Random(f"stretch {key}").randrange(max(total, 1))  # noqa: S311 - no secret depends on it
    for turn in range(number * length, (number + 1) * length):
        yield (start + turn * step) % total
