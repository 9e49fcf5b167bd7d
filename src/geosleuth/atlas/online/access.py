"""Whom the user lets us ask: settings of services, consent for every host, public addresses, and keys.

Python's own ``is_global`` follows the registries as they were when that Python was made, and calls addresses public
that carry a private one inside. These tables are ours, and leave out what no map service has a reason to use.

Nothing leaves the machine without the user's say, naming the host. An address that a service's name leads to must be
a public one, unless the user said that this very host is private.
"""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urljoin, urlsplit

import httpx

from geosleuth.atlas.redaction import remember
from geosleuth.errors import BadInput, ServiceFault
from geosleuth.geo.gcj02 import Datum
from geosleuth.net import host_of

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TileSource:
    """An XYZ tile server: an address with ``{z}``, ``{x}`` and ``{y}`` in it, and whom to credit.

    Where the server wants a key, ``key_variable`` names the environment variable that holds it and ``key_param`` the
    query parameter it is sent as; a key has no place in the address itself. ``datum`` is what its tiles are cut by:
    those of Chinese servers such as AMAP's are in GCJ-02.
    """

    template: str
    attribution: str
    max_zoom: int = 19
    key_variable: str | None = None
    key_param: str = "key"
    datum: Datum = "wgs84"


@dataclass(frozen=True, slots=True)
class Recording:
    """A file that keeps every answer for good.

    With ``only``, nothing is asked that the file has no answer to. With ``shared``, one process of this machine asks
    for all others, see `geosleuth.atlas.online.answer_server`.
    """

    path: Path
    only: bool = False
    shared: bool = False


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
        record: keeps every answer for good, in place of the cache.
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
    record: Recording | None = None

    @property
    def only_recorded(self) -> bool:
        """Whether nobody is asked: answers are those of the record."""
        return self.record is not None and self.record.only

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


Address = IPv4Address | IPv6Address

