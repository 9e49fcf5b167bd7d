"""Names and addresses of hosts, as text: nothing here opens a connection."""

import ipaddress
from urllib.parse import urlsplit


def host_of(url: str) -> str:
    """Return the host name of an address, in lower case; empty where it is no address."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
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
    return name.rstrip(".").lower()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine: 127.0.0.0/8, ::1 or localhost."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_well_bracketed(authority: str) -> bool:
    """Whether nothing but a port follows an address in brackets: for some readers "[::1].example.org" is "::1"."""
    return authority.rpartition("]")[2][:1] in ("", ":") if "]" in authority else True
