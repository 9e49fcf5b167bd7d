"""Teams of stand-in experts that learn whom to trust, without files: for tests and benchmarks."""

import asyncio
import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from expert_pictures import Drawn
from geosleuth.atlas.placing import Placer
from geosleuth.lab.teams.learning import (
    QUICK_TRAINING,
    Examples,
    LearnSettings,
    RememberingMember,
    TrainSettings,
    learn_picture,
    swarm_stages,
    train,
)
from geosleuth.photo import OpenedPhoto
from geosleuth.photo.image_encoder import Features, ImageEncoder, load_encoder
from geosleuth.teams import Member, Request
from geosleuth.teams.network import StateInfo, TrainedSociety
from geosleuth.tools.similar.index_file import pixel_digest
from no_atlas import NoAtlas

if TYPE_CHECKING:
    from PIL.Image import Image


class CachedEncoder:
    """The bundled encoder, looking at each picture once."""

    def __init__(self) -> None:
        self._encoder: ImageEncoder = load_encoder()
        self._seen: dict[bytes, Features] = {}

    @property
    def name(self) -> str:
        """The encoder's name."""
        return self._encoder.name

    @property
    def dimension(self) -> int:
        """As theirs."""
        return self._encoder.dimension

    def features(self, images: "Sequence[Image]") -> Features:
        """As theirs."""
        for image in images:
            key = pixel_digest(image)
            if key not in self._seen:
                self._seen[key] = self._encoder.features([image])[0]
        return np.stack([self._seen[pixel_digest(image)] for image in images])

    def look_at(self, photos: Sequence[OpenedPhoto]) -> Features:
        """The features of photos."""
        return self.features([photo.photo.image for photo in photos])


def taught(
    team: Sequence[Member],
    pictures: Sequence[Drawn],
    encoder: CachedEncoder,
    *,
    rounds: int = 8,
    training: TrainSettings = QUICK_TRAINING,
) -> TrainedSociety:
    """What ``geosleuth team learn`` learns from these pictures: the same rounds and the same training."""
    settings = LearnSettings(rounds=rounds)
    placer = Placer(NoAtlas())

    async def observed() -> Examples:
        found = []
        for number, picture in enumerate(pictures):
            asked = [RememberingMember(member) for member in team]
            request = Request((picture.photo,))
            stages = swarm_stages(asked, request, picture.truth, placer=placer, settings=settings)
            found.append(await learn_picture(len(team), stages, settings, random.Random(number)))
        return Examples.from_observations(encoder.look_at([picture.photo for picture in pictures]), found)

    weights = train(asyncio.run(observed()), training)
    names = tuple(member.name for member in team)
    return TrainedSociety(StateInfo(names, encoder.name, "bundled", encoder.dimension), weights, encoder)


def elected(society: TrainedSociety, photo: OpenedPhoto) -> int:
    """Whose election probability is highest."""
    election = society.trust_weights((photo,)).election
    return max(range(len(election)), key=lambda index: election[index])
