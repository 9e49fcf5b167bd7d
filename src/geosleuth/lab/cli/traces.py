"""``geosleuth traces``: trajectories to learn from, made, kept in stores, and handed to trainers."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

import typer

from geosleuth.cli.options import (
    Allow,
    Commands,
    JsonFlag,
    JsonOptions,
    Maps,
    MapsUrl,
    Overwrite,
    PromptsFolder,
    WebSearch,
    argument,
    declare_required,
    flag,
    option,
)

traces = Commands()

_SCENES, _MADE_BY, _RUN, _SLIPS = "Scenes", "Who makes them", "The run", "Slips of stand-ins"


SplitName = Annotated[
    Literal["train", "held-out"], typer.Option("--split", rich_help_panel=_SCENES, help="Which places and designs.")
]


Answers = Annotated[
    Path | None,
    typer.Option(
        "--answers",
        metavar="FILE",
        rich_help_panel=_RUN,
        show_default="RUN/answers.sqlite",
        help="With --data: the file that keeps every answer of models and services.",
    ),
]


BaseUrl = Annotated[
    str | None,
    typer.Option(metavar="URL", rich_help_panel=_MADE_BY, help="Where models are served, if not at the usual place."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", rich_help_panel=_MADE_BY, help="Ask models without asking first.")]
Processes = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=_RUN, show_default="one a core, 4 at most", help="Processes here, 1 GB each."),
]


StoreFolder = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a store of trajectories.")]


class SceneOptions(JsonOptions):
    """The options of every synthesis."""

    out: Path | None = option(
        None,
        "The run's folder; an existing run is resumed.",
        "--out",
        "-o",
        metavar="RUN/",
        show_default="STORE.run, beside the store",
    )
    count: int | None = option(None, "So many scenes, designed and drawn on the spot.", panel=_SCENES, min=1)
    scenes: Path | None = option(None, "Scenes of geosleuth world make instead.", panel=_SCENES, metavar="FOLDER")
    seed: int = option(1, "The seed of the scenes.", panel=_SCENES)
    first: int = option(0, "The number of the first scene.", panel=_SCENES, min=0)
    split: SplitName = "train"
    world: int = option(1, "Which world.", panel=_SCENES, metavar="SEED")
    noise: Literal["none", "chains", "homonyms", "both"] = option(
        "both", "Which names stand in several towns of the world.", panel=_SCENES
    )
    region: list[Path] = option([], "An added region of real businesses.", panel=_SCENES, metavar="FILE")
    web_pages: bool = flag("Scenes of a world with web pages; a quarter needs one.", panel=_SCENES)
    noise_seed: int = option(0, "The seed of slips and wording.", panel=_MADE_BY)
    prompts: PromptsFolder = None
    processes: Processes = None
    at_once: int = option(4, "Trajectories under way at once, where models are asked.", panel=_RUN, min=1)
    cluster: str | None = option(
        None, "Work on a Ray cluster: HOST:PORT, auto or local.", panel=_RUN, metavar="ADDRESS"
    )
    store: Path | None = option(None, "Put what is kept into this store when it ends.", panel=_RUN, metavar="STORE/")


class ModelOptions(SceneOptions):
    """The options of a synthesis by models, which photos may go through, too."""

    data: str | None = option(
        None,
        "Photos of a data set instead, as for geosleuth bench run; --count takes the first so many.",
        panel=_SCENES,
        metavar="SET",
    )
    web_search: WebSearch = None
    maps: Maps = None
    maps_url: MapsUrl = field(default_factory=list)
    allow: Allow = field(default_factory=list)
    answers: Answers = None
    offline: bool = flag("Ask nobody: repeat a run from the answers that it kept.", panel=_RUN)
    base_url: BaseUrl = None
    yes: Yes = False
    missed: float = option(0.08, "Lettering that is not noticed.", panel=_SLIPS)
    retry: Literal["errors"] | None = option(
        None, "Try those scenes again, and only those, whose model failed.", panel=_RUN
    )
    run_tokens: int | None = option(None, "Tokens of the whole run, at most.", panel=_RUN, min=1)
    run_usd: float | None = option(None, "US dollars of the whole run, at most.", panel=_RUN, min=0.0)


class SpotagentOptions(ModelOptions):
    """The options of ``spotagent``."""

    observer: str = option("stand-in", "Who describes pictures and crops.", panel=_MADE_BY, metavar="MODEL")
    caller: str = option("stand-in", "Who reads that, calls tools and answers.", panel=_MADE_BY, metavar="MODEL")
    within_km: float = option(5.0, "How far off an answer may be to be kept.")
    reasons: Annotated[
        bool,
        typer.Option(
            "--reasons/--any-reasons",
            help="Reject calls without Seen, Missing and Tool before them; that rule is ours, not the paper's.",
        ),
    ] = True
    tools: str | None = option(None, "The tools that are on; by default the method's own three.", metavar="NAME,…")
    bad_call: float = option(0.03, "Calls that can't be carried out.", panel=_SLIPS)


@traces.command()
def spotagent(options: SpotagentOptions) -> None:
    """Make trajectories as SpotAgent's authors did: one describes, one calls tools, and most are thrown away.

    Kept is what called every tool validly and with success, said why before each call, and answered within 5 km. What
    was rejected, and why, is printed as a table. Stand-ins start from the scene's clue boxes and slip at stated rates;
    the tools that they call are the real ones. Give the same command again to resume.

    Examples:

      geosleuth traces spotagent --count 6000 --out runs/spot/ --store trajectories/

      geosleuth traces spotagent --data mp16-pro:DIR --count 2000 --observer openai:gpt-5 --caller openai:gpt-5
      --web-search tavily --maps nominatim --allow api.tavily.com --allow nominatim.openstreetmap.org --out runs/real/

      geosleuth traces spotagent --scenes scenes/ --observer openai:gpt-5 --caller anthropic:claude-opus-4-1 --out run/
    """
    from geosleuth.lab.cli.handlers.traces import make

    make("spotagent", vars(options))


class GeovistaOptions(ModelOptions):
    """The options of ``geovista``."""

    proposer: str = option("stand-in", "Who proposes boxes and queries, and judges.", panel=_MADE_BY, metavar="MODEL")


@traces.command()
def geovista(options: GeovistaOptions) -> None:
    """Make trajectories as GeoVista's authors did: propose boxes and queries with reasons, carry them out, assemble.

    Answers are not held against the truth: the pattern is what is to be learned. Turns are bounded by the method.

    Example: geosleuth traces geovista --count 2000 --out runs/vista/ --store trajectories/
    """
    from geosleuth.lab.cli.handlers.traces import make

    make("geovista", vars(options))


@traces.command()
def geoagent(options: SceneOptions) -> None:
    """Write GeoAgent's records from what scenes show: three levels with clues, reasoning and honest uncertainty.

    What can't be read without zooming does not count, and a level that nothing legible reaches stays open.

    Example: geosleuth traces geoagent --count 10000 --out runs/records/ --store records/
    """
    from geosleuth.lab.cli.handlers.traces import make

    make("geoagent", vars(options))


class NotesOptions(JsonOptions):
    """The options of ``import-notes``."""

    notes: Path = argument("CSV or JSONL: a photo, its country, and a person's notes.", metavar="NOTES")
    out: Path = declare_required("The store that gets the records.", "--out", "-o", metavar="STORE/")
    photos: Path | None = option(None, "Where the photos are, if not beside the notes.", metavar="FOLDER")
    model: str | None = option(
        None, "Who words the notes; by default rules sort the person's own sentences.", metavar="MODEL"
    )
    base_url: BaseUrl = None
    prompts: PromptsFolder = None
    split: SplitName = "train"
    yes: Yes = False


@traces.command("import-notes")
def import_notes(options: NotesOptions) -> None:
    """Bring people's own notes on photos into the form of GeoAgent's records.

    Columns: file and country, which are mandatory; region, precise (or city, address), notes, country_notes,
    region_notes, precise_notes, lat and lon, which are not. Conclusions stay the person's own; a model rewords notes.

    Examples:

      geosleuth traces import-notes notes.csv --out records/

      geosleuth traces import-notes notes.jsonl --photos streets/ --model openai:gpt-5-mini --out records/
    """
    from geosleuth.lab.cli.handlers import traces as work

    work.import_notes_into(options.notes, options.out, vars(options), as_json=options.as_json)


@traces.command("import-photos")
def import_photos(
    photos: Annotated[
        str, typer.Argument(metavar="SET", help="Photos with points: NAME:PATH, or a table with image, lat, lon.")
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="STORE/", help="The store that gets the chats.")],
    method: Annotated[
        Literal["spotagent", "twm"], typer.Option(help="Whose question and answer form, without tools.")
    ] = "spotagent",
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only N photos, drawn at random and always the same.")
    ] = None,
    prompts: PromptsFolder = None,
    split: SplitName = "train",
    as_json: JsonFlag = False,
) -> None:
    """Make chats of photos with points: one question, and the true place as its answer.

    SpotAgent's fine-tuning has this form (photo, latitude, longitude). Names that a set does not have are the atlas's.
    Test parts of data sets are refused.

    Examples:

      geosleuth traces import-photos mp16-pro:DIR --limit 200000 --out chats/

      geosleuth traces import-photos photos.csv --out chats/
    """
    from geosleuth.lab.cli.handlers import traces as work

    words = {"method": method, "prompts": prompts, "limit": limit, "split": split}
    work.import_photos_into(photos, out, words, as_json=as_json)


@traces.command()
def check(store: StoreFolder, *, as_json: JsonFlag = False) -> None:
    """Go through a whole store: checksums, rows, pictures. Exit code 1 where something is wrong.

    Example: geosleuth traces check trajectories/
    """
    from geosleuth.lab.cli.handlers import traces as work

    if not work.check(store, as_json=as_json):
        raise typer.Exit(1)


@traces.command()
def card(
    store: StoreFolder,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write it there, and not on stdout.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Print the data card of a store, counted again: sources, licence, splits, rejections, tools, lengths, faults.

    Examples:

      geosleuth traces card trajectories/

      geosleuth traces card trajectories/ --out README.md
    """
    from geosleuth.lab.cli.handlers import traces as work

    work.show_card(store, out, overwrite=overwrite, as_json=as_json)


