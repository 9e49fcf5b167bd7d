"""Stand-ins for models that know one part of the world well: members of a team that no network stands behind.

What they assume is all in `Temper`; docs/background/teams.md sums it up. A stand-in looks the picture up by its pixels;
with the chance that its expertise gives it knows the town, otherwise it errs, often for the same look-alike as the
others. How sure it says it is tells little about whether it is right. Everything follows from seeds, the picture and
the words it is asked with, so that the same request gets the same reply.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from expert_pictures import BY_TOWN, REGIONS, TOWNS, Drawn, Town, digest
from geosleuth.agent import Task
from geosleuth.agent.methods import method
from geosleuth.answer import Address, Answer
from geosleuth.geo import LatLon, distance_km
from geosleuth.photo import OpenedPhoto
from geosleuth.teams import AGREE_WITHIN_KM, Member, Reply, Request, reply_tokens

SYSTEM = method("smilegeo").system(Task(()), ())
QUESTION = method("smilegeo").prompt(Task(()), ())
"""What an agent of the swarm is asked with; counted in every reply's tokens."""

_BLOCKS = re.compile(r"\n\s*\n")
_NUMBERED = re.compile(r"\A\s*(?:Candidate|Opinion|Comment|Answer)\s+(\d+)\b", re.IGNORECASE)
_PERCENT = re.compile(r"(\d{1,3})\s*%")
_POINT = re.compile(r"\((-?\d+\.\d+), (-?\d+\.\d+)\)")
_TOWN = re.compile(rf"\b(?:{'|'.join(re.escape(town.name) for town in TOWNS)})\b")
_BY_NAME = {town.name: town for town in TOWNS}


@dataclass(frozen=True, slots=True)
class Temper:
    """How stand-ins behave; probabilities all.

    Attributes:
        at_home: knows the town of a picture from the region that it is an expert of.
        abroad: knows that of a picture from elsewhere.
        wobbles: a reply departs from what it believes, as sampling does.
        lured: an error is the look-alike that others fall for too, not one of its own.
        vague: an error names a country and no more.
        speaks_up: as a reviewer that does not know, names its own wrong place instead of saying little.
        keeps: as one that knows, stays with its answer whatever others say.
        follows: as one that does not know, takes over an opinion stated with the same confidence as its own.
        insight: what is added to that where the opinion is right, as its evidence can be seen in the picture.
        sure_right: stated confidence where it is right, on average.
        sure_wrong: and where it is wrong.
        spread: standard deviation of both.
    """

    at_home: float = 0.92
    abroad: float = 0.15
    wobbles: float = 0.08
    lured: float = 0.35
    vague: float = 0.1
    speaks_up: float = 0.3
    keeps: float = 0.9
    follows: float = 0.35
    insight: float = 0.15
    sure_right: float = 0.72
    sure_wrong: float = 0.62
    spread: float = 0.15


@dataclass(frozen=True, slots=True)
class _Opinion:
    """A place that somebody named in the words of a request."""

    number: int | None
    town: Town | None
    point: LatLon | None
    confidence: float

    def is_at(self, town: Town) -> bool:
        if self.town is not None:
            return self.town == town
        return self.point is not None and distance_km(self.point, town.point) <= AGREE_WITHIN_KM


class Known:
    """The pictures that stand-ins can look up, by their pixels."""

    def __init__(self, pictures: Iterable[Drawn]) -> None:
        self._by_pixels = {digest(picture.photo): picture for picture in pictures}
        self._seen: dict[str, str] = {}

    def look_up(self, photo: OpenedPhoto) -> tuple[str, Drawn | None]:
        """What tells the picture from others, and the picture where it is known."""
        handle = photo.photo.handle
        if handle not in self._seen:
            self._seen[handle] = digest(photo)
        return self._seen[handle], self._by_pixels.get(self._seen[handle])


