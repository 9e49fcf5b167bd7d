"""The card of a set: every figure is counted from the store, and can be checked by hand."""

from pathlib import Path

import pytest

from geosleuth.lab.traces import Rejected, Sample, Store, write_store
from geosleuth.lab.traces.store_card import StoreSpread, card_text, compute_store_figures
from stored import ABOUT, about, made, pictures, real_run, sample


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return write_store(tmp_path_factory.mktemp("stores") / "s", made(12), ABOUT, shard_rows=3)


def test_figures_are_what_the_samples_say(store: Store) -> None:
    samples = [one for one in made(12) if isinstance(one, Sample)]
    rejected = [one for one in made(12) if isinstance(one, Rejected)]
    figures = compute_store_figures(store)
    runs = [one.trajectory for one in samples]
    assert (figures.samples, figures.scenes, figures.countries) == (8, 8, 1)
    assert dict(figures.splits) == {"train": 6, "held-out": 2}
    assert figures.rejections == len(rejected) == 4
    assert dict(figures.rejected["spotagent"]) == {"failed_call": 2, "far_answer": 2}
    assert sum(figures.calls.values()) == sum(len(step.calls) for run in runs for step in run.steps)
    assert figures.failed_calls == sum(run.spent.failed_calls for run in runs)
    assert dict(figures.turns) == {
        turns: sum(run.spent.turns == turns for run in runs) for turns in {run.spent.turns for run in runs}
    }
    files = {*pictures(0).values(), *pictures(1).values()}
    assert (figures.image_files, figures.image_bytes) == (len(files), sum(map(len, files)))
    said = sorted(sum(len(step.text) + len(step.thinking) for step in run.steps) for run in runs)
    assert (figures.spreads["characters"].least, figures.spreads["characters"].most) == (said[0], said[-1])


def test_the_card_says_all_that_it_must(store: Store) -> None:
    card = (store.path / "card.md").read_text(encoding="utf-8")
    assert card == card_text(store.about, compute_store_figures(store))
    for words in (
        "# Small runs", "By hand, for tests.", "| trajectories | 8 |", "| licence | CC0 |",
        "- a pattern of colours (CC0)", "| train | 6 | 75.0 |", "8 of 12 were kept, 66.7 %.",
        "| spotagent | far_answer | 2 | 16.7 |", "| spotagent | (kept) | 8 | 66.7 |", "| look_up |",
        "- it teaches nothing", "| seed | 1 |", "No scene is in more than one split.", "| DE | 8 | 100.0 |",
        "distance of the answer from the truth",
    ):  # fmt: skip
        assert words in card


def test_a_scene_in_two_splits_is_told(tmp_path: Path) -> None:
    both = [sample(0, scene="s", split="train"), sample(1, scene="s", split="held-out")]
    store = write_store(tmp_path / "s", both, ABOUT)
    assert compute_store_figures(store).scenes_in_several_splits == 1
    assert "1 scenes stand in more than one split." in (tmp_path / "s" / "card.md").read_text()


def test_a_set_with_little_to_say_has_a_card_too(tmp_path: Path) -> None:
    bare = about(sources=(), faults=(), settings={}, title="A | B\nC")
    store = write_store(tmp_path / "s", [sample(0, truth=None, images={})], bare)
    card = card_text(store.about, compute_store_figures(store))
    assert "None are noted, which does not mean that there are none." in card
    assert "Nothing, or rejections were not recorded" in card
    assert "No truth names a country." in card
    empty = write_store(tmp_path / "e", [], ABOUT)
    assert compute_store_figures(empty).samples == 0
    assert "| trajectories | 0 |" in (tmp_path / "e" / "card.md").read_text()


def test_names_from_elsewhere_cannot_break_a_table(tmp_path: Path) -> None:
    store = write_store(tmp_path / "s", [sample(0, source="a|b\nc")], ABOUT)
    (line,) = [line for line in card_text(store.about, compute_store_figures(store)).splitlines() if "a\\|b" in line]
    assert line == "| a\\|b c | 1 | 100.0 |"


def test_many_countries_are_cut_after_the_largest(tmp_path: Path) -> None:
    truth = sample(0).truth
    assert truth is not None
    codes = [chr(65 + number // 26) + chr(65 + number % 26) for number in range(30)]
    samples = [sample(number, truth=type(truth)(truth.point, code), images={}) for number, code in enumerate(codes)]
    store = write_store(tmp_path / "s", samples, ABOUT)
    assert "| (18 others) | 18 | 60.0 |" in card_text(store.about, compute_store_figures(store))


def test_a_spread_is_of_what_there_is() -> None:
    assert StoreSpread.from_values([]) == StoreSpread(0)
    assert StoreSpread.from_values([3.0, 1.0, 2.0]) == StoreSpread(3, 1.0, 2.0, 2.9, 3.0)
    assert real_run(0).spent.turns > 1
