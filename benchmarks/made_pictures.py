# ruff: noqa: E501  (pages read better with each element on one line)
"""Pictures that are no photographs, made from a seed: screenshots of pages, scanned documents, drawings.

Screenshots are taken of pages that a real browser shows: articles, chats, maps, tables, code, charts, photos inside
pages, light and dark, on a desk and on a phone. Documents lie on paper with shade, noise and a slant. Drawings are
charts, maps, cartoons and line art. Some are saved as JPEG or made smaller, as pictures are that people pass on.
"""

import io
import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from playwright.sync_api import Browser

_WORDS = [
    "the",
    "river",
    "of",
    "market",
    "street",
    "and",
    "old",
    "harbour",
    "light",
    "time",
    "paper",
    "report",
    "account",
    "station",
    "window",
    "garden",
    "number",
    "open",
    "north",
    "year",
    "people",
    "house",
    "small",
    "water",
    "under",
    "morning",
    "bridge",
    "total",
    "price",
    "order",
    "city",
    "road",
    "letter",
    "school",
    "answer",
]
_NAMES = ("Ada", "Grace", "Linh", "Omar", "Rosa", "Sven", "Yuki", "Zoe")
_FONTS = ("sans-serif", "serif", "monospace", "DejaVu Sans", "Liberation Sans")


def _sentence(rng: random.Random, most: int = 16) -> str:
    return " ".join(rng.choices(_WORDS, k=rng.randint(4, most))).capitalize() + "."


def _paragraph(rng: random.Random, sentences: int = 5) -> str:
    return " ".join(_sentence(rng) for _ in range(sentences))


def passed_on(image: Image.Image, rng: random.Random) -> bytes:
    """Return a picture's file as people pass it on: PNG or JPEG, as it was or smaller."""
    if rng.random() < 0.3:
        share = rng.uniform(0.5, 0.9)
        image = image.resize((round(image.width * share), round(image.height * share)), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    if rng.random() < 0.5:
        image.save(out, "PNG")
    else:
        image.save(out, "JPEG", quality=rng.randint(70, 95))
    return out.getvalue()


# Screenshots.


@contextmanager
def browsing(browser: Browser) -> Iterator[Callable[[int, str], bytes]]:
    """Yield what takes the screenshot of a seed; the text is a photo's data address, for photos inside pages."""

    def take(seed: int, photo: str) -> bytes:
        rng = random.Random(f"screenshot {seed}")
        phone = rng.random() < 0.35
        size = (390, 844) if phone else rng.choice([(1280, 800), (1440, 900), (1024, 768), (1920, 1080)])
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, device_scale_factor=2 if phone else 1)
        try:
            page.set_content(_page(seed, rng, photo))
            data = page.screenshot()
        finally:
            page.close()
        return passed_on(Image.open(io.BytesIO(data)).convert("RGB"), rng)

    yield take


def _page(seed: int, rng: random.Random, photo: str) -> str:
    dark = rng.random() < 0.4
    hue = rng.randint(0, 359)
    ground, ink = (f"hsl({hue} 12% 11%)", "#ddd") if dark else (f"hsl({hue} 30% 98%)", "#222")
    accent = f"hsl({hue} 60% 50%)"
    makers = (_article, _chat, _map_page, _table, _code, _dashboard, _gallery, _post, _settings, _search)
    body = makers[seed % len(makers)](rng, accent, photo)
    font = rng.choice(_FONTS)
    bar = (
        f'<header style="background:{accent};color:#fff;padding:10px 16px;font-weight:600">{_sentence(rng, 5)}</header>'
    )
    return (
        f'<!doctype html><meta charset="utf-8"><body style="margin:0;background:{ground};color:{ink};font:15px {font}">'
        f"{bar if rng.random() < 0.8 else ''}{body}</body>"
    )


def _article(rng: random.Random, accent: str, photo: str) -> str:
    picture = f'<img src="{photo}" style="width:45%;float:right;margin:0 0 1em 1em">' if rng.random() < 0.5 else ""
    text = "".join(f"<p>{_paragraph(rng)}</p>" for _ in range(8))
    return f'<main style="max-width:46em;margin:auto;padding:1em"><h1>{_sentence(rng, 6)}</h1>{picture}{text}<a style="color:{accent}">{_sentence(rng, 4)}</a></main>'


