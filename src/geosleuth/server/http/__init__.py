"""The HTTP side of the service: routes, server-sent events, and access checks. Needs the serve extra."""

from .application import make_app
from .auth import Hosts, normalize_hosts
from .keys import Keys
from .state import ServeSettings

__all__ = ["Hosts", "Keys", "ServeSettings", "make_app", "normalize_hosts"]
