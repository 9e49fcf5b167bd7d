"""Online services by name."""

from collections.abc import Callable

from geosleuth.errors import BadInput

from .amap import Amap
from .base import OnlineAtlas
from .google import Google
from .http import OnlineClient
from .nominatim import Nominatim
from .opencage import OpenCage
from .overpass import Overpass
from .photon import Photon
from .router import RegionRouter
from .settings import OnlineSettings
from .xyz import XyzTiles

_SERVICES: dict[str, Callable[[OnlineClient], OnlineAtlas]] = {
    service.name: service for service in (Nominatim, Photon, Overpass, Google, Amap, OpenCage, XyzTiles)
}

ONLINE_NAMES: tuple[str, ...] = tuple(_SERVICES)
"""The services there are."""


def make_online(name: str, settings: OnlineSettings) -> OnlineAtlas | RegionRouter:
    """An online service, which is an `Atlas`; nothing is contacted yet. Close it, or use it as a context manager.

    Two names with a plus make a router: ``amap+google`` asks AMAP in mainland China and Google elsewhere.

    Raises:
        BadInput: there is no service of that name, or its key is not in the environment.
    """
    names = [part.strip().lower() for part in name.split("+")]
    for part in names:
        if part not in _SERVICES:
            raise BadInput(
                f"no online service {part[:40]!r}; there are {', '.join(ONLINE_NAMES)}, and pairs: amap+google"
            )
    client = OnlineClient(settings)
    match [_SERVICES[part](client) for part in names]:
        case [service]:
            return service
        case [china, elsewhere]:
            return RegionRouter(china=china, elsewhere=elsewhere)
        case _:
            raise BadInput(f"a pair has two services, for China and for elsewhere, not {len(names)}")
