"""The network that looks at a picture and says whom to trust with it, and the file that holds it.

Fea = Linear(Emb + Enc(X))
A   = softmax(Fea Fea^T / sqrt(d_k))
Lst = sigmoid(Linear(Flatten(LeakyReLU(A Fea W))))

meta      how it was made: the format, the image encoder, the width of its features
member    the members' names in their order
lesson    one row per training picture: features, labels, links, its country (read only for learning)
weights   one row per version: the weights, the number of lessons and the settings; nothing is overwritten

Connections opened here are read-only, and SQLite itself refuses them the table ``lesson``.

Nothing here can hold or read a truth: training data is in tables of the same file that these connections are not
allowed to read.
"""

import io
import json
import math
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from geosleuth.photo import OpenedPhoto, first_view
from geosleuth.photo.image_encoder import (
    ImageEncoder,
    Preparation,
    TorchEncoder,
    folder_name,
    is_named,
    load_encoder,
)
from geosleuth.support.databases import check_stamp, explain_errors
from geosleuth.support.errors import BadInput, require

from .member import TrustWeights

Array: TypeAlias = npt.NDArray[np.floating]

# Slope of the LeakyReLU below zero; the paper states none, and this is the usual one.
LEAK = 0.01

APPLICATION: Final = 0x6773746D
FORMAT: Final = 1
BUSY_SECONDS: Final = 30.0
WHAT: Final = "a team's state"
# Tables that a connection may read when answering.
READABLE_TABLES: Final = frozenset({"meta", "member", "weights", "sqlite_master"})
SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE member (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE lesson (
    key BLOB PRIMARY KEY, features BLOB NOT NULL, labels BLOB NOT NULL, distances BLOB NOT NULL, links BLOB NOT NULL,
    answers BLOB NOT NULL, country TEXT NOT NULL, settings TEXT NOT NULL);
CREATE TABLE weights (
    version INTEGER PRIMARY KEY AUTOINCREMENT, lessons INTEGER NOT NULL, made TEXT NOT NULL, settings TEXT NOT NULL,
    figures TEXT NOT NULL, arrays BLOB NOT NULL)
"""
# Picture size in smileGeo; the usual VAE turns it into 64 x 64 cells of four numbers.
SIDE_PX: Final = 512
_CLASS: Final = "AutoencoderKL"
_MIDDLE: Final = (127.5, 127.5, 127.5)


@dataclass(frozen=True, slots=True)
class Dimensions:
    """The number of members, and the widths of the embeddings, of Fea, and of the hidden layer."""

    members: int
    embedding: int
    fea: int
    hidden: int


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """The learned parameters.

    Attributes:
        emb: a row for each member, as wide as an encoded picture.
        fea_weight: embedding x fea.
        fea_bias: fea.
        hidden_weight: the paper's W, fea x hidden.
        out_weight: (members * hidden) x members.
        out_bias: members.
    """

    emb: Array
    fea_weight: Array
    fea_bias: Array
    hidden_weight: Array
    out_weight: Array
    out_bias: Array

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the arrays' names, in one order everywhere."""
        return tuple(field.name for field in fields(cls))

    def arrays(self) -> tuple[Array, ...]:
        """Return the arrays in the order of their names."""
        return tuple(getattr(self, name) for name in self.names())

    @property
    def dimensions(self) -> Dimensions:
        """Return the dimensions from the arrays' shapes."""
        members, embedding = self.emb.shape
        fea, hidden = self.hidden_weight.shape
        return Dimensions(members, embedding, fea, hidden)

    def fit(self) -> bool:
        """Return whether the arrays fit together and are finite."""
        if self.emb.ndim != 2 or self.hidden_weight.ndim != 2:
            return False
        size = self.dimensions
        wanted = (
            (size.members, size.embedding), (size.embedding, size.fea), (size.fea,), (size.fea, size.hidden),
            (size.members * size.hidden, size.members), (size.members,),
        )  # fmt: skip
        arrays = self.arrays()
        return all(array.shape == shape for array, shape in zip(arrays, wanted, strict=True)) and all(
            bool(np.isfinite(array).all()) for array in arrays
        )


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """The network's output, a row per picture, and the intermediate values that training needs.

    ``links`` are the attention without its diagonal; each row sums to 1.
    """

    election: Array
    links: Array
    summed: Array
    fea: Array
    attention: Array
    mixed: Array
    hidden: Array


def fresh_parameters(size: Dimensions, rng: np.random.Generator, dtype: type[np.floating] = np.float32) -> Parameters:
    """Return small random numbers; the last layer starts at zero, so that every probability starts at one half."""

    def spread(*shape: int) -> Array:
        numbers: Array = (rng.standard_normal(shape) / math.sqrt(shape[0])).astype(dtype)
        return numbers

    return Parameters(
        emb=(0.1 * rng.standard_normal((size.members, size.embedding))).astype(dtype),
        fea_weight=spread(size.embedding, size.fea),
        fea_bias=np.zeros(size.fea, dtype=dtype),
        hidden_weight=spread(size.fea, size.hidden),
        out_weight=np.zeros((size.members * size.hidden, size.members), dtype=dtype),
        out_bias=np.zeros(size.members, dtype=dtype),
    )


def forward(parameters: Parameters, encoded: Array) -> Prediction:
    """Return election probabilities and links for encoded pictures, a row each."""
    summed: Array = encoded[:, None, :] + parameters.emb[None, :, :]
    fea: Array = summed @ parameters.fea_weight + parameters.fea_bias
    scores = fea @ fea.transpose(0, 2, 1) / math.sqrt(fea.shape[2])
    scores -= scores.max(axis=2, keepdims=True)
    attention: Array = np.exp(scores)
    attention /= attention.sum(axis=2, keepdims=True)
    mixed: Array = attention @ fea
    hidden: Array = mixed @ parameters.hidden_weight
    flat = np.where(hidden > 0, hidden, LEAK * hidden).reshape(len(encoded), len(parameters.out_weight))
    logits = flat @ parameters.out_weight + parameters.out_bias
    # Beyond this the exponential overflows in single precision, and the probability is 0 or 1 anyway.
    election: Array = 1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0)))
    return Prediction(election, without_diagonal(attention), summed, fea, attention, mixed, hidden)


