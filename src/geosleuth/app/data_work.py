"""What the makers of ``geosleuth data`` do once their words are read; imported only when they run."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from geosleuth.app.bench_run_views import Live
from geosleuth.app.console import (
    CTRL_C,
    SOME_FAILED,
    asked,
    building,
    cancelled_by_ctrl_c,
    progress,
    quiet_libraries,
    show,
    show_json,
    talk,
)
from geosleuth.atlas.base import ensure_base
from geosleuth.bench.run import Ending, RunLimits, Standing
from geosleuth.data import About, write_store
from geosleuth.data.factory import (
    STAND_IN,
    Recipe,
    SceneFolder,
    SceneRange,
    Scenes,
    Work,
    made_in,
    run_factory,
    tally_in,
)
from geosleuth.data.manifest import SCENES
from geosleuth.data.rejection import REASON_WORDS, Tally, tally_markdown, tally_to_dict
from geosleuth.data.spotagent import TOOLS, toolset_of
from geosleuth.data.standins import Slips
from geosleuth.errors import BadInput, require
from geosleuth.files import write_text_atomically
from geosleuth.policies import Policy, consent_line, make_policy
from geosleuth.world.layer import ensure_layer
from geosleuth.world.world import open_world

if TYPE_CHECKING:
    from rich.console import RenderableType

_MOST_PROCESSES = 4
"""Each holds an atlas of its own, about a gigabyte; whoever has the memory asks for more."""

STATISTICS, STATISTICS_WORDS = "statistics.json", "statistics.md"
Words = Mapping[str, Any]


def make_spotagent(words: Words, *, as_json: bool) -> None:
    """SpotAgent's synthesis.

    Raises:
        UserError: something must be mended; what was finished is kept.
        typer.Exit: some failed, or it was stopped.
    """
    tools = TOOLS if words["tools"] is None else tuple(name.strip() for name in words["tools"].split(","))
    toolset_of(tools)
    slips = Slips(*(words[name] for name in ("missed", "misread", "hasty", "wrong_guess", "bad_call")))
    recipe = Recipe(
        kind="spotagent",
        observer=words["observer"],
        caller=words["caller"],
        within_km=words["within_km"],
        tools=tools,
        slips=slips,
        **_common(words),
    )
    _make(recipe, words, as_json=as_json)


def make_geovista(words: Words, *, as_json: bool) -> None:
    """GeoVista's assembly.

    Raises:
        UserError: something must be mended; what was finished is kept.
        typer.Exit: some failed, or it was stopped.
    """
    slips = Slips(words["missed"], words["misread"], 0.0, 0.0, 0.0)
    _make(Recipe(kind="geovista", observer=words["proposer"], slips=slips, **_common(words)), words, as_json=as_json)


def make_geoagent(words: Words, *, as_json: bool) -> None:
    """GeoAgent's records.

    Raises:
        UserError: something must be mended; what was finished is kept.
        typer.Exit: it was stopped.
    """
    _make(Recipe(kind="geoagent", **_common(words)), words, as_json=as_json)


def _common(words: Words) -> dict[str, Any]:
    return {
        "seed": words["luck"],
        "world": words["world"],
        "noise": words["noise"],
        "regions": tuple(words["region"]),
        "base_url": words.get("base_url"),
    }


def _make(recipe: Recipe, words: Words, *, as_json: bool) -> None:
    scenes, out = _scenes(words), _out(words)
    if words["store"] is not None:
        # Told before anything is made, not when it is all to be kept.
        require("pyarrow.parquet", extra="bench")
    models = [name for name in dict.fromkeys((recipe.observer, recipe.caller)) if name != STAND_IN]
    with quiet_libraries():
        ask_leave([make_policy(name, base_url=recipe.base_url) for name in models], yes=bool(words.get("yes")))
        _open_world_once(recipe)
        work = Work(
            recipe,
            scenes.data(),
            scenes.info(),
            processes=1
            if models or words["cluster"]
            else words["processes"] or min(os.cpu_count() or 1, _MOST_PROCESSES),
            at_once=words["at_once"] if models or words["cluster"] else 1,
            cluster=words["cluster"],
        )
        try:
            ending = asyncio.run(_watched(work, out, words))
        except asyncio.CancelledError:
            talk(f"stopped; {out} keeps what is finished; give the same command again to go on")
            raise typer.Exit(CTRL_C) from None
    tally = tally_in(out)
    write_text_atomically(out / STATISTICS, f"{json.dumps(tally_to_dict(tally), indent=1)}\n")
    write_text_atomically(out / STATISTICS_WORDS, tally_markdown(tally))
    if words["store"] is not None:
        _into_store(words["store"], out, recipe, scenes)
    if as_json:
        show_json({"run": str(out), "ended": ending.why, "words": ending.words, **tally_to_dict(tally)})
    else:
        show(_view(tally, out, words["store"]))
    if ending.standing.failed or ending.standing.missing:
        talk(ending.words)
        raise typer.Exit(SOME_FAILED)


def _out(words: Words) -> Path:
    """The run's folder, beside the store where only that is named."""
    out: Path | None = words["out"]
    store: Path | None = words["store"]
    if out is None and store is None:
        raise BadInput("say with --out where the run's folder is, or with --store where what is kept goes")
    return out if out is not None else Path(f"{store}.run")


