"""``geosleuth bench judge``: right country, region and city by rule, and by a model where the rule can't tell."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from geosleuth.app.bench_options import JsonFlag, Parser
from geosleuth.app.thinking_options import MODEL, BaseUrl, OfflineFlag, ReplyTokens, Seconds, Tokens, Usd


def judge(
    file: Annotated[Path, typer.Argument(metavar="FILE|RUN", help="Records (.jsonl, .csv), or the folder of a run.")],
    *,
    model: Annotated[str, typer.Option(metavar="NAME", rich_help_panel=MODEL, help="Who judges, named as for locate.")],
    base_url: BaseUrl = None,
    parser: Parser = "lenient",
    ask: Annotated[
        Literal["undecided", "unmatched"],
        typer.Option(help="Ask what the rule can't decide, or everything that it does not match."),
    ] = "undecided",
    sample: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Also ask so many names that the rule is sure of, to measure agreement."),
    ] = 100,
    seed: Annotated[int, typer.Option(help="Which ones those are.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, max=256, metavar="N", help="How many questions at once.")] = 4,
    questions: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, metavar="N", rich_help_panel=MODEL, help="Questions, at most."),
    ] = None,
    tokens: Tokens = None,
    usd: Usd = None,
    seconds: Seconds = None,
    reply_tokens: ReplyTokens = None,
    retry_unreadable: Annotated[
        bool, typer.Option("--retry-unreadable", help="Ask again where a kept reply is neither yes nor no.")
    ] = False,
    cache: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", show_default="in the cache folder", help="Where verdicts are kept."),
    ] = None,
    out: Annotated[
        list[Path],
        typer.Option("--out", "-o", help="Also write the figures (.json) or every verdict (.csv). May be repeated."),
    ] = [],  # noqa: B006
    offline: OfflineFlag = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Names may be sent to the model's host; don't ask.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Judge names of places: by rule first, then by a model what the rule can't decide.

    Every verdict is kept on disk: the same command again asks nothing that was answered. What is sent are names of
    places, never photos.

    Examples:

      geosleuth bench judge answers.jsonl --model openai:gpt-5-mini --yes

      geosleuth bench judge runs/one/ --model ollama:qwen3 --sample 200 --out verdicts.csv

      geosleuth bench judge answers.jsonl --model hf:weights/judge --offline --json
    """
    from geosleuth.app.bench_judge_work import JudgeRequest, judge_file

    judge_file(
        file,
        JudgeRequest(
            model=model,
            base_url=base_url,
            parser=parser,
            ask=ask,
            sample=sample,
            seed=seed,
            jobs=jobs,
            questions=questions,
            tokens=tokens,
            usd=usd,
            seconds=seconds,
            reply_tokens=reply_tokens,
            retry_unreadable=retry_unreadable,
            cache=cache,
            out=tuple(out),
            offline=offline,
            yes=yes,
        ),
        as_json=as_json,
    )
