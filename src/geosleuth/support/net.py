"""Names and addresses of hosts, as text: nothing here opens a connection."""

import ipaddress
import re
from socket import inet_aton, inet_ntoa
from urllib.parse import urlsplit

_NUMBERS = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}")


def parse_host(url: str) -> str:
    """Return the host name of an address, in lower case; empty where it is no address.

    Numbers are shown as what they lead to: 2130706433 and 0x7f.1 are 127.0.0.1.
    """
    try:
        return plain_host(urlsplit(url).hostname or "")
    except ValueError:
        return ""


def plain_host(name: str) -> str:
    """Return a host's name in its plain form: lower case, no dot at its end, numbers as four; empty if it is none."""
    name = name.strip().lower().removesuffix(".")
    if "" in name.split("."):
        return ""
    if not _NUMBERS.fullmatch(name):
        return name
    try:
        return inet_ntoa(inet_aton(name))
    except OSError:
        return ""


def host_name(authority: str) -> str:
    """The name of ``name``, ``name:port`` or ``[address]:port``, small and without a dot at its end; empty if none."""
    try:
        parts = urlsplit(f"//{authority.strip()}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return ""
    if name is None or parts.path or parts.query or parts.fragment or parts.username is not None:
        return ""
    if not is_well_bracketed(parts.netloc):
        return ""
    return plain_host(name)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine: 127.0.0.0/8, ::1 or localhost."""
    host = plain_host(host)
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_well_bracketed(authority: str) -> bool:
    """Return whether only a port follows an address in brackets: some readers take "[::1].example.org" for "::1"."""
    return authority.rpartition("]")[2][:1] in ("", ":") if "]" in authority else True
