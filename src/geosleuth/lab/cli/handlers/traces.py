"""Handlers of the ``data`` commands; imported only when one runs."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer

from geosleuth.agent import Method
from geosleuth.agent.methods import method
from geosleuth.agent.policy_card import with_folder
from geosleuth.agent.prompt_files import read_prompts
from geosleuth.answer import ParserName
from geosleuth.atlas.base import ensure_base
from geosleuth.atlas.online.access import Recording
from geosleuth.cli.preparation import GO_ON, agree, building, offline_atlas, run_until_stopped
from geosleuth.lab.bench.run import Ending, RunLimits, RunProgress
from geosleuth.lab.cli.handlers.bench_run import Live
from geosleuth.lab.scenes.world import open_world, world_atlas
from geosleuth.lab.traces import About, Store, StoreWriter, write_store
from geosleuth.lab.traces.annotations import ByModel, ByRules, Normaliser, import_notes, read_notes
from geosleuth.lab.traces.factory import (
    STAND_IN,
    Kind,
    PhotoSet,
    Recipe,
    SceneFolder,
    SceneRange,
    Scenes,
    Services,
    Work,
    compute_tally,
    read_made,
    run_factory,
)
from geosleuth.lab.traces.filtering import (
    PHASES_KM,
    build_tries,
    curriculum,
    file_names,
    filter_document,
    filter_table,
    find_teachable,
    read_tries,
    write_filtered,
)
from geosleuth.lab.traces.rows import Made
from geosleuth.lab.traces.scripted import Slips
from geosleuth.lab.traces.spotagent import tally_markdown, tally_to_dict
from geosleuth.lab.traces.store_card import Figures, card_text, check_store, compute_store_figures
from geosleuth.lab.traces.trainer_files import INFO, Trainer, export_store, split_file
from geosleuth.lab.traces.trajectory_store import CARD, MANIFEST, SCENES
from geosleuth.models import Policy, consent_line, make_policy
from geosleuth.support.console import (
    EXIT_SOME_FAILED,
    cancel_on_ctrl_c,
    progress,
    quiet_libraries,
    show_json,
    talk,
)
from geosleuth.support.errors import BadInput, require
from geosleuth.support.files import refuse_to_replace, write_text_atomically
from geosleuth.support.text.numbers import count
from geosleuth.support.text.safe import printable
from geosleuth.tools.toolset import all_tools

# Default limit on processes: each holds its own atlas, about a gigabyte. More can be requested if there is memory.
_MAX_PROCESSES = 4

STATISTICS, STATISTICS_WORDS, ANSWERS = "statistics.json", "statistics.md", "answers.sqlite"
Words = Mapping[str, Any]

_HOW = {
    "spotagent": "An Observer described each scene and its crops; a text-only caller asked real tools and answered. "
    "Kept are runs whose calls were all valid and successful and whose answer lies near enough.",
    "geovista": "A proposer named boxes and queries with reasons; they were carried out and put together. "
    "Answers were not held against the truth.",
    "geoagent": "Written from what each scene legibly shows, level by level.",
    "imported": "People's own notes, brought into one form.",
}
_SHOWN = 20


def make(kind: Kind, words: Words) -> None:
    """Make trajectories of scenes or photos by a synthesis, and put what is kept into the store."""
    own: dict[str, Any] = {}
    if kind == "spotagent":
        tools = None if words["tools"] is None else tuple(name.strip() for name in words["tools"].split(","))
        method(kind).toolset(all_tools(), tools)
        own = {name: words[name] for name in ("observer", "caller", "within_km", "reasons")}
        own |= {"tools": tools, "slips": Slips(words["missed"], words["bad_call"])}
    elif kind == "geovista":
        own = {"observer": words["proposer"], "slips": Slips(words["missed"], 0.0)}
    _make(Recipe(kind=kind, **own, **_common(kind, words)), words, as_json=words["as_json"])


def _common(kind: Kind, words: Words) -> dict[str, Any]:
    on_photos, own = words.get("data") is not None, words["prompts"]
    return {
        "prompts": None if own is None else read_prompts(own, kind),
        "seed": words["noise_seed"],
        "world": None if on_photos else words["world"],
        "noise": words["noise"],
        "regions": () if on_photos else tuple(words["region"]),
        "base_url": words.get("base_url"),
        "pages": words["web_pages"],
        **(_online(words) if on_photos else {}),
    }


def _online(words: Words) -> dict[str, Any]:
    """Return the online options of a run on photos, and where answers are stored."""
    services = Services(
        web_search=words["web_search"],
        maps=words["maps"],
        maps_url=tuple(words["maps_url"]),
        allow=tuple(words["allow"]),
    )
    record = Recording((words["answers"] or _out(words) / ANSWERS).absolute(), only=words["offline"])
    if record.only and not record.path.is_file():
        raise BadInput(f"{record.path}: no recorded answers are here; leave out --offline, or name them with --answers")
    return {"services": services, "record": record}


def _check_photos(recipe: Recipe, words: Words) -> None:
    """Refuse recipe settings that photos do not support."""
    for name in ("web_search", "maps", "maps_url", "allow", "answers", "offline"):
        if words.get("data") is None and words.get(name):
            raise BadInput(f"--{name.replace('_', '-')} is for photos of a data set; name one with --data")
    if words.get("data") is None:
        return
    if words["scenes"] is not None or words["web_pages"]:
        raise BadInput("--data takes photos, --scenes and --web-pages are for drawn scenes; leave one of them out")
    if words["cluster"] is not None:
        raise BadInput("--data keeps its answers in one file of this machine; leave out --cluster")
    if recipe.observer == STAND_IN:
        who = "--observer" if recipe.kind == "spotagent" else "--proposer"
        raise BadInput(f"stand-ins read the clue boxes of drawn scenes; name a model that looks at photos with {who}")


def _make(recipe: Recipe, words: Words, *, as_json: bool) -> None:
    _check_photos(recipe, words)
    scenes, out = _scenes(words), _out(words)
    if words["store"] is not None:
        # Told before anything is made, not when it is all to be kept.
        require("pyarrow.parquet", extra="lab")
    models = [name for name in dict.fromkeys((recipe.observer, recipe.caller)) if name != STAND_IN]
    with quiet_libraries():
        if not words.get("offline"):
            told = "scenes" if recipe.services is None else "photos"
            asked_models = [make_policy(name, base_url=recipe.base_url) for name in models]
            ask_consent(asked_models, yes=bool(words.get("yes")), told=f"{told} and what tools find")
        _open_world_once(recipe)
        work = Work(
            recipe,
            scenes.data(),
            scenes.info(),
            processes=1
            if models or words["cluster"]
            else words["processes"] or min(os.cpu_count() or 1, _MAX_PROCESSES),
            at_once=words["at_once"] if models or words["cluster"] else 1,
            cluster=words["cluster"],
        )
        ending = run_until_stopped(_make_with_progress(work, out, words), f"{out} {GO_ON}")
    tally = compute_tally(out)
    write_text_atomically(out / STATISTICS, f"{json.dumps(tally_to_dict(tally), indent=1)}\n")
    write_text_atomically(out / STATISTICS_WORDS, tally_markdown(tally))
    if words["store"] is not None:
        _into_store(words["store"], out, recipe, scenes)
    if as_json:
        show_json({"run": str(out), "ended": ending.why, "words": ending.words, **tally_to_dict(tally)})
    else:
        sys.stdout.write(f"{tally_markdown(tally)}\n")
        talk(f"kept in {out}" + ("" if words["store"] is None else f", and in the store {words['store']}"))
    if ending.progress.failed or ending.progress.missing:
        talk(ending.words)
        raise typer.Exit(EXIT_SOME_FAILED)


def _out(words: Words) -> Path:
    """Return the run's folder; beside the store if only that is given."""
    out: Path | None = words["out"]
    store: Path | None = words["store"]
    if out is None and store is None:
        raise BadInput("say with --out where the run's folder is, or with --store where what is kept goes")
    return out if out is not None else Path(f"{store}.run")