@traces.command()
def export(
    store: StoreFolder,
    *,
    to: Annotated[Literal["trl", "ms-swift", "llama-factory"], typer.Option(help="Who is to read it.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write to.")],
    split: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this split; by default each in a file of its own.")
    ] = None,
    absolute: Annotated[
        bool, typer.Option("--absolute", help="Name pictures by whole paths, for trainers started elsewhere.")
    ] = False,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Write a store as the rows that a trainer reads, with the pictures beside them.

    Pictures are second names of the store's own files where the disk allows it.

    Examples:

      geosleuth traces export trajectories/ --to trl --out sft/

      geosleuth traces export trajectories/ --to llama-factory --split train --out LLaMA-Factory/data/geo
    """
    from geosleuth.lab.cli.handlers import traces as work

    work.export(store, to, out, split, absolute=absolute, overwrite=overwrite, as_json=as_json)


@traces.command("filter")
def filter_(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of bench runs, files of recorded answers, tables of distances."),
    ],
    *,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where lists and table go.")],
    tries: Annotated[
        int | None,
        typer.Option(min=2, metavar="K", help="Use exactly K tries a photo; photos with fewer are left out."),
    ] = None,
    parser: Annotated[
        Literal["lenient", "strict"], typer.Option(help="How replies in files of recorded answers are read.")
    ] = "lenient",
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Find the photos that some tries place within 1, 25, 200 or 750 km and some don't, and the two-phase curriculum.

    A photo that every try or no try gets right teaches nothing. Several runs over the same photos are several tries; so
    are the tries of one run with --parallel. A table of distances is what geosleuth train tries writes.

    Examples:

      geosleuth traces filter runs/try-1 runs/try-2 runs/try-3 --out filtered/

      geosleuth traces filter tries.jsonl --tries 8 --out filtered/
    """
    from geosleuth.lab.cli.handlers import traces as work

    work.filter_tries(runs, out, tries, parser, overwrite=overwrite, as_json=as_json)
