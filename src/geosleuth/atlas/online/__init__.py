"""Online services behind the atlas protocol, for those who want them; docs/online.md tells the user's side.

    make_online("nominatim", OnlineSettings(allow_hosts=frozenset({"nominatim.openstreetmap.org"})))

Nothing leaves the machine without the user's say, naming the host.
"""

from .access import OnlineSettings, Recording, TileSource
from .http import OnlineClient
from .router import ONLINE_NAMES, BackedAtlas, RegionRouter, announcing_takeovers, make_online

__all__ = [
    "ONLINE_NAMES",
    "BackedAtlas",
    "OnlineClient",
    "OnlineSettings",
    "Recording",
    "RegionRouter",
    "TileSource",
    "announcing_takeovers",
    "make_online",
]
