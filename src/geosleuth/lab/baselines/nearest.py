"""The nearest photo of a gallery: what retrieval alone makes of a photo, and how probable it is to be right."""

import asyncio
import hashlib
import sys
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import numpy as np
import numpy.typing as npt

from geosleuth.answer import Address, Answer, Candidate
from geosleuth.atlas.folders import cache_dir
from geosleuth.evidence.heartlands import find_country
from geosleuth.geo import FloatArray, LatLon, density_mode, great_circle_km
from geosleuth.models.protocol import Conversation, Policy, Step
from geosleuth.names import country_name
from geosleuth.photo.image_encoder import Features, unit_rows
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import replacing
from geosleuth.support.fitting import logistic

from .gallery import Gallery, open_gallery
from .options import answering, first_images, picture_key, take_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image

Way = Literal["auto", "exact", "usearch"]
Rows = npt.NDArray[np.int64]

# Minimum rows for searching with a graph by default; below, building one takes longer than it saves.
GRAPH_MIN_ROWS: Final = 500_000

_QUERIES_AT_ONCE: Final = 64
_CONNECTIVITY, _WIDTH_WHEN_BUILT, _WIDTH_WHEN_ASKED = 16, 128, 128

How = Literal["first", "spread"]
# Minimum gallery size: a smaller one cannot tell how often it is right.
MIN_GALLERY_ROWS: Final = 30
_HELD_OUT: Final = 400
# Minimum cosine at which two rows belong to the same picture.
SAME_PICTURE_COSINE: Final = 1 - 2e-6
_STEADY: Final = 1.0
_MORE = 16  # asked for beyond k: the photo itself and copies of it give way
_LISTED = 5
OPTIONS = ("k", "vote", "within", "index", "queries", "encoder", "trust_code")


class Neighbours:
    """The nearest rows of a matrix of unit rows. May be asked from several threads."""

    def __init__(self, features: Features, way: Way = "auto", kept_in: Path | None = None) -> None:
        """Take the matrix; a graph is built or read when the first question comes.

        Args:
            features: rows of length 1.
            way: "exact" goes through all rows, "usearch" asks a graph, which may miss some; "auto" by their number.
            kept_in: where graphs are kept; by default among the package's caches.
        """
        self._features = features
        self._kept_in = kept_in
        self._lock = threading.Lock()
        self.exact = way == "exact" or (way == "auto" and len(features) < GRAPH_MIN_ROWS)

    def search(self, wanted: Features, count: int) -> tuple[Rows, Features]:
        """The numbers of the nearest rows of each query, nearest first, and their cosines.

        Raises:
            MissingExtra: usearch is needed and not installed.
        """
        count = min(count, len(self._features))
        if not self.exact:
            with self._lock:
                # Built by the first caller; building takes minutes.
                graph = self._graph
            found = graph.search(wanted, count)
            keys = np.asarray(found.keys, dtype=np.int64).reshape(len(wanted), -1)
            cosines = 1 - np.asarray(found.distances, dtype=np.float32).reshape(len(wanted), -1)
            return keys, cosines
        parts = [
            self._all(wanted[start : start + _QUERIES_AT_ONCE], count)
            for start in range(0, len(wanted), _QUERIES_AT_ONCE)
        ]
        return np.concatenate([rows for rows, _ in parts]), np.concatenate([cosines for _, cosines in parts])

    def _all(self, wanted: Features, count: int) -> tuple[Rows, Features]:
        cosines = wanted @ self._features.T
        best = np.argpartition(-cosines, count - 1, axis=1)[:, :count].astype(np.int64)
        found = np.take_along_axis(cosines, best, axis=1)
        # By number where two are equally alike, so that the order is always the same.
        order = np.lexsort((best, -found), axis=1)
        return np.take_along_axis(best, order, axis=1), np.take_along_axis(found, order, axis=1)

    @cached_property
    def _graph(self) -> Any:
        usearch = _usearch()
        folder = self._kept_in or cache_dir() / "nearest"
        settings = f"{_CONNECTIVITY}-{_WIDTH_WHEN_BUILT}-{self._features.shape}"
        digest = hashlib.sha256(settings.encode())
        digest.update(np.ascontiguousarray(self._features).data)
        path = folder / f"{digest.hexdigest()[:24]}.usearch"
        graph = usearch.Index(
            ndim=self._features.shape[1], metric="cos", dtype="f32",
            connectivity=_CONNECTIVITY, expansion_add=_WIDTH_WHEN_BUILT, expansion_search=_WIDTH_WHEN_ASKED,
        )  # fmt: skip
        if path.is_file():
            try:
                graph.load(str(path))
                if len(graph) == len(self._features):
                    return graph
            except (RuntimeError, ValueError, OSError):
                pass  # made anew below
            graph.reset()
        graph.add(np.arange(len(self._features), dtype=np.uint64), self._features)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as neighbour:
            graph.save(str(neighbour))
        return graph


