"""The guard's own tables, held against the registries of special-purpose addresses."""

from ipaddress import ip_network

import pytest

from geosleuth.atlas.online import OnlineSettings
from geosleuth.atlas.online.access import check_addresses, is_at_home, is_public, parse_address
from geosleuth.support.errors import ServiceFault

# IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and its updates), then multicast and deprecated
# blocks that are registered elsewhere.
REGISTRIES = """
0.0.0.0/8            this network
0.0.0.0/32           this host on this network
10.0.0.0/8           private use
100.64.0.0/10        shared address space
127.0.0.0/8          loopback
169.254.0.0/16       link local
172.16.0.0/12        private use
192.0.0.0/24         IETF protocol assignments
192.0.0.0/29         IPv4 service continuity prefix
192.0.0.8/32         IPv4 dummy address
192.0.0.9/32         port control protocol anycast
192.0.0.10/32        traversal using relays around NAT anycast
192.0.0.170/32       NAT64/DNS64 discovery
192.0.0.171/32       NAT64/DNS64 discovery
192.0.2.0/24         documentation (TEST-NET-1)
192.31.196.0/24      AS112-v4
192.52.193.0/24      AMT
192.88.99.0/24       deprecated (6to4 relay anycast)
192.88.99.2/32       6a44 relay anycast
192.168.0.0/16       private use
192.175.48.0/24      direct delegation AS112 service
198.18.0.0/15        benchmarking
198.51.100.0/24      documentation (TEST-NET-2)
203.0.113.0/24       documentation (TEST-NET-3)
240.0.0.0/4          reserved
255.255.255.255/32   limited broadcast
::1/128              loopback
::/128               unspecified
64:ff9b:1::/48       IPv4-IPv6 translation, local prefixes
100::/64             discard only
100:0:0:1::/64       dummy IPv6 prefix
2001::/23            IETF protocol assignments
2001::/32            Teredo
2001:1::1/128        port control protocol anycast
2001:1::2/128        traversal using relays around NAT anycast
2001:1::3/128        DNS-SD service registration anycast
2001:2::/48          benchmarking
2001:3::/32          AMT
2001:4:112::/48      AS112-v6
2001:10::/28         deprecated (ORCHID)
2001:20::/28         ORCHIDv2
2001:30::/28         drone remote id
2001:db8::/32        documentation
2002::/16            6to4
2620:4f:8000::/48    direct delegation AS112 service
3fff::/20            documentation
5f00::/16            segment routing SIDs
fc00::/7             unique local
fe80::/10            link local
224.0.0.0/4          multicast
ff00::/8             multicast
fec0::/10            site local, deprecated
::/96                IPv4-compatible, deprecated
::ffff:0:0:0/96      IPv4-translated
200::/7              NSAP, deprecated
4000::/3             not assigned
"""
SPECIAL = [line.split(maxsplit=1)[0] for line in REGISTRIES.strip().splitlines()]
METADATA = [
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23", "fd00:ec2::254", "fd00:ec2::23",  # Amazon
    "fd20:ce::254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:c1::a9fe:a9fe", "fe80::a9fe:a9fe",
    "fd00:42::42", "fd00:a9fe:a9fe::1", "::ffff:169.254.169.254", "::ffff:100.100.100.200", "64:ff9b::a9fe:a9fe",
    "::a9fe:a9fe", "::ffff:0:a9fe:a9fe", "2002:a9fe:a9fe::1", "64:ff9b:1::a9fe:a9fe",
]  # fmt: skip
PUBLIC = [
    "1.1.1.1", "93.184.215.14", "99.255.255.255", "100.128.0.0", "168.63.129.17", "172.15.255.255", "172.32.0.0",
    "192.0.1.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::1", "2001:4860:4860::8888",
    "2606:4700::1111", "2a00:1450::1", "2003::1", "3ffe:ffff::1", "::ffff:1.1.1.1", "64:ff9b::101:101",
]  # fmt: skip


def ends(network: str) -> list[str]:
    block = ip_network(network)
    return [str(block[0]), str(block[block.num_addresses // 2]), str(block[-1])]


@pytest.mark.parametrize("network", SPECIAL)
def test_no_special_block_is_public(network: str) -> None:
    for address in ends(network):
        assert not is_public(parse_address(address)), address
        with pytest.raises(ServiceFault, match="is not public"):
            check_addresses("maps.example", [address], OnlineSettings())


@pytest.mark.parametrize("network", [one for one in SPECIAL if ":" not in one])
def test_an_address_inside_another_is_seen(network: str) -> None:
    for address in ends(network):
        for prefix in ("::ffff:", "64:ff9b::", "::", "::ffff:0:", "64:ff9b:1::"):
            assert not is_public(parse_address(prefix + address)), prefix + address


@pytest.mark.parametrize("address", METADATA)
def test_metadata_of_clouds_is_refused_for_private_hosts_too(address: str) -> None:
    named = OnlineSettings(private_hosts=frozenset({"maps.example"}))
    with pytest.raises(ServiceFault, match="is not public"):
        check_addresses("maps.example", ["10.0.0.1", address], named)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_public(address: str) -> None:
    check_addresses("maps.example", [address], OnlineSettings())
    assert not is_at_home(parse_address(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "::1", "fd12::1"])
def test_home_networks_are_for_private_hosts(address: str) -> None:
    check_addresses("maps.example", [address], OnlineSettings(private_hosts=frozenset({"maps.example"})))
    with pytest.raises(ServiceFault):
        check_addresses("maps.example", [address], OnlineSettings())
