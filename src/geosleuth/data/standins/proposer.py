"""A stand-in for the one who proposes in GeoVista's assembly: boxes, queries and a judgement, each with its reason."""

import json
import random
from collections.abc import Mapping, Sequence

from geosleuth.answer.model import whole_percent
from geosleuth.data.geovista import Judgement, Picture, Query, Region
from geosleuth.data.spotagent import Lettering, lettering_words
from geosleuth.names import country_name
from geosleuth.policies import Usage
from geosleuth.world import Mark, Scene

from .asking import widened
from .caller_notes import Noted, clues_in, country_odds, quoted, seen_words
from .observer import USUAL_SLIPS, Slipped, Slips, StandInObserver

_FINE = ("town sign", "street plate", "shop front", "bus stop", "direction sign", "notice", "number plate", "poster")
_KNOWN = 0.75
_LEAST_ODDS = 0.3


class StandInProposer:
    """Proposes by rules from what the stand-in Observer sees; it answers as far as it can tell and no further."""

    name = "stand-in proposer"
    hosts: frozenset[str] = frozenset()
    used = Usage(tries=0)

    def __init__(
        self,
        scene: Scene,
        marks: Sequence[Mark],
        *,
        photo: str | None = None,
        seed: int = 0,
        slips: Slips = USUAL_SLIPS,
        slipped: Slipped | None = None,
    ) -> None:
        """Take what `StandInObserver` takes.

        Raises:
            BadInput: the scene is a panorama.
        """
        self._eyes = StandInObserver(scene, marks, photo=photo, seed=seed, slips=slips, slipped=slipped)
        self._drives_on = scene.look.drives_on if self._eyes.sees("driving_side") else None
        self._key = f"{seed} {scene.id}"

    async def regions(self, picture: Picture, handle: str, most: int) -> tuple[Region, ...]:
        """What is small or tells much, the best first."""
        view, chance = picture(handle), self._chance("regions")
        ranked = sorted(self._eyes.lettering(view), key=lambda one: (not one.unread, _rank(one.board), one.box))
        chosen = ranked[: chance.randint(1, most)] if ranked else []
        if not chosen:
            width, height = view.size
            middle = (width // 4, height // 4, 3 * width // 4, 3 * height // 4)
            return (Region(middle, "No sign stands out at first sight. I look closer at the middle of the street."),)
        return tuple(Region(widened(one.box, view.size), _why_look(one, chance)) for one in chosen)

    async def queries(self, picture: Picture, handles: Sequence[str], most: int) -> tuple[Query, ...]:
        """What could be looked up about what was read, and about the country that it speaks for."""
        chance = self._chance("queries")
        told = self._told(picture, handles)
        odds = country_odds(told.texts, self._drives_on)
        code, share = next(iter(odds.items()))
        where = country_name(code)
        found: list[Query] = []
        for name in [*told.towns[:1], *told.near[:1], *told.shops[:1]]:
            text = f"{name} {where}" if share >= _LEAST_ODDS else name
            found.append(Query(text, _why_ask(name, seen_words(told, odds, (), chance), chance)))
        what = chance.choice(("licence plates and calling code", "languages", "road signs and driving side"))
        sure = f"I think of {where}, with {whole_percent(share)} %. Whether its {what} fit can be looked up."
        found.append(Query(f"{where} {what}", sure))
        count = chance.randint(1, max(1, min(most, len(found))))
        return tuple(found[:count])

    async def judge(self, picture: Picture, handles: Sequence[str], found: Sequence[str]) -> Judgement:
        """As far as what was read goes."""
        chance = self._chance("judge")
        told = self._told(picture, handles)
        odds = country_odds(told.texts, self._drives_on)
        code, share = next(iter(odds.items()))
        spot = next((one for clue in clues_in(told.texts) for one in clue.spots[:1] if one.country == code), None)
        fields = {
            "country": country_name(code),
            "city": next(iter(told.towns), spot.name if spot and share >= _KNOWN else None),
            "address": next(iter(told.addresses or told.streets or told.shops), None),
        }
        fits = sum(country_name(code).casefold() in text.casefold() for text in found)
        helped = "Nothing that I looked up speaks against it." if fits else "What I looked up says nothing about it."
        reasoning = f"{seen_words(told, odds, (), chance)} {helped if found else ''}".strip()
        return Judgement(reasoning, _answer(fields, share, chance))

    def _told(self, picture: Picture, handles: Sequence[str]) -> Noted:
        """What would have been described of these views."""
        words = [(handle, "\n".join(map(lettering_words, self._eyes.lettering(picture(handle))))) for handle in handles]
        return Noted(tuple(words), ())

    def _chance(self, what: str) -> random.Random:
        return random.Random(f"proposer {self._key} {what}")  # noqa: S311 - no secret depends on it


def _rank(board: str) -> int:
    return _FINE.index(board) if board in _FINE else len(_FINE)


def _why_look(one: Lettering, chance: random.Random) -> str:
    if one.lines:
        read = quoted(one.lines[0])
        return chance.choice(
            (
                f"The {one.board} seems to say {read}. I look closer to be sure of every letter.",
                f"{read} on the {one.board} may give the place away; I magnify it.",
            )
        )
    return chance.choice(
        (
            f"There is a {one.board} that I can't read at this size. A closer look may bring a name.",
            f"The {one.board} is too small here; what it says may settle the place, so I zoom in.",
        )
    )


def _why_ask(name: str, seen: str, chance: random.Random) -> str:
    return chance.choice(
        (
            f"{seen} I search for {quoted(name)} to learn where it is.",
            f"{seen} {quoted(name)} is the rarest thing I have read, so that is what I look up.",
        )
    )


def _answer(fields: Mapping[str, str | None], share: float, chance: random.Random) -> str:
    told = {name: value for name, value in fields.items() if value}
    where = ", ".join(value for name in ("address", "city", "country") if (value := told.get(name)))
    open_ = [name for name in ("city", "address") if name not in told]
    sure = (
        chance.choice(("I am fairly sure of the country", "The country is well supported"))
        if share >= _KNOWN
        else (chance.choice(("Even the country is a guess", "I am not sure of the country")))
    )
    rest = f"; {' and '.join(open_)} can't be told from what I see" if open_ else ""
    sentence = f"This looks like {where}. {sure}{rest}."
    return f"<answer>\n{sentence}\n{json.dumps(told, ensure_ascii=False)}\n</answer>"
