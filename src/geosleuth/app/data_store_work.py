"""What ``data info``, ``check``, ``card`` and ``export`` do once their words are read."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from geosleuth.app.atlas_views import facts_view
from geosleuth.app.console import progress, show, show_json, talk
from geosleuth.bench.numbers import count, distance, percent
from geosleuth.bench.plain import printable
from geosleuth.data import Store
from geosleuth.data.cards import Figures, card_text, figures_of
from geosleuth.data.checking import check_store
from geosleuth.data.exporting import INFO, Trainer, export_store, split_file
from geosleuth.data.reading import CARD, MANIFEST
from geosleuth.errors import BadInput
from geosleuth.files import refuse_to_replace, write_text_atomically

_SHOWN = 20


def show_info(path: Path, *, as_json: bool) -> None:
    """A store in a few lines, or in figures for programs."""
    store = Store(path)
    figures = figures_of(store)
    if as_json:
        show_json(_document(store, figures))
        return
    error_km = figures.spreads["error_km"].median
    made = figures.samples + figures.rejections
    turns, calls = figures.spreads["turns"], figures.spreads["calls"]
    show(
        facts_view(
            {
                "set": f"{store.about.name}: {store.about.title}",
                "licence": store.about.licence,
                "trajectories": f"{count(figures.samples)} on {count(figures.scenes)} scenes or photos",
                "made by": _mix(figures.sources),
                "splits": _mix(figures.splits),
                "kept": f"{percent(100 * figures.samples / made)} % of {count(made)}" if figures.rejections else None,
                "turns": f"{turns.median:g} in the median, {turns.most:g} at most" if turns.count else None,
                "calls": f"{calls.median:g} in the median, {calls.most:g} at most" if calls.count else None,
                "tools": _mix(figures.calls) or None,
                "error": None if error_km is None else f"{distance(error_km)} in the median",
                "pictures": f"{count(figures.image_files)} files, {figures.image_bytes / 1e6:,.1f} MB",
                "shards": count(len(store.manifest.shards)),
            }
        )
    )


def check(path: Path, *, as_json: bool) -> bool:
    """Whether a store is whole; what is wrong is said.

    Raises:
        BadInput: there is no store.
    """
    trajectories, found = 0, []
    try:
        store = Store(path)
    except BadInput as error:
        if not (path / MANIFEST).is_file():
            raise
        found = [str(error)]
    else:
        shards = sum(shard.rows for shard in store.manifest.shards)
        with progress(f"checking {store.about.name}", shards) as bar:

            def at(rows: int) -> None:
                nonlocal trajectories
                trajectories = rows
                bar.at(rows, None)

            found = list(check_store(store, at))
    if as_json:
        show_json({"whole": not found, "trajectories": trajectories, "troubles": found})
    else:
        for line in found[:_SHOWN]:
            talk(printable(line))
        if len(found) > _SHOWN:
            talk(f"and {count(len(found) - _SHOWN)} more; --json names them all")
        sys.stdout.write("not whole\n" if found else f"whole: {count(trajectories)} trajectories\n")
    return not found


def show_card(path: Path, out: Path | None, *, overwrite: bool, as_json: bool) -> None:
    """The card, on stdout or in a file."""
    store = Store(path)
    figures = figures_of(store)
    if out is not None:
        refuse_to_replace([out], overwrite=overwrite)
        write_text_atomically(out, card_text(store.about, figures))
        talk(f"wrote {out}")
    if as_json:
        show_json(_document(store, figures))
    elif out is None:
        sys.stdout.write(printable(card_text(store.about, figures)))


def export(
    path: Path, to: Trainer, out: Path, split: str | None, *, absolute: bool, overwrite: bool, as_json: bool
) -> None:
    """Rows and pictures for a trainer."""
    store = Store(path)
    if out.exists() and out.resolve() == path.resolve():
        raise BadInput(f"{out}: is the store itself; choose another folder")
    there = {row["split"] for row in store.rows(("split",))}
    splits = there if split is None else there & {split}
    if not splits:
        raise BadInput(
            f"{path}: holds no trajectory{'' if split is None else f' of the split {split[:40]!r}'}; "
            f"its splits are: {', '.join(sorted(there)) or 'none'}"
        )
    names = [*(split_file(one) for one in sorted(splits)), *([INFO] if to == "llama-factory" else []), CARD]
    refuse_to_replace([out / name for name in names], overwrite=overwrite)
    with progress(f"writing {store.about.name} for {to}", len(store)) as bar:
        done = export_store(store, to, out, split=split, absolute=absolute, progress=lambda rows: bar.at(rows, None))
    if done.missing_images:
        talk(f"{count(done.missing_images)} pictures are named in the rows and are not in the store")
    if done.without_reply and to == "llama-factory":
        talk(f"{count(done.without_reply)} rows end before a reply: LLaMA-Factory skips them")
    if as_json:
        show_json(asdict(done))
    else:
        for name, rows in done.files.items():
            sys.stdout.write(f"{out / name}: {count(rows)} rows\n")


def _mix(counts: Any) -> str:
    return ", ".join(f"{printable(name)} {count(number)}" for name, number in list(counts.items())[:8])


def _document(store: Store, figures: Figures) -> dict[str, Any]:
    about = asdict(store.about)
    return {"about": about, "figures": asdict(figures), "shards": [asdict(one) for one in store.manifest.shards]}
