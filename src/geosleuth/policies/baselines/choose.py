"""From a baseline's name, such as "blind:population" or "nearest:GALLERY,k=10", to the policy that answers so."""

from pathlib import Path

from geosleuth.errors import BadInput
from geosleuth.policies.model import Policy

from .options import Options, take_options

BASELINES = ("blind", "nearest", "geoclip")
"""What the name of a baseline begins with, before a colon."""


def is_baseline(spec: str) -> bool:
    """Whether a name is that of a baseline: it uses no tools, no network and no words of a method."""
    return spec.partition(":")[0].strip() in BASELINES


def make_baseline(spec: str) -> Policy:
    """The policy for a baseline's name. Files are checked; what takes longer is done when the first photo comes.

    Args:
        spec: ``blind:population``, ``blind:land``, ``blind:population-draw``, ``blind:land-draw`` or
            ``blind:LAT,LON``; ``nearest:INDEX|FOLDER``; ``geoclip:FOLDER``. Options follow after commas, such as
            ``,within=25``; docs/baselines.md has them all.

    Raises:
        BadInput: there is no such baseline, or what it needs is not there.
        MissingExtra: what it needs is not installed.
    """
    prefix, colon, rest = (part.strip() for part in spec.partition(":"))
    if prefix not in BASELINES or not colon or not rest:
        known = "blind:population, blind:land, nearest:GALLERY, geoclip:FOLDER"
        raise BadInput(f"{spec[:60]!r} names no baseline; write one of {known}")
    if prefix == "blind":
        from .blind import make_blind

        return make_blind(spec, rest)
    if prefix == "nearest":
        from .nearest import make_nearest

        return make_nearest(spec, rest)
    name, options = take_options(rest, ("within",))
    return _geoclip(spec, Path(name).expanduser(), options)


def _geoclip(spec: str, folder: Path, options: Options) -> Policy:
    from .geoclip import GeoClipPolicy

    return GeoClipPolicy(spec, folder, within_km=options.km("within", 25.0))