def _usearch() -> Any:
    if "torch" not in sys.modules and find_spec("torch") is not None:
        # Loaded after usearch, torch 2.13 hangs in its own start; loaded before it, both work.
        require("torch", extra="weights")
    return require("usearch.index", extra="lab")


def recall(found: Rows, expected: Rows) -> float:
    """Return the share of the expected rows that were found."""
    hits = [len(set(one) & set(other)) for one, other in zip(found.tolist(), expected.tolist(), strict=True)]
    return sum(hits) / expected.size


@dataclass(frozen=True, slots=True)
class NeighbourVote:
    """Result of a vote: the neighbour whose place is the answer, and the share of the others' weight near it."""

    chosen: int
    agreement: float
    cosine: float


@dataclass(frozen=True, slots=True)
class Odds:
    """P(right) as a logistic function of the agreement and of how alike the nearest is; ``photos`` were held out."""

    weights: tuple[float, float, float]
    middle: float
    spread: float
    photos: int

    def probability(self, vote: NeighbourVote) -> float:
        """The probability for one vote; never surer than the held-out photos allow."""
        offset, agreement, alike = self.weights
        # Nothing is known about photos less or more alike than those held out: the edge stands for what lies beyond.
        seen = float(np.clip((vote.cosine - self.middle) / self.spread, -3.0, 3.0))
        value = 1 / (1 + np.exp(-(offset + agreement * vote.agreement + alike * seen)))
        least = 1 / (self.photos + 2)
        return float(np.clip(value, least, 1 - least))


def count_votes(lats: FloatArray, lons: FloatArray, cosines: Features, how: How, within_km: float) -> NeighbourVote:
    """Return the vote of neighbours, nearest first; each weighs the inverse of its rank.

    "first" takes the nearest. "spread" looks where they lie most densely, at the scale of ``within_km``, and takes the
    nearest of those around there: several that agree outvote one that is a little more alike.
    """
    weights = 1 / np.arange(1, len(lats) + 1)
    chosen = 0
    if how == "spread" and len(lats) > 1:
        middle: LatLon = density_mode(lats, lons, within_km, weights)
        away = great_circle_km(middle.lat, middle.lon, lats, lons)
        near = np.flatnonzero(away <= within_km)
        chosen = int(near[0]) if near.size else int(np.argmin(away))
    others = np.arange(len(lats)) != chosen
    near_km = great_circle_km(float(lats[chosen]), float(lons[chosen]), lats, lons) <= within_km
    total = float(weights[others].sum())
    agreement = float(weights[others & near_km].sum()) / total if total else 0.0
    return NeighbourVote(chosen, agreement, float(cosines[0]))


def learn_odds(
    neighbours: Neighbours, features: Features, lats: FloatArray, lons: FloatArray, k: int, how: How, within_km: float
) -> Odds | None:
    """Learn odds from the gallery's own photos, each asked as if it were left out; None for a small gallery.

    It holds for photos that stand to the gallery as its own photos stand to each other.
    """
    if len(features) < MIN_GALLERY_ROWS:
        return None
    chance = np.random.default_rng(0)
    asked = np.sort(chance.choice(len(features), min(_HELD_OUT, len(features)), replace=False))
    # A few more than needed: itself, and copies of it, are taken out.
    rows, cosines = neighbours.search(features[asked], min(k + 5, len(features)))
    given, right = [], []
    for number, (near, alike) in zip(asked.tolist(), zip(rows, cosines, strict=True), strict=True):
        kept = others_than(number, near, alike)[:k]
        if not kept.size:
            continue
        vote = count_votes(lats[near[kept]], lons[near[kept]], alike[kept], how, within_km)
        chosen = near[kept[vote.chosen]]
        away = great_circle_km(float(lats[chosen]), float(lons[chosen]), float(lats[number]), float(lons[number]))
        given.append((vote.agreement, vote.cosine))
        right.append(away <= within_km)
    if len(given) < MIN_GALLERY_ROWS:
        return None
    return _fit_logistic(np.array(given), np.array(right, dtype=np.float64))


def others_than(number: int | None, rows: Rows, cosines: Features) -> Rows:
    """Return which neighbours are pictures other than the query."""
    kept: Rows = np.flatnonzero((rows != (-1 if number is None else number)) & (cosines < SAME_PICTURE_COSINE))
    return kept


def _fit_logistic(given: FloatArray, right: FloatArray) -> Odds:
    """Fit a logistic regression; a small penalty keeps it stable if all are right or all wrong."""
    middle, spread = float(given[:, 1].mean()), float(max(given[:, 1].std(), 1e-6))
    alike = np.clip((given[:, 1] - middle) / spread, -3.0, 3.0)
    rows = np.stack([np.ones(len(given)), given[:, 0], alike], axis=1)
    weights = logistic(rows, right, _STEADY)
    offset, agreement, seen = (float(value) for value in weights)
    return Odds((offset, agreement, seen), middle, spread, len(given))


