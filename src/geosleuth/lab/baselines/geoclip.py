"""GeoCLIP's own answer: the one of its 100,000 places that fits a picture best."""

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from geosleuth.answer import Address, Answer
from geosleuth.evidence.visual import GeoClipPrior
from geosleuth.evidence.visual.geoclip import TRUST
from geosleuth.geo import LatLon, great_circle_km
from geosleuth.models.protocol import Conversation, Step
from geosleuth.names import country_name
from geosleuth.support.errors import BadInput

from .options import answering, first_images, take_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PIL.Image import Image


def make_geoclip(rest: str) -> "GeoClipPolicy":
    """Return the policy for what follows after ``geoclip:``, the folder of a CLIP model.

    Raises:
        BadInput: the package or the model is missing, or an option makes no sense.
        MissingExtra: torch or transformers is not installed.
    """
    name, options = take_options(rest, ("within",))
    if not name:
        raise BadInput("geoclip: lacks the folder of the CLIP model; write geoclip:FOLDER")
    return GeoClipPolicy(f"geoclip:{rest}", Path(name).expanduser(), within_km=options.km("within", 25.0))


class GeoClipPolicy:
    """Answers with the place that GeoCLIP likes best, by the package's own weights and a CLIP model on disk."""

    hosts: frozenset[str] = frozenset()

    def __init__(self, name: str, clip: Path, *, within_km: float) -> None:
        """Find out whether all is there that it needs.

        Raises:
            BadInput: the package or the CLIP model is missing.
            MissingExtra: torch or transformers is not installed.
        """
        self.name, self._within_km = name, within_km
        self._prior = GeoClipPrior(clip)
        self._prior.check()

    async def step(self, conversation: Conversation) -> Step:
        """The answer; the first takes a minute where the places were never worked out before.

        Raises:
            BadInput: the weights or the CLIP model can't be used.
        """
        return await asyncio.to_thread(self._step, first_images(conversation))

    async def aclose(self) -> None:
        """Nothing is held but memory."""

    def answer(self, images: "Sequence[Image]") -> Answer:
        """Return GeoCLIP's answer for the views of one photo: the mean of its shares."""
        places, first = self._prior.shares(images[0])
        shares = np.mean([first, *(self._prior.shares(image)[1] for image in images[1:])], axis=0)
        best = int(np.argmax(shares))
        point = LatLon(float(places.lats[best]), float(places.lons[best]))
        near = great_circle_km(point.lat, point.lon, places.lats, places.lons) <= self._within_km
        code = str(places.countries[best])
        return Answer(
            point=point,
            address=Address.create(country_name(code) if code else None),
            probability=round(min(1.0, TRUST * float(shares[near].sum())), 4),
            radius_km=self._within_km,
            explanation=(
                f"GeoCLIP alone: of its {len(shares)} places this one fits the picture best. Its shares were not "
                f"calibrated here; one in ten is set aside for that."
            ),
        )

    def _step(self, images: "list[Image]") -> Step:
        began = time.perf_counter()
        answer = self.answer(images) if images else Answer(explanation="There is no photo to look at.")
        return answering(self.name, answer, began)