class StandInExpert:
    """A stand-in for a model that knows the pictures of its home regions.

    ``mind`` decides what it knows and believes: stand-ins of one mind are copies of one model, and differ only as
    samples do.
    """

    def __init__(
        self,
        name: str,
        known: Known,
        homes: Iterable[str] = (),
        *,
        temper: Temper | None = None,
        seed: int = 0,
        mind: str | None = None,
    ) -> None:
        self.name = name
        self.homes = frozenset(homes)
        self.hosts: frozenset[str] = frozenset()
        self.calls = 0
        self._known = known
        self._temper = temper or Temper()
        self._seed = seed
        self._mind = mind or name

    async def reply(self, request: Request) -> Reply:
        """Say what one asked for; at once."""
        self.calls += 1
        key, picture = self._known.look_up(request.photos[0])
        words = request.words or QUESTION
        chance = Random(f"{self._seed}/{self.name}/{key}/{request.stage}/{request.seed}/{words}")
        if picture is None:
            said = Reply("I can't tell.", Answer(explanation="I can't tell."))
        elif request.stage == "review":
            said = self._comment(key, picture, words, chance)
        elif request.stage == "judge":
            said = self._judgement(key, picture, words, chance)
        else:
            said = self._answer(key, picture, request, words, chance)
        sizes = tuple(photo.photo.size for photo in request.photos)
        return replace(said, tokens=reply_tokens(SYSTEM + words, said.text, sizes))

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def knows(self, photo: OpenedPhoto) -> bool:
        """Whether it knows the town of that picture."""
        key, picture = self._known.look_up(photo)
        return picture is not None and self._knows(key, picture)

    def _knows(self, key: str, picture: Drawn) -> bool:
        temper = self._temper
        chance = temper.at_home if picture.region.name in self.homes else temper.abroad
        return Random(f"{self._seed}/{self._mind}/{key}/knows").random() < chance

    def _belief(self, key: str, picture: Drawn) -> Town | None:
        """The town that it takes the picture for; None is a country at most."""
        if self._knows(key, picture):
            return picture.town
        return self._error(key, picture, Random(f"{self._seed}/{self._mind}/{key}/errs"))

    def _error(self, key: str, picture: Drawn, chance: Random) -> Town | None:
        others = [town for town in TOWNS if town != picture.town]
        if chance.random() < self._temper.vague:
            return None
        if chance.random() < self._temper.lured:
            return Random(f"{key}/look-alike").choice(others)
        at_home = [town for town in others if BY_TOWN[town.name].name in self.homes]
        return chance.choice(at_home if at_home and chance.random() < 0.5 else others)

    def _confidence(self, picture: Drawn, town: Town | None, chance: Random) -> float:
        temper = self._temper
        mean = temper.sure_right if town == picture.town else temper.sure_wrong
        return round(min(0.99, max(0.05, chance.gauss(mean, temper.spread))), 2)

    def _answer(self, key: str, picture: Drawn, request: Request, words: str, chance: Random) -> Reply:
        town = self._belief(key, picture)
        if chance.random() < self._temper.wobbles:
            town = self._error(key, picture, chance)
        opinions = _opinions(words) if request.words is not None else []
        if opinions:
            town = self._after_hearing(key, picture, town, opinions, request.stage in ("summary", "discussion"), chance)
        said = _placed(town, picture, self._confidence(picture, town, chance))
        ratings = self._ratings(key, picture, opinions, chance) if "Ratings:" in words else ""
        return replace(said, text=said.text + ratings) if ratings else said

    def _after_hearing(
        self,
        key: str,
        picture: Drawn,
        town: Town | None,
        opinions: Sequence[_Opinion],
        own_first: bool,
        chance: Random,
    ) -> Town | None:
        temper = self._temper
        own = opinions[0] if own_first and opinions[0].number is None else None
        others = [opinion for opinion in opinions if opinion is not own and opinion.town is not None]
        if self._knows(key, picture) and chance.random() < temper.keeps:
            return picture.town
        kept = own.town if own is not None else town
        # Where its own answer is not quoted to it, it still has one, and is as sure of it as it would say.
        sure = own.confidence if own is not None else self._confidence(picture, kept, chance)
        named = {opinion.town for opinion in others if opinion.town != kept}
        pulls: list[tuple[float, Town]] = []
        for place in sorted((town for town in named if town is not None), key=lambda town: town.name):
            voices = [opinion.confidence for opinion in others if opinion.town == place]
            pull = temper.follows + max(voices) - sure + 0.1 * (len(voices) - 1)
            pulls.append((pull + (temper.insight if place == picture.town else 0.0), place))
        if pulls:
            pull, place = max(pulls, key=lambda one: one[0])
            if kept is None or chance.random() < min(0.95, max(0.02, pull)):
                return place
        return kept

    def _comment(self, key: str, picture: Drawn, words: str, chance: Random) -> Reply:
        opinions = _opinions(words)
        town = self._belief(key, picture)
        sure = self._confidence(picture, town, chance)
        speaks = self._knows(key, picture) or chance.random() < self._temper.speaks_up
        if town is None or not speaks:
            text = f"The ground and the plants are there, but I can't tell the place.\nConfidence: {sure / 2:.0%}"
        elif opinions and opinions[0].is_at(town):
            text = f"{_because(picture)} That fits {town.name}, and I would say so too.\nConfidence: {sure:.0%}"
        else:
            text = (
                f"{_because(picture)} I think that the place is another one: {town.name}, {town.country} "
                f"({town.point.lat:.4f}, {town.point.lon:.4f}).\nConfidence: {sure:.0%}"
            )
        return Reply(text, Answer(explanation=text, probability=sure))

    def _judgement(self, key: str, picture: Drawn, words: str, chance: Random) -> Reply:
        opinions = _opinions(words)
        worth = [self._worth(key, picture, opinion, chance) for opinion in opinions]
        if "Verdict:" in words:
            right = bool(worth) and worth[0] > 0.75
            text = f"{_because(picture)}\nVerdict: {'right' if right else 'wrong'}"
        else:
            order = sorted(range(len(opinions)), key=lambda index: -worth[index])
            numbers = [str(opinions[index].number or index + 1) for index in order]
            line = f"Ranking: {', '.join(numbers)}" if "Ranking:" in words else f"Choice: {(*numbers, '1')[0]}"
            text = f"{_because(picture)}\n{line}"
        return Reply(text, Answer(explanation=text))

    def _worth(self, key: str, picture: Drawn, opinion: _Opinion, chance: Random) -> float:
        """How good an opinion looks to it, about 0 to 1.5."""
        town = self._belief(key, picture)
        worth = 0.5 * opinion.confidence + 0.3 * chance.random()
        if town is not None and opinion.is_at(town):
            worth += 0.6 if self._knows(key, picture) else 0.4
        return worth + (self._temper.insight if opinion.is_at(picture.town) else 0.0)

    def _ratings(self, key: str, picture: Drawn, opinions: Sequence[_Opinion], chance: Random) -> str:
        rated = [
            max(1, min(5, round(1 + 4 * self._worth(key, picture, opinion, chance))))
            for opinion in opinions
            if opinion.number is not None
        ]
        return f"\nRatings: {', '.join(str(value) for value in rated)}"