def _scenes(words: Words) -> Scenes:
    if words.get("data") is not None:
        return PhotoSet(words["data"], words["count"], words["split"])
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
        pages=words["web_pages"],
    )


def ask_consent(
    models: Sequence[Policy], *, yes: bool, told: str = "scenes and what tools find", kept: str = "them"
) -> None:
    """Say what is sent where, and ask before anything leaves the machine."""
    if models:
        lines = "; ".join(consent_line(model, told=told, kept=kept) for model in models)
        agree(lines, yes=yes or not any(model.hosts for model in models), stopped="nothing was sent")


def _open_world_once(recipe: Recipe) -> None:
    """Build the maps here, with a progress bar, before several processes need them at once."""
    with building() as base:
        ensure_base(base)
    if (recipe.kind == "spotagent" or recipe.pages) and recipe.kind != "geoagent" and recipe.world is not None:
        world = open_world(recipe.world, recipe.regions, noise=recipe.noise, pages=recipe.pages)
        with progress("opening the world's map", measure="time"):
            world_atlas(world)


async def _make_with_progress(work: Work, out: Path, words: Words) -> Ending:
    limits = RunLimits(tokens=words.get("run_tokens"), usd=words.get("run_usd"))
    with progress("making trajectories", work.info.count) as bar, cancel_on_ctrl_c():
        live = Live(bar)

        def watch(so_far: RunProgress) -> None:
            # Only SpotAgent's synthesis holds answers against the truth.
            live(so_far if work.recipe.kind == "spotagent" else replace(so_far, within_25km=None))

        return await run_factory(work, out, limits=limits, retry=words.get("retry"), watch=watch, say=talk)


