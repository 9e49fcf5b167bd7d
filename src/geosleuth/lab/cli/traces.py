"""``geosleuth traces``: trajectories to learn from, made, kept in stores, and handed to trainers."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import typer

from geosleuth.cli.options import Allow, JsonFlag, Maps, MapsUrl, Overwrite, PromptsFolder, WebSearch, takes

traces = typer.Typer(no_args_is_help=True)

_SCENES, _MADE_BY, _RUN, _SLIPS = "Scenes", "Who makes them", "The run", "Slips of stand-ins"
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        metavar="RUN/",
        show_default="STORE.run, beside the store",
        help="The run's folder; an existing run is resumed.",
    ),
]
Count = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=_SCENES, help="So many scenes, designed and drawn on the spot."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--scenes", metavar="FOLDER", rich_help_panel=_SCENES, help="Scenes of geosleuth world make instead."),
]
SceneSeed = Annotated[int, typer.Option("--seed", rich_help_panel=_SCENES, help="The seed of the scenes.")]
First = Annotated[int, typer.Option(min=0, rich_help_panel=_SCENES, help="The number of the first scene.")]
SplitName = Annotated[
    Literal["train", "held-out"], typer.Option("--split", rich_help_panel=_SCENES, help="Which places and designs.")
]
WorldSeed = Annotated[int, typer.Option("--world", metavar="SEED", rich_help_panel=_SCENES, help="Which world.")]
NoiseName = Annotated[
    Literal["none", "chains", "homonyms", "both"],
    typer.Option("--noise", rich_help_panel=_SCENES, help="Which names stand in several towns of the world."),
]
Regions = Annotated[
    list[Path],
    typer.Option("--region", metavar="FILE", rich_help_panel=_SCENES, help="An added region of real businesses."),
]
WebPages = Annotated[
    bool,
    typer.Option("--web-pages", rich_help_panel=_SCENES, help="Scenes of a world with web pages; a quarter needs one."),
]
PhotoData = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="SET",
        rich_help_panel=_SCENES,
        help="Photos of a data set instead, as for geosleuth bench run; --count takes the first so many.",
    ),
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
OnlyRecorded = Annotated[
    bool,
    typer.Option("--offline", rich_help_panel=_RUN, help="Ask nobody: repeat a run from the answers that it kept."),
]
NoiseSeed = Annotated[
    int, typer.Option("--noise-seed", rich_help_panel=_MADE_BY, help="The seed of slips and wording.")
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
AtOnce = Annotated[
    int, typer.Option(min=1, rich_help_panel=_RUN, help="Trajectories under way at once, where models are asked.")
]
RetryErrors = Annotated[
    Literal["errors"] | None,
    typer.Option("--retry", rich_help_panel=_RUN, help="Try those scenes again, and only those, whose model failed."),
]
RunTokens = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=_RUN, help="Tokens of the whole run, at most."),
]
RunUsd = Annotated[
    float | None,
    typer.Option(min=0.0, rich_help_panel=_RUN, help="US dollars of the whole run, at most."),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", rich_help_panel=_RUN, help="Work on a Ray cluster: HOST:PORT, auto or local."),
]
Store = Annotated[
    Path | None,
    typer.Option(metavar="STORE/", rich_help_panel=_RUN, help="Put what is kept into this store when it ends."),
]
Missed = Annotated[float, typer.Option(rich_help_panel=_SLIPS, help="Lettering that is not noticed.")]
BadCall = Annotated[float, typer.Option(rich_help_panel=_SLIPS, help="Calls that can't be carried out.")]

StoreFolder = Annotated[Path, typer.Argument(metavar="STORE", help="The folder of a store of trajectories.")]


@dataclass(frozen=True, kw_only=True)
class SceneOptions:
    """The options of every synthesis."""

    out: Out = None
    count: Count = None
    scenes: Folder = None
    seed: SceneSeed = 1
    first: First = 0
    split: SplitName = "train"
    world: WorldSeed = 1
    noise: NoiseName = "both"
    region: Regions = field(default_factory=list)
    web_pages: WebPages = False
    noise_seed: NoiseSeed = 0
    prompts: PromptsFolder = None
    processes: Processes = None
    at_once: AtOnce = 4
    cluster: Cluster = None
    store: Store = None
    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class ModelOptions(SceneOptions):
    """The options of a synthesis by models, which photos may go through, too."""

    data: PhotoData = None
    web_search: WebSearch = None
    maps: Maps = None
    maps_url: MapsUrl = field(default_factory=list)
    allow: Allow = field(default_factory=list)
    answers: Answers = None
    offline: OnlyRecorded = False
    base_url: BaseUrl = None
    yes: Yes = False
    missed: Missed = 0.08
    retry: RetryErrors = None
    run_tokens: RunTokens = None
    run_usd: RunUsd = None


@dataclass(frozen=True, kw_only=True)
class SpotagentOptions(ModelOptions):
    """The options of ``spotagent``."""

    observer: Annotated[
        str, typer.Option(metavar="MODEL", rich_help_panel=_MADE_BY, help="Who describes pictures and crops.")
    ] = "stand-in"
    caller: Annotated[
        str, typer.Option(metavar="MODEL", rich_help_panel=_MADE_BY, help="Who reads that, calls tools and answers.")
    ] = "stand-in"
    within_km: Annotated[float, typer.Option(help="How far off an answer may be to be kept.")] = 5.0
    reasons: Annotated[
        bool,
        typer.Option(
            "--reasons/--any-reasons",
            help="Reject calls without Seen, Missing and Tool before them; that rule is ours, not the paper's.",
        ),
    ] = True
    tools: Annotated[
        str | None,
        typer.Option(metavar="NAME,…", help="The tools that are on; by default the method's own three."),
    ] = None
    bad_call: BadCall = 0.03


@traces.command()
@takes(SpotagentOptions)
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


@dataclass(frozen=True, kw_only=True)
class GeovistaOptions(ModelOptions):
    """The options of ``geovista``."""

    proposer: Annotated[
        str, typer.Option(metavar="MODEL", rich_help_panel=_MADE_BY, help="Who proposes boxes and queries, and judges.")
    ] = "stand-in"


@traces.command()
@takes(GeovistaOptions)
def geovista(options: GeovistaOptions) -> None:
    """Make trajectories as GeoVista's authors did: propose boxes and queries with reasons, carry them out, assemble.

    Answers are not held against the truth: the pattern is what is to be learned. Turns are bounded by the method.

    Example: geosleuth traces geovista --count 2000 --out runs/vista/ --store trajectories/
    """
    from geosleuth.lab.cli.handlers.traces import make

    make("geovista", vars(options))


@traces.command()
@takes(SceneOptions)
def geoagent(options: SceneOptions) -> None:
    """Write GeoAgent's records from what scenes show: three levels with clues, reasoning and honest uncertainty.

    What can't be read without zooming does not count, and a level that nothing legible reaches stays open.

    Example: geosleuth traces geoagent --count 10000 --out runs/records/ --store records/
    """
    from geosleuth.lab.cli.handlers.traces import make

    make("geoagent", vars(options))


@dataclass(frozen=True, kw_only=True)
class NotesOptions:
    """The options of ``import-notes``."""

    notes: Annotated[
        Path, typer.Argument(metavar="NOTES", help="CSV or JSONL: a photo, its country, and a person's notes.")
    ]
    out: Annotated[Path, typer.Option("--out", "-o", metavar="STORE/", help="The store that gets the records.")]
    photos: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where the photos are, if not beside the notes."),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Who words the notes; by default rules sort the person's own sentences."),
    ] = None
    base_url: BaseUrl = None
    prompts: PromptsFolder = None
    split: SplitName = "train"
    yes: Yes = False
    as_json: JsonFlag = False


@traces.command("import-notes")
@takes(NotesOptions)
def import_notes(options: NotesOptions) -> None:
    """Bring people's own notes on photos into the form of GeoAgent's records.

    Columns: file and country, which are mandatory; region, precise (or city, address), notes, country_notes,
    region_notes, precise_notes, lat and lon, which are not. Conclusions stay the person's own, whoever rewords them.

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
        int | None,
        typer.Option(min=1, metavar="N", help="Only N photos, drawn at random and always the same."),
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


