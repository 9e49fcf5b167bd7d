"""The service: cases on this machine, their photos, and the runs that work on them, without a word of HTTP.

`CaseService.open` gives a service; everything else is asked of it. Rows, requests and refusals are in `records`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .frames import DiskFull
    from .records import (
        FILES,
        CaseRow,
        Feedback,
        NeedsConsent,
        NotThere,
        PhotoRow,
        RunRequest,
        RunRow,
        RunSettings,
        RunState,
        ServiceLimits,
        StreamEvent,
        TooLarge,
        TooMany,
        WrongState,
    )
    from .service import CaseService

__all__ = [
    "FILES",
    "CaseRow",
    "CaseService",
    "DiskFull",
    "Feedback",
    "NeedsConsent",
    "NotThere",
    "PhotoRow",
    "RunRequest",
    "RunRow",
    "RunSettings",
    "RunState",
    "ServiceLimits",
    "StreamEvent",
    "TooLarge",
    "TooMany",
    "WrongState",
]

_FRAMES, _SERVICE = ("DiskFull",), ("CaseService",)


def __getattr__(name: str) -> Any:
    # Loaded when it is asked for: the service's processes are in this package too, and each needs only a part of it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "frames" if name in _FRAMES else "service" if name in _SERVICE else "records"
    return getattr(import_module(f".{module}", __name__), name)
