"""Find a visual prior by its name, and turn what it says about a picture into a clue among others."""

from pathlib import Path

from geosleuth.atlas.folders import data_dir
from geosleuth.evidence.clue import Clue, CluePlace
from geosleuth.evidence.country_prior import country_prior, normalize
from geosleuth.names import country_name

from .visual_prior import Distribution, VisualPrior

_SPOTS = 12
_MIN_SPOT = 0.01
# Number of countries named in the description of the clue.
MAX_NAMED_COUNTRIES = 3

_MIN_BASE = 1e-4

GEOCLIP = "geoclip:"
HOW_TO_LEARN = "geosleuth prior learn FOLDER"


def visual_clue(distribution: Distribution) -> Clue:
    """Return the clue of a picture's look, for the posterior.

    A prior knows countries as often as its collection holds them. A clue must say how much likelier each is than for
    any photo: shares are divided by those of the collection and laid on the shares of the world's photos. A country
    that the collection does not hold becomes neither likelier nor less likely by it.
    """
    seen, base = distribution.seen, distribution.base
    lift = {code: seen.get(code, 0.0) / max(share, _MIN_BASE) for code, share in base.items()}
    countries = normalize({code: share * lift.get(code, 1.0) for code, share in country_prior().items()})
    factors = {code: countries.get(code, 0.0) / share for code, share in seen.items() if share > 0}
    weights = [cell.share * factors.get(cell.country, 0.0) for cell in distribution.cells]
    total = max(1.0, sum(weights))
    ranked = sorted(zip(weights, distribution.cells, strict=True), key=lambda item: -item[0])[:_SPOTS]
    spots = tuple(
        CluePlace(_spot_name(cell.country), cell.point, cell.radius_km, weight / total, cell.country or None)
        for weight, cell in ranked
        if weight / total >= _MIN_SPOT
    )
    named = ", ".join(country_name(code) or code for code in list(seen)[:MAX_NAMED_COUNTRIES])
    return Clue(
        kind="visual",
        seen="the look of the picture",
        says=f"Of the photos known, it looks most like those from {named}." if named else "No photo is known.",
        reliability=distribution.reach.trust,
        countries=countries,
        spots=spots,
        sources=(distribution.source,),
        caution=distribution.reach.says,
    )


def _spot_name(country: str) -> str:
    return f"photos from {country_name(country) or country} that look alike" if country else "photos that look alike"


def default_prior_path() -> Path:
    """Return the default path of the prior."""
    return data_dir() / "visual.prior"


def load_prior(spec: str | Path) -> VisualPrior:
    """The prior in a file, or GeoCLIP where the spec is ``geoclip:`` and a folder with a CLIP model.

    Raises:
        BadInput: there is none, or it can't be read.
        MissingExtra: GeoCLIP is asked for and a package is not installed.
    """
    if isinstance(spec, str) and spec.startswith(GEOCLIP):
        from .geoclip import GeoClipPrior

        return GeoClipPrior(Path(spec.removeprefix(GEOCLIP)).expanduser())
    return _load_learned_prior(Path(spec).expanduser())


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
    return _load_learned_prior(path) if there else None


def _load_learned_prior(path: Path) -> VisualPrior:
    from .learned import LearnedPrior

    return LearnedPrior.load(path)