@dataclass(frozen=True, slots=True)
class NeighbourSettings:
    """Settings for turning neighbours into an answer.

    ``within_km`` defines the same place and is the answer's radius.
    """

    k: int = 10
    vote: How = "first"
    within_km: float = 25.0
    way: Way = "auto"


def make_nearest(rest: str) -> Policy:
    """Return the policy for what follows after ``nearest:``. What takes long is done when the first photo comes.

    Raises:
        BadInput: there is no such gallery, or an option makes no sense.
    """
    name, options = take_options(rest, OPTIONS)
    if not name:
        raise BadInput("nearest: lacks the gallery; write nearest:INDEX or nearest:FOLDER")
    queries = options.given.get("queries")
    settings = NeighbourSettings(
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
    return NearestPolicy(f"nearest:{rest}", gallery, settings)


class NearestPolicy:
    """Answers with the place of the photo that looks most alike, or of where those most alike lie together."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, gallery: Gallery, settings: NeighbourSettings) -> None:
        self.name, self._gallery, self._settings = name, gallery, settings
        self._neighbours = Neighbours(gallery.features, settings.way)
        self._lock = threading.Lock()

    @cached_property
    def fingerprint(self) -> str:
        """Tells galleries apart, not by name but by features, places, known pixels, queries and encoder."""
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
        return await asyncio.to_thread(self.answer_step, first_images(conversation))

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
        """Return the gallery's answer for the views of one photo; ``own`` as for `excluding`."""
        gallery, settings = self._gallery, self._settings
        wanted = self._features(images)
        if wanted is None:
            return Answer(
                explanation="No features of this photo are among the queries, and no encoder is there to look."
            )
        with self._lock:
            # The graph is built, and the odds are learned, by the first caller.
            odds = self._odds
        rows, cosines = (part[0] for part in self._neighbours.search(wanted, settings.k + _MORE))
        kept = others_than(None, rows, cosines)
        kept = kept[~np.isin(rows[kept], self._find_own_rows(images, own))][: settings.k]
        if not kept.size:
            return Answer(explanation="The gallery holds no other picture than this one.")
        rows, cosines = rows[kept], cosines[kept]
        vote = count_votes(gallery.lats[rows], gallery.lons[rows], cosines, settings.vote, settings.within_km)
        chosen = int(rows[vote.chosen])
        point = _get_row_point(gallery, chosen)
        code = find_country(point)
        return Answer(
            point=point,
            address=Address.create(country_name(code) if code else None),
            probability=None if odds is None else round(odds.probability(vote), 4),
            radius_km=settings.within_km,
            explanation=_explain_neighbour(
                gallery, chosen, float(cosines[vote.chosen]), vote.agreement, odds, settings
            ),
            candidates=tuple(
                Candidate(gallery.ids[row][:200], _get_row_point(gallery, row), None, f"cosine {cosine:.3f}")
                for row, cosine in zip(rows[:_LISTED].tolist(), cosines[:_LISTED].tolist(), strict=True)
            ),
        )

    def answer_step(self, images: "Sequence[Image]", own: "Sequence[Sequence[Image]]" = ()) -> Step:
        """Return the answer for the views of one photo as a step; ``own`` as for `excluding`."""
        began = time.perf_counter()
        if not images:
            return answering(self.name, Answer(explanation="There is no photo to look at."), began)
        return answering(self.name, self.answer(images, own), began)

    def _find_own_rows(self, images: "Sequence[Image]", own: "Sequence[Sequence[Image]]") -> list[int]:
        """Return the photo's own rows: those with its pixels, and those indistinguishable from its original."""
        known = self._gallery.pixels
        rows = {row for pictures in (images, *own) for row in known.get(picture_key(pictures), ())}
        for pictures in own:
            features = self._features(pictures)
            if features is not None:
                near, cosines = (part[0] for part in self._neighbours.search(features, _MORE))
                rows.update(near[cosines >= SAME_PICTURE_COSINE].tolist())
        return sorted(rows)

    def _features(self, images: "Sequence[Image]") -> Features | None:
        """Return one row for all views of the photo: the mean of their features."""
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
    """`NearestPolicy` for one photo whose own rows can't be recognised by the pictures shown."""

    whole: NearestPolicy
    own: "Sequence[Sequence[Image]]"

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def hosts(self) -> frozenset[str]:
        return self.whole.hosts

    async def step(self, conversation: Conversation) -> Step:
        return await asyncio.to_thread(self.whole.answer_step, first_images(conversation), self.own)

    async def aclose(self) -> None:
        """The policy goes on without this photo."""


def _get_row_point(gallery: Gallery, row: int) -> LatLon:
    return LatLon(float(gallery.lats[row]), float(gallery.lons[row]))


def _explain_neighbour(
    gallery: Gallery, row: int, cosine: float, agreement: float, odds: Odds | None, settings: NeighbourSettings
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
