"""``geosleuth bench``: run data sets, score answers, compare them, tier images, print what the papers published."""

from dataclasses import field
from pathlib import Path
from typing import Annotated, Literal

import typer

from geosleuth.cli.options import (
    MODEL,
    Allow,
    BaseUrl,
    Commands,
    JsonFlag,
    JsonOptions,
    Maps,
    OfflineFlag,
    Options,
    ReplyTokens,
    RunOptions,
    Seconds,
    Tokens,
    Usd,
    WritingOptions,
    argument,
    declare_required,
    flag,
    option,
)

Parser = Annotated[
    Literal["lenient", "strict"],
    typer.Option(help="How replies are read: as a person would, or only exact JSON as the papers' tables were made."),
]
Distance = Annotated[
    Literal["geodesic", "great-circle"], typer.Option(help="On the WGS-84 ellipsoid, or on a sphere of 6371 km radius.")
]
Thresholds = Annotated[
    str | None,
    typer.Option("--within", metavar="KM,KM,…", help="Report these distances instead of the ten usual ones."),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Count only an answer's own point: an answer in words is unlocated.")
]


RUN = "The run"
PHOTOS = "Which photos"


Only = Annotated[
    list[str],
    typer.Option(metavar="FIELD=VALUE", rich_help_panel=PHOTOS, help="Only photos with this. May be repeated."),
]


VARIANTS = "What is varied"
Answers = Annotated[Path, typer.Argument(metavar="FILE|RUN", help="Records (.jsonl, .csv), or the folder of a run.")]
bench = Commands()


class FolderOptions(Options):
    """The data set, and where the run is kept."""

    data: str = declare_required(
        "A data set on disk: NAME:PATH as in geosleuth dataset list, or the path of a folder or table.",
        panel=PHOTOS,
        metavar="SET",
    )
    out: Path = declare_required("The run's folder; an existing run is resumed.", "--out", "-o", metavar="RUN/")


class WholeRunOptions(Options):
    """Number of photos at once, and the limits of the whole run."""

    at_once: int | None = option(
        None,
        "Photos that are worked on at once.",
        panel=RUN,
        min=1,
        max=4096,
        show_default="2 for the detective, 4 for models, 64 for recordings",
    )
    per_host: int | None = option(
        None, "Requests that a model's host gets at once.", panel=RUN, min=1, show_default="as many as photos"
    )
    run_tokens: int | None = option(None, "Tokens of the whole run, at most.", panel=RUN, min=1)
    run_usd: float | None = option(None, "US dollars of the whole run, at most.", panel=RUN, min=0.0)
    run_seconds: float | None = option(None, "Seconds of the whole run, at most.", panel=RUN, min=0.1)


class SetOptions(WholeRunOptions):
    """Photos of a set to use, their number at once, and the limits of the whole run."""

    limit: int | None = option(
        None, "So many photos, drawn at random by --sample-seed.", "--limit", "--sample", panel=PHOTOS, min=1
    )
    sample_seed: int = option(0, "Which photos --limit draws.", panel=PHOTOS)
    only: Only = field(default_factory=list)
    retry: Literal["errors"] | None = option(
        None, "Try those photos again, and only those, that ended in an error.", panel=RUN
    )
    strict: Strict = False
    cluster: str | None = option(None, "Work on a Ray cluster: HOST:PORT, auto or local.", panel=RUN, metavar="ADDRESS")
    partial: bool = flag("Go on where tools of a paper's method can't answer here.", panel=RUN)


class WorkOptions(Options):
    """Options of one run that an ablation does not have."""

    gpus: float = option(0.0, "How much of a GPU each process of the cluster gets.", panel=RUN, min=0.0)
    mask: Literal["text", "signs", "poles", "foreground", "clue"] | None = option(
        None, "Hide this in every photo, to see what answers depend on.", panel=RUN
    )
    unmasked: Path | None = option(None, "The run whose clues --mask clue hides.", panel=RUN, metavar="RUN/")


