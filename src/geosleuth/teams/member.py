"""Members of a team: their requests and replies, trust between them, and when answers agree.

Providers count tokens differently, and some do not count images. Here texts and pictures are counted as the agent's
loop counts them, see `geosleuth.agent.conversation`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from geosleuth.agent import Trajectory
from geosleuth.agent.conversation import PIXELS_PER_TOKEN
from geosleuth.agent.method import CHARACTERS_PER_TOKEN
from geosleuth.answer import Answer
from geosleuth.answer.answer import PIN_KM
from geosleuth.atlas.placing import Placement, Placer
from geosleuth.geo import Disc, Extent, LatLon, extent_distance_km
from geosleuth.models import Usage
from geosleuth.photo import OpenedPhoto
from geosleuth.support.errors import GeosleuthError

Stage = Literal["answer", "review", "summary", "discussion", "judge"]
"""The purpose of a reply: an independent answer; a comment on another's answer; an answer after comments; a turn of a
discussion; a choice between others' answers."""

# Maximum distance between two answers that agree; smileGeo's threshold.
AGREE_WITHIN_KM = 50.0


@dataclass(frozen=True, slots=True)
class Request:
    """A request to a member.

    ``words`` replaces the task's own question; None asks as the member's method does. What others said is in the
    words as quoted data, and in ``pieces`` once more by itself, for members with words of a user's own: see
    `geosleuth.agent.prompt_files`. ``seed`` is passed to models that support it. ``force_answer`` demands a best guess.
    A request never contains a truth or a file name.
    """

    photos: tuple[OpenedPhoto, ...]
    stage: Stage = "answer"
    words: str | None = None
    pieces: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)
    hint: str | None = None
    area: str | None = None
    seed: int | None = None
    force_answer: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """A member's reply.

    ``text`` is its final message, ``answer`` what was parsed from it; a comment has no point. ``failure`` says in one
    line why there is no reply: a member that fails costs only its own reply. ``tokens`` are counted by the team's
    own rule, images included; ``usage`` is the provider's count.
    """

    text: str = ""
    answer: Answer = field(default_factory=Answer)
    tokens: int = 0
    usage: Usage = field(default_factory=lambda: Usage(tries=0))
    seconds: float = 0.0
    failure: str | None = None
    trajectory: Trajectory | None = field(default=None, repr=False)

    @property
    def names_place(self) -> bool:
        """Return whether it names a place: a point or an address."""
        return self.failure is None and (self.answer.located or bool(self.answer.address))


class Member(Protocol):
    """A member of a team: a plain model, an agent with tools, or a persona over a shared model."""

    @property
    def name(self) -> str:
        """Return its name in the team's file; other members never see it."""
        ...

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts that photos are sent to; empty if they stay on this machine."""
        ...

    async def reply(self, request: Request) -> Reply:
        """Reply to a request. A model that fails or times out gives a reply with a failure, never an exception."""
        ...

    async def aclose(self) -> None:
        """Close connections and free memory."""
        ...


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply in the course of a run: who, when, and about whose answer.

    Turns of one ``batch`` were asked for at once; 0 leaves it to stage and round.
    """

    member: str
    stage: Stage
    reply: Reply
    round: int = 0
    about: str | None = None
    batch: int = 0


@dataclass(frozen=True, slots=True)
class TeamOutcome:
    """A team's result: the answer, how it was decided, and every turn in order.

    ``voice`` is the member whose answer it is, if it is one member's.
    """

    answer: Answer
    decided: str
    turns: tuple[Turn, ...] = ()
    voice: str | None = None
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Return the tokens of all turns, by the team's own count."""
        return sum(turn.reply.tokens for turn in self.turns)

    @property
    def elapsed_s(self) -> float:
        """Return how long the replies take where those that don't wait for each other come at once.

        It is worked out from the replies' own durations, so that stored replies count as when they were given.
        """
        chains: dict[str, dict[Stage, float]] = {}
        steps: dict[tuple[int, int, Stage], float] = {}
        for turn in self.turns:
            if not turn.batch and turn.stage in ("answer", "review", "summary"):
                # Each answer agent goes its own way: its answer, then its reviewers at once, then its summary.
                chain = chains.setdefault(turn.about or turn.member, {})
                chain[turn.stage] = max(chain.get(turn.stage, 0.0), turn.reply.seconds)
            else:
                step = (turn.batch, turn.round, turn.stage)
                steps[step] = max(steps.get(step, 0.0), turn.reply.seconds)
        return max((sum(chain.values()) for chain in chains.values()), default=0.0) + sum(steps.values())


