"""What the user decides about online services: whom to ask, how often, how long to wait, what to keep."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from geosleuth.errors import BadInput

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TileSource:
    """An XYZ tile server: an address with ``{z}``, ``{x}`` and ``{y}`` in it, and whom to credit.

    Where the server wants a key, ``key_variable`` names the environment variable that holds it and ``key_param`` the
    query parameter it is sent as; a key has no place in the address itself.
    """

    template: str
    attribution: str
    max_zoom: int = 19
    key_variable: str | None = None
    key_param: str = "key"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineSettings:
    """How online services are used. Nothing is asked of a host that ``allow_hosts`` does not name.

    Attributes:
        allow_hosts: host names that may be contacted, such as "nominatim.openstreetmap.org".
        private_hosts: those of them that stand on this machine or in the own network; only these may have a private
            address and speak plain http.
        base_urls: provider name to the address of another server of its kind.
        contact: an address or page that goes into the user agent, so that a service's keepers can reach the user.
        language: the language names are asked for in, as an IETF tag.
        map_tiles: where the provider "xyz" takes maps from.
        satellite_tiles: where the provider "xyz" takes pictures from above from.
        spacing_s: host to the least time between two requests to it; other hosts have their provider's own.
        queue_s: the longest time a request waits for its turn.
        tries: how often a request is sent at most.
        backoff_s: the wait before the second try; it doubles from then on, with chance mixed in.
        backoff_max_s: the longest such wait.
        connect_s: time limit for making a connection.
        read_s: time limit for each piece of an answer.
        total_s: time limit for a request with all its tries.
        max_bytes: answers longer than this are refused.
        breaker_failures: after so many failures in a row a host is left alone.
        breaker_rest_s: for so long; then one request tries again.
        cache_path: the file that keeps answers; None is the user's cache folder.
        cache_hours: provider name to how long its answers are kept, 0 for not at all; others have their own default.
        cache_max_bytes: the oldest answers make room beyond this.
    """

    allow_hosts: frozenset[str] = frozenset()
    private_hosts: frozenset[str] = frozenset()
    base_urls: Mapping[str, str] = field(default_factory=dict)
    contact: str = ""
    language: str = "en"
    map_tiles: TileSource | None = None
    satellite_tiles: TileSource | None = None
    spacing_s: Mapping[str, float] = field(default_factory=dict)
    queue_s: float = 300.0
    tries: int = 4
    backoff_s: float = 0.5
    backoff_max_s: float = 20.0
    connect_s: float = 5.0
    read_s: float = 30.0
    total_s: float = 90.0
    max_bytes: int = 8 * MEBIBYTE
    breaker_failures: int = 5
    breaker_rest_s: float = 30.0
    cache_path: Path | None = None
    cache_hours: Mapping[str, float] = field(default_factory=dict)
    cache_max_bytes: int = 256 * MEBIBYTE

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, int | float) and not (0 < value < math.inf):
                raise BadInput(f"online setting {one.name} must be a number above zero, not {value}")
        for name in ("spacing_s", "cache_hours"):
            for key, value in getattr(self, name).items():
                if not 0 <= value < math.inf:
                    raise BadInput(f"online setting {name}[{key!r}] must be zero or more, not {value}")
        if not (self.contact.isascii() and self.contact.isprintable() and len(self.contact) <= 200):
            raise BadInput("online setting contact must be up to 200 plain ASCII characters, such as an e-mail address")
        if not (self.language.isascii() and self.language.replace("-", "").isalnum() and len(self.language) <= 35):
            raise BadInput(f"online setting language must be a tag such as en or pt-BR, not {self.language[:40]!r}")
        for name in ("allow_hosts", "private_hosts"):
            object.__setattr__(self, name, frozenset(host.strip().lower().rstrip(".") for host in getattr(self, name)))