_SPECIAL_4: Final = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # behind a provider's NAT; metadata of Alibaba Cloud
        "127.0.0.0/8",
        "168.63.129.16/32",  # the host of a machine in Azure
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; metadata of Oracle Cloud
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # multicast tunnels
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
# All else outside 2000::/3 is not public either: mapped, compatible and translated IPv4 addresses, NAT64 with a local
# prefix, discard-only, segment routing, unique local, link-local, site-local, multicast.
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_SPECIAL_6: Final = tuple(
    IPv6Network(text)
    for text in (
        "2001::/23",  # protocol assignments, Teredo among them
        "2001:db8::/32",  # documentation
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")

_HOME_4: Final = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
_HOME_6: Final = (IPv6Network("::1/128"), IPv6Network("fc00::/7"))
# Clouds tell a machine's keys to whoever asks here; the IPv4 ones are in no home network.
_METADATA_6: Final = tuple(
    IPv6Network(text)
    for text in (
        "fd00:ec2::/32",  # Amazon
        "fd20:ce::/32",  # Google
        "fd00:c1::/32",  # Oracle
        "fd00:42::/32",  # Scaleway
        "fd00:a9fe:a9fe::/48",  # Akamai
    )
)


def address_of(text: str) -> Address:
    """Return the address where packets end up: an IPv4 one inside a mapped or NAT64 address is taken out.

    Raises:
        ValueError: the text is no address.
    """
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_public(address: Address) -> bool:
    """Return whether the address is one of a single machine on the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_4)
    return address in _GLOBAL_UNICAST and not any(address in network for network in _SPECIAL_6)


def is_at_home(address: Address) -> bool:
    """Return whether the address is this machine's own or of a private network, and of no cloud's metadata service."""
    if isinstance(address, IPv4Address):
        return any(address in network for network in _HOME_4)
    return any(address in network for network in _HOME_6) and not any(address in network for network in _METADATA_6)


def check_consent(url: str, settings: OnlineSettings) -> str:
    """The host of an address that may be contacted; any, where nobody is: recorded answers are one's own.

    Raises:
        BadInput: the user has not named the host, or the address is none that can be used.
    """
    try:
        parts = urlsplit(url)
        host, _ = host_of(url), parts.port
        # The client reads addresses more strictly: hosts that are no names, and characters that it can't send.
        _ = httpx.URL(url).host
    except (ValueError, httpx.InvalidURL) as error:
        raise BadInput(f"not a web address: {url[:100]!r}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise BadInput(f"not a web address: {url[:100]!r}; it starts with https:// and a host name")
    if parts.username is not None or parts.password is not None:
        raise BadInput(f"the address of {host} holds a user name or password; leave them out")
    if settings.only_recorded:
        return host
    if host not in settings.allow_hosts:
        raise BadInput(f"this would contact {host}, which is not allowed; add --allow {host} (in Python: allow_hosts)")
    if parts.scheme == "http" and host not in settings.private_hosts:
        raise BadInput(
            f"{host} must be asked over https; plain http is allowed only for addresses in your own network "
            "(in Python: private_hosts)"
        )
    return host


def check_written_address(host: str, settings: OnlineSettings) -> None:
    """Refuse at once a host written as an address that `check_addresses` refuses before each connection.

    Raises:
        BadInput: the address is neither public nor one of a private network that the user named.
    """
    try:
        check_addresses(host, [str(address_of(host))], settings)
    except ServiceFault as error:
        raise BadInput(
            f"{host} is neither a public address nor one of your network, so it is not asked; "
            "link-local and cloud-metadata addresses never are"
        ) from error
    except ValueError:  # a name, which is looked up for each connection
        return


def redirected(old: str, location: str) -> str:
    """Return where a redirect leads: it may change the path, or turn http into https, and nothing else.

    Raises:
        ServiceFault: it leads to another host or port, gives up encryption, or is no address.
    """
    host, before = host_of(old), urlsplit(old)
    try:
        new = urljoin(old, location)
        after = urlsplit(new)
        _ = httpx.URL(new).host
        same_origin = (before.scheme, before.port) == (after.scheme, after.port)
        to_https = after.scheme == "https" and after.port in (None, 443)
    except (ValueError, httpx.InvalidURL) as error:
        raise ServiceFault(host, "redirects to something that is no address") from error
    plain_user = after.username is None and after.password is None
    if host_of(new) != host or not (same_origin or to_https) or not plain_user:
        raise ServiceFault(host, f"redirects to {host_of(new)[:100] or 'nowhere'}, which was not asked for")
    return new


def check_addresses(host: str, addresses: list[str], settings: OnlineSettings) -> None:
    """Refuse a host any of whose addresses is not public, unless the user said that it is private.

    Raises:
        ServiceFault: an address is private, this machine's own or of no single machine.
    """
    private_is_fine = host.rstrip(".").lower() in settings.private_hosts
    for text in addresses:
        address = address_of(text)
        if not (is_public(address) or (private_is_fine and is_at_home(address))):
            hint = "" if private_is_fine else "; if it is meant to be, name the host in private_hosts"
            raise ServiceFault(host, f"its address {address} is not public{hint}")


HIDDEN = "[key]"


class Secret:
    """A key that its own text form does not give away; ``reveal`` is for the wire alone."""

    __slots__ = ("__weakref__", "_spellings", "_value", "variable")

    def __init__(self, value: str, variable: str) -> None:
        """Keep a value and the name of the variable it came from."""
        self._value = value
        # Each character as it is, as an address writes it, or as JSON may.
        ways = (rf"(?:\\?{re.escape(one)}|%{ord(one):02x}|\\u{ord(one):04x})" for one in value)
        self._spellings = re.compile("".join(ways), re.IGNORECASE)
        self.variable = variable
        remember(self, len(value))

    def __repr__(self) -> str:
        return f"Secret({self.variable})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written anywhere")

    def reveal(self) -> str:
        """The key itself."""
        return self._value

    def scrub(self, text: str) -> str:
        """The text without the key, in any of the spellings a service may send it back in."""
        return self._spellings.sub(HIDDEN, text)

    def is_in(self, body: bytes) -> bool:
        """Whether a service sent the key back."""
        return bool(self._spellings.search(body.decode("latin-1")))


class BearerKey(Secret):
    """A key that goes on the wire after the word Bearer; without the word it is looked for and scrubbed."""

    __slots__ = ()

    def reveal(self) -> str:
        """What the header holds."""
        return f"Bearer {super().reveal()}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a request carries besides what it asks: put on the wire last, and never part of an address or a record."""

    params: Mapping[str, Secret] = field(default_factory=dict)
    headers: Mapping[str, Secret] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """All of them."""
        return (*self.params.values(), *self.headers.values())

    def scrub(self, text: str) -> str:
        """The text without any of the keys."""
        for secret in self.secrets:
            text = secret.scrub(text)
        return text


def key_from_environment(variable: str, service: str, settings: OnlineSettings | None = None) -> Secret:
    """The key in an environment variable; none is needed where the settings let nobody be asked.

    Raises:
        BadInput: it is not set, or holds what no key is made of.
    """
    value = os.environ.get(variable, "").strip()
    if settings is not None and settings.only_recorded:
        return Secret(value or "not needed", variable)
    if not value:
        raise BadInput(f"{service} needs a key: set the environment variable {variable}")
    if not (value.isascii() and value.isprintable() and " " not in value and 6 <= len(value) <= 500):
        raise BadInput(f"the environment variable {variable} does not hold a key for {service}")
    return Secret(value, variable)
