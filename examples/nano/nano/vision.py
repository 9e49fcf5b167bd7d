"""The vision tower of Qwen3-VL over many images at once, in training and in generation alike.

Pictures may also come as plain bytes, an eighth of what they are as numbers made ready: see `patch_vision_inputs`.

Three things in transformers' tower take longer for more images though the GPU has room: attention runs image by image,
positions are made image by image, and the patches' convolution is run as one although its windows never overlap. The
results stay the same up to rounding, and so do gradients and the names of the weights.
"""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from geosleuth.support.errors import BadInput, require

_KEPT_GRIDS = 256


@dataclass(frozen=True, slots=True)
class _Group:
    """Images of one length: how many, how long, and where their patches lie (None: they are all there is)."""

    images: int
    length: int
    patches: Any


class _Grouping:
    """Images by length, worked out once a pass: all layers are handed the same tensor of bounds."""

    def __init__(self) -> None:
        self._bounds: Any = None
        self._groups: list[_Group] = []

    def __call__(self, cu_seqlens: Any) -> list[_Group]:
        if cu_seqlens is not self._bounds:
            self._groups = self._grouped(cu_seqlens)
            self._bounds = cu_seqlens
        return self._groups

    def _grouped(self, cu_seqlens: Any) -> list[_Group]:
        torch: Any = require("torch", extra="train")
        bounds = cu_seqlens.tolist()
        starts: dict[int, list[int]] = {}
        for start, end in pairwise(bounds):
            starts.setdefault(end - start, []).append(start)
        if len(starts) == 1:
            (length,) = starts
            return [_Group(len(bounds) - 1, length, None)]
        return [
            _Group(
                len(first),
                length,
                (torch.tensor(first)[:, None] + torch.arange(length)).flatten().to(cu_seqlens.device),
            )
            for length, first in starts.items()
        ]


def patch_vision_attention(model: Any) -> None:
    """Let the vision tower attend over all images of one size in one call, instead of image by image.

    Images of several sizes take one call for each size. Only the `sdpa` attention of transformers is replaced; with
    any other, and where every image has a size of its own, the tower's own attention runs. Patching twice does nothing.

    Raises:
        BadInput: the model has no Qwen3-VL vision tower.
    """
    module: Any = require("transformers.models.qwen3_vl.modeling_qwen3_vl", extra="train")
    grouping = _Grouping()
    for block in _tower(model).blocks:
        if type(block.attn) is module.Qwen3VLVisionAttention:
            # A class of its own rather than a function hung on the module, which a copy of the model would share.
            block.attn.__class__ = _batched_attention()
            block.attn.grouping = grouping


def patch_vision_inputs(model: Any, image_processor: Any = None) -> None:
    """Let the tower take its patches in by one matrix product, and remember the positions of grids it has seen.

    The convolution's windows lie side by side, so that it is a matrix product; positions of a grid never change.
    Patching twice does no more than patching once.

    Args:
        model: a Qwen3-VL.
        image_processor: of the model, where pictures may come as bytes: a row a patch, each byte once. They are made
            even and doubled in time here, on the device, instead of before.

    Raises:
        BadInput: the model has no Qwen3-VL vision tower.
    """
    module: Any = require("transformers.models.qwen3_vl.modeling_qwen3_vl", extra="train")
    tower = _tower(model)
    if type(tower) is module.Qwen3VLVisionModel:
        tower.__class__ = _remembering_tower()
        tower.known_positions = {}
    if type(tower.patch_embed) is module.Qwen3VLVisionPatchEmbed:
        tower.patch_embed.__class__ = _flat_embedding()
        tower.patch_embed.images = None
    if image_processor is not None:
        tower.patch_embed.images = image_processor


def _tower(model: Any) -> Any:
    tower = getattr(getattr(model, "model", None), "visual", None)
    if tower is None or getattr(tower.config, "model_type", None) not in ("qwen3_vl", "qwen3_vl_vision"):
        raise BadInput(f"there is no Qwen3-VL vision tower in {type(model).__name__}")
    return tower


