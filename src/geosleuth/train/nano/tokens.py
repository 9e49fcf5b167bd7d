"""The nano model's tokens and its chat template: small, and made for calls, answers and the names of the world."""

from collections.abc import Iterable
from typing import Any, Final

from geosleuth.errors import require

VOCABULARY: Final = 8192
MAX_POSITIONS: Final = 4096

MODEL_TOKENS: Final = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>",
                       "<|image_pad|>", "<|video_pad|>")  # fmt: skip
TAG_TOKENS: Final = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")

_SHORT_DESCRIPTION: Final = 24

# What one token may span, tried in this order: a JSON key with the marks around it, what stands between two numbers,
# up to three digits, a word, marks, white space. Numbers in groups are copied like words: a group seldom comes twice in
# a list, where a digit by itself comes everywhere. A newline never joins what follows, so that the words of a reply are
# the same tokens whatever was said before.
_SPANS: Final = "|".join(
    (
        r"""[}\]"]*,? ?\{?"[A-Za-z_][A-Za-z0-9_]*": ?["\[{]?""",
        r"""[^\s\p{L}\p{M}\p{N}]+ -?(?=\p{N})""",
        r"""\p{N}{1,3}""",
        r""" ?[\p{L}\p{M}]+""",
        r""" ?[^\s\p{L}\p{M}\p{N}]+""",
        r"""\n+|\s+(?!\S)|\s+""",
    )
)

# A tool's schema would take hundreds of tokens: its name and those of its parameters do for a model that learned them.
CHAT_TEMPLATE: Final = """\
{%- macro show(content) -%}
  {%- if content is string -%}{{- content -}}
  {%- elif content -%}
    {%- for part in content -%}
      {%- if part.type == 'image' -%}{{- '<|vision_start|><|image_pad|><|vision_end|>' -}}
      {%- elif part.type == 'text' -%}{{- part.text -}}
      {%- endif -%}
    {%- endfor -%}
  {%- endif -%}
{%- endmacro -%}
{%- set words = show(messages[0].content) | trim if messages[0].role == 'system' else '' -%}
{%- if words or tools -%}
  {{- '<|im_start|>system\\n' + words -}}
  {%- if tools -%}
    {{- ('\\n' if words else '') + 'Tools:' -}}
    {%- for tool in tools -%}
      {%- set tool = tool.function if tool.function else tool -%}
      {%- set about = tool.description or '' -%}
      {{- '\\n' + tool.name + '(' + ((tool.parameters.properties or {}) | list | join(', ')) + ')' -}}
      {{- ' ' + about if 0 < about | length <= SHORT_DESCRIPTION else '' -}}
    {%- endfor -%}
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
    {%- generation -%}
      {%- set said = show(message.content) | trim -%}
      {%- set thought = message.reasoning_content | trim if message.reasoning_content else '' -%}
      {{- '<think>' + thought + '</think>' if thought else '' -}}
      {{- ('\\n' if thought and said else '') + said -}}
      {%- for call in message.tool_calls or [] -%}
        {%- set call = call.function if call.function else call -%}
        {{- '\\n' if thought or said or not loop.first else '' -}}
        {{- '<tool_call>\\n{"name": ' + (call.name | tojson) + ', "arguments": ' -}}
        {{- call.arguments if call.arguments is string else (call.arguments or {}) | tojson -}}
        {{- '}\\n</tool_call>' -}}
      {%- endfor -%}
      {{- '<|im_end|>' -}}
    {%- endgeneration -%}
    {{- '\\n' -}}
  {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
""".replace("SHORT_DESCRIPTION", str(_SHORT_DESCRIPTION))
"""Every message is written the same whatever follows it. What the model is to write stands between generation tags:
the end of its turn with it, the newline after that not, since generation stops before."""

RESPONSE_TEMPLATE: Final[dict[str, Any]] = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "reasoning_content": {"open": "<think>", "close_pattern": r"</think>\s*", "content": "text"},
        "tool_calls": {
            "open": "<tool_call>",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}
"""How transformers reads a reply back; kept with the tokenizer, so that a trainer finds the calls in it."""


def make_tokenizer(corpus: Iterable[str], *, vocabulary: int = VOCABULARY) -> Any:
    """A tokenizer of bytes and their pairs, trained on texts; the same for the same texts in the same order.

    Digits are tokens one by one. There are never more than ``vocabulary`` tokens, and fewer where the texts are few.
    """
    transformers: Any = require("transformers", extra="train")
    tokenizers: Any = require("tokenizers", extra="train")
    before, added = tokenizers.pre_tokenizers, tokenizers.AddedToken
    core = tokenizers.Tokenizer(tokenizers.models.BPE())
    core.pre_tokenizer = before.Sequence(
        [
            before.Split(tokenizers.Regex(_SPANS), behavior="isolated"),
            before.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    core.decoder = tokenizers.decoders.ByteLevel()
    core.train_from_iterator(
        corpus,
        tokenizers.trainers.BpeTrainer(
            vocab_size=vocabulary - len(MODEL_TOKENS) - len(TAG_TOKENS),
            min_frequency=2,
            initial_alphabet=sorted(before.ByteLevel.alphabet()),
            show_progress=False,
        ),
    )
    core.add_special_tokens([added(name, special=True, normalized=False) for name in MODEL_TOKENS])
    core.add_tokens([added(name, special=False, normalized=False) for name in TAG_TOKENS])
    ends = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=core,
        **ends,
        extra_special_tokens=list(MODEL_TOKENS[1:]),
        model_max_length=MAX_POSITIONS,
        clean_up_tokenization_spaces=False,
        response_template=RESPONSE_TEMPLATE,
    )
