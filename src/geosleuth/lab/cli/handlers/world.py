"""Handlers of the ``world`` commands; imported only when one runs."""

import io
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from PIL import Image, ImageDraw

from geosleuth.atlas import regions_dir
from geosleuth.cli.preparation import Lines
from geosleuth.geo.extent import plain
from geosleuth.lab.bench.sets import Item, open_set, subset
from geosleuth.lab.bench.sets.dataset import refuse_test, with_part
from geosleuth.lab.scenes.builder import MadeScene, make_scenes, read_scenes
from geosleuth.lab.scenes.design import build_address
from geosleuth.lab.scenes.environment.episode import build_setting
from geosleuth.lab.scenes.scene import Mark, Scene, mark_to_dict, scene_to_dict
from geosleuth.lab.scenes.world import open_world
from geosleuth.names import country_name
from geosleuth.support.console import facts_view, progress, show, show_json, show_result, table_view, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.files import refuse_to_replace, write_bytes_atomically
from geosleuth.support.text.numbers import count as counted

if TYPE_CHECKING:
    from geosleuth.lab.cli.world import EnvironmentOptions, ExportOptions, MakeOptions, WorldServeOptions

_FRAMES = {"plain": (22, 120, 60), "small": (20, 80, 190), "hidden": (120, 120, 120)}
_MISLEADING = (200, 30, 40)

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
_HOST = "127.0.0.1"


def draw_frames(image: Image.Image, marks: Sequence[Mark], scene: Scene) -> Image.Image:
    """Return the picture with a frame around each clue: green plain, blue small, grey hidden, red misleading."""
    clues = {clue.id: clue for clue in scene.clues}
    drawing = ImageDraw.Draw(image)
    width = max(2, image.width // 500)
    for mark in marks:
        clue = clues.get(mark.clue)
        if mark.line is None and clue is not None:
            colour = _MISLEADING if clue.misleading else _FRAMES[clue.visibility]
            drawing.rectangle(mark.box, outline=colour, width=width)
    return image


def make(options: "MakeOptions") -> None:
    """Draw scenes into a folder."""
    regions = [_region(name) for name in options.region]
    there = open_world(options.world_seed, regions, noise=options.noise, pages=options.web_pages)
    try:
        with progress("drawing scenes", options.count) as bar:
            made = make_scenes(
                options.out,
                there,
                count=options.count,
                seed=options.seed,
                split=options.split,
                kinds=options.kind,
                workers=options.workers or os.cpu_count() or 1,
                progress=Lines(bar, "scenes drawn"),
            )
    except (KeyboardInterrupt, SystemExit):
        talk(f"stopped; run the same command to continue {options.out}")
        raise
    table = str(options.out / "set.jsonl")
    facts = {
        "scenes": f"{counted(made.scenes)} in {made.folder}",
        "drawn before": counted(made.kept) if made.kept else None,
        "data set": f"{table} (geosleuth bench run --data {table})",
        "what they are": str(options.out / "card.md"),
    }
    document = {"folder": str(made.folder), "scenes": made.scenes, "kept": made.kept, "set": table}
    show_result(document, facts_view(facts), as_json=options.as_json)


def _region(name: str) -> Path:
    from geosleuth.atlas.regions import RegionStore
    from geosleuth.atlas.regions.region_file import region_path

    given = Path(name)
    if given.is_file():
        return given
    known = {item.name for item in RegionStore(regions_dir()).list()}
    if name not in known:
        raise BadInput(f"no added region is called {name[:40]!r}; see geosleuth atlas list")
    return region_path(regions_dir(), name)


def show_folder(folder: Path, *, as_json: bool) -> None:
    """Print what a folder holds, counted."""
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in ("kind", "tells", "country", "weather", "layout", "misleading", "visibility")
    }
    total = zoom = 0
    for made in read_scenes(folder):
        scene, total = made.scene, total + 1
        zoom += scene.needs_zoom
        counts["kind"][scene.kind] += 1
        counts["tells"][scene.finest or "nothing"] += 1
        counts["country"][scene.spot.country] += 1
        counts["weather"][scene.sky.weather] += 1
        counts["layout"][scene.look.layout] += 1
        counts["misleading"].update(clue.sort for clue in scene.clues if clue.misleading)
        counts["visibility"].update({clue.visibility for clue in scene.clues if clue.lines})
    if as_json:
        document = {name: dict(found) for name, found in counts.items()}
        show_json({"folder": str(folder), "scenes": total, "need_zoom": zoom, **document})
        return
    facts: dict[str, Any] = {"scenes": counted(total), "need zoom": counted(zoom)}
    facts |= {name: [f"{key} {counted(many)}" for key, many in found.most_common(20)] for name, found in counts.items()}
    show(facts_view(facts))
    talk("look at one: geosleuth world show FOLDER ID")


