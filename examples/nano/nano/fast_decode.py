"""Fast decoding: joined weights at fixed addresses and static buffers, so that a CUDA graph can repeat a step.

All that a step reads or writes lies in buffers that never move: the last token of each row, how many tokens its cache
holds, whether it has ended, the keys and values. A step has no branch on data and never asks the GPU anything.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from geosleuth.support.errors import BadInput, require


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a text model that decoding must know."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    epsilon: float
    vocabulary: int


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: queries, keys and values in one matrix, gate and up in another."""

    before: Any
    qkv: Any
    qkv_bias: Any
    qk_norm: Any
    out: Any
    out_bias: Any
    after: Any
    gate_up: Any
    down: Any


class Weights:
    """Copies of the weights of a Qwen3-VL's text model, in the precision that decoding computes in.

    A captured CUDA graph reads memory, not modules: these buffers stay where they are, whatever becomes of the
    model's own parameters, and `refresh` copies the parameters' present values into them. What autocast keeps in the
    parameters' precision (norms, embeddings, the residual stream) keeps it here too.
    """

    def __init__(self, model: Any, dtype: Any) -> None:
        """Allocate the buffers; they hold nothing before the first `refresh`.

        Raises:
            BadInput: it is no dense Qwen3-VL, or its adapters have not been merged.
        """
        self._torch: Any = require("torch", extra="train")
        config = _text_config(model)
        self.text = model.model.language_model
        self.shape = Shape(
            config.num_hidden_layers, config.hidden_size, config.num_attention_heads, config.num_key_value_heads,
            self.text.layers[0].self_attn.head_dim, config.rms_norm_eps, config.vocab_size,
        )  # fmt: skip
        self.dtype = dtype
        self._pairs: list[tuple[Any, Any, str]] = []
        keep = self.text.embed_tokens.weight.dtype
        self.residual_dtype = keep
        self.embedding = self._joined([self.text.embed_tokens], keep)
        self.norm = self._joined([self.text.norm], keep)
        self.head = self._joined([model.lm_head], dtype)
        self.activation = self.text.layers[0].mlp.act_fn
        self.layers = [self._layer(layer, keep, dtype) for layer in self.text.layers]

    def refresh(self) -> None:
        """Copy the model's present weights; the buffers stay where they are."""
        with self._torch.no_grad():
            for target, module, name in self._pairs:
                source = getattr(module, name)
                target.copy_(source if source.dim() == target.dim() else source.expand_as(target))

    def _layer(self, layer: Any, keep: Any, dtype: Any) -> Layer:
        attention, mlp = layer.self_attn, layer.mlp
        projections = [attention.q_proj, attention.k_proj, attention.v_proj]
        for module in (*projections, attention.o_proj, mlp.gate_proj, mlp.up_proj, mlp.down_proj):
            if type(module) is not self._torch.nn.Linear:
                raise BadInput(
                    f"fast generation reads plain weights, not {type(module).__name__}: merge adapters first"
                )
        biased = attention.q_proj.bias is not None
        return Layer(
            self._joined([layer.input_layernorm], keep),
            self._joined(projections, dtype),
            self._joined(projections, dtype, "bias") if biased else None,
            self._head_norms(attention, keep),
            self._joined([attention.o_proj], dtype),
            self._joined([attention.o_proj], dtype, "bias") if biased else None,
            self._joined([layer.post_attention_layernorm], keep),
            self._joined([mlp.gate_proj, mlp.up_proj], dtype),
            self._joined([mlp.down_proj], dtype),
        )

    def _joined(self, modules: list[Any], dtype: Any, name: str = "weight") -> Any:
        sources = [getattr(module, name) for module in modules]
        rows = [source.shape[0] for source in sources]
        joined = self._torch.empty((sum(rows), *sources[0].shape[1:]), dtype=dtype, device=sources[0].device)
        self._pairs += zip(joined.split(rows), modules, [name] * len(rows), strict=True)
        return joined

    def _head_norms(self, attention: Any, keep: Any) -> Any:
        """Return the weights of the query norm and the key norm, once a head, so that one product serves them all."""
        rows = [self.shape.heads, self.shape.kv_heads]
        weight = attention.q_norm.weight
        joined = self._torch.empty((sum(rows), self.shape.head_size), dtype=keep, device=weight.device)
        norms = (attention.q_norm, attention.k_norm)
        self._pairs += zip(joined.split(rows), norms, ["weight"] * 2, strict=True)
        return joined


