"""Opens mutated photos one after another under a memory limit; run as a script by the fuzz test.

Arguments: the first seed, how many. Prints a line before each file, so that a crash names its file, and a JSON summary.
"""

import io
import json
import random
import resource
import struct
import sys
import time
import zlib
from pathlib import Path

import numpy as np
import pillow_heif
from PIL import Image

from geosleuth.errors import BadInput
from geosleuth.photo import Limits, first_view, open_photo

MEMORY_LIMIT = 3 * 1024**3


def seeds() -> list[bytes]:
    """Small photos in every format and in the ways of storing pixels that differ most."""
    pillow_heif.register_heif_opener()
    noise = np.random.default_rng(7).integers(0, 255, (48, 64, 3), dtype=np.uint8)
    picture = Image.fromarray(noise).resize((160, 120))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "Maker"
    exif.get_ifd(0x8825).update({1: "N", 2: (51.0, 30.0, 5.5), 3: "W", 4: (0.0, 7.0, 30.0)})
    block = exif.tobytes()
    ways: list[tuple[str, str, dict[str, object]]] = [
        ("JPEG", "RGB", {"exif": block, "comment": b"hello"}),
        ("JPEG", "RGB", {"progressive": True}),
        ("JPEG", "CMYK", {}),
        ("JPEG", "L", {"restart_marker_blocks": 4}),
        ("PNG", "RGBA", {"exif": block}),
        ("PNG", "P", {}),
        ("PNG", "I;16", {}),
        ("PNG", "1", {}),
        ("WEBP", "RGBA", {"exif": block, "xmp": b"<x/>"}),
        ("WEBP", "RGB", {"lossless": True}),
        ("WEBP", "RGB", {"save_all": True, "append_images": [picture.rotate(90)]}),
        ("TIFF", "RGB", {"exif": block}),
        ("TIFF", "RGB", {"compression": "tiff_lzw"}),
        ("TIFF", "RGB", {"compression": "tiff_adobe_deflate"}),
        ("TIFF", "RGB", {"compression": "jpeg"}),
        ("TIFF", "CMYK", {"compression": "packbits"}),
        ("TIFF", "1", {"compression": "group4"}),
        ("TIFF", "F", {"save_all": True, "append_images": [picture]}),
        ("HEIF", "RGB", {"exif": block}),
        ("HEIF", "RGBA", {"save_all": True, "append_images": [picture.rotate(180)]}),
    ]
    found = []
    for name, mode, options in ways:
        stream = io.BytesIO()
        source = picture.convert("L") if mode == "I;16" else picture
        source.convert(mode).save(stream, name, **options)
        found.append(stream.getvalue())
    return found


def mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """Flipped bits, bent numbers, cuts, repeats, splices; now and then with PNG checksums set right again."""
    block = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if block:
            mutate_once(block, other, rng)
    if block.startswith(b"\x89PNG") and rng.random() < 0.7:
        mend_checksums(block)
    return bytes(block)


def mutate_once(block: bytearray, other: bytes, rng: random.Random) -> None:
    """One change, in the first few hundred bytes as often as anywhere."""
    at = rng.randrange(len(block)) if rng.random() < 0.5 else rng.randrange(min(len(block), 300))
    match rng.randrange(7):
        case 0:
            block[at] ^= 1 << rng.randrange(8)
        case 1:
            block[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFE, 0xFF))
        case 2:
            number = rng.choice((0, 1, 0xFFFF, 0x10000, 0x7FFFFFFF, 0xFFFFFFFF, 14_000, rng.getrandbits(32)))
            block[at : at + 4] = struct.pack(rng.choice("<>") + "I", number)
        case 3:
            del block[at : at + rng.randrange(1, 64)]
        case 4:
            block[at:at] = block[at : at + rng.randrange(1, 64)]
        case 5:
            start = rng.randrange(len(other))
            block[at:at] = other[start : start + rng.randrange(1, 256)]
        case 6 if rng.random() < 0.3:
            del block[at + 1 :]


def mend_checksums(block: bytearray) -> None:
    """Without this hardly any mutated PNG would get past the first check."""
    at = 8
    while at + 12 <= len(block):
        end = at + 8 + struct.unpack_from(">I", block, at)[0]
        if end + 4 > len(block):
            return
        block[end : end + 4] = struct.pack(">I", zlib.crc32(block[at + 4 : end]))
        at = end + 4


def main(first: int, count: int) -> None:
    """Go through the files; anything but a photo or BadInput ends the run with a traceback."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    originals = seeds()
    for original in originals:
        open_photo(original)
    opened = refused = 0
    slowest = (0.0, -1)
    for seed in range(first, first + count):
        rng = random.Random(seed)
        data = mutated(rng.choice(originals), rng.choice(originals), rng)
        print(seed, flush=True)
        start = time.perf_counter()
        try:
            photo = open_photo(data, Limits()).photo
            first_view(photo)
            opened += 1
        except BadInput:
            refused += 1
        slowest = max(slowest, (time.perf_counter() - start, seed))
    peak_mib = _peak_mib()
    print(json.dumps({"opened": opened, "refused": refused, "slowest": slowest, "peak_mib": peak_mib}))


def _peak_mib() -> float:
    """The most memory that this very process held; ``ru_maxrss`` would count its parent's before it became this one."""
    status = Path("/proc/self/status")
    if status.is_file():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(peak.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