def _into_store(store: Path, run: Path, recipe: Recipe, scenes: Scenes) -> None:
    with progress("into the store") as bar:
        write_store(
            store,
            read_made(run),
            describe_traces(recipe, scenes),
            progress=lambda kept, gone: bar.update(kept + gone, None),
        )


def describe_traces(recipe: Recipe, scenes: Scenes) -> About:
    """Return what people must know of what a recipe makes of scenes."""
    stands_in = STAND_IN in (recipe.observer, recipe.caller) and recipe.kind != "geoagent"
    faults = ["Scenes are drawn and businesses are made up: nothing here says what real places look like."]
    if isinstance(scenes, PhotoSet):
        return _about_photos(recipe, scenes)
    if stands_in:
        faults.append("Rules stood in for models: the wording varies little, and slips come at rates set by hand.")
    return About(
        name=f"world-{recipe.kind}",
        title=f"Trajectories by {recipe.kind}'s synthesis over drawn street scenes",
        licence="CC0-1.0 for scenes and made-up places; answers of maps carry GeoNames' and OpenStreetMap's terms",
        how_made=_HOW[recipe.kind],
        sources=("GeoNames (CC BY 4.0)", "geosleuth's drawn scenes"),
        faults=tuple(faults),
        settings={**recipe.settings(), SCENES: [scenes.card_entry()]},
    )


def _about_photos(recipe: Recipe, photos: PhotoSet) -> About:
    card = photos.data().card
    asked_of = recipe.services or Services()
    sources = [card.title, *(name for name in (asked_of.web_search, asked_of.maps) if name)]
    return About(
        name=f"photos-{recipe.kind}",
        title=f"Trajectories by {recipe.kind}'s synthesis over photos of {card.title}",
        licence=f"photos: {card.licence}; answers of maps and searches carry their services' terms",
        how_made=_HOW[recipe.kind].replace("each scene", "each photo"),
        sources=tuple(sources),
        settings={**recipe.settings(), SCENES: [photos.card_entry()]},
    )


def import_notes_into(notes: Path, store: Path, words: Words, *, as_json: bool) -> None:
    """Read notes, convert and store them; those in the store already are skipped."""
    read = list(read_notes(notes, words["photos"]))
    model, split = words["model"], words["split"]
    way = with_folder(method("geoagent"), words["prompts"])
    with quiet_libraries():
        policy = None if model is None else make_policy(model, base_url=words["base_url"])
        if policy is not None:
            ask_consent([policy], yes=words["yes"], told="the notes, and no photo,", kept="the notes")
        normaliser: Normaliser = ByRules() if policy is None else ByModel(policy)
        about = About(
            name="imported-notes",
            title="People's notes on photos, as records of three levels",
            licence="as the notes and photos that were given",
            how_made=f"From {notes.name}: {normaliser.name}. Conclusions are the people's own.",
            settings={"normaliser": normaliser.name, **_hash_prompts(way)},
        )

        async def work() -> tuple[int, int]:
            with StoreWriter(store, about) as writer:
                made = import_notes(read, normaliser, is_known=writer.__contains__, split=split, way=way)
                await _add_all(writer, made, "importing notes", len(read))
                if policy is not None:
                    await policy.aclose()
                return writer.sample_count, writer.rejection_count

        kept, rejected = asyncio.run(work())
    if as_json:
        show_json({"store": str(store), "notes": len(read), "kept": kept, "rejected": rejected})
    else:
        talk(f"{len(read)} notes: the store {store} holds {kept} records, {rejected} could not be used")
    if rejected:
        raise typer.Exit(EXIT_SOME_FAILED)


async def _add_all(writer: StoreWriter, made: AsyncIterator[Made], title: str, total: int | None) -> None:
    with progress(title, total) as bar:
        async for item in made:
            writer.add(item)
            bar.advance()


def _hash_prompts(way: Method) -> dict[str, str]:
    return {} if way.prompts_sha256 is None else {"prompts": way.prompts_sha256}


