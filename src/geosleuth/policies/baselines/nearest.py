"""The nearest photo of a gallery: what retrieval alone makes of a photo."""

import asyncio
import hashlib
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.clues.heartlands import country_at
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.names import country_name
from geosleuth.photo.eyes import Features
from geosleuth.photo.eyes.encoder import unit_rows
from geosleuth.policies.model import Conversation, Policy, Step

from .answering import answering, first_images, picture_key
from .gallery import Gallery, open_gallery
from .neighbours import Neighbours, Way
from .odds import SAME, How, Odds, learn_odds, others_than, vote_of
from .options import take_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

_MORE = 16  # asked for beyond k: the photo itself and copies of it give way
_LISTED = 5
OPTIONS = ("k", "vote", "within", "index", "queries", "encoder", "trust_code")


@dataclass(frozen=True, slots=True)
class Settings:
    """How neighbours become an answer; ``within_km`` is what counts as the same place, and the answer's radius."""

    k: int = 10
    vote: How = "first"
    within_km: float = 25.0
    way: Way = "auto"


def make_nearest(spec: str, rest: str) -> Policy:
    """The policy for what follows after ``nearest:``.

    Raises:
        BadInput: there is no such gallery, or an option makes no sense.
    """
    name, options = take_options(rest, OPTIONS)
    queries = options.given.get("queries")
    settings = Settings(
        k=options.count("k", 10, 1000),
        vote=cast("How", options.text("vote", "first", ("first", "spread"))),
        within_km=options.km("within", 25.0),
        way=cast("Literal['auto', 'exact', 'usearch']", options.text("index", "auto", ("auto", "exact", "usearch"))),
    )
    gallery = open_gallery(
        Path(name).expanduser(),
        None if queries is None else Path(queries).expanduser(),
        options.given.get("encoder"),
        trust_code=options.text("trust_code", "no", ("yes", "no")) == "yes",
    )
    return NearestPolicy(spec, gallery, settings)


