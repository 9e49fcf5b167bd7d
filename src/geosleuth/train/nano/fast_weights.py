"""The weights of a text model as fast decoding reads them: joined matrices at addresses that never change."""

from dataclasses import dataclass
from typing import Any

from geosleuth.errors import BadInput, require


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
        """The weights of the query norm and the key norm, once a head, so that one product serves them all."""
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