@cache
def _batched_attention() -> Any:
    torch: Any = require("torch", extra="train")
    module: Any = require("transformers.models.qwen3_vl.modeling_qwen3_vl", extra="train")

    def forward(self: Any, hidden_states: Any, cu_seqlens: Any, position_embeddings: Any = None, **kwargs: Any) -> Any:
        groups = self.grouping(cu_seqlens) if self.config._attn_implementation == "sdpa" else []  # noqa: SLF001
        if not groups or (len(groups) > 1 and len(groups) == len(cu_seqlens) - 1):
            own = module.Qwen3VLVisionAttention.forward
            return own(self, hidden_states, cu_seqlens, position_embeddings=position_embeddings, **kwargs)
        qkv = self.qkv(hidden_states).view(hidden_states.shape[0], 3, self.num_heads, -1)
        query, key, value = qkv.unbind(1)
        query, key = module.apply_rotary_pos_emb_vision(query, key, *position_embeddings)

        def seen(group: _Group) -> Any:
            parts = (query, key, value) if group.patches is None else (x[group.patches] for x in (query, key, value))
            split = [part.reshape(group.images, group.length, self.num_heads, -1).transpose(1, 2) for part in parts]
            output = torch.nn.functional.scaled_dot_product_attention(*split, scale=self.scaling)
            return output.transpose(1, 2).reshape(group.images * group.length, -1)

        if len(groups) == 1:
            return self.proj(seen(groups[0]))
        together = torch.cat([seen(group) for group in groups])
        order = torch.cat([group.patches for group in groups])
        return self.proj(torch.empty_like(together).index_copy(0, order, together))

    return type("BatchedVisionAttention", (module.Qwen3VLVisionAttention,), {"forward": forward})


@cache
def _remembering_tower() -> Any:
    torch: Any = require("torch", extra="train")
    module: Any = require("transformers.models.qwen3_vl.modeling_qwen3_vl", extra="train")
    utilities: Any = require("transformers.vision_utils", extra="train")

    def positions(tower: Any, grid: list[int], device: Any) -> Any:
        key = (*grid, device)
        if key not in tower.known_positions:
            if len(tower.known_positions) >= _KEPT_GRIDS:
                tower.known_positions.clear()
            # Made on the CPU: it takes a dozen small steps.
            made = utilities.get_vision_position_ids(torch.tensor([grid]), tower.spatial_merge_size)
            tower.known_positions[key] = made.to(device)
        return tower.known_positions[key]

    def forward(self: Any, hidden_states: Any, grid_thw: Any, **kwargs: Any) -> Any:
        if "position_ids" not in kwargs:
            grids = grid_thw.tolist()
            kwargs["position_ids"] = torch.cat([positions(self, grid, hidden_states.device) for grid in grids])
        return module.Qwen3VLVisionModel.forward(self, hidden_states, grid_thw, **kwargs)

    return type("RememberingVisionModel", (module.Qwen3VLVisionModel,), {"forward": forward})


@cache
def _flat_embedding() -> Any:
    torch: Any = require("torch", extra="train")
    module: Any = require("transformers.models.qwen3_vl.modeling_qwen3_vl", extra="train")

    def forward(self: Any, hidden_states: Any) -> Any:
        weight = self.proj.weight
        if self.images is not None and hidden_states.shape[-1] * weight.shape[2] == weight[0].numel():
            # Bytes: what a picture shows is the same at all times, so that weights can be added up over them.
            bytes_of = hidden_states.float().view(-1, weight.shape[1], hidden_states.shape[-1] // weight.shape[1])
            mean, std = (bytes_of.new_tensor(one)[:, None] for one in (self.images.image_mean, self.images.image_std))
            even = ((bytes_of * self.images.rescale_factor - mean) / std).flatten(1).to(weight.dtype)
            return torch.nn.functional.linear(even, weight.sum(2).flatten(1), self.proj.bias)
        flat = hidden_states.to(weight.dtype).view(-1, weight[0].numel())
        return torch.nn.functional.linear(flat, weight.flatten(1), self.proj.bias)

    return type("FlatPatchEmbed", (module.Qwen3VLVisionPatchEmbed,), {"forward": forward})