def import_photos_into(spec: str, store: Path, words: Words, *, as_json: bool) -> None:
    """Make a chat of each photo of a data set and store it; those in the store already are skipped."""
    from geosleuth.lab.bench.sets import build_selection, open_set
    from geosleuth.lab.traces.photo_chats import photo_chats

    data, limit, split = open_set(spec), words["limit"], words["split"]
    way = with_folder(method(words["method"]), words["prompts"])
    atlas = offline_atlas(needed=True)
    about = About(
        name="photo-chats",
        title="Photos, one question each, and the true place",
        licence=data.card.licence,
        how_made=f"From {data.card.title}: the question and answer form of {way.name}; "
        "names that the set lacks by the atlas.",
        settings={"method": way.name, "data": data.card.name, **_hash_prompts(way), **build_selection(limit)},
    )

    async def work() -> tuple[int, int]:
        with StoreWriter(store, about) as writer:
            made = photo_chats(data, way, atlas, is_known=writer.__contains__, split=split, limit=limit)
            await _add_all(writer, made, "importing photos", limit)
            return writer.sample_count, writer.rejection_count

    with quiet_libraries():
        kept, rejected = asyncio.run(work())
    if as_json:
        show_json({"store": str(store), "kept": kept, "rejected": rejected})
    else:
        talk(f"the store {store} holds {kept} chats, {rejected} photos could not be used")
    if rejected:
        raise typer.Exit(EXIT_SOME_FAILED)


def filter_tries(
    runs: Sequence[Path], out: Path, tries: int | None, parser: ParserName, *, overwrite: bool, as_json: bool
) -> None:
    """Read tries, filter and write them, and print counts."""
    refuse_to_replace([out / name for name in file_names(len(PHASES_KM))], overwrite=overwrite)
    with progress("reading tries") as bar:
        found_km = read_tries(runs, parser=parser, progress=lambda photos: bar.update(photos, None))
    table = build_tries(found_km, tries=tries)
    left_out = len(found_km) - len(table)
    if not len(table):
        raise BadInput(f"no photo has {tries} tries; the most is {max(map(len, found_km.values()))}")
    found = find_teachable(table)
    phases = curriculum(found)
    write_filtered(out, found, phases, left_out)
    if as_json:
        show_json(filter_document(found, phases, left_out))
    else:
        sys.stdout.write(filter_table(found, phases, left_out))
    if left_out:
        talk(f"left out: {count(left_out)} photos with fewer than {tries} tries")
    if found.single_tries:
        talk(f"{count(found.single_tries)} photos were tried only once and can't be kept; give more runs of them")
    talk(f"wrote {out}")


def check(path: Path, *, as_json: bool) -> bool:
    """Return whether a store is whole; what is wrong is said.

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

            def set_row_count(rows: int) -> None:
                nonlocal trajectories
                trajectories = rows
                bar.update(rows, None)

            found = list(check_store(store, set_row_count))
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
    """Print the card, on stdout or in a file."""
    store = Store(path)
    figures = compute_store_figures(store)
    if out is not None:
        refuse_to_replace([out], overwrite=overwrite)
        write_text_atomically(out, card_text(store.about, figures))
        talk(f"wrote {out}")
    if as_json:
        show_json(_build_store_document(store, figures))
    elif out is None:
        sys.stdout.write(printable(card_text(store.about, figures)))


def export(
    path: Path, to: Trainer, out: Path, split: str | None, *, absolute: bool, overwrite: bool, as_json: bool
) -> None:
    """Write rows and pictures for a trainer."""
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
    names = [*(split_file(item) for item in sorted(splits)), *([INFO] if to == "llama-factory" else []), CARD]
    refuse_to_replace([out / name for name in names], overwrite=overwrite)
    with progress(f"writing {store.about.name} for {to}", len(store)) as bar:
        done = export_store(
            store, to, out, split=split, absolute=absolute, progress=lambda rows: bar.update(rows, None)
        )
    if done.missing_images:
        talk(f"{count(done.missing_images)} pictures are named in the rows and are not in the store")
    if done.without_reply and to == "llama-factory":
        talk(f"{count(done.without_reply)} rows end before a reply: LLaMA-Factory skips them")
    if as_json:
        show_json(asdict(done))
    else:
        for name, rows in done.files.items():
            sys.stdout.write(f"{out / name}: {count(rows)} rows\n")


def _build_store_document(store: Store, figures: Figures) -> dict[str, Any]:
    about = asdict(store.about)
    return {"about": about, "figures": asdict(figures), "shards": [asdict(shard) for shard in store.manifest.shards]}