def _text_config(model: Any) -> Any:
    config: Any = getattr(model, "config", None)
    if getattr(config, "model_type", None) != "qwen3_vl" or not hasattr(model, "lm_head"):
        raise BadInput(f"fast generation is for Qwen3VLForConditionalGeneration, not {type(model).__name__}")
    text = config.get_text_config()
    kind = text.rope_parameters.get("rope_type", "default")
    if kind in ("dynamic", "longrope"):
        raise BadInput(f"fast generation takes positions from a fixed table, which rope of type {kind} has not")
    return text


Attention = Literal["sdpa", "varlen"]
BLOCK = 16  # steps between two looks at which rows have ended
SPAN_STEP = 128  # caches are read in whole multiples of this many tokens, or of twice as many and so on
_LADDER = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
_WARM_UPS = 3
LEAST_CUDA_ROWS = 16  # fewer rows take a GPU no less time, and each size is a graph of its own


@dataclass(frozen=True, slots=True)
class Mode:
    """How tokens are chosen, as far as it changes the work of a step."""

    greedy: bool
    nucleus: bool
    logprobs: bool


def batch_bucket(rows: int, most: int, least: int = 1) -> int:
    """Return how many rows a step is run for when so many are asked for: at least ``least``, never over ``most``."""
    return next((size for size in _LADDER if max(rows, least) <= size <= most), most)


