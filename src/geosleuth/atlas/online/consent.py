"""Who may be contacted: the user's say for every host, and addresses that are nobody's business.

Nothing leaves the machine without the user's say, naming the host. An address that a service's name leads to must be
a public one, unless the user said that this very host is private.
"""

from urllib.parse import urljoin, urlsplit

import httpx

from geosleuth.errors import BadInput, ServiceFault
from geosleuth.net import host_of

from .addresses import address_of, is_at_home, is_public
from .settings import OnlineSettings


def check_consent(url: str, settings: OnlineSettings) -> str:
    """The host of an address that may be contacted.

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
    if host not in settings.allow_hosts:
        raise BadInput(f"this would contact {host}, which is not allowed; add --allow {host} (in Python: allow_hosts)")
    if parts.scheme == "http" and host not in settings.private_hosts:
        raise BadInput(f"{host} must be asked over https; only hosts named in private_hosts may be asked over http")
    return host


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
