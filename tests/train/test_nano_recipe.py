"""The nano recipe: its dry run builds the model that scripts/train_nano.py makes."""

from geosleuth.train.architectures import ARCHITECTURES
from geosleuth.train.dryrun import dry_run
from geosleuth.train.nano.nano_model import MAX_POSITIONS, PATCH_PX, SHAPES, VOCABULARY
from geosleuth.train.recipe_files import read_recipe
from later import later

for needed in ("torch", "transformers", "trl", "peft"):
    later(needed)


def test_the_dry_run_knows_the_model_and_says_that_its_weights_are_absent() -> None:
    # Photos that are not here take the place of scenes, which would be drawn.
    report = dry_run(read_recipe("nano-grpo", {"data.photos": "nowhere.csv"}))
    assert report.ok
    assert report.resolved["parameters"] == 28_143_040
    assert report.resolved["environment.method"] == "nano"
    assert [line.partition(":")[0] for line in report.absent] == ["weights", "data"]


def test_sizes_are_those_that_the_nano_model_is_made_with() -> None:
    shape, told = SHAPES["nano"], ARCHITECTURES["geosleuth/nano"]
    text, vision = told["text_config"], told["vision_config"]
    assert (text["vocab_size"], text["max_position_embeddings"]) == (VOCABULARY, MAX_POSITIONS)
    assert (text["hidden_size"], text["num_hidden_layers"], text["intermediate_size"]) == (
        shape.hidden, shape.layers, shape.inner,
    )  # fmt: skip
    assert (text["num_attention_heads"], text["num_key_value_heads"], text["head_dim"]) == (
        shape.heads, shape.kv_heads, shape.head_dim,
    )  # fmt: skip
    assert text["rope_parameters"]["mrope_section"] == list(shape.rope_sections)
    sizes = ("depth", "hidden_size", "num_heads", "intermediate_size", "patch_size")
    assert tuple(vision[name] for name in sizes) == (
        shape.vision_layers, shape.vision_hidden, shape.vision_heads, shape.vision_inner, PATCH_PX,
    )  # fmt: skip
    assert (vision["num_position_embeddings"], vision["deepstack_visual_indexes"]) == (shape.grid**2, [shape.deepstack])