def _chat(rng: random.Random, accent: str, photo: str) -> str:
    rows = []
    for _ in range(12):
        mine = rng.random() < 0.5
        look = f"background:{accent};color:#fff;margin-left:auto" if mine else "background:#8884"
        inner = f'<img src="{photo}" style="width:100%;border-radius:8px">' if rng.random() < 0.12 else _sentence(rng)
        rows.append(
            f'<div style="{look};border-radius:14px;padding:8px 12px;max-width:60%;width:fit-content;margin-bottom:8px">{inner}</div>'
        )
    return (
        f'<div style="padding:12px;display:flex;flex-direction:column"><b>{rng.choice(_NAMES)}</b>{"".join(rows)}</div>'
    )


def map_svg(rng: random.Random, width: int = 1400, height: int = 900) -> str:
    """Return a street map as SVG."""
    tint = rng.choice(["#f2efe9", "#e8eef2", "#1d2733", "#f8f4e3"])
    parts = [f'<rect width="{width}" height="{height}" fill="{tint}"/>']
    for _ in range(rng.randint(3, 8)):
        points = _blob(rng, rng.uniform(0, width), rng.uniform(0, height), rng.uniform(60, 260))
        colour = rng.choice(["#aad3df", "#c8facc", "#add19e", "#d9d0c9", "#eee0c0"])
        parts.append(f'<polygon points="{points}" fill="{colour}"/>')
    for _ in range(rng.randint(20, 60)):
        x, y, turn = rng.uniform(0, width), rng.uniform(0, height), rng.choice([0, 0, 90, rng.uniform(0, 180)])
        far = rng.uniform(100, 900)
        dx, dy = far * math.cos(math.radians(turn)), far * math.sin(math.radians(turn))
        wide, colour = rng.choice([(2, "#fff"), (5, "#fff"), (8, "#fcd6a4"), (10, "#e892a2"), (1, "#999")])
        parts.append(
            f'<path d="M{x - dx:.0f} {y - dy:.0f} q{dx / 2:.0f} {rng.uniform(-90, 90):.0f} {2 * dx:.0f} {2 * dy:.0f}" stroke="{colour}" stroke-width="{wide}" fill="none"/>'
        )
    parts += [
        f'<text x="{rng.uniform(0, width):.0f}" y="{rng.uniform(0, height):.0f}" font-size="{rng.choice([11, 12, 16])}" fill="{rng.choice(["#333", "#666", "#734a08"])}">{" ".join(rng.choices(_WORDS, k=2)).title()}</text>'
        for _ in range(rng.randint(15, 40))
    ]
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{"".join(parts)}</svg>'


def _blob(rng: random.Random, x: float, y: float, reach: float) -> str:
    turns = [2 * math.pi * step / 14 for step in range(14)]
    return " ".join(
        f"{x + reach * rng.uniform(0.6, 1.2) * math.cos(turn):.0f},{y + reach * rng.uniform(0.6, 1.2) * math.sin(turn):.0f}"
        for turn in turns
    )


def _map_page(rng: random.Random, accent: str, _photo: str) -> str:
    box = f'<div style="position:absolute;left:12px;top:60px;background:#fff;color:#222;padding:12px;width:240px"><b>{_sentence(rng, 4)}</b><p>{_sentence(rng)}</p><button style="background:{accent};color:#fff">Route</button></div>'
    return f'<div style="overflow:hidden;height:100vh">{map_svg(rng, 1920, 1080)}</div>{box}'


def _table(rng: random.Random, accent: str, _photo: str) -> str:
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="border:1px solid #8886;padding:4px 8px">{rng.choice([str(rng.randint(1, 99999)), rng.choice(_WORDS)])}</td>'
            for _ in range(9)
        )
        + "</tr>"
        for _ in range(32)
    )
    return f'<table style="border-collapse:collapse;margin:8px"><tr style="background:{accent}">{"".join(f"<th>{name}</th>" for name in rng.choices(_WORDS, k=9))}</tr>{rows}</table>'