@dataclass(slots=True)
class Trouble:
    """A member in front of which something goes wrong.

    ``kind``: "slow" waits ``seconds`` before each reply; "failing" fails ``share`` of its replies, "raising" raises
    instead, which real members never do; "contrary" names another place each time; "nonsense" says no place at all.
    """

    member: Member
    kind: str
    seconds: float = 0.05
    share: float = 1.0
    seed: int = 0
    hosts: frozenset[str] = frozenset()
    _asked: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """As the member behind it."""
        return self.member.name

    async def reply(self, request: Request) -> Reply:
        """What the member says, or the trouble."""
        self._asked += 1
        chance = Random(f"{self.seed}/{self.name}/{self._asked}/{self.kind}")
        if self.kind == "slow":
            await asyncio.sleep(self.seconds)
            return await self.member.reply(request)
        if self.kind in ("failing", "raising") and chance.random() < self.share:
            if self.kind == "raising":
                raise RuntimeError("a stand-in that breaks")
            return Reply(failure="the stand-in for a model that is down")
        if self.kind == "contrary":
            point = LatLon(chance.uniform(-80, 80), chance.uniform(-180, 180))
            text = f'{{"location": {{"lat": {point.lat}, "lon": {point.lon}}}, "confidence": "99%"}}'
            return Reply(text, Answer(point, probability=0.99), tokens=reply_tokens(request.words or "", text))
        if self.kind == "nonsense":
            text = "".join(chance.choice("abc {}[]\"'%0123:,\n") for _ in range(chance.randint(0, 200)))
            return Reply(text, Answer(explanation=text or None), tokens=reply_tokens(request.words or "", text))
        return await self.member.reply(request)

    async def aclose(self) -> None:
        """As the member behind it."""
        await self.member.aclose()