def text_tokens(text: str) -> int:
    """Count the tokens of a text."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def image_tokens(width: int, height: int) -> int:
    """Count the tokens of a picture of so many pixels."""
    return math.ceil(width * height / PIXELS_PER_TOKEN)


def reply_tokens(prompt: str, reply: str, sizes: tuple[tuple[int, int], ...] = ()) -> int:
    """Count the tokens of one reply: the prompt, its pictures, and the reply itself."""
    return text_tokens(prompt) + text_tokens(reply) + sum(image_tokens(*size) for size in sizes)


@dataclass(frozen=True, slots=True)
class TrustWeights:
    """Election probabilities (Lst) and links (A), in the members' order; a link to oneself is 0."""

    election: tuple[float, ...]
    links: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        """Check shapes and values."""
        count = len(self.election)
        if len(self.links) != count or any(len(row) != count for row in self.links):
            raise ValueError(f"{count} members need {count} x {count} links")
        if not all(0.0 <= value <= 1.0 for value in self.election):
            raise ValueError("an election probability lies between 0 and 1")
        if not all(value >= 0.0 for row in self.links for value in row):
            raise ValueError("a link's weight is not negative")

    @classmethod
    def equal(cls, count: int) -> "TrustWeights":
        """Return equal trust: every election probability is a half, every link is 1."""
        return cls((0.5,) * count, tuple(tuple(0.0 if i == j else 1.0 for j in range(count)) for i in range(count)))


class Society(Protocol):
    """Gives the trust weights of a team for photos. It sees pixels, never a file name or a truth."""

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:
        """Return whom to trust with these photos."""
        ...


@dataclass(frozen=True, slots=True)
class StrangersSociety:
    """A team that has learned nothing yet."""

    count: int

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:  # noqa: ARG002
        """Return equal trust for every photo."""
        return TrustWeights.equal(self.count)


@dataclass(frozen=True, slots=True)
class Location:
    """Location of an answer: its own point, or the place that its words name."""

    point: LatLon
    extent: Extent
    placement: Placement | None = None

    @property
    def radius_km(self) -> float:
        """Return how far the place reaches from the point."""
        return self.placement.radius_km if self.placement else 0.0

    @property
    def is_half_known(self) -> bool:
        """Return whether no more than the region or country of the named place is known."""
        placement = self.placement
        if placement is None or not placement.missing:
            return False
        return placement.level in ("region", "country") and placement.radius_km > PIN_KM


async def find_location(answer: Answer, placer: Placer) -> Location | None:
    """Return where an answer lies; None if it names no known place, or if the look-up failed."""
    if answer.point is not None:
        return Location(answer.point, Disc(answer.point, 0.0))
    try:
        found = await placer.place_answer(answer)
    except GeosleuthError:
        return None
    return None if found is None else Location(found.point, found.extent, found)


def agree(location: Location | None, other: Location | None, within_km: float = AGREE_WITHIN_KM) -> bool:
    """Return whether two answers lie within so many km of each other.

    A wide country agrees with nothing, nor does a place of which no more than the region is known. Two places that are
    both wider than ``within_km`` must share more than a border: the middle of one lies in the other.
    """
    if location is None or other is None or _is_vague(location) or _is_vague(other):
        return False
    if min(location.radius_km, other.radius_km) > within_km:
        return location.extent.contains(other.point) or other.extent.contains(location.point)
    return extent_distance_km(location.extent, other.extent) <= within_km


def _is_vague(location: Location) -> bool:
    return location.is_half_known or (location.placement is not None and location.placement.is_area)


def cluster(locations: Sequence[Location | None], within_km: float = AGREE_WITHIN_KM) -> list[frozenset[int]]:
    """Return for each answer the answers that agree with it, itself included; none if it has no place."""
    count = range(len(locations))
    groups = [{j for j in count if agree(locations[i], locations[j], within_km)} for i in count]
    return [frozenset(group if locations[i] is None else {i, *group}) for i, group in enumerate(groups)]