class NearestPolicy:
    """Answers with the place of the photo that looks most alike, or of where those most alike lie together."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, gallery: Gallery, settings: Settings) -> None:
        self.name, self._gallery, self._settings = name, gallery, settings
        self._neighbours = Neighbours(gallery.features, settings.way)
        self._lock = threading.Lock()

    @cached_property
    def fingerprint(self) -> str:
        """Tells galleries apart, whatever they are called: by features, places, known pixels, queries and encoder."""
        gallery = self._gallery
        queries = sorted(gallery.queries.items())
        words = (
            gallery.encoder.name if gallery.encoder else None,
            gallery.features.shape,
            sorted(gallery.pixels.items()),
            [key for key, _ in queries],
        )
        digest = hashlib.sha256(repr(words).encode())
        for part in (gallery.features, gallery.lats, gallery.lons, *(row for _, row in queries)):
            digest.update(np.ascontiguousarray(part).data)
        return digest.hexdigest()[:16]

    async def step(self, conversation: Conversation) -> Step:
        """The answer.

        Raises:
            BadInput: nothing can look at the photo.
            MissingExtra: what the encoder or the index needs is not installed.
        """
        return await asyncio.to_thread(self.step_from, first_images(conversation))

    async def aclose(self) -> None:
        """Nothing is held but memory."""

    def excluding(self, own: "Sequence[Sequence[Image]]") -> Policy:
        """The same, for one photo that looked otherwise before something was hidden in it.

        Args:
            own: the pictures that the photo may be in the gallery as; each alone, or a panorama's views together.
                Their rows are no evidence.
        """
        return _Excluding(self, own)

    def answer(self, images: "Sequence[Image]", own: "Sequence[Sequence[Image]]" = ()) -> Answer:
        """What the gallery says about the views of one photo; ``own`` as for `excluding`."""
        gallery, settings = self._gallery, self._settings
        wanted = self._features(images)
        if wanted is None:
            return Answer(
                explanation="No features of this photo are among the queries, and no encoder is there to look."
            )
        with self._lock:
            # The graph is built, and the odds are learned, by whoever comes first.
            odds = self._odds
        rows, cosines = (part[0] for part in self._neighbours.search(wanted, settings.k + _MORE))
        kept = others_than(None, rows, cosines)
        kept = kept[~np.isin(rows[kept], self._rows_of(images, own))][: settings.k]
        if not kept.size:
            return Answer(explanation="The gallery holds no other picture than this one.")
        rows, cosines = rows[kept], cosines[kept]
        vote = vote_of(gallery.lats[rows], gallery.lons[rows], cosines, settings.vote, settings.within_km)
        chosen = int(rows[vote.chosen])
        point = _point(gallery, chosen)
        code = country_at(point)
        return Answer(
            point=point,
            address=Address.of(country_name(code) if code else None),
            probability=None if odds is None else round(odds.probability(vote), 4),
            radius_km=settings.within_km,
            explanation=_explained(gallery, chosen, float(cosines[vote.chosen]), vote.agreement, odds, settings),
            candidates=tuple(
                Candidate(gallery.ids[row][:200], _point(gallery, row), None, f"cosine {cosine:.3f}")
                for row, cosine in zip(rows[:_LISTED].tolist(), cosines[:_LISTED].tolist(), strict=True)
            ),
        )

    def step_from(self, images: "Sequence[Image]", own: "Sequence[Sequence[Image]]" = ()) -> Step:
        """The answer about the views of one photo, as a step; ``own`` as for `excluding`."""
        began = time.perf_counter()
        if not images:
            return answering(self.name, Answer(explanation="There is no photo to look at."), began)
        return answering(self.name, self.answer(images, own), began)

    def _rows_of(self, images: "Sequence[Image]", own: "Sequence[Sequence[Image]]") -> list[int]:
        """The rows of the photo itself: those with its pixels, and those that can't be told from what it was."""
        known = self._gallery.pixels
        rows = {row for pictures in (images, *own) for row in known.get(picture_key(pictures), ())}
        for pictures in own:
            features = self._features(pictures)
            if features is not None:
                near, cosines = (part[0] for part in self._neighbours.search(features, _MORE))
                rows.update(near[cosines >= SAME].tolist())
        return sorted(rows)

    def _features(self, images: "Sequence[Image]") -> Features | None:
        """One row for all views of the photo: the mean of what is seen in each."""
        known = self._gallery.queries.get(picture_key(images)) if self._gallery.queries else None
        if known is not None:
            return known[None, :]
        if self._gallery.encoder is None:
            return None
        seen = self._gallery.encoder.features(images)
        if seen.shape[1] != self._gallery.features.shape[1]:
            raise BadInput(
                f"{self._gallery.name}: its encoder gives {seen.shape[1]} features, and the gallery has "
                f"{self._gallery.features.shape[1]}; give the encoder it was made with"
            )
        return unit_rows(seen.mean(axis=0, keepdims=True))

    @cached_property
    def _odds(self) -> Odds | None:
        gallery, settings = self._gallery, self._settings
        return learn_odds(
            self._neighbours, gallery.features, gallery.lats, gallery.lons, settings.k, settings.vote,
            settings.within_km,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Excluding:
    """A `NearestPolicy` for one photo whose own rows would not be known by the pictures that are shown."""

    whole: NearestPolicy
    own: "Sequence[Sequence[Image]]"

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def hosts(self) -> frozenset[str]:
        return self.whole.hosts

    async def step(self, conversation: Conversation) -> Step:
        return await asyncio.to_thread(self.whole.step_from, first_images(conversation), self.own)

    async def aclose(self) -> None:
        """The policy goes on without this photo."""


def _point(gallery: Gallery, row: int) -> LatLon:
    return LatLon(float(gallery.lats[row]), float(gallery.lons[row]))


def _explained(
    gallery: Gallery, row: int, cosine: float, agreement: float, odds: Odds | None, settings: Settings
) -> str:
    who = "is the most alike" if settings.vote == "first" else "lies where the most alike lie together"
    sure = (
        "The gallery is too small to say how often it is right."
        if odds is None
        else f"How sure that is was learned from {odds.photos} photos of the gallery, each held out."
    )
    return (
        f"Retrieval alone: of {len(gallery)} photos, {gallery.ids[row][:100]} {who} (cosine {cosine:.3f}); "
        f"{agreement:.0%} of the weight of the other neighbours lies within {settings.within_km:g} km of it. {sure}"
    )