def span_bucket(tokens: int, most: int) -> int:
    """Return how many tokens of the caches a step reads when so many are filled: coarser steps for longer ones."""
    step = SPAN_STEP
    while tokens > 4 * step:
        step *= 2
    return min(-(-tokens // step) * step, most)


class Decoder:
    """The state of a batch that is being written, and the step that carries it on."""

    def __init__(self, weights: Weights, device: Any, *, graphs: bool, attention: Attention) -> None:
        """Set up; nothing is allocated before `reserve`."""
        self._torch: Any = require("torch", extra="train")
        self._weights = weights
        self._device = device
        self._graphs = graphs
        self._attention = attention
        self._captured: dict[tuple[int, int, Mode], Any] = {}
        self._pool: Any = None
        self._rows_held = self._tokens_held = 0
        # A generator of its own: what is drawn here leaves the trainer's random numbers alone.
        self.generator = self._torch.Generator(device=device)
        self.captures = 0

    def reserve(self, rows: int, tokens: int) -> None:
        """Make room for a batch; graphs that read smaller buffers are dropped."""
        if rows <= self._rows_held and tokens <= self._tokens_held:
            return
        torch, shape = self._torch, self._weights.shape
        rows, tokens = max(rows, self._rows_held), max(tokens, self._tokens_held)
        self._captured.clear()
        self._rows_held, self._tokens_held = rows, tokens
        place = {"device": self._device}
        size = (rows, tokens, shape.kv_heads, shape.head_size)
        # Zeros, not whatever memory held: a masked value still enters a product, and not-a-number times nought stays.
        self._keys = [torch.zeros(size, dtype=self._weights.dtype, **place) for _ in range(shape.layers)]
        self._values = [torch.zeros(size, dtype=self._weights.dtype, **place) for _ in range(shape.layers)]
        self._token = torch.zeros(rows, dtype=torch.long, **place)
        self._length = torch.zeros(rows, dtype=torch.long, **place)
        self._delta = torch.zeros(rows, dtype=torch.long, **place)
        self._done = torch.ones(rows, dtype=torch.bool, **place)
        self._column = torch.zeros(1, dtype=torch.long, **place)
        self._tokens = torch.zeros((rows, BLOCK), dtype=torch.long, **place)
        self._logprobs = torch.zeros((rows, BLOCK), dtype=torch.float32, **place)
        self._temperature = torch.ones((), dtype=torch.float32, **place)
        self._top_p = torch.ones((), dtype=torch.float32, **place)
        self._row_numbers = torch.arange(rows, **place)
        self._token_numbers = torch.arange(tokens, **place)
        self._query_starts = torch.arange(rows + 1, dtype=torch.int32, **place)
        self._key_starts = self._query_starts * tokens
        self._cos, self._sin = self._rotations(tokens)

    def set_tokens(self, eos_ids: list[int], pad_id: int, banned_ids: list[int]) -> None:
        """Set the end tokens, the padding after them, and tokens that are never written; before the first step."""
        self._eos = self._torch.tensor(eos_ids, dtype=self._torch.long, device=self._device)
        self._banned = self._torch.tensor(banned_ids, dtype=self._torch.long, device=self._device)
        self._pad = self._torch.tensor(pad_id, dtype=self._torch.long, device=self._device)

    def set_sampling(self, temperature: float, top_p: float, seed: int) -> None:
        """Set how the next batch is sampled."""
        self._temperature.fill_(temperature)
        self._top_p.fill_(top_p)
        self.generator.manual_seed(seed)

    def fill(self, slots: Any, layer: int, keys: Any, values: Any) -> None:
        """Put the keys and values of prompts, [rows, heads, tokens, size], into the slots of one layer's cache."""
        width = keys.shape[2]
        for cache, new in ((self._keys[layer], keys), (self._values[layer], values)):
            cache[slots, :width] = new.transpose(1, 2).to(cache.dtype)

    def start(self, logits: Any, lengths: Any, deltas: Any, mode: Mode, batch: int) -> None:
        """Begin with the logits after the prompts; slots past them stay idle up to the batch's size."""
        rows = logits.shape[0]
        self._done[:batch] = True
        for state, given in ((self._length, lengths), (self._delta, deltas)):
            state[:batch] = 0
            state[:rows] = given
        self._done[:rows] = False
        self._token[:batch] = self._pad
        self._column.zero_()
        token, logprob = self._choose(logits.float(), mode)
        self._accept(token, logprob, slice(0, rows))
        # `_accept` counts its token as one that already lies in the cache; the first one does not.
        self._length[:rows] = lengths

    def run(self, steps: int, batch: int, span: int, mode: Mode) -> None:
        """Take so many steps for the first ``batch`` slots, reading ``span`` tokens of the caches."""
        for _ in range(steps):
            if not self._graphs:
                self._step(batch, span, mode)
                continue
            key = (batch, span, mode)
            graph = self._captured.get(key)
            if graph is None:
                graph = self._captured[key] = self._capture(*key)
            graph.replay()

    def read(self, rows: int, columns: int) -> tuple[Any, Any, Any]:
        """Return what was written since the last reading: tokens, log probabilities, which rows have ended.

        This is where the host waits for the GPU.
        """
        tokens: Any = self._tokens[:rows, :columns].cpu().numpy()
        logprobs: Any = self._logprobs[:rows, :columns].cpu().numpy()
        done: Any = self._done[:rows].cpu().numpy()
        self._column.zero_()
        return tokens, logprobs, done

    def keep(self, slots: Any, batch: int, span: int) -> None:
        """Move these slots (ascending) to the front and let all others up to the batch's size be idle."""
        count = len(slots)
        chosen = self._torch.from_numpy(np.ascontiguousarray(slots)).to(self._device)
        for cache in (*self._keys, *self._values):
            cache[:count, :span] = cache[:, :span].index_select(0, chosen)
        for state in (self._token, self._length, self._delta):
            state[:count] = state.index_select(0, chosen)
        self._done[:count] = False
        self._done[count:batch] = True
        self._length[count:batch] = 0
        self._delta[count:batch] = 0

    def _rotations(self, tokens: int) -> tuple[Any, Any]:
        torch, half = self._torch, self._weights.shape.head_size // 2
        like = torch.zeros(1, dtype=self._weights.residual_dtype, device=self._device)
        positions = torch.arange(tokens, device=self._device).expand(3, 1, -1)
        cos, sin = (table[0].clone() for table in self._weights.text.rotary_emb(like, positions))
        # Swapping the halves then takes the place of swapping them with a change of sign.
        sin[:, :half].neg_()
        return cos, sin

    def _step(self, batch: int, span: int, mode: Mode) -> None:
        functional, weights = self._torch.nn.functional, self._weights
        shape, compute = weights.shape, weights.dtype
        heads, rotated_heads = shape.heads, shape.heads + shape.kv_heads
        half, head_size = shape.head_size // 2, (shape.head_size,)
        length, rows = self._length[:batch], self._row_numbers[:batch]
        position = length + self._delta[:batch]
        cos = self._cos.index_select(0, position).unsqueeze(1)
        sin = self._sin.index_select(0, position).unsqueeze(1)
        attend = self._attending(batch, span, length)
        hidden = functional.embedding(self._token[:batch], weights.embedding)
        for layer, keys, values in zip(weights.layers, self._keys, self._values, strict=True):
            inner = functional.rms_norm(hidden, (shape.hidden,), layer.before, shape.epsilon).to(compute)
            qkv = functional.linear(inner, layer.qkv, layer.qkv_bias).view(batch, -1, shape.head_size)
            turned = qkv[:, :rotated_heads].to(weights.residual_dtype)
            turned = functional.rms_norm(turned, head_size, None, shape.epsilon) * layer.qk_norm
            turned = (turned * cos + turned.roll(half, -1) * sin).to(compute)
            keys.index_put_((rows, length), turned[:, heads:])
            values.index_put_((rows, length), qkv[:, rotated_heads:])
            seen = attend(turned[:, :heads], keys, values)
            hidden = hidden + functional.linear(seen, layer.out, layer.out_bias)
            inner = functional.rms_norm(hidden, (shape.hidden,), layer.after, shape.epsilon).to(compute)
            gate, up = functional.linear(inner, layer.gate_up).chunk(2, -1)
            hidden = hidden + functional.linear(weights.activation(gate) * up, layer.down)
        last = functional.rms_norm(hidden, (shape.hidden,), weights.norm, shape.epsilon).to(compute)
        logits = functional.linear(last, weights.head).float()
        self._accept(*self._choose(logits, mode), slice(0, batch))

    def _attending(self, batch: int, span: int, length: Any) -> Any:
        """Return a function from queries [rows, heads, size] and whole caches to attention output, one line a row."""
        torch, shape = self._torch, self._weights.shape
        if self._attention == "varlen":
            used = (length + 1).to(torch.int32)
            # torch.nn.attention.varlen is made of it, and hands on fewer of its arguments in some versions.
            flash = torch.ops.aten._flash_attention_forward  # noqa: SLF001
            starts, ends = self._query_starts[: batch + 1], self._key_starts[: batch + 1]

            def varlen(query: Any, keys: Any, values: Any) -> Any:
                seen = flash(
                    query.contiguous(), keys[:batch].flatten(0, 1), values[:batch].flatten(0, 1), starts, ends,
                    max_q=1, max_k=span, dropout_p=0.0, is_causal=False, return_debug_mask=False,
                    scale=shape.head_size**-0.5, seqused_k=used,
                )[0]  # fmt: skip
                return seen.reshape(batch, -1)

            return varlen
        mask = torch.zeros((batch, span), dtype=self._weights.dtype, device=self._device)
        mask = mask.masked_fill_(self._token_numbers[:span] > length[:, None], float("-inf"))[:, None, None, :]

        def masked(query: Any, keys: Any, values: Any) -> Any:
            # The heads that share keys stand where several queries would: nothing is repeated, and no mask differs.
            query = query.reshape(batch, shape.kv_heads, -1, shape.head_size)
            seen = torch.nn.functional.scaled_dot_product_attention(
                query, keys[:batch, :span].transpose(1, 2), values[:batch, :span].transpose(1, 2), attn_mask=mask
            )
            return seen.reshape(batch, -1)

        return masked

    def _choose(self, logits: Any, mode: Mode) -> tuple[Any, Any]:
        torch = self._torch
        scaled = logits if mode.greedy else logits / self._temperature
        allowed = scaled.index_fill(1, self._banned, float("-inf")) if len(self._banned) else scaled
        if mode.greedy:
            token = allowed.argmax(-1)
        else:
            allowed = self._nucleus(allowed) if mode.nucleus else allowed
            # The largest of logits with Gumbel noise falls on each token with its probability.
            noise = torch.empty_like(allowed).exponential_(generator=self.generator)
            token = (allowed - noise.clamp_min(1e-30).log()).argmax(-1)
        if not mode.logprobs:
            return token, None
        return token, scaled.log_softmax(-1).gather(1, token[:, None])[:, 0]

    def _nucleus(self, scaled: Any) -> Any:
        ordered, order = scaled.sort(-1, descending=True)
        chances = ordered.softmax(-1)
        outside = chances.cumsum(-1) - chances >= self._top_p
        return scaled.masked_fill(outside.scatter(1, order, outside), float("-inf"))

    def _accept(self, token: Any, logprob: Any, rows: slice) -> None:
        torch, done = self._torch, self._done[rows]
        token = torch.where(done, self._pad, token)
        self._tokens[rows].index_copy_(1, self._column, token[:, None])
        if logprob is not None:
            self._logprobs[rows].index_copy_(1, self._column, logprob[:, None])
        self._column.add_(1)
        done.logical_or_((token[:, None] == self._eos).any(-1))
        self._length[rows].add_(torch.logical_not(done))
        self._token[rows].copy_(token)

    def _capture(self, batch: int, span: int, mode: Mode) -> Any:
        torch = self._torch
        state = (self._token, self._length, self._done, self._column, self._tokens, self._logprobs)
        before = [part.clone() for part in state]
        drawn = self.generator.get_state()
        with torch.cuda.device(self._device):
            if self._pool is None:
                self._pool = torch.cuda.graph_pool_handle()
            side = torch.cuda.Stream()
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(_WARM_UPS):
                    self._step(batch, span, mode)
                    # What went into the caches is written there again by the first true step.
                    for part, was in zip(state, before, strict=True):
                        part.copy_(was)
            torch.cuda.current_stream().wait_stream(side)
            graph = torch.cuda.CUDAGraph()
            graph.register_generator_state(self.generator)
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                self._step(batch, span, mode)
        # The warm-ups drew numbers that a batch with ready graphs does not draw.
        self.generator.set_state(drawn)
        self.captures += 1
        return graph
