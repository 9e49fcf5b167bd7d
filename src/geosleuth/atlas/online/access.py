"""Access to online services: settings, the user's consent for each host, checks of IP addresses, and API keys.

Nothing is sent to a host that the user has not named. A host must resolve to public addresses only, unless the user
declared that host private.

The tables of special networks are our own: Python's ``is_global`` depends on the registries at the time of its release,
and calls some addresses public that embed a private one.
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
from geosleuth.geo.gcj02 import Datum
from geosleuth.support.errors import BadInput, ServiceFault
from geosleuth.support.net import parse_host, plain_host

MEBIBYTE = 1 << 20

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
# Everything outside 2000::/3 is not public either: mapped, compatible and translated IPv4 addresses, NAT64 with a local
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
# Cloud metadata services, which hand out a machine's credentials; the IPv4 ones lie outside the private networks above.
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
HIDDEN = "[key]"


@dataclass(frozen=True, slots=True, kw_only=True)
class TileSource:
    """An XYZ tile server.

    Attributes:
        template: its address, with ``{z}``, ``{x}`` and ``{y}``, and without a key.
        attribution: whom to credit.
        max_zoom: the highest zoom it offers.
        key_variable: the environment variable that holds its key, if it needs one.
        key_param: the query parameter that the key is sent as.
        datum: the datum of its tiles; those of Chinese servers such as AMAP's are in GCJ-02.
    """

    template: str
    attribution: str
    max_zoom: int = 19
    key_variable: str | None = None
    key_param: str = "key"
    datum: Datum = "wgs84"


@dataclass(frozen=True, slots=True)
class Recording:
    """A file that keeps every answer permanently.

    Attributes:
        path: the file.
        only: whether to use recorded answers only and contact no service.
        shared: whether one process on this machine sends the requests of all others, see
            `geosleuth.atlas.online.answer_server`.
    """

    path: Path
    only: bool = False
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlineSettings:
    """Settings of online services. Only hosts in ``allow_hosts`` are contacted.

    Attributes:
        allow_hosts: host names that may be contacted, such as "nominatim.openstreetmap.org".
        private_hosts: those of them on this machine or in the private network; only these may have a private address
            and use plain http.
        base_urls: the address of another server to use, by provider name.
        contact: an e-mail address or page for the user agent, so that a service's operators can reach the user.
        language: the language of names, as an IETF tag.
        map_tiles: the tile server of provider "xyz" for maps.
        satellite_tiles: the tile server of provider "xyz" for satellite pictures.
        spacing_s: the least time between two requests, by host; other hosts use their provider's default.
        queue_s: the longest time a request waits for its turn.
        tries: the greatest number of times a request is sent.
        backoff_s: the wait before the second try; doubled for each further try, with random jitter.
        backoff_max_s: the longest such wait.
        connect_s: time limit for opening a connection.
        read_s: time limit for each part of a response.
        slow_s: how long a download may gain less than ``slow_bytes``.
        slow_bytes: the least gain of a download; one that gained less before it broke counts as failed.
        total_s: time limit for a request with all its tries.
        max_bytes: longer responses are refused.
        breaker_failures: the number of failures in a row after which a host is not contacted for a while.
        breaker_rest_s: how long; then one request probes it.
        cache_path: the file of cached answers; None for one in the user's cache folder.
        cache_hours: how long answers are cached, by provider name, 0 for not at all; others use their default.
        cache_max_bytes: the size beyond which the oldest answers are deleted.
        record: the permanent record of answers, which replaces the cache.
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
    slow_s: float = 30.0
    slow_bytes: int = 30_000
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
        """Return whether answers come from the record alone, so that no service is contacted."""
        return self.record is not None and self.record.only

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, int | float) and not (0 < value < math.inf):
                raise BadInput(f"online setting {setting.name} must be a number above zero, not {value}")
        for name in ("spacing_s", "cache_hours"):
            for key, value in getattr(self, name).items():
                if not 0 <= value < math.inf:
                    raise BadInput(f"online setting {name}[{key!r}] must be zero or more, not {value}")
        if not (self.contact.isascii() and self.contact.isprintable() and len(self.contact) <= 200):
            raise BadInput("online setting contact must be up to 200 plain ASCII characters, such as an e-mail address")
        if not (self.language.isascii() and self.language.replace("-", "").isalnum() and len(self.language) <= 35):
            raise BadInput(f"online setting language must be a tag such as en or pt-BR, not {self.language[:40]!r}")
        for name in ("allow_hosts", "private_hosts"):
            object.__setattr__(self, name, frozenset(plain_host(host) for host in getattr(self, name)))