def _code(rng: random.Random, accent: str, _photo: str) -> str:
    lines = "\n".join(
        "    " * rng.randint(0, 3)
        + f'<span style="color:{rng.choice([accent, "#c678dd", "#98c379", "inherit"])}">{rng.choice(_WORDS)}</span>_{rng.choice(_WORDS)}({rng.choice(_WORDS)}, {rng.randint(0, 99)})'
        for _ in range(45)
    )
    return f'<pre style="padding:12px;font:14px monospace;margin:0">{lines}</pre>'


def _dashboard(rng: random.Random, accent: str, _photo: str) -> str:
    cards = "".join(
        f'<div style="border:1px solid #8885;border-radius:8px;padding:12px;width:30%"><b>{rng.choice(_WORDS)}</b><div style="font-size:30px">{rng.randint(1, 9999)}</div>{_bars(rng, accent)}</div>'
        for _ in range(9)
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:12px;padding:12px">{cards}</div>'


def _bars(rng: random.Random, accent: str) -> str:
    return "".join(
        f'<span style="display:inline-block;width:16px;margin:2px;height:{rng.randint(8, 90)}px;background:{accent}"></span>'
        for _ in range(10)
    )


def _gallery(rng: random.Random, _accent: str, photo: str) -> str:
    cells = "".join(
        f'<figure style="margin:0;width:{rng.choice([22, 30])}%"><img src="{photo}" style="width:100%;height:130px;object-fit:cover;filter:hue-rotate({rng.randint(0, 50)}deg)"><figcaption>{_sentence(rng, 4)}</figcaption></figure>'
        for _ in range(8)
    )
    return f'<h2 style="padding:0 12px">{_sentence(rng, 4)}</h2><div style="display:flex;flex-wrap:wrap;gap:16px;padding:12px">{cells}</div>'


def _post(rng: random.Random, accent: str, photo: str) -> str:
    return f'<div style="max-width:520px;margin:12px auto;border:1px solid #8885;border-radius:10px"><div style="padding:12px"><b>{rng.choice(_NAMES)}</b> <small>{rng.randint(1, 59)} min</small><p>{_sentence(rng)}</p></div><img src="{photo}" style="width:100%;max-height:380px;object-fit:cover"><div style="padding:12px;color:{accent}">{rng.randint(1, 900)} likes</div></div><p style="padding:12px">{_paragraph(rng)}</p>'


def _settings(rng: random.Random, accent: str, _photo: str) -> str:
    return "".join(
        f'<div style="display:flex;justify-content:space-between;padding:14px 16px;border-bottom:1px solid #8884">{_sentence(rng, 5)}<span style="width:36px;height:20px;border-radius:10px;background:{rng.choice([accent, "#8888"])}"></span></div>'
        for _ in range(18)
    )


def _search(rng: random.Random, accent: str, _photo: str) -> str:
    hits = "".join(
        f'<div style="margin:18px"><a style="color:{accent};font-size:19px">{_sentence(rng, 6)}</a><div>{_paragraph(rng, 2)}</div></div>'
        for _ in range(9)
    )
    return f'<input value="{_sentence(rng, 4)}" style="margin:18px;width:60%;padding:8px;border-radius:20px">{hits}'


# Documents.


def document(seed: int) -> bytes:
    """Return a page of text as a scanner or a careful hand with a camera gives it: shade, noise, slant, blur."""
    rng = random.Random(f"document {seed}")
    width, height = rng.choice([(1240, 1754), (1000, 1400), (1654, 1170), (800, 1130)])
    paper = rng.randint(225, 255)
    tint = (paper, paper - rng.randint(0, 8), paper - rng.randint(0, 22))
    page = Image.new("RGB", (width, height), tint)
    draw = ImageDraw.Draw(page)
    ink = (rng.randint(0, 60),) * 3
    _write(draw, rng, width, height, ink)
    if rng.random() < 0.3:
        x, y = rng.randint(0, width - 220), rng.randint(height // 2, height - 220)
        draw.ellipse((x, y, x + 190, y + 190), outline=(rng.randint(120, 200), 30, rng.randint(30, 160)), width=7)
    slant = rng.uniform(-3, 3)
    page = page.rotate(slant, Image.Resampling.BICUBIC, fillcolor=tint)
    grid = np.asarray(page, dtype=np.float32)
    across = np.linspace(-1, 1, width)[None, :, None] * rng.uniform(-14, 14)
    down = np.linspace(-1, 1, height)[:, None, None] * rng.uniform(-14, 14)
    noise = np.random.default_rng(seed).normal(0, rng.uniform(0.5, 6), (height, width, 1))
    page = Image.fromarray(np.clip(grid + across + down + noise, 0, 255).astype(np.uint8))
    if rng.random() < 0.6:
        page = page.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.2)))
    return passed_on(page, rng)