def without_diagonal(attention: Array) -> Array:
    """Return the rows without the diagonal, normalised to a sum of 1; a team of one has no links."""
    others = attention * (1 - np.eye(attention.shape[1], dtype=attention.dtype))
    links: Array = others / np.maximum(others.sum(axis=2, keepdims=True), np.finfo(attention.dtype).tiny)
    return links


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Centred features projected onto the principal directions of the training pictures.

    It is fitted once and then fixed, like the encoder before it. Columns beyond the rank of the pictures are zero.
    """

    mean: Array
    basis: Array

    @classmethod
    def fit(cls, features: Array, width: int) -> "Projection":
        """Return the directions in which these pictures differ most.

        All are scaled alike, so that noise in the smallest directions is not amplified.
        """
        wide = np.asarray(features, dtype=np.float64)
        mean = wide.mean(axis=0)
        _, sizes, directions = np.linalg.svd(wide - mean, full_matrices=False)
        deviations = sizes / np.sqrt(max(1, len(wide) - 1))
        if not deviations.size or deviations[0] == 0:
            return cls(mean.astype(np.float32), np.zeros((wide.shape[1], width), dtype=np.float32))
        kept = min(width, len(deviations))
        basis = np.zeros((wide.shape[1], width))
        basis[:, :kept] = directions[:kept].T / deviations[0]
        return cls(mean.astype(np.float32), basis.astype(np.float32))

    @property
    def width(self) -> int:
        """Return the width of an encoded picture."""
        return int(self.basis.shape[1])

    def encode(self, features: Array) -> Array:
        """Return the encoded pictures, a row each."""
        seen: Array = (np.asarray(features, dtype=np.float32) - self.mean) @ self.basis
        return seen


_ARRAYS: Final = (*Parameters.names(), "projection_mean", "projection_basis", "usual_election", "usual_links")


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A learned network, its projection, and how far it can be trusted.

    ``trust`` and ``trust_links`` say how much of the differences that the network sees between members held on
    unseen pictures: 0 is nothing (equal trust), 1 is all. ``usual`` is the mean trust over the training pictures.
    ``figures`` are measurements from training.
    """

    parameters: Parameters
    projection: Projection
    trust: float
    trust_links: float
    usual_election: Array
    usual_links: Array
    lessons: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: int = 0

    def pack(self) -> bytes:
        """Return the arrays as they are stored."""
        stream = io.BytesIO()
        arrays = dict(zip(Parameters.names(), self.parameters.arrays(), strict=True))
        arrays |= {"projection_mean": self.projection.mean, "projection_basis": self.projection.basis}
        arrays |= {"usual_election": self.usual_election, "usual_links": self.usual_links}
        np.savez_compressed(stream, allow_pickle=False, **{name: arrays[name] for name in _ARRAYS})
        return stream.getvalue()