def show_scene(folder: Path, name: str, out: Path | None, *, overwrite: bool, as_json: bool) -> None:
    """Print one scene, and its picture with the clues framed where that is wanted."""
    if out is not None:
        _check_ending(out)
        refuse_to_replace([out], overwrite=overwrite)
    made = next((scene for scene in read_scenes(folder) if scene.scene.id == name), None)
    if made is None:
        raise BadInput(f"{folder}: no scene is called {name[:60]!r}; FOLDER/set.jsonl has their ids")
    if out is not None:
        _save(draw_frames(_open_picture(made), made.marks, made.scene), out)
    if as_json:
        marks = [mark_to_dict(mark) for mark in made.marks]
        show_json({"scene": scene_to_dict(made.scene), "marks": marks, "address": plain(build_address(made.scene))})
        return
    _show_facts(made)


def _show_facts(made: MadeScene) -> None:
    scene, spot, address = made.scene, made.scene.spot, build_address(made.scene)
    show(
        facts_view(
            {
                "scene": f"{scene.id} ({scene.kind}, {scene.size[0]} x {scene.size[1]})",
                "picture": str(made.path),
                "place": f"{spot.town}, {spot.region or '–'}, {country_name(spot.country) or spot.country}",
                "point": f"{spot.point.lat}, {spot.point.lon}",
                "business": scene.business.name if scene.business else None,
                "light": f"{scene.sky.at:%Y-%m-%d %H:%M} UTC, {scene.sky.weather}, {scene.sky.season}, "
                f"sun {scene.sky.sun_elevation_deg:.0f}° high at {scene.sky.sun_azimuth_deg:.0f}°",
                "locatability": f"{scene.locatability:g}",
                "clues show": str(address) or "nothing",
            }
        )
    )
    rows = [
        (
            clue.id, clue.sort, clue.level, "misleads" if clue.misleading else clue.visibility,
            " / ".join(clue.lines) or "–", clue.says,
        )
        for clue in scene.clues
    ]  # fmt: skip
    if rows:
        show(table_view(("clue", "sort", "level", "seen", "written", "says"), rows))


def _open_picture(made: MadeScene) -> Any:
    from PIL import Image

    try:
        with Image.open(made.path, formats=("JPEG",)) as opened:
            return opened.convert("RGB")
    except (OSError, Image.DecompressionBombError) as error:
        raise BadInput(f"{made.path}: can't be opened; make the folder again") from error


def _check_ending(out: Path) -> None:
    if out.suffix.lower() not in _FORMATS:
        raise BadInput(f"{out}: pictures are written as {', '.join(_FORMATS)}; give --out such an ending")


def _save(image: Any, out: Path) -> None:
    stored = io.BytesIO()
    image.save(stored, _FORMATS[out.suffix.lower()], quality=80)
    write_bytes_atomically(out, stored.getvalue())


def collect_setting(options: "EnvironmentOptions") -> dict[str, Any]:
    """Return how episodes are played, as files hold it; what was left out is not in it."""
    tools, reward = options.tools, options.reward
    words = {
        "method": options.method,
        # Files that name another file must find it from wherever they are read.
        "reward": str(Path(reward).absolute()) if Path(reward).is_file() else reward,
        "tools": None if tools is None else [name.strip() for name in tools.split(",") if name.strip()],
        "turns": options.turns,
        "box_scale": options.boxes,
        "world": options.world_seed,
    }
    return {name: value for name, value in words.items() if value is not None}


def load_item_photos(options: "EnvironmentOptions") -> Iterator[Item]:
    """Yield the photos that an environment is made of; those of a test part say so in their field ``split``.

    Raises:
        BadInput: the set can't be opened, or is for testing.
    """
    data = subset(with_part(open_set(options.data)), limit=options.limit)
    for item in data:
        if not options.allow_test:
            refuse_test(data.card, item, ", or add --allow-test, which keeps that mark")
        yield item


def serve(options: "WorldServeOptions") -> None:
    """Serve until stopped."""
    from geosleuth.lab.scenes.environment.episode import build_photo_row
    from geosleuth.lab.scenes.environment.for_openenv import openenv_app

    words = collect_setting(options)
    rows, port = [build_photo_row(item) for item in load_item_photos(options)], options.port
    app = openenv_app(build_setting({**words, "answer_by": "reply"}), rows, sessions=options.sessions)
    import uvicorn

    typer.echo(f"{len(rows)} photos; an OpenEnv client connects to http://{_HOST}:{port} (Ctrl-C stops)", err=True)
    uvicorn.run(app, host=_HOST, port=port, log_level="warning")


def export(options: "ExportOptions") -> None:
    """Write the files and list them."""
    from geosleuth.lab.scenes.environment.for_verl import write_verl
    from geosleuth.lab.scenes.environment.verifiers_package import write_verifiers

    out, library = options.out, options.library
    write = write_verl if library == "verl" else write_verifiers
    try:
        count = write(out, load_item_photos(options), collect_setting(options))
    except OSError as error:
        raise BadInput(f"{out}: can't be written: {error.strerror or error}") from error
    if options.as_json:
        show_json({"photos": count, "folder": str(out), "for": library})
    typer.echo(f"{count} photos written to {out} for {library}", err=True)