def _write(draw: ImageDraw.ImageDraw, rng: random.Random, width: int, height: int, ink: tuple[int, int, int]) -> None:
    margin, y = rng.randint(60, 120), rng.randint(60, 140)
    kind = rng.choice(["letter", "form", "receipt", "columns"])
    size = rng.randint(16, 30)
    font, head = ImageFont.load_default(size), ImageFont.load_default(size * 2)
    draw.text((margin, y), _sentence(rng, 5), ink, head)
    y += size * 4
    left, right = (width // 3, 2 * width // 3) if kind == "receipt" else (margin, width - margin)
    while y < height - margin - rng.choice([0, 200]):
        if kind == "form" and rng.random() < 0.4:
            draw.rectangle((left, y, right, y + size * 2), outline=ink, width=2)
            draw.text((left + 8, y + 6), rng.choice(_WORDS), ink, font)
            y += size * 3
        elif kind == "receipt":
            draw.text((left, y), rng.choice(_WORDS), ink, font)
            draw.text((right - 90, y), f"{rng.uniform(1, 90):.2f}", ink, font)
            y += round(size * 1.5)
        else:
            for at in (left, (left + right) // 2 + 20) if kind == "columns" else (left,):
                line, most = "", (right - left) // 2 - 30 if kind == "columns" else right - left
                while font.getlength(line) < most * rng.uniform(0.7, 0.9):
                    line += rng.choice(_WORDS) + " "
                draw.text((at, y), line, ink, font)
            y += round(size * (1.5 if rng.random() < 0.85 else 3))


# Drawings.


def drawing(seed: int) -> bytes:
    """Return a chart, a map, a cartoon or line art."""
    rng = random.Random(f"drawing {seed}")
    makers = (_chart, _drawn_map, _cartoon, _line_art)
    image = makers[seed % len(makers)](rng)
    # Drawn at twice the size: smooth edges, as drawing programs make them.
    return passed_on(image.resize((image.width // 2, image.height // 2), Image.Resampling.LANCZOS), rng)


def _colour(rng: random.Random, least: int = 40) -> tuple[int, int, int]:
    return rng.randint(least, 255), rng.randint(least, 255), rng.randint(least, 255)


def _chart(rng: random.Random) -> Image.Image:
    image = Image.new("RGB", (2000, 1400), rng.choice([(255, 255, 255), (245, 245, 240), (30, 30, 40)]))
    draw, ink = ImageDraw.Draw(image), (120, 120, 120)
    font = ImageFont.load_default(36)
    draw.text((200, 40), _sentence(rng, 6), ink, ImageFont.load_default(60))
    for step in range(8):
        draw.line((160, 1240 - step * 150, 1900, 1240 - step * 150), ink, 2)
        draw.text((60, 1220 - step * 150), str(step * 10), ink, font)
    kind = rng.choice(["bars", "lines", "pie", "dots"])
    for series in range(rng.randint(1, 4)):
        colour, y = _colour(rng), rng.uniform(300, 1000)
        last = (180, y)
        if kind == "pie":
            draw.pieslice((600, 250, 1500, 1150), series * 90, series * 90 + rng.randint(40, 110), colour)
        for step in range(14):
            x, y = 180 + step * 125, min(1230, max(200, y + rng.uniform(-160, 160)))
            if kind == "bars":
                draw.rectangle((x + series * 26, y, x + series * 26 + 22, 1240), colour)
            elif kind == "lines":
                draw.line((*last, x, y), colour, 8)
            elif kind == "dots":
                draw.ellipse((x - 14, y - 14, x + 14, y + 14), colour)
            last = (x, y)
    return image


def _drawn_map(rng: random.Random) -> Image.Image:
    sea, land = rng.choice(
        [((170, 211, 223), (242, 239, 233)), ((255, 255, 255), (200, 220, 180)), ((20, 40, 60), (70, 90, 80))]
    )
    image = Image.new("RGB", (2000, 1500), sea)
    draw = ImageDraw.Draw(image)
    for _ in range(rng.randint(2, 6)):
        x, y, reach = rng.uniform(200, 1800), rng.uniform(200, 1300), rng.uniform(200, 600)
        turns = [2 * math.pi * step / 60 for step in range(60)]
        edge = [
            (
                x + reach * rng.uniform(0.9, 1.1) * math.cos(turn),
                y + 0.7 * reach * rng.uniform(0.9, 1.1) * math.sin(turn),
            )
            for turn in turns
        ]
        draw.polygon(edge, rng.choice([land, _colour(rng, 150)]), (90, 90, 90), 4)
    for _ in range(rng.randint(8, 30)):
        points = [(rng.uniform(0, 2000), rng.uniform(0, 1500))]
        for _ in range(8):
            points.append((points[-1][0] + rng.uniform(-160, 160), points[-1][1] + rng.uniform(-160, 160)))
        draw.line(
            points,
            rng.choice([(255, 255, 255), (230, 140, 60), (120, 120, 120), (90, 150, 210)]),
            rng.choice([3, 6, 12]),
        )
    for _ in range(rng.randint(10, 30)):
        draw.text(
            (rng.uniform(0, 1800), rng.uniform(0, 1400)),
            rng.choice(_WORDS).title(),
            (50, 50, 50),
            ImageFont.load_default(rng.choice([28, 36, 52])),
        )
    return image


def _cartoon(rng: random.Random) -> Image.Image:
    image = Image.new("RGB", (1800, 1400), _colour(rng, 120))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, rng.randint(700, 1000), 1800, 1400), _colour(rng))
    draw.ellipse((1300, 80, 1600, 380), _colour(rng, 180))
    for _ in range(rng.randint(5, 14)):
        x, y, reach, colour = rng.randint(0, 1700), rng.randint(300, 1200), rng.randint(60, 320), _colour(rng)
        shape = rng.choice(["face", "house", "tree"])
        if shape == "house":
            draw.rectangle((x, y, x + reach, y + reach), colour, (0, 0, 0), 8)
            draw.polygon([(x - 30, y), (x + reach / 2, y - reach * 0.6), (x + reach + 30, y)], _colour(rng), (0, 0, 0))
        elif shape == "tree":
            draw.rectangle((x + reach * 0.4, y, x + reach * 0.6, y + reach), (110, 70, 30), (0, 0, 0), 6)
            draw.ellipse((x, y - reach * 0.6, x + reach, y + reach * 0.4), colour, (0, 0, 0), 8)
        else:
            draw.ellipse((x, y, x + reach, y + reach), colour, (0, 0, 0), 8)
            for side in (0.3, 0.6):
                draw.ellipse(
                    (x + side * reach, y + 0.3 * reach, x + (side + 0.12) * reach, y + 0.45 * reach), (0, 0, 0)
                )
            draw.arc((x + 0.25 * reach, y + 0.4 * reach, x + 0.75 * reach, y + 0.8 * reach), 20, 160, (0, 0, 0), 8)
    if rng.random() < 0.5:
        draw.rounded_rectangle((120, 80, 900, 300), 60, (255, 255, 255), (0, 0, 0), 8)
        draw.text((170, 140), _sentence(rng, 5), (0, 0, 0), ImageFont.load_default(48))
    return image


def _line_art(rng: random.Random) -> Image.Image:
    image = Image.new("RGB", (1700, 1700), rng.choice([(255, 255, 255), (250, 246, 235)]))
    draw = ImageDraw.Draw(image)
    ink = rng.choice([(0, 0, 0), (40, 40, 90), (90, 50, 20)])
    for _ in range(rng.randint(30, 120)):
        x, y, reach = rng.uniform(0, 1700), rng.uniform(0, 1700), rng.uniform(40, 500)
        begin = rng.uniform(0, 360)
        draw.arc(
            (x - reach, y - reach, x + reach, y + reach),
            begin,
            begin + rng.uniform(20, 160),
            ink,
            rng.choice([3, 5, 9]),
        )
        if rng.random() < 0.4:
            draw.line((x, y, x + rng.uniform(-400, 400), y + rng.uniform(-400, 400)), ink, rng.choice([3, 5]))
    return image
