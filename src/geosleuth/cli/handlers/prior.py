"""Implementation of the ``prior`` commands; imported on demand."""

import re
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from geosleuth.atlas.folders import cache_dir
from geosleuth.evidence.visual import (
    FEWEST_PHOTOS,
    Distribution,
    LearnedPrior,
    PriorComparison,
    PriorFigures,
    compare,
    default_prior_path,
    learn,
    load_prior,
)
from geosleuth.names import country_name
from geosleuth.photo import first_view, open_photo
from geosleuth.photo.image_encoder import best_spec, load_encoder
from geosleuth.support.console import facts_view, progress, show, show_json, show_result, table_view
from geosleuth.support.errors import BadInput
from geosleuth.support.files import make_folder, refuse_to_replace
from geosleuth.support.text import printable
from geosleuth.tools.similar import IndexSummary, build_index
from geosleuth.tools.similar.index_file import Contents, read_contents, read_coordinates

_MIN_SHARE = 0.0005
_COUNTRIES_SHOWN = 10
_CELLS_TOLD = 50
_NOT_FOR_A_NAME = re.compile(r"[^\w.@-]+")

# Archive member that identifies a prior file.
PRIOR_MEMBER = "header.npy"

Progress = Callable[[str, int, int], None]


def learn_prior(source: Path, out: Path | None, encoder: str | None, *, overwrite: bool, as_json: bool) -> None:
    """Learn a prior from photos, and print a summary."""
    path = out or default_prior_path()
    if out is None:
        make_folder(path.parent)
    elif not path.parent.is_dir():
        raise BadInput(f"{path}: the folder {path.parent} does not exist")
    _refuse_other_file(path)
    if out is not None:
        refuse_to_replace([path], overwrite=overwrite)
    begin = time.perf_counter()
    with _working() as report:
        summary, contents = _compute_features(source, encoder or best_spec(), report)
        looked_s = time.perf_counter() - begin
        _check_enough(source, summary, len(contents.points))
        learned = learn(
            contents.features, contents.points, encoder=contents.encoder, spec=contents.spec, progress=report
        )
    learned.save(path)
    held_out = learned.knowledge.held_out
    document = {
        "prior": str(path),
        "photos": len(learned),
        "countries": len(learned.places.base),
        "areas": len(learned.knowledge.areas),
        "left_out": _left_out(summary, len(contents.points) - len(learned)),
        "encoder": learned.encoder,
        "held_out": asdict(held_out),
        "seconds": {"looking": looked_s, "learning": time.perf_counter() - begin - looked_s},
    }
    if as_json:
        show_json(document)
        return
    countries = len(learned.places.base)
    estimate = (
        f"right country for {held_out.country_top1:.0%}, among the first five for {held_out.country_top5:.0%} of "
        f"{held_out.photos} photos, each held against other places (an estimate on the same collection)"
    )
    if countries == 1:
        estimate = "all photos are from one country: it can tell parts of that country, and says nothing about others"
    show(
        facts_view(
            {
                "prior": str(path),
                "learned from": f"{len(learned)} photos from {_format_country_count(countries)}",
                "encoder": learned.encoder,
                "left out": [f"{count} x {printable(reason)}" for reason, count in _get_left_out(document).items()],
                "how good": estimate,
                "test it": f"geosleuth prior test OTHER_PHOTOS --prior {path}",
            }
        )
    )


def _refuse_other_file(path: Path) -> None:
    """Refuse to replace a file that is not a prior of any version."""
    try:
        if not path.exists() and not path.is_symlink():
            return
        with zipfile.ZipFile(path) as parts:
            if PRIOR_MEMBER in parts.namelist():
                return
    except (OSError, ValueError, zipfile.BadZipFile):
        pass
    raise BadInput(f"{path}: is there already and is no prior; choose another name")


def measure_prior(source: Path, prior: Path | None, *, as_json: bool) -> None:
    """Print how good a prior is on other photos."""
    learned = LearnedPrior.load(prior or default_prior_path())
    with _working() as report:
        summary, contents = _compute_features(source, learned.spec, report)
        if contents.encoder != learned.encoder:
            raise BadInput(
                f"the prior was learned with the encoder {learned.encoder!r}, and {contents.encoder!r} is there now; "
                "learn it again"
            )
        report("comparing", 0, 1)
        found = compare(learned, contents.features, contents.points)
    left_out = _left_out(summary, found.at_sea)
    if found.known:
        left_out["in the collection learned from"] = found.known
    if as_json:
        show_json(
            {
                "photos": found.everywhere["prior"].photos,
                "left_out": left_out,
                "everywhere": {who: asdict(figures) for who, figures in found.everywhere.items()},
                "elsewhere": found.elsewhere and {who: asdict(figures) for who, figures in found.elsewhere.items()},
            }
        )
    else:
        show(_comparison_view(found, left_out))


