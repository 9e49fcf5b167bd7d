"""The HTTP side of the service: routes, server-sent events, and the guards at the door. Needs the serve extra."""

from .application import make_app
from .door import Hosts, named_hosts
from .keys import Keys
from .state import ServeSettings

__all__ = ["Hosts", "Keys", "ServeSettings", "make_app", "named_hosts"]
