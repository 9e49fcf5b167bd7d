"""smileGeo's network in numpy: from a picture's features to election probabilities and links.

Fea = Linear(Emb + Enc(X))
A   = softmax(Fea Fea^T / sqrt(d_k))
Lst = sigmoid(Linear(Flatten(LeakyReLU(A Fea W))))
"""

import math
from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating]

LEAK = 0.01
"""The slope of the LeakyReLU below zero; the paper names none, and this is the usual one."""


@dataclass(frozen=True, slots=True)
class Dimensions:
    """How many members there are, and how wide the embeddings, their image under Linear, and the hidden layer are."""

    members: int
    embedding: int
    fea: int
    hidden: int


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """All that is learned.

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
        """What the arrays are called, in one order everywhere."""
        return tuple(field.name for field in fields(cls))

    def arrays(self) -> tuple[Array, ...]:
        """The arrays in the order of their names."""
        return tuple(getattr(self, name) for name in self.names())

    @property
    def dimensions(self) -> Dimensions:
        """Read off the arrays' shapes."""
        members, embedding = self.emb.shape
        fea, hidden = self.hidden_weight.shape
        return Dimensions(members, embedding, fea, hidden)

    def fit(self) -> bool:
        """Whether the arrays belong together and hold numbers."""
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
    """What comes out, a row a picture, and what was on the way, which only learning looks at.

    ``links`` are the attention without its diagonal, each row of which adds up to 1.
    """

    election: Array
    links: Array
    summed: Array
    fea: Array
    attention: Array
    mixed: Array
    hidden: Array


def fresh_parameters(size: Dimensions, rng: np.random.Generator, dtype: type[np.floating] = np.float32) -> Parameters:
    """Small random numbers; the last layer begins at zero, so that before learning everybody stands at one half."""

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
    """Election probabilities and links for encoded pictures, a row each."""
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
    # Beyond this the exponential overflows in single precision, and the probability is 0 or 1 to all digits anyway.
    election: Array = 1.0 / (1.0 + np.exp(-np.clip(logits, -60.0, 60.0)))
    return Prediction(election, without_diagonal(attention), summed, fea, attention, mixed, hidden)


def without_diagonal(attention: Array) -> Array:
    """Rows without the link to oneself, brought to a sum of 1 again; a team of one has no links."""
    others = attention * (1 - np.eye(attention.shape[1], dtype=attention.dtype))
    links: Array = others / np.maximum(others.sum(axis=2, keepdims=True), np.finfo(attention.dtype).tiny)
    return links