def _scenes(words: Words) -> Scenes:
    if words["scenes"] is not None:
        return SceneFolder(words["scenes"], words["count"])
    if words["count"] is None:
        raise BadInput("say how many scenes with --count, or where drawn ones are with --scenes")
    return SceneRange(
        count=words["count"],
        seed=words["seed"],
        split=words["split"],
        first=words["first"],
        world=words["world"],
        noise=words["noise"],
        regions=tuple(words["region"]),
    )


def ask_leave(
    models: Sequence[Policy], *, yes: bool, told: str = "scenes and what tools find", kept: str = "them"
) -> None:
    """Say who gets to see what, and ask before anything leaves the machine.

    Raises:
        BadInput: nobody agreed.
    """
    if not models:
        return
    lines = "; ".join(consent_line(one, told=told, kept=kept) for one in models)
    if yes or not any(one.hosts for one in models):
        talk(lines)
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{lines}; add --yes to allow it")
    if not asked(f"{lines}. Go on?"):
        raise BadInput("stopped; nothing was sent")


def _open_world_once(recipe: Recipe) -> None:
    """Build the maps here, where a bar can be seen, before several processes want them at once."""
    with building() as base:
        ensure_base(base)
    if recipe.kind == "spotagent" and recipe.world is not None:
        world = open_world(recipe.world, recipe.regions, noise=recipe.noise)
        with progress("opening the world's map", measure="time"):
            ensure_layer(world)


async def _watched(work: Work, out: Path, words: Words) -> Ending:
    limits = RunLimits(tokens=words.get("run_tokens"), usd=words.get("run_usd"))
    with progress("making trajectories", work.info.count) as bar, cancelled_by_ctrl_c():
        live = Live(bar)

        def watch(standing: Standing) -> None:
            # Only SpotAgent's synthesis holds answers against the truth.
            live(standing if work.recipe.kind == "spotagent" else replace(standing, within_25km=None))

        return await run_factory(work, out, limits=limits, retry=words.get("retry"), watch=watch, say=talk)


def _into_store(store: Path, run: Path, recipe: Recipe, scenes: Scenes) -> None:
    with progress("into the store") as bar:
        write_store(
            store, made_in(run), about_of(recipe, scenes), progress=lambda kept, gone: bar.at(kept + gone, None)
        )


def about_of(recipe: Recipe, scenes: Scenes) -> About:
    """What people must know of what a recipe makes of scenes."""
    stands_in = STAND_IN in (recipe.observer, recipe.caller) and recipe.kind != "geoagent"
    faults = ["Scenes are drawn and businesses are made up: nothing here says what real places look like."]
    if stands_in:
        faults.append("Rules stood in for models: the wording varies little, and slips come at rates set by hand.")
    return About(
        name=f"world-{recipe.kind}",
        title=f"Trajectories by {recipe.kind}'s synthesis over drawn street scenes",
        licence="CC0-1.0 for scenes and made-up places; answers of maps carry GeoNames' and OpenStreetMap's terms",
        how_made=_HOW[recipe.kind],
        sources=("GeoNames (CC BY 4.0)", "geosleuth's drawn scenes"),
        faults=tuple(faults),
        settings={**recipe.settings(), SCENES: [scenes.told()]},
    )


_HOW = {
    "spotagent": "An Observer described each scene and its crops; a text-only caller asked real tools and answered. "
    "Kept are runs whose calls were all valid and successful and whose answer lies near enough.",
    "geovista": "A proposer named boxes and queries with reasons; they were carried out and put together. "
    "Answers were not held against the truth.",
    "geoagent": "Written from what each scene legibly shows, level by level.",
    "imported": "People's own notes, brought into one form.",
}


def _view(tally: Tally, out: Path, store: Path | None) -> "RenderableType":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name, justify in (("", "left"), ("trajectories", "right"), ("share", "right")):
        table.add_column(name, justify="right" if justify == "right" else "left")
    rows = [("made", tally.made), ("kept", tally.kept)]
    rows += [
        (f"rejected: {words}", tally.first[reason]) for reason, words in REASON_WORDS.items() if tally.first[reason]
    ]
    for words, count in rows:
        table.add_row(words, f"{count:,}", f"{100 * count / tally.made:.1f} %" if tally.made else "")
    table.caption = f"kept in {out}{'' if store is None else f', and in the store {store}'}"
    return table
