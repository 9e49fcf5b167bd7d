"""Which network addresses are public, and which may stand in the user's own network.

Python's own ``is_global`` follows the registries as they were when that Python was made, and calls addresses public
that carry a private one inside. These tables are ours, and leave out what no map service has a reason to use.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

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
