"""A Qwen3-VL of 0.4 million random weights, made on the spot and saved as any such model is.

It sees images and reads chats as the real ones do, but it writes noise. `Forced` makes it say a given text: a stand-in
for a trained model, in which every token still comes out of a full pass through the vision tower and the language
model; only the choice among the tokens is taken from it.
"""

import atexit
import json
import shutil
import tempfile
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

SEED = 20
MODEL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>",
                "<|video_pad|>")  # fmt: skip
TAG_TOKENS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
VOCABULARY = 700
MAX_POSITIONS = 32_768

# Enough words that the texts of the tests take few tokens.
_CORPUS = (
    '{"type": "function", "function": {"name": "search_web", "description": "", "parameters": {"type": "object"}}}',
    '{"name": "image_zoom_in_tool", "arguments": {"bbox_2d": [0, 0, 100, 100], "query": "image-1 (640 x 480 pixels)"}}',
    "Where was this photo taken? The sign, the road and the trees suggest the country, the region and the city.",
    '<answer>{"latitude": 13.75, "longitude": 100.5, "country": "Thailand", "city": "Bangkok"}</answer>',
    "maps_geocode poi_keyword_search static_map_query note_hypothesis evidence confidence place address result",
)

CHAT_TEMPLATE = """\
{%- macro show(content) -%}
  {%- if content is string -%}{{ content }}
  {%- else -%}
    {%- for part in content -%}
      {%- if part.type == 'image' -%}<|vision_start|><|image_pad|><|vision_end|>
      {%- elif part.type == 'text' -%}{{ part.text }}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro -%}
{%- set words = messages[0].content if messages[0].role == 'system' else '' -%}
{%- if words or tools -%}
  {{- '<|im_start|>system\\n' + show(words) -}}
  {%- if tools -%}
    {{- '\\nFunctions:\\n<tools>' -}}
    {%- for tool in tools -%}{{- '\\n' + (tool | tojson) -}}{%- endfor -%}
    {{- '\\n</tools>\\nCall them with <tool_call> tags.' -}}
  {%- endif -%}
  {{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
  {%- if message.role == 'user' -%}
    {{- '<|im_start|>user\\n' + show(message.content) + '<|im_end|>\\n' -}}
  {%- elif message.role == 'tool' -%}
    {{- '<|im_start|>user\\n<tool_response>\\n' + show(message.content) + '\\n</tool_response><|im_end|>\\n' -}}
  {%- elif message.role == 'assistant' -%}
    {{- '<|im_start|>assistant\\n' -}}
    {%- if message.reasoning_content -%}
      {{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n' -}}
    {%- endif -%}
    {{- show(message.content or '') -}}
    {%- for call in message.tool_calls or [] -%}
      {{- '\\n<tool_call>\\n' + ({'name': call.function.name, 'arguments': call.function.arguments} | tojson) -}}
      {{- '\\n</tool_call>' -}}
    {%- endfor -%}
    {{- '<|im_end|>\\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
"""


@cache
def tiny_vlm_folder() -> Path:
    """The folder of the model, made once a process and removed at its end."""
    import torch

    # Passes this small only get slower on several threads.
    torch.set_num_threads(1)
    home = Path(tempfile.mkdtemp(prefix="tiny-vlm-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    return make_tiny_vlm(home / "tiny-qwen3-vl")


def make_tiny_vlm(folder: Path, *, chat_template: str = CHAT_TEMPLATE) -> Path:
    """Save the model into a folder with its tokenizer, image processor and chat template; the same each time."""
    torch: Any = import_module("torch")
    transformers: Any = import_module("transformers")
    pil: Any = import_module("transformers.models.qwen2_vl.image_processing_pil_qwen2_vl")

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer()
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in MODEL_TOKENS}
    config = transformers.Qwen3VLConfig(
        text_config={
            "vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 192, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
            "max_position_embeddings": MAX_POSITIONS,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [4, 2, 2],
                                "mrope_interleaved": True},
            "pad_token_id": ids["<|endoftext|>"], "eos_token_id": ids["<|im_end|>"],
        },
        vision_config={
            "depth": 2, "hidden_size": 64, "intermediate_size": 128, "num_heads": 4, "patch_size": 16,
            "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 64, "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=ids["<|image_pad|>"], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = transformers.Qwen3VLForConditionalGeneration(config)
    model.generation_config.eos_token_id = ids["<|im_end|>"]
    model.generation_config.pad_token_id = ids["<|endoftext|>"]
    transformers.utils.logging.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    images = pil.Qwen2VLImageProcessorPil(
        patch_size=16, merge_size=2, temporal_patch_size=2, size={"shortest_edge": 32 * 32, "longest_edge": 256 * 256}
    )
    images.save_pretrained(folder)
    path = folder / "preprocessor_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**settings, "processor_class": "Qwen3VLProcessor"}, indent=1), encoding="utf-8")
    (folder / "chat_template.jinja").write_text(chat_template, encoding="utf-8")
    return folder


def _tokenizer() -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    transformers: Any = import_module("transformers")
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.train_from_iterator(
        _CORPUS,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY - len(MODEL_TOKENS) - len(TAG_TOKENS),
            initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    core.add_special_tokens([AddedToken(name, special=True) for name in MODEL_TOKENS])
    core.add_tokens([AddedToken(name, special=False) for name in TAG_TOKENS])
    ends = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    special = list(MODEL_TOKENS[1:])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=core, extra_special_tokens=special, **ends)


class Forced:
    """A LogitsProcessor that leaves one token at a time: those of a text, then the end of the turn.

    A stand-in for training: the model runs in full, and its preferences are overruled.
    """

    def __init__(self, tokenizer: Any, text: str) -> None:
        self._wanted = [*tokenizer(text, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id]
        self._start: int | None = None

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        if self._start is None:
            self._start = input_ids.shape[1]
        at = min(input_ids.shape[1] - self._start, len(self._wanted) - 1)
        forced = scores.new_full(scores.shape, float("-inf"))
        # The model's own score stays, so that a broken pass (not a number) still shows.
        forced[:, self._wanted[at]] = scores[:, self._wanted[at]]
        return forced


def force(model: Any, tokenizer: Any, text: str) -> Any:
    """The model's ``generate``, made to say a text; see `Forced`."""
    return partial(type(model).generate, model, logits_processor=[Forced(tokenizer, text)])