def expert_team(
    known: Known, *, count: int = len(REGIONS), temper: Temper | None = None, seed: int = 0
) -> list[Member]:
    """One expert for each region, and further ones for the regions in turn."""
    regions = [REGIONS[number % len(REGIONS)] for number in range(count)]
    return [
        StandInExpert(f"agent-{number + 1}", known, (region.name,), temper=temper, seed=seed)
        for number, region in enumerate(regions)
    ]


def identical_team(
    known: Known, *, count: int = len(REGIONS), right: float = 0.5, temper: Temper | None = None, seed: int = 0
) -> list[Member]:
    """Copies of one model that is right everywhere equally often."""
    same = replace(temper or Temper(wobbles=0.25), abroad=right)
    return [StandInExpert(f"agent-{number + 1}", known, temper=same, seed=seed, mind="one") for number in range(count)]


def _placed(town: Town | None, picture: Drawn, confidence: float) -> Reply:
    because = _because(picture)
    location: dict[str, object]
    if town is None:
        answer = Answer(
            address=Address.create(country=picture.town.country), probability=confidence, explanation=because
        )
        location = {"country": picture.town.country}
    else:
        answer = Answer(town.point, Address.create(town.country, precise=town.name), confidence, None, because)
        location = {"country": town.country, "city": town.name, "lat": town.point.lat, "lon": town.point.lon}
    said = {"location": location, "confidence": f"{confidence:.0%}", "explanation": because}
    return Reply(json.dumps(said), answer)


def _because(picture: Drawn) -> str:
    """As long as models' explanations are, and naming no place."""
    region = picture.region
    houses = {"none": "There are no houses", "tower": "Tall blocks with lit windows stand"}.get(
        region.roof, f"Houses with {region.roof} roofs stand"
    )
    return (
        f"{houses} at the horizon, and the {region.plant} in front is typical of few parts of the world. The colour of "
        "the ground, the light and the way things stand apart narrow it down further; no sign, plate or wire can be "
        "read, so that the choice within the region rests on the general look alone."
    )


def _opinions(words: str) -> list[_Opinion]:
    """The places that the words name, block by block; a numbered block counts even where it names none."""
    found = []
    for block in _BLOCKS.split(words):
        heading, name, point = _NUMBERED.match(block), _TOWN.search(block), _POINT.search(block)
        if heading is None and name is None and point is None:
            continue
        found.append(
            _Opinion(
                int(heading[1]) if heading else None,
                _BY_NAME[name[0]] if name else None,
                LatLon(float(point[1]), float(point[2])) if point else None,
                int(sure[1]) / 100 if (sure := _PERCENT.search(block)) else 0.5,
            )
        )
    return found