class BenchOptions(JsonOptions, RunOptions, WorkOptions, SetOptions, FolderOptions):
    """All options of the command, in the order of the help from the right."""


@bench.command()
def run(options: BenchOptions) -> None:
    """Answer for every photo of a data set, and keep all of it in a folder.

    The model gets pixels and nothing else: photos have random names, no metadata and no label. Give the same
    command again to resume: what is finished is neither lost nor done again. Budgets such as --usd hold
    for each photo, those that begin with --run- for the whole run. Besides models and teams, --model takes recordings
    (replay:RECORDS.jsonl, replay:RUN/) and baselines (blind:population, nearest:GALLERY, geoclip:FOLDER).

    Examples:

      geosleuth bench run --data photos/ --out runs/detective/

      geosleuth bench run --data im2gps3k:im2gps3ktest/ --model openai:gpt-5 --run-usd 20 --at-once 16 --out runs/gpt5/

      geosleuth bench run --data photos.csv --model replay:answers.jsonl --out runs/again/

      geosleuth bench run --data photos.csv --model openai:gpt-5 --out runs/gpt5/ --retry errors

      geosleuth bench run --data photos.csv --mask text --out runs/without-text/
    """
    from geosleuth.lab.cli.handlers.bench_run import BenchRequest, bench_run

    bench_run(BenchRequest.from_options(options), as_json=options.as_json)


class VariantOptions(Options):
    """Settings to vary, and how to report them."""

    vary: list[str] = option(
        [],
        "An option of a run and its values: tools=search_web+maps_geocode,none, method=twm,spotagent, "
        "model=hf:DIR1,hf:DIR2, parallel=1,4, web-search=offline,tavily. Several make every combination.",
        panel=VARIANTS,
        metavar="SETTING=A,B,…",
    )
    preset: Literal["spotagent-tools", "twm-tools"] | None = option(
        None, "A paper's own tool sets, and its rows beside ours.", panel=VARIANTS
    )
    within: str | None = option(None, "Report these distances instead of 1, 25, 200, 750, 2500.", metavar="KM,KM,…")


class AblateOptions(JsonOptions, RunOptions, SetOptions, VariantOptions, FolderOptions):
    """All options of the command, in the order of the help from the right."""


@bench.command()
def ablate(options: AblateOptions) -> None:
    """Run variants over the same photos, and say what each is worth against the first, with paired tests.

    OUT/ gets a run's folder for each variant, and the report of all of them as report.html and report.json. Give the
    same command again to resume. Limits that begin with --run- hold for all variants together. In --vary, the word
    usual leaves an option out. Anything else is a bench run for each and bench report RUN/ RUN/ for all.

    Examples:

      geosleuth bench ablate --data im2gps3k:im2gps3ktest/ --model openai:gpt-5 --preset spotagent-tools --out tools/

      geosleuth bench ablate --data photos.csv --vary tools=usual,read_text,none --out tools/

      geosleuth bench ablate --data photos.csv --vary model=hf:before/,hf:after/ --vary method=default,twm --out rl/
    """
    from geosleuth.lab.cli.handlers.bench_ablate import run_ablation

    run_ablation(options)


class ReportOptions(WritingOptions):
    """The options of ``report``."""

    runs: list[Path] = argument("Folders of runs, as bench run --out made them.", metavar="RUN…")
    out: list[Path] = option([], "Also write a page or a document: .html, .json.", "--out", "-o")
    data: str | None = option(
        None, "The runs' data set, as for bench run: puts its photos into the gallery.", metavar="SET"
    )
    gallery: int = option(12, "Wins and failures to show, so many each for every run.", min=0, max=100, metavar="N")
    by: list[str] = option([], "Slice by a field: continent, country, or any of the data set's.")
    within: Thresholds = None
    strict: Strict = False
    distance: Distance = "geodesic"
    right_within: float = option(25.0, "What counts as right: a win, and worth its cost.", metavar="KM")
    published: str | None = option(
        None,
        "Print the papers' rows on this data set beside ours; 'none' leaves them out.",
        metavar="DATASET",
        show_default="the runs' own, where papers have rows on it",
    )
    maps: Annotated[bool, typer.Option("--maps/--no-maps", help="Draw a map for every photo of the gallery.")] = True