@dataclass(frozen=True, slots=True)
class StateInfo:
    """The members and the image encoder of a state."""

    members: tuple[str, ...]
    encoder: str
    spec: str
    dimension: int


@contextmanager
def open_for_answering(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the state read-only, without the lessons.

    Raises:
        BadInput: it does not exist, or can't be read.
    """
    if not path.is_file():
        raise BadInput(f"{path}: no such file; create the state with: geosleuth team learn DATASET --state {path}")
    with explain_errors(path, WHAT), closing(open_for_reading(path)) as conn:
        conn.execute("PRAGMA query_only = ON")
        conn.set_authorizer(_only_what_answers)
        yield conn


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Return a read-only connection."""
    uri = path.absolute().as_uri()
    try:
        conn = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # In a read-only folder SQLite can't create its side files; then no other process writes either.
        conn = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    return conn


def _only_what_answers(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    del second, database, trigger
    if action == sqlite3.SQLITE_READ and first not in READABLE_TABLES:
        return sqlite3.SQLITE_DENY
    allowed = (
        sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_PRAGMA,
        sqlite3.SQLITE_TRANSACTION,
    )  # fmt: skip
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def read_info(conn: sqlite3.Connection, path: Path) -> StateInfo:
    """Return the members and the encoder of a state.

    Raises:
        BadInput: the file is not a team's state, or has another format.
    """
    check_stamp(conn, path, WHAT, APPLICATION, FORMAT)
    meta = dict(conn.execute("SELECT key, value FROM meta"))
    names = tuple(name for (name,) in conn.execute("SELECT name FROM member ORDER BY position"))
    try:
        return StateInfo(names, meta["encoder"], meta["spec"], int(meta["dimension"]))
    except (KeyError, ValueError) as error:
        raise build_damage_error(path) from error


def is_state_file(path: Path, members: Sequence[str]) -> bool:
    """Return whether the file is a state of exactly these members, in any order."""
    try:
        with open_for_answering(path) as conn:
            return sorted(read_info(conn, path).members) == sorted(members)
    except BadInput:
        return False


def read_weights(conn: sqlite3.Connection, path: Path) -> Weights | None:
    """Return the weights learned from most lessons, the newest of these; None before anything was learned.

    Of two processes that trained at once, the last to finish need not have seen more. Weights made with other settings
    than the newest are past.

    Raises:
        BadInput: they are damaged.
    """
    row = conn.execute(
        "SELECT version, lessons, settings, figures, arrays FROM weights WHERE settings = "
        "(SELECT settings FROM weights ORDER BY version DESC LIMIT 1) ORDER BY lessons DESC, version DESC LIMIT 1"
    ).fetchone()
    if row is None:
        return None
    version, lessons, settings, figures, packed = row
    try:
        with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
            arrays: dict[str, Array] = {name: stored[name] for name in _ARRAYS}
        measured = json.loads(figures)
        weights = Weights(
            Parameters(*(arrays[name] for name in Parameters.names())),
            Projection(arrays["projection_mean"], arrays["projection_basis"]),
            float(measured["trust"]),
            float(measured["trust_links"]),
            arrays["usual_election"],
            arrays["usual_links"],
            int(lessons),
            json.loads(settings),
            measured,
            int(version),
        )
    except (KeyError, ValueError, TypeError, OSError, EOFError) as error:
        raise build_damage_error(path) from error
    if not weights.parameters.fit() or weights.projection.width != weights.parameters.dimensions.embedding:
        raise build_damage_error(path)
    return weights


def build_damage_error(path: Path) -> BadInput:
    """Return the error for a damaged state."""
    return BadInput(f"{path}: the team's state is damaged; delete it and learn again")


class VaeEncoder(TorchEncoder):
    """The encoder half of an ``AutoencoderKL`` in a folder that `diffusers` can read; code in it is never run.

    A picture's features are the means of its latent cells. Nothing is sampled: a picture has one row of
    features.
    """

    _batch = 1

    def __init__(self, folder: Path, side_px: int = SIDE_PX) -> None:
        """Store the folder; a whole Stable Diffusion folder with a ``vae`` works too.

        Raises:
            BadInput: it has no VAE.
        """
        found = vae_folder(folder)
        if found is None:
            raise BadInput(f"{folder}: no {_CLASS} found; give a folder such as one with stabilityai/sd-vae-ft-mse")
        super().__init__(found)
        self._preparation = Preparation(side_px, side_px, mean=_MIDDLE, deviation=_MIDDLE)

    @cached_property
    def name(self) -> str:
        """Return the folder's name with a fingerprint of its weights and settings, and the picture size."""
        return f"{folder_name(self._path)}/{self._preparation.width_px}"

    def _run(self, network: Any, pixels: Any) -> Any:
        return network.encode(pixels).latent_dist.mode().flatten(1)

    @cached_property
    def _loaded(self) -> tuple[Any, Preparation]:
        diffusers = require("diffusers", extra="weights")
        try:
            vae = diffusers.AutoencoderKL.from_pretrained(str(self._path), local_files_only=True)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            raise self._trouble(f"it can't be loaded as an {_CLASS}", error) from error
        return vae.eval(), self._preparation


def vae_folder(folder: Path) -> Path | None:
    """Return the folder or its ``vae``, whichever holds an ``AutoencoderKL``."""
    for place in (folder, folder / "vae"):
        try:
            settings = json.loads((place / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(settings, dict) and settings.get("_class_name") == _CLASS:
            return place
    return None


def load_picture_encoder(spec: str = "bundled", side_px: int = SIDE_PX) -> ImageEncoder:
    """Load the bundled encoder (``bundled``), a VAE from a folder, or another encoder that `load_encoder` knows.

    Raises:
        BadInput: the spec is none of these.
    """
    folder = Path(spec).expanduser()
    if not is_named(spec) and folder.is_dir() and vae_folder(folder) is not None:
        return VaeEncoder(folder, side_px)
    return load_encoder(spec)


class TrainedSociety:
    """Says whom to trust with a picture, as learned by ``geosleuth team learn``. A `Society`.

    It knows the members' names and the learned weights. It has not read the training pictures and has no access to
    them.
    """

    __slots__ = ("_encoder", "_info", "_order", "_weights")

    def __init__(
        self, info: StateInfo, weights: Weights | None, encoder: ImageEncoder, members: Sequence[str] | None = None
    ) -> None:
        """Build one from parts; `open` is the usual way.

        Raises:
            BadInput: the members are not those who learned.
        """
        wanted = info.members if members is None else tuple(members)
        if sorted(wanted) != sorted(info.members):
            raise BadInput(
                f"the state was learned by {', '.join(info.members)}, and the team is {', '.join(wanted)}; "
                "give the team that learned, or learn into another state"
            )
        self._info, self._weights, self._encoder = info, weights, encoder
        self._order = tuple(info.members.index(name) for name in wanted)

    @classmethod
    def open(
        cls, path: str | Path, members: Sequence[str] | None = None, *, encoder: ImageEncoder | None = None
    ) -> "TrainedSociety":
        """Read what was learned; later changes of the file have no effect here.

        Args:
            path: the team's state.
            members: the team's members in its own order; by default those of the state.
            encoder: replaces loading the encoder that the state names; it must be the same one.

        Raises:
            BadInput: the state is missing or can't be read, or has other members or another encoder.
        """
        place = Path(path)
        with open_for_answering(place) as conn:
            info, weights = read_info(conn, place), read_weights(conn, place)
        encoder = load_picture_encoder(info.spec) if encoder is None else encoder
        if encoder.name != info.encoder:
            raise BadInput(
                f"{place}: it was learned with the encoder {info.encoder!r}, not {encoder.name!r}; learn it again"
            )
        return cls(info, weights, encoder, members)

    @property
    def members(self) -> tuple[str, ...]:
        """Return the members' names in the order of every weight."""
        return tuple(self._info.members[place] for place in self._order)

    @property
    def version(self) -> int:
        """Return the version of the stored weights; 0 before anything was learned."""
        return 0 if self._weights is None else self._weights.version

    @property
    def lessons(self) -> int:
        """Return the number of training pictures."""
        return 0 if self._weights is None else self._weights.lessons

    @property
    def trust(self) -> tuple[float, float]:
        """Return how far election and links are trusted, from 0 (equal trust) to 1."""
        return (0.0, 0.0) if self._weights is None else (self._weights.trust, self._weights.trust_links)

    def trust_weights(self, photos: Sequence[OpenedPhoto]) -> TrustWeights:
        """Return whom to trust with these photos; with several, the mean over them."""
        if self._weights is None or not photos:
            return TrustWeights.equal(len(self._order))
        return self.weights_by_features(
            self._encoder.features([first_view(photo.photo).image for photo in photos]).astype(np.float32)
        )

    def weights_by_features(self, features: Array) -> TrustWeights:
        """Return the trust weights of encoded pictures, a row each."""
        if self._weights is None or not len(features):
            return TrustWeights.equal(len(self._order))
        election, links = predict_trust(self._weights, features)
        return self._in_order(election.mean(axis=0), links.mean(axis=0))

    def usual(self) -> TrustWeights:
        """Return the mean trust weights over the training pictures."""
        if self._weights is None:
            return TrustWeights.equal(len(self._order))
        return self._in_order(self._weights.usual_election, self._weights.usual_links)

    def _in_order(self, election: Array, links: Array) -> TrustWeights:
        count, order = len(self._order), list(self._order)
        # A mean weight of 1, as with equal trust: only proportions within a row matter.
        weights = np.clip(links[np.ix_(order, order)] * max(1, count - 1), 0.0, None)
        np.fill_diagonal(weights, 0.0)
        chances = np.clip(election[order], 0.0, 1.0)
        return TrustWeights(
            tuple(float(chance) for chance in chances), tuple(tuple(float(item) for item in row) for row in weights)
        )


def predict_trust(weights: Weights, features: Array) -> tuple[Array, Array]:
    """Return election probabilities and links per picture, shrunk towards equal trust by the network's trust."""
    raw = forward(weights.parameters, weights.projection.encode(features))
    count = raw.election.shape[1]
    middle = raw.election.mean(axis=1, keepdims=True)
    election: Array = middle + weights.trust * (raw.election - middle)
    alike = (1 - np.eye(count)) / max(1, count - 1)
    links: Array = alike + weights.trust_links * (raw.links - alike)
    return np.clip(election, 0.0, 1.0), links