def show_look(photo: Path, prior: str | None, *, as_json: bool) -> None:
    """Print where a photo may have been taken by its look alone."""
    asked = load_prior(prior or default_prior_path())
    seen = asked.look(first_view(open_photo(photo).photo).image)
    show_result(_distribution_document(seen), _distribution_view(seen), as_json=as_json)


def _compute_features(source: Path, encoder: str, report: Progress) -> tuple[IndexSummary, Contents]:
    """Return the photos of a folder or a table with their features; features found before are used again."""
    table = source if source.is_file() else None
    folder = source if table is None else source.parent
    name = load_encoder(encoder).name
    index = cache_dir() / "looks" / f"{_NOT_FOR_A_NAME.sub('-', name)}.index"
    make_folder(index.parent)
    summary = build_index(
        folder,
        index,
        encoder,
        lambda done, total: report("looking at photos", done, total),
        coordinates=table,
        only_listed=table is not None,
    )
    coordinates = None if table is None else read_coordinates(table, folder)
    return summary, read_contents(index, folder, coordinates)


def _check_enough(source: Path, summary: IndexSummary, photos: int) -> None:
    if photos >= FEWEST_PHOTOS:
        return
    reasons = ", ".join(f"{count} x {printable(reason)}" for reason, count in _left_out(summary, 0).items())
    left_out = f" (left out: {reasons})" if reasons else ""
    found = f"{photos} photos with coordinates" if photos else "no photo with coordinates"
    raise BadInput(f"{source}: {found}{left_out}; a prior needs at least {FEWEST_PHOTOS}")


def _format_country_count(countries: int) -> str:
    return "1 country" if countries == 1 else f"{countries} countries"


def _left_out(summary: IndexSummary, at_sea: int) -> dict[str, int]:
    counted = dict(sorted(summary.reasons.items()))
    return {**counted, "in the open sea": at_sea} if at_sea else counted


def _get_left_out(document: Mapping[str, Any]) -> Mapping[str, int]:
    left_out: Mapping[str, int] = document["left_out"]
    return left_out


def _comparison_view(found: PriorComparison, left_out: Mapping[str, int]) -> RenderableType:
    parts: list[RenderableType] = [_figures_table(found.everywhere, "all photos")]
    if found.elsewhere is not None and found.elsewhere["prior"].photos < found.everywhere["prior"].photos:
        parts.append(_figures_table(found.elsewhere, "photos farther than 25 km from any learned from"))
    elif found.elsewhere is None:
        parts.append(Text("All of them lie within 25 km of photos learned from: this is no test on other places."))
    parts += [Text(f"left out: {count} x {printable(reason)}") for reason, count in left_out.items()]
    return Group(*parts)


def _figures_table(figures: Mapping[str, PriorFigures], title: str) -> RenderableType:
    photos = next(iter(figures.values())).photos
    rows = [
        (
            who, f"{one.country_top1:.1%}", f"{one.country_top5:.1%}", f"{one.acc_750:.1%}", f"{one.acc_2500:.1%}",
            f"{one.median_km:.0f} km", f"{one.country_calibration:.3f}",
        )
        for who, one in figures.items()
    ]  # fmt: skip
    return table_view(
        ("", ">country", ">in five", ">750 km", ">2500 km", ">median", ">off by"),
        rows,
        title=f"{title} ({photos})",
        caption="off by: how far the stated probability of the country lies from how often it is right, on average",
    )


def _distribution_document(seen: Distribution) -> dict[str, Any]:
    best = seen.best()
    return {
        "source": seen.source,
        "countries": {code: share for code, share in seen.countries.items() if share >= _MIN_SHARE},
        "best": best and {**asdict(best.point), "radius_km": best.radius_km, "probability": best.probability},
        "cells": [
            {**asdict(cell.point), "radius_km": cell.radius_km, "country": cell.country,
             "probability": seen.reach.trust * cell.share}
            for cell in seen.cells[:_CELLS_TOLD]
        ],
        "reach": asdict(seen.reach),
    }  # fmt: skip


def _distribution_view(seen: Distribution) -> RenderableType:
    best = seen.best()
    if seen.reach.trust <= 0:
        return Text(f"unknown: {seen.reach.says}")
    rows = [(country_name(code) or code, f"{share:.1%}") for code, share in seen.countries.items()]
    parts: list[RenderableType] = [table_view(("country", ">probability"), rows[:_COUNTRIES_SHOWN])]
    if best is not None:
        around = f"{best.point.lat:.1f}, {best.point.lon:.1f}"
        parts.append(Text(f"most likely around {around}: {best.probability:.0%} within {best.radius_km:.0f} km"))
    mixed = f"This holds for photos mixed as in the collection, which knows {_format_country_count(len(seen.base))}."
    return Group(*parts, Text(f"{seen.reach.says} {mixed}"))


@contextmanager
def _working() -> Iterator[Progress]:
    with progress("") as bar:
        yield lambda what, done, total: bar.update(done, total, what)