def parse_address(text: str) -> Address:
    """Parse an IP address; from a mapped or NAT64 address, return the embedded IPv4 address that packets reach.

    Raises:
        ValueError: the text is not an IP address.
    """
    address = ip_address(text.partition("%")[0])
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _NAT64):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def is_public(address: Address) -> bool:
    """Return whether the address belongs to a single machine on the public internet."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _SPECIAL_4)
    return address in _GLOBAL_UNICAST and not any(address in network for network in _SPECIAL_6)


def is_at_home(address: Address) -> bool:
    """Return whether the address is of this machine or a private network, and not of a cloud metadata service."""
    if isinstance(address, IPv4Address):
        return any(address in network for network in _HOME_4)
    return any(address in network for network in _HOME_6) and not any(address in network for network in _METADATA_6)


def check_consent(url: str, settings: OnlineSettings) -> str:
    """Return the host of a URL, if the user allows it to be contacted.

    With recorded answers only, nothing is contacted, and any host is allowed.

    Raises:
        BadInput: the user has not allowed the host, or the URL is unusable.
    """
    try:
        parts = urlsplit(url)
        host, _ = parse_host(url), parts.port
        # httpx is stricter than urlsplit about host names and characters.
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
    """Check early a host that is written as an IP address; `check_addresses` checks again before each connection.

    Raises:
        BadInput: the address is neither public nor that of a private host which the user named.
    """
    try:
        check_addresses(host, [str(parse_address(host))], settings)
    except ServiceFault as error:
        raise BadInput(
            f"{host} is neither a public address nor one of your network, so it is not asked; "
            "link-local and cloud-metadata addresses never are"
        ) from error
    except ValueError:  # a name, which is resolved for each connection
        return


def resolve_redirect(old: str, location: str) -> str:
    """Return the URL of a redirect, which may change the path or upgrade http to https, and nothing else.

    Raises:
        ServiceFault: it leads to another host or port, drops encryption, or is malformed.
    """
    host, before = parse_host(old), urlsplit(old)
    try:
        new = urljoin(old, location)
        after = urlsplit(new)
        _ = httpx.URL(new).host
        same_origin = (before.scheme, before.port) == (after.scheme, after.port)
        to_https = after.scheme == "https" and after.port in (None, 443)
    except (ValueError, httpx.InvalidURL) as error:
        raise ServiceFault(host, "redirects to an invalid address") from error
    no_login = after.username is None and after.password is None
    if parse_host(new) != host or not (same_origin or to_https) or not no_login:
        raise ServiceFault(host, f"redirects to {parse_host(new)[:100] or 'nowhere'}, which was not asked for")
    return new


def check_addresses(host: str, addresses: list[str], settings: OnlineSettings) -> None:
    """Check that all addresses of a host are public, or private if the user declared the host private.

    Raises:
        ServiceFault: an address is not.
    """
    private_is_fine = plain_host(host) in settings.private_hosts
    for text in addresses:
        address = parse_address(text)
        if not (is_public(address) or (private_is_fine and is_at_home(address))):
            hint = "" if private_is_fine else "; if it is meant to be, name the host in private_hosts"
            raise ServiceFault(host, f"its address {address} is not public{hint}")


class Secret:
    """An API key that ``repr`` hides and that can't be pickled; call ``reveal`` only to send it."""

    __slots__ = ("__weakref__", "_spellings", "_value", "variable")

    def __init__(self, value: str, variable: str) -> None:
        """Store a key and the name of the environment variable it came from."""
        self._value = value
        # Each character as it is, percent-encoded as in a URL, or escaped as in JSON.
        spellings = (rf"(?:\\?{re.escape(char)}|%{ord(char):02x}|\\u{ord(char):04x})" for char in value)
        self._spellings = re.compile("".join(spellings), re.IGNORECASE)
        self.variable = variable
        remember(self, len(value))

    def __repr__(self) -> str:
        return f"Secret({self.variable})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written anywhere")

    def reveal(self) -> str:
        """Return the key itself."""
        return self._value

    def scrub(self, text: str) -> str:
        """Return the text with the key replaced, however a service may have encoded it."""
        return self._spellings.sub(HIDDEN, text)

    def is_leaked(self, body: bytes) -> bool:
        """Return whether a response contains the key."""
        return bool(self._spellings.search(body.decode("latin-1")))


class BearerKey(Secret):
    """A key that is sent after the word "Bearer"; `scrub` and `is_in` look for the key without it."""

    __slots__ = ()

    def reveal(self) -> str:
        """Return the value of the header."""
        return f"Bearer {super().reveal()}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The keys of a request: added when it is sent, and never part of a logged URL, a cache or a record."""

    params: Mapping[str, Secret] = field(default_factory=dict)
    headers: Mapping[str, Secret] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """All keys."""
        return (*self.params.values(), *self.headers.values())

    def are_leaked(self, body: bytes | None) -> bool:
        """Return whether a response contains one of the keys; then it must not be stored."""
        return body is not None and any(secret.is_leaked(body) for secret in self.secrets)

    def scrub(self, text: str) -> str:
        """Return the text with all keys replaced."""
        for secret in self.secrets:
            text = secret.scrub(text)
        return text


def key_from_environment(variable: str, service: str, settings: OnlineSettings | None = None) -> Secret:
    """Return the key in an environment variable; with recorded answers only, it need not be set.

    Raises:
        BadInput: the variable is not set, or does not look like a key.
    """
    value = os.environ.get(variable, "").strip()
    if settings is not None and settings.only_recorded:
        return Secret(value or "not needed", variable)
    if not value:
        raise BadInput(f"{service} needs a key: set the environment variable {variable}")
    if not (value.isascii() and value.isprintable() and " " not in value and 6 <= len(value) <= 500):
        raise BadInput(f"the environment variable {variable} does not hold a key for {service}")
    return Secret(value, variable)