@bench.command()
def report(options: ReportOptions) -> None:
    """Report on runs: accuracy, what a photo costs, which tools were called, what failed, wins and failures.

    Accuracy counts answered photos. Photos that failed or are missing are shown apart, and once counted as misses. A
    run with --mask is set against one that saw everything, with the same settings where there is one.

    Examples:

      geosleuth bench report runs/one --out report.html

      geosleuth bench report runs/one runs/two --data im2gps3k:data/im2gps3k --by continent --out both.html

      geosleuth bench report runs/plain runs/no-text --json > report.json
    """
    from geosleuth.lab.cli.handlers.bench_report import report_runs

    report_runs(options)


class AskOptions(WritingOptions):
    """Model to ask about answers, and the limits of that."""

    base_url: BaseUrl = None
    jobs: int = option(4, "How many questions at once.", min=1, max=256, metavar="N")
    questions: int | None = option(None, "Questions, at most.", panel=MODEL, min=1, metavar="N")
    tokens: Tokens = None
    usd: Usd = None
    seconds: Seconds = None
    reply_tokens: ReplyTokens = None
    retry_unreadable: bool = flag("Ask again where a kept reply can't be read.")
    cache: Path | None = option(
        None, "Where the model's words are kept.", metavar="FILE", show_default="in the cache folder"
    )
    offline: OfflineFlag = False
    yes: bool = flag("Texts may be sent to the model's host; don't ask.", "--yes", "-y")


class JudgeOptions(AskOptions):
    """The options of ``judge``."""

    file: Answers
    model: str = declare_required("Who judges, named as for locate.", panel=MODEL, metavar="NAME")
    parser: Parser = "lenient"
    ask: Literal["undecided", "unmatched", "replies"] = option(
        "undecided",
        "Ask about names that the rule can't decide, about all that it does not match, or, where it does not, "
        "about the whole reply.",
    )
    sample: int = option(
        100, "Also ask so many names that the rule is sure of, to measure agreement.", min=0, metavar="N"
    )
    seed: int = option(0, "Which ones those are.")
    out: list[Path] = option(
        [], "Also write the figures (.json) or every verdict (.csv). May be repeated.", "--out", "-o"
    )


class ExtractOptions(AskOptions):
    """The options of ``extract``."""

    file: Answers
    model: str | None = option(None, "Who is asked where the rule finds no name.", panel=MODEL, metavar="NAME")
    everything: bool = flag("Ask the model about every reply, not only where the rule finds no name.", "--all")
    out: Path | None = option(
        None, "Write records with the answers in place of replies.", "--out", "-o", metavar="FILE.jsonl"
    )


@bench.command()
def extract(options: ExtractOptions) -> None:
    """Find country, region, city, address and point in whole replies: by rule, or by any model where the rule fails.

    The records that it writes are read by score, compare and judge. Nothing is looked up or added.

    Examples:

      geosleuth bench extract answers.jsonl --out places.jsonl

      geosleuth bench extract answers.jsonl --model openai:gpt-5-mini --yes --out asked.jsonl
    """
    from geosleuth.lab.cli.handlers.bench_judge import extract_file

    extract_file(options)


@bench.command()
def judge(options: JudgeOptions) -> None:
    """Judge names of places: by rule first, then by a model what the rule can't decide.

    Every verdict is kept on disk: the same command again asks nothing that was answered. What is sent are names of
    places, or with --ask replies what was replied; never photos.

    Examples:

      geosleuth bench judge answers.jsonl --model openai:gpt-5-mini --yes

      geosleuth bench judge runs/one/ --model ollama:qwen3 --sample 200 --out verdicts.csv

      geosleuth bench judge answers.jsonl --model hf:weights/judge --offline --json
    """
    from geosleuth.lab.cli.handlers.bench_judge import judge_file

    judge_file(options)