def check(store: StoreFolder, *, as_json: JsonFlag = False) -> None:
    """Go through a whole store: checksums, rows, pictures. Exit code 1 where something is wrong.

    Example: geosleuth traces check trajectories/
    """
    from geosleuth.lab.cli.handlers import traces as work

    if not work.check(store, as_json=as_json):
        raise typer.Exit(1)


def card(
    store: StoreFolder,
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Write it there, and not on stdout."),
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


def export(
    store: StoreFolder,
    *,
    to: Annotated[Literal["trl", "ms-swift", "llama-factory"], typer.Option(help="Who is to read it.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The folder to write to.")],
    split: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only this split; by default each in a file of its own."),
    ] = None,
    absolute: Annotated[
        bool, typer.Option("--absolute", help="Name pictures by whole paths, for trainers started elsewhere.")
    ] = False,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Write a store as the rows that a trainer reads, with the pictures beside them.

    Pictures are second names of the store's own
    files where the disk allows it.

    Examples:

      geosleuth traces export trajectories/ --to trl --out sft/

      geosleuth traces export trajectories/ --to llama-factory --split train --out LLaMA-Factory/data/geo
    """
    from geosleuth.lab.cli.handlers import traces as work

    work.export(store, to, out, split, absolute=absolute, overwrite=overwrite, as_json=as_json)


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


for _command in (check, card, export):
    traces.command()(_command)
traces.command("filter")(filter_)
