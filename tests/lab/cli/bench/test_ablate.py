"""``geosleuth bench ablate`` and ``bench run --mask`` as they are typed."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from geosleuth.cli.commands import whole_app
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.cli.handlers.bench_ablate import apply_changes
from geosleuth.pipeline.request import LocateRequest
from openai_server import Reply, Request, chat_reply, openai_server

PARIS = '{"lat": 48.8566, "lon": 2.3522, "city": "Paris", "country": "France"}'
LYON = '{"lat": 45.76, "lon": 4.84, "city": "Lyon", "country": "France"}'
RED = (250, 10, 10)
SIGN = (80, 60, 160, 120)
pytestmark = pytest.mark.usefixtures("atlas_home")

MakeSet = Callable[[int], Path]


@pytest.fixture
def make_set(tmp_path: Path) -> MakeSet:
    """A table of photos from Paris, each with a red sign and a box around it, and two files of recorded answers."""

    def make(photos: int) -> Path:
        image = Image.new("RGB", (320, 240), (90, 90, 90))
        image.paste(RED, SIGN)
        stream = io.BytesIO()
        image.save(stream, "PNG")
        boxes = json.dumps([{"kind": "signs", "box": [0.25, 0.25, 0.5, 0.5]}]).replace('"', '""')
        rows, good, bad = ["id,image,lat,lon,country,boxes"], [], []
        for number in range(photos):
            (tmp_path / f"{number}.png").write_bytes(stream.getvalue())
            rows.append(f'p{number},{number}.png,48.8566,2.3522,France,"{boxes}"')
            head = {"id": f"p{number}", "truth": {"lat": 48.8566, "lon": 2.3522}}
            good.append(json.dumps({**head, "reply": PARIS}))
            bad.append(json.dumps({**head, "reply": LYON if number % 3 else PARIS}))
        (tmp_path / "good.jsonl").write_text("\n".join(good) + "\n")
        (tmp_path / "bad.jsonl").write_text("\n".join(bad) + "\n")
        table = tmp_path / "photos.csv"
        table.write_text("\n".join(rows) + "\n")
        return table

    return make


def bench(*words: object) -> Result:
    return CliRunner().invoke(whole_app(), ["bench", *map(str, words)])


def two_recordings(table: Path) -> tuple[str, str]:
    return "--vary", f"model=replay:{table.parent / 'good.jsonl'},replay:{table.parent / 'bad.jsonl'}"


def document(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def finished(out: Path) -> dict[str, int]:
    runs = {path.parent.name: RunFolder.read(path.parent) for path in sorted(out.glob("*/manifest.json"))}
    return {name: run.index.count("located", "unlocated", "failed") for name, run in runs.items()}


def hits(told: dict[str, Any]) -> list[int]:
    return [run["figures"]["accuracy"]["25"]["hits"] for run in told["runs"]]


def test_changes_options_as_a_variant_says() -> None:
    request = LocateRequest(tools="read_text", parallel=3, web_search="tavily")
    changed = apply_changes(request, {"tools": None, "parallel": None, "web-search": None, "team": "team.yaml"})
    assert (changed.tools, changed.parallel, changed.web_search, changed.team) == (None, 1, None, Path("team.yaml"))


def test_runs_compares_and_writes_two_variants(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(12), tmp_path / "out"
    told = document(bench("ablate", "--data", table, *two_recordings(table), "--out", out, "--json"))
    assert hits(told) == [12, 4]
    against = told["pairs"][0]["accuracy"]["25"]
    assert (against["only_first"], against["only_second"]) == (8, 0)
    assert against["p"] == pytest.approx(2 / 2**8)
    assert json.loads((out / "report.json").read_text()) == told
    assert "Side by side on the same photos" in (out / "report.html").read_text()


def test_each_variant_has_the_answers_of_a_run_of_its_own(make_set: MakeSet, tmp_path: Path) -> None:
    table, out, alone = make_set(9), tmp_path / "out", tmp_path / "alone"
    words = ("--data", table, *two_recordings(table), "--out", out)
    assert bench("ablate", *words).exit_code == 0
    assert (
        bench("run", "--data", table, "--model", f"replay:{table.parent / 'bad.jsonl'}", "--out", alone).exit_code == 0
    )
    (bad,) = out.glob("*bad.jsonl*")
    assert (bad / "results.jsonl").read_bytes() == (alone / "results.jsonl").read_bytes()
    before = {path: path.read_bytes() for path in out.glob("*/journal.jsonl")}
    assert bench("ablate", *words).exit_code == 0
    assert {path: path.read_bytes() for path in out.glob("*/journal.jsonl")} == before


def model_words(url: str) -> tuple[str, ...]:
    return "--model", "server:any", "--base-url", url, "--yes", "--allow", "127.0.0.1"


def test_stops_all_variants_at_a_limit_of_the_whole(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(6), tmp_path / "out"
    with openai_server([chat_reply(PARIS)]) as url:
        budget = ("--tools", "none", "--tokens", 150, "--at-once", 1)
        words = ("ablate", "--data", table, *model_words(url), "--vary", "method=default,twm", *budget, "--out", out)
        first = bench(*words, "--run-tokens", 1100)
        assert first.exit_code == 1, first.output
        assert "that limit is of all variants together" in first.output
        spent = sum(RunFolder.read(path.parent).index.spent.usage.input_tokens for path in out.glob("*/manifest.json"))
        assert 0 < spent <= 1100
        assert sum(finished(out).values()) < 12
        again = document(bench(*words, "--json"))
    assert finished(out) == {"default": 6, "twm": 6}
    assert again["pairs"][0]["n"] == 6


def test_a_papers_tool_sets_are_one_command(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(2), tmp_path / "out"
    with openai_server([chat_reply(PARIS)]) as url:
        result = bench("ablate", "--data", table, *model_words(url), "--preset", "spotagent-tools", "--out", out)
        offered = [_offered(request) for request in url.requests]
    assert result.exit_code == 0, result.output
    assert "Web Search (WS): search_web" in result.stderr
    assert "Full Toolset" in result.stdout
    assert "40.36" in result.stdout
    assert len(finished(out)) == 7
    zoom, web, code = "image_zoom_in_tool", "search_web", "maps_geocode"
    wanted = [{zoom, web, code}, {web}, {zoom}, {code}, {web, zoom}, {code, zoom}, {web, code}]
    assert sorted(map(sorted, offered)) == sorted(sorted(tools) for tools in wanted for _ in range(2))


def _offered(request: Request) -> set[str]:
    """The tools that a request tells the model of, as functions or in words."""
    text = request.body.decode()
    return {name for name in ("image_zoom_in_tool", "search_web", "maps_geocode") if name in text}


def test_a_model_that_fails_is_left_and_the_others_go_on(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(3), tmp_path / "out"
    missing = tmp_path / "few.jsonl"
    missing.write_text((tmp_path / "good.jsonl").read_text().splitlines()[0] + "\n")
    vary = f"model=replay:{tmp_path / 'good.jsonl'},replay:{missing}"
    result = bench("ablate", "--data", table, "--vary", vary, "--out", out, "--json")
    assert result.exit_code == 1
    assert "2 photos failed" in result.output
    assert json.loads(result.stdout)["pairs"][0]["n"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--vary", "tools=a,b", "--preset", "twm-tools"), "in one way"),
        ((), "in one way"),
        (("--preset", "twm-tools", "--tools", "none"), "leave out --tools"),
        (("--vary", "mask=none,clue"), "for clue see bench run --mask"),
        (("--vary", "mask=none,poles"), "variant poles: --mask poles: no photo of table has a box"),
        (("--vary", "tools=read_text,no_such_tool"), "variant no_such_tool: .*no tool"),
        (("--vary", "method=twm,default"), "variant twm: --method twm is for models"),
    ],
)
def test_wrong_words_are_told_before_anything_is_written(
    make_set: MakeSet, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    result = bench("ablate", "--data", make_set(2), *words, "--out", tmp_path / "out")
    assert result.exit_code != 0
    assert re.search(said, str(result.exception))
    assert not (tmp_path / "out").exists()


def seen_by_model(request: Request) -> "np.typing.NDArray[np.uint8]":
    return np.asarray(Image.open(io.BytesIO(request.images[0])).convert("RGB"))


def is_red(pixels: "np.typing.NDArray[np.uint8]") -> bool:
    return bool(((pixels[..., 0] > 200) & (pixels[..., 1] < 80)).any())


def test_a_masked_run_hides_the_boxes_of_the_data_set(make_set: MakeSet, tmp_path: Path) -> None:
    table = make_set(2)
    with openai_server([chat_reply(PARIS)]) as url:
        words = ("run", "--data", table, *model_words(url), "--tools", "none")
        assert bench(*words, "--out", tmp_path / "plain").exit_code == 0
        assert bench(*words, "--mask", "signs", "--out", tmp_path / "masked").exit_code == 0
        red = [is_red(seen_by_model(request)) for request in url.requests]
        refused = bench(*words, "--mask", "poles", "--out", tmp_path / "poles")
    assert red == [True, True, False, False]
    assert RunFolder.read(tmp_path / "masked").manifest.mask == "signs"
    assert "no photo of table has a box of that kind" in str(refused.exception)


def test_a_mask_can_be_varied(make_set: MakeSet, tmp_path: Path) -> None:
    table, out = make_set(2), tmp_path / "out"
    with openai_server([lambda request: chat_reply(PARIS if is_red(seen_by_model(request)) else LYON)]) as url:
        words = ("ablate", "--data", table, *model_words(url), "--tools", "none", "--vary", "mask=none,signs")
        told = document(bench(*words, "--out", out, "--json"))
    assert hits(told) == [2, 0]
    assert RunFolder.read(out / "signs").manifest.mask == "signs"
    assert RunFolder.read(out / "none").manifest.mask is None


def test_a_run_without_its_clues(make_set: MakeSet, tmp_path: Path) -> None:
    table = make_set(1)
    call = {"name": "image_zoom_in_tool", "arguments": {"bbox_2d": list(SIGN), "image": "image-1"}}
    zoom = chat_reply(f"<think>A red sign.</think><tool_call>{json.dumps(call)}</tool_call>")

    def replies(request: Request) -> Reply:
        return (
            zoom
            if len(request.images) == 1 and is_red(seen_by_model(request))
            else chat_reply(f"<answer>{PARIS}</answer>")
        )

    with openai_server([replies]) as url:
        words = ("run", "--data", table, *model_words(url), "--method", "spotagent", "--wire", "tagged", "--partial")
        plain = bench(*words, "--out", tmp_path / "plain")
        assert plain.exit_code == 0, plain.output
        assert len(url.requests) == 2
        hidden = bench(*words, "--mask", "clue", "--unmasked", tmp_path / "plain", "--out", tmp_path / "hidden")
        assert hidden.exit_code == 0, hidden.output
        assert [is_red(seen_by_model(request)) for request in url.requests] == [True, True, False]
