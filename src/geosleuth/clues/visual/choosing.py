"""Finding a visual prior by what the user calls it."""

from pathlib import Path

from geosleuth.atlas.folders import data_dir

from .geoclip import GeoClipPrior
from .learned import LearnedPrior
from .model import VisualPrior

GEOCLIP = "geoclip:"
HOW_TO_LEARN = "geosleuth prior learn FOLDER"


def default_prior_path() -> Path:
    """Where the prior lies unless the user says otherwise."""
    return data_dir() / "visual.prior"


def load_prior(spec: str | Path) -> VisualPrior:
    """The prior in a file, or GeoCLIP where the spec is ``geoclip:`` and a folder with a CLIP model.

    Raises:
        BadInput: there is none, or it can't be read.
        MissingExtra: GeoCLIP is asked for and a package is not installed.
    """
    if isinstance(spec, str) and spec.startswith(GEOCLIP):
        return GeoClipPrior(Path(spec.removeprefix(GEOCLIP)).expanduser())
    return LearnedPrior.load(Path(spec).expanduser())


def prior_at_hand() -> VisualPrior | None:
    """The user's own prior where one was learned, and None otherwise.

    Raises:
        BadInput: there is one that can't be read.
    """
    path = default_prior_path()
    try:
        there = path.is_file()
    except OSError:
        # A folder that this user may not look into holds nothing that this user learned.
        return None
    return LearnedPrior.load(path) if there else None