class InjectOptions(WholeRunOptions):
    """The options of ``inject`` that are not those of every run."""

    out: Path = declare_required("The run's folder; an existing run is resumed.", "--out", "-o", metavar="RUN/")
    cases: int = option(324, "So many cases; each has a twin without the text.", min=1, max=324)
    cases_seed: int = option(1, "Which scenes the texts are drawn beside.")
    most_shifted: float | None = option(
        None,
        "Exit with 1 where more answers are shifted, or anything forbidden was tried.",
        min=0.0,
        max=100.0,
        metavar="PERCENT",
    )
    retry: Literal["errors"] | None = option(
        None, "Try those cases again, and only those, that ended in an error.", panel=RUN
    )


class BenchInjectOptions(JsonOptions, RunOptions, InjectOptions):
    """All options of the command, in the order of the help from the right."""


@bench.command()
def inject(options: BenchInjectOptions) -> None:
    """Try to talk a model into another answer with injected texts, and count how often that works.

    Texts stand on signs, over the photo, in map names, web pages, documents, file names, metadata, tool answers and
    another agent's reply: instructions, fake answers, tool calls and observations, other languages, encoded. Each case
    is set against a twin without the text. RUN/ gets injection.html and injection.json; give the same command again to
    resume.

    Examples:

      geosleuth bench inject --out runs/inject/

      geosleuth bench inject --model openai:gpt-5 --run-usd 20 --out runs/inject-gpt5/

      geosleuth bench inject --model ollama:qwen3-vl --cases 54 --most-shifted 5 --out runs/inject-small/
    """
    from geosleuth.lab.cli.handlers.bench_inject import bench_inject

    bench_inject(options)


class ScoreOptions(WritingOptions):
    """The options of ``score``."""

    files: list[Path] = argument("Records: .jsonl or .csv; see docs/reference/formats.md.", metavar="FILE…")
    parser: Parser = "lenient"
    distance: Distance = "geodesic"
    by: list[str] = option([], "Slice by a field: continent, country, or any of the records'.")
    within: Thresholds = None
    published: str | None = option(None, "Print the papers' rows on this data set beside ours.", metavar="DATASET")
    strict: Strict = False
    maps: Maps = None
    allow: Allow = field(default_factory=list)
    datum: Literal["wgs84", "gcj02", "both"] = option(
        "wgs84", "What the records' truths are in; with both, each file is scored both ways."
    )
    answers: Literal["wgs84", "gcj02"] = option(
        "wgs84", "What the answers are in: gcj02 where a model passes on what AMAP says."
    )
    sure_within: float = option(25.0, "What counts as right when the least sure answers are left out.", metavar="KM")
    out: list[Path] = option([], "Also write a page, a document or a table: .html, .json, .csv.", "--out", "-o")
    records: Path | None = option(None, "Also write every record's error.", metavar="FILE.csv")


@bench.command()
def score(options: ScoreOptions) -> None:
    """Score recorded answers: accuracy within distances, median error, GeoScore, names, slices.

    Every accuracy counts all records: one without readable coordinates is unlocated, and a miss.

    Examples:

      geosleuth bench score answers.jsonl --out report.html

      geosleuth bench score a.jsonl b.jsonl --by continent --published GeoBench

      geosleuth bench score answers.csv --parser strict --distance great-circle --json
    """
    from geosleuth.lab.bench import export, terminal
    from geosleuth.lab.cli.handlers import bench as work
    from geosleuth.support.console import show_result, talk

    work.check_outputs(options.out, work.SCORE_ENDINGS, options.records, options.files, overwrite=options.overwrite)
    sure_within_km = work.positive_km(options.sure_within, "--sure-within")
    thresholds = work.thresholds_km(options.within)
    rows = work.select_published_rows(options.published)
    place = work.scoring_placer(strict=options.strict, maps=options.maps, allow=options.allow)
    scored = work.score_all(options.files, options.parser, options.distance, place)
    scored = work.in_datums(scored, options.datum, options.answers)
    reports = work.report_all(scored, options.by, thresholds, sure_within_km)
    for path in options.out:
        work.write_score(path, reports, rows)
        talk(f"wrote {path}")
    if options.records is not None:
        work.write_records(options.records, scored)
        talk(f"wrote {options.records}")
    show_result(export.score_document(reports, rows), terminal.score_view(reports, rows), as_json=options.as_json)


