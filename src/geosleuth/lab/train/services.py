"""Online maps and web searches in rollouts: one process a machine asks them, every answer is kept, a rerun asks none.

rollout: {maps: nominatim, web: tavily, allow: [nominatim.openstreetmap.org, api.tavily.com], answers: answers.sqlite}
rollout: {geocoder: "nominatim:http://maps:8080", answers: answers.sqlite}
rollout: {maps: nominatim, web: tavily, answers: answers.sqlite, replay: true}
"""

import logging
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from geosleuth.agent.setup import Resources
from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.online import Recording
from geosleuth.atlas.online.answer_server import serving_answers
from geosleuth.atlas.online.router import check_service
from geosleuth.lab.bench.placed import Placed, create_placer
from geosleuth.lab.scenes.consistency import MIN_VERDICTS, RECENT_VERDICTS
from geosleuth.lab.traces.factory import Services
from geosleuth.pipeline.searches import map_service, online_maps, server_settings, web_search
from geosleuth.support.errors import BadInput, ServiceFault

from .recipe import Recipe, RolloutPart

_log = logging.getLogger(__name__)

# Value of ``rollout.geocoder`` that places answers without a service.
ATLAS = "atlas"


def is_online(rollout: RolloutPart) -> bool:
    """Return whether tools or rewards ask online services, or repeat what these once answered."""
    return rollout.maps is not None or rollout.web is not None or rollout.geocoder != ATLAS


def placing_by_atlas(rollout: RolloutPart) -> RolloutPart:
    """Return the rollouts with their answers placed by the atlas, as scores are."""
    rollout = replace(rollout, geocoder=ATLAS)
    return rollout if is_online(rollout) else replace(rollout, allow=(), answers=None, replay=False)


def open_resources(recipe: Recipe) -> Resources:
    """Return what tools ask about photos: the services of a recipe with the offline atlas behind them, or that alone.

    Raises:
        BadInput: a service can't be used.
    """
    rollout = recipe.rollout
    offline = OfflineAtlas(tiles=rollout.tiles)
    if not is_online(rollout) or rollout.answers is None:
        return Resources(offline)
    record, request = _record(rollout), _services(rollout).request()
    return Resources(online_maps(request, record, offline) or offline, web_search(request, record))


class ServiceGeocoder:
    """Places answers for rewards by a map service. Where the service fails an answer has no point, and that is counted.

    Attributes:
        newest: of each text of the newest batch, whether the service failed.
        recent: the same of the last texts of all batches.
    """

    def __init__(self, rollout: RolloutPart) -> None:
        """Ask the service that a recipe names, through the record of its answers; nothing is sent yet.

        Raises:
            UserError: there is no such service, its host is not in ``allow``, or its key is not in the environment.
        """
        service = map_service(_geocoder(rollout).request(), _record(rollout))
        self._place, self._name, self._limit = create_placer(lambda: service), rollout.geocoder, rollout.geocoder_limit
        self._trouble = "it does not know Paris"
        self.newest: dict[str, bool] = {}
        self.recent: deque[bool] = deque(maxlen=RECENT_VERDICTS)

    def __call__(self, words: str) -> Placed | None:
        """Return the place of words; None where nothing of them is known, or the service failed in this batch."""
        found = None
        if not self.newest.get(words):
            try:
                found = self._place(words)
            except ServiceFault as fault:
                self._trouble = str(fault)
                self.newest[words] = True
            else:
                self.newest[words] = False
        return found

    def probe(self) -> None:
        """Place a well-known city.

        Raises:
            ServiceFault: the service fails or does not know it.
        """
        if self("Paris, France") is None:
            raise ServiceFault(self._name, f"rollout.geocoder can't place answers: {self._trouble}")
        self.newest.clear()

    def end_batch(self) -> None:
        """Begin a new batch, unless too many texts were lost, since rewards would say nothing about the replies.

        Raises:
            ServiceFault: of the recent texts the service failed a larger share than ``rollout.geocoder_limit``.
        """
        self.recent.extend(self.newest.values())
        self.newest = {}
        lost = sum(self.recent)
        if len(self.recent) >= MIN_VERDICTS and lost > self._limit * len(self.recent):
            raise ServiceFault(
                self._name,
                f"failed for {lost} of the last {len(self.recent)} answers, more than rollout.geocoder_limit "
                f"({self._limit:g}) allows: {self._trouble}; run the same command to resume",
            )


