"""A team that has learned whom to trust: its standing for a photo, from pixels alone."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.photo import OpenedPhoto, first_view
from geosleuth.photo.eyes import Encoder
from geosleuth.team.standing import Standing

from .forward import Array, forward
from .state import StateInfo, Weights, open_for_answering, read_info, read_weights
from .vae import load_picture_encoder


class TrainedSociety:
    """Says whom to trust with a picture, as learned by ``geosleuth team learn``. A `Society`.

    It knows the members' names and what the network learned. It has read nothing of the pictures learned from, and
    keeps no way to.
    """

    __slots__ = ("_encoder", "_info", "_order", "_weights")

    def __init__(
        self, info: StateInfo, weights: Weights | None, encoder: Encoder, members: Sequence[str] | None = None
    ) -> None:
        """Make one from parts; `open` is the usual way.

        Raises:
            BadInput: the members are others than those who learned.
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
        cls, path: str | Path, members: Sequence[str] | None = None, *, encoder: Encoder | None = None
    ) -> "TrainedSociety":
        """Read what was learned; a later change of the file changes nothing here.

        Args:
            path: the team's state.
            members: the team's members in its own order; as they are in the state by default.
            encoder: eyes to look with in place of those that the state names; they must be the same ones.

        Raises:
            BadInput: there is no state, it can't be read, or it is of other members or other eyes.
        """
        place = Path(path)
        with open_for_answering(place) as conn:
            info, weights = read_info(conn, place), read_weights(conn, place)
        eyes = load_picture_encoder(info.spec) if encoder is None else encoder
        if eyes.name != info.encoder:
            raise BadInput(
                f"{place}: it was learned with the eyes {info.encoder!r}, and {eyes.name!r} is there now; learn it anew"
            )
        return cls(info, weights, eyes, members)

    @property
    def members(self) -> tuple[str, ...]:
        """The members' names in the order of every standing."""
        return tuple(self._info.members[place] for place in self._order)

    @property
    def version(self) -> int:
        """Which of the stored weights these are; 0 before anything was learned."""
        return 0 if self._weights is None else self._weights.version

    @property
    def lessons(self) -> int:
        """From how many pictures it was learned."""
        return 0 if self._weights is None else self._weights.lessons

    @property
    def trust(self) -> tuple[float, float]:
        """How far election and links are believed, 0 (all stand alike) to 1."""
        return (0.0, 0.0) if self._weights is None else (self._weights.trust, self._weights.trust_links)

    def standing(self, photos: Sequence[OpenedPhoto]) -> Standing:
        """Whom to trust with these photos; with several, the mean over them."""
        if self._weights is None or not photos:
            return Standing.equal(len(self._order))
        return self.standing_by_features(
            self._encoder.features([first_view(one.photo).image for one in photos]).astype(np.float32)
        )

    def standing_by_features(self, features: Array) -> Standing:
        """The same for pictures that were looked at already, a row each."""
        if self._weights is None or not len(features):
            return Standing.equal(len(self._order))
        election, links = predicted(self._weights, features)
        return self._in_order(election.mean(axis=0), links.mean(axis=0))

    def usual(self) -> Standing:
        """The mean standing over the pictures learned from."""
        if self._weights is None:
            return Standing.equal(len(self._order))
        return self._in_order(self._weights.usual_election, self._weights.usual_links)

    def _in_order(self, election: Array, links: Array) -> Standing:
        count, order = len(self._order), list(self._order)
        # A mean weight of 1, as in a team of strangers: only the proportions within a row matter.
        weights = np.clip(links[np.ix_(order, order)] * max(1, count - 1), 0.0, None)
        np.fill_diagonal(weights, 0.0)
        chances = np.clip(election[order], 0.0, 1.0)
        return Standing(
            tuple(float(chance) for chance in chances), tuple(tuple(float(one) for one in row) for row in weights)
        )


def predicted(weights: Weights, features: Array) -> tuple[Array, Array]:
    """Election probabilities and links a picture, drawn towards equal standing as far as the network is not trusted."""
    raw = forward(weights.parameters, weights.projection.encoded(features))
    count = raw.election.shape[1]
    middle = raw.election.mean(axis=1, keepdims=True)
    election: Array = middle + weights.trust * (raw.election - middle)
    alike = (1 - np.eye(count)) / max(1, count - 1)
    links: Array = alike + weights.trust_links * (raw.links - alike)
    return np.clip(election, 0.0, 1.0), links