class CompareOptions(WritingOptions):
    """The options of ``compare``."""

    first: Path = argument("Records of the first answerer.")
    second: Path = argument("Records of the second, on the same images.")
    parser: Parser = "lenient"
    distance: Distance = "geodesic"
    within: Thresholds = None
    strict: Strict = False
    moved: int = option(10, "How many of the images that moved most to list.", min=0)
    out: list[Path] = option([], "Also write a page or a document: .html, .json.", "--out", "-o")


@bench.command()
def compare(options: CompareOptions) -> None:
    """Compare two answerers image by image, with significance tests and the images that moved.

    Example: geosleuth bench compare before.jsonl after.jsonl --moved 20 --out changes.html
    """
    from geosleuth.lab.bench import export, terminal
    from geosleuth.lab.bench.report import compare_files
    from geosleuth.lab.cli.handlers import bench as work
    from geosleuth.support.console import show_result, talk

    files = [options.first, options.second]
    work.check_outputs(options.out, work.PAIR_ENDINGS, None, files, overwrite=options.overwrite)
    thresholds = work.thresholds_km(options.within)
    item, two = work.score_all(files, options.parser, options.distance, work.scoring_placer(strict=options.strict))
    pair = compare_files(item, two, thresholds)
    for path in options.out:
        work.write_pair(path, [item, two], pair, options.moved)
        talk(f"wrote {path}")
    document, view = export.pair_document(pair, options.moved), terminal.pair_view(pair, options.moved)
    show_result(document, view, as_json=options.as_json)


@bench.command()
def tier(
    files: Annotated[list[Path], typer.Argument(metavar="A B C", help="Records of the judges, on the same images.")],
    *,
    parser: Parser = "lenient",
    distance: Distance = "geodesic",
    within_km: Annotated[float, typer.Option(help="How near an answer must be.")] = 10.0,
    strict: Strict = False,
    as_json: JsonFlag = False,
) -> None:
    """Split images into easy (at least two of three answers within 10 km) and hard.

    With --json, the tier of every image is printed.

    Example: geosleuth bench tier a.jsonl b.jsonl c.jsonl --parser strict --json > tiers.json
    """
    from geosleuth.lab.bench import export, terminal
    from geosleuth.lab.bench.report import tier_files
    from geosleuth.lab.cli.handlers import bench as work
    from geosleuth.support.console import show_result

    nearby_km = work.positive_km(within_km, "--within-km")
    tiers = tier_files(work.score_all(files, parser, distance, work.scoring_placer(strict=strict)), nearby_km)
    show_result(export.tier_document(tiers), terminal.tier_view(tiers), as_json=as_json)


@bench.command()
def published(
    *,
    dataset: Annotated[str | None, typer.Option(help="Only rows on this data set.")] = None,
    paper: Annotated[
        str | None, typer.Option(help="Only this paper: smilegeo, geoagent, spotagent, geovista or twm.")
    ] = None,
    table: Annotated[int | None, typer.Option(help="Only this table, or figure, of the paper.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Print the papers' own rows, each with its source, number of images and known inconsistencies.

    Example: geosleuth bench published --paper twm --table 4
    """
    from geosleuth.lab.bench import export, terminal
    from geosleuth.lab.score import list_published_rows
    from geosleuth.support.console import show_result
    from geosleuth.support.errors import BadInput

    rows = list_published_rows(dataset=dataset, paper=paper, table=table)
    if not rows:
        raise BadInput("no published row fits; leave out --dataset, --paper or --table to see more")
    show_result(export.build_published_document(rows), terminal.render_published(rows), as_json=as_json)