def check_services(recipe: Recipe) -> None:
    """Check that the fields about services go together.

    Raises:
        BadInput: they don't; the message says what to change.
    """
    rollout = recipe.rollout
    if not 0 <= rollout.geocoder_limit <= 1:
        raise BadInput(f"rollout.geocoder_limit: must lie between 0 and 1, not {rollout.geocoder_limit:g}")
    if rollout.maps is None and rollout.maps_url:
        raise BadInput("rollout.maps_url: is about online services; name them as rollout.maps")
    if not is_online(rollout):
        for name in ("allow", "answers", "replay"):
            if getattr(rollout, name):
                raise BadInput(
                    f"rollout.{name}: is about online services; name them as rollout.maps, rollout.web or "
                    "rollout.geocoder"
                )
        return
    _check_names(rollout)
    if not recipe.data.photos:
        raise BadInput(
            "rollout.maps, rollout.web, rollout.geocoder: drawn scenes stand on their world's own map; give data.photos"
        )
    if rollout.answers is None:
        raise BadInput("rollout.answers: name the file that keeps every answer of online services")
    if rollout.replay and not rollout.answers.is_file():
        raise BadInput(
            f"rollout.answers: there is no {rollout.answers} to repeat; leave out rollout.replay to record it"
        )


def _check_names(rollout: RolloutPart) -> None:
    geocoder = "" if rollout.geocoder == ATLAS else rollout.geocoder.partition(":")[0]
    for name in filter(None, (*(rollout.maps or "").split(","), geocoder)):
        check_service(name)


def _services(rollout: RolloutPart) -> Services:
    return Services(web_search=rollout.web, maps=rollout.maps, maps_url=rollout.maps_url, allow=rollout.allow)


def _geocoder(rollout: RolloutPart) -> Services:
    name, _, url = rollout.geocoder.partition(":")
    return Services(maps=name, maps_url=(url,) if url else (), allow=rollout.allow)


def _record(rollout: RolloutPart) -> Recording | None:
    return None if rollout.answers is None else Recording(rollout.answers.absolute(), only=rollout.replay, shared=True)


@contextmanager
def answers_served(recipe: Recipe) -> Iterator[None]:
    """Run the process that asks services for all workers of this machine, where a recipe needs one.

    Where several processes train on a machine, the first of them starts it.

    Raises:
        BadInput: another run on this machine records into the same file.
    """
    rollout = recipe.rollout
    first_here = os.environ.get("LOCAL_RANK", "0") == "0"
    if not is_online(rollout) or rollout.replay or rollout.answers is None or not first_here:
        yield
        return
    settings = server_settings(_services(rollout).request())
    if rollout.geocoder != ATLAS:
        asked = server_settings(_geocoder(rollout).request())
        settings = replace(
            settings,
            allow_hosts=settings.allow_hosts | asked.allow_hosts,
            private_hosts=settings.private_hosts | asked.private_hosts,
            spacing_s={**asked.spacing_s, **settings.spacing_s},
        )
    with serving_answers(settings, rollout.answers.absolute()) as server:
        yield
        counts = server.counts()
    _log.info("online services: %s", ", ".join(f"{name} {number}" for name, number in sorted(counts.items())))
    if counts["inexact"]:
        _log.warning(
            "%s: %d calls failed for some replies and worked later; a rerun from it gives all of them the answer",
            rollout.answers,
            counts["inexact"],
        )
