"""How well and how fast text is read off signs in many scripts, without being told the script.

    python benchmarks/reading.py [--rounds N] [--words tuned|held-out] [--scripts thai,hebrew] [--photos FOLDER]
                                 [--against REV] [--json] [--check]

Signs are drawn: real words (towns, streets, shops) in Noto Sans on gradients, noise and bricks, at several sizes, a
little turned, slanted, blurred and saved as JPEG, all from fixed seeds. The settings of the reader were chosen on the
words called "tuned"; the figures to quote are those of the held-out words, which is what runs unless asked otherwise.

Per script: signs, share of characters right (1 - edit distance / length, never below 0, averaged over characters),
share of signs whose script was named rightly, seconds a sign. `--check` exits with 1 where a promise is broken.

``--photos`` also reads every photo of a folder and prints the CPU seconds each takes. ``--against REV`` runs the same
with the reader of another revision of this repository and prints both, old and new, in one run.
"""

import argparse
import io
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time
import unicodedata
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from rapidfuzz.distance import Levenshtein

from geosleuth.photo.text import read_text

FONTS = Path(__file__).parents[1] / "src/geosleuth/atlas/maps/fonts"
FIRST_ENGINE = ("latin", "chinese", "japanese")
PROMISED_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Script:
    """What is drawn for one script: the font and words on which the reader was tuned, and others."""

    font: str
    tuned: str
    held_out: str

    def words(self, which: str) -> list[str]:
        """Sign texts, cut at the bars."""
        return [word.strip() for word in (self.tuned if which == "tuned" else self.held_out).split("|")]


SCRIPTS = {
    "latin": Script(
        "sans-semibold",
        "Boulangerie | Rue de Rivoli | Zürich Hbf | Farmacia | Ayuntamiento | Kraków | Nowy Świat | Reykjavík",
        "Hauptbahnhof | Avenida da Liberdade | Pharmacie | Łódź | Calle Mayor | København | Trattoria | İstanbul",
    ),
    "chinese": Script(
        "chinese-simplified",
        "北京烤鸭 | 中山路 | 人民医院 | 上海火车站 | 药店 | 新华书店 | 解放大道 | 成都市",
        "广州酒家 | 长安街 | 中国银行 | 西湖公园 | 便利店 | 理发店 | 南京东路 | 重庆火锅",
    ),
    "japanese": Script(
        "japanese",
        "ラーメン | 東京駅 | 新宿三丁目 | たばこ | 居酒屋 | コンビニ | ようこそ京都へ | 薬局",
        "大阪城公園 | すし | 渋谷センター街 | カラオケ | 郵便局 | おみやげ | 北海道 | クリーニング",
    ),
    "cyrillic": Script(
        "sans-semibold",
        "Аптека | Київ | Продукты | улица Ленина | София | Београд | Вокзал | Мінск",
        "Гостиница | Львів | Невский проспект | Хлеб | Пловдив | Нови Сад | Книги | Лікарня",
    ),
    "greek": Script(
        "sans-semibold",
        "Φαρμακείο | Αθήνα | Οδός Ερμού | Ταβέρνα | ΕΛΛΑΔΑ | Θεσσαλονίκη | Ξενοδοχείο | Πάτρα",
        "Αρτοποιείο | Ηράκλειο | ΕΞΟΔΟΣ | Καφενείο | Πλατεία Συντάγματος | Λάρισα | Ψαροταβέρνα | ΠΕΙΡΑΙΑΣ",
    ),
    "arabic": Script(
        "arabic",
        "صيدلية | القاهرة | شارع التحرير | مطعم | بيروت | مستشفى | دمشق | تهران",
        "مخبز | الرياض | سوق الذهب | فندق | بغداد | مدرسة | طرابلس | اصفهان",
    ),
    "hebrew": Script(
        "hebrew",
        "בית מרקחת | ירושלים | רחוב הרצל | מסעדה | תל אביב | מאפייה | חיפה | תחנה מרכזית",
        "בית קפה | באר שבע | שדרות רוטשילד | דואר | אילת | בית ספר | נתניה | סופרמרקט",
    ),
    "thai": Script(
        "thai",
        "ร้านอาหาร | กรุงเทพ | ถนนสุขุมวิท | ตลาด | เชียงใหม่ | โรงพยาบาล | ร้านขายยา | ภูเก็ต",
        "โรงแรม | ขอนแก่น | ถนนสีลม | ธนาคาร | พัทยา | โรงเรียน | ก๋วยเตี๋ยว | สถานีรถไฟ",
    ),
    "hangul": Script(
        "korean",
        "약국 | 서울역 | 강남대로 | 편의점 | 부산 | 치킨 | 노래방 | 미용실",
        "병원 | 대구광역시 | 종로 | 김밥천국 | 인천공항 | 우체국 | 세탁소 | 부동산",
    ),
    "devanagari": Script(
        "devanagari",
        "दिल्ली | होटल | महात्मा गांधी मार्ग | अस्पताल | मुंबई | बाजार | काठमाडौं | विद्यालय",
        "जयपुर | भोजनालय | रेलवे स्टेशन | दुकान | वाराणसी | पोखरा | पुस्तकालय | डाकघर",
    ),
    "bengali": Script(
        "bengali",
        "ঢাকা | হোটেল | কলকাতা | ফার্মেসি | বাজার | হাসপাতাল | বিদ্যালয় | চট্টগ্রাম",
        "সিলেট | রেস্তোরাঁ | খুলনা | ব্যাংক | মিষ্টির দোকান | রাজশাহী | ডাকঘর | স্টেশন রোড",
    ),
    "tamil": Script(
        "tamil",
        "சென்னை | உணவகம் | மருந்தகம் | மதுரை | வங்கி | பள்ளி | அண்ணா சாலை | கோயம்புத்தூர்",
        "திருச்சி | மருத்துவமனை | சேலம் | கடை வீதி | நூலகம் | யாழ்ப்பாணம் | பேருந்து நிலையம் | தபால் நிலையம்",
    ),
    "georgian": Script(
        "georgian",
        "თბილისი | აფთიაქი | რუსთაველის გამზირი | რესტორანი | ბათუმი | სასტუმრო | ბაზარი | ქუთაისი",
        "გორი | მაღაზია | თავისუფლების მოედანი | პური | მცხეთა | სკოლა | საავადმყოფო | ზუგდიდი",
    ),
    "armenian": Script(
        "armenian",
        "Երևան | Դեղատուն | Խանութ | Մաշտոցի պողոտա | Գյումրի | Ռեստորան | Բանկ | Վանաձոր",
        "Հյուրանոց | Դիլիջան | Հաց | Աբովյան փողոց | Սևան | Դպրոց | Շուկա | Հիվանդանոց",
    ),
    "telugu": Script(
        "telugu",
        "హైదరాబాద్ | హోటల్ | బ్యాంకు | విజయవాడ | ఆసుపత్రి | పాఠశాల | తిరుపతి | మందుల షాపు",
        "విశాఖపట్నం | భోజనం | వరంగల్ | బస్ స్టాండ్ | గుంటూరు | పుస్తకాలు | కూరగాయలు | రైల్వే స్టేషన్",
    ),
    "kannada": Script(
        "kannada",
        "ಬೆಂಗಳೂರು | ಹೋಟೆಲ್ | ಮೈಸೂರು | ಆಸ್ಪತ್ರೆ | ಶಾಲೆ | ಬ್ಯಾಂಕ್ | ಮಹಾತ್ಮ ಗಾಂಧಿ ರಸ್ತೆ | ಹುಬ್ಬಳ್ಳಿ",
        "ಮಂಗಳೂರು | ಊಟದ ಮನೆ | ಔಷಧಿ ಅಂಗಡಿ | ಬೆಳಗಾವಿ | ಗ್ರಂಥಾಲಯ | ಬಸ್ ನಿಲ್ದಾಣ | ಉಡುಪಿ | ಅಂಚೆ ಕಚೇರಿ",
    ),
    "malayalam": Script(
        "malayalam",
        "കൊച്ചി | ഹോട്ടൽ | ആശുപത്രി | തിരുവനന്തപുരം | ബാങ്ക് | സ്കൂൾ | കോഴിക്കോട് | മെഡിക്കൽ സ്റ്റോർ",
        "തൃശൂർ | ഭക്ഷണശാല | കണ്ണൂർ | തപാൽ ഓഫീസ് | ബേക്കറി | ആലപ്പുഴ | പുസ്തകശാല | ചായക്കട",
    ),
    "gujarati": Script(
        "gujarati",
        "અમદાવાદ | હોટેલ | દવાખાનું | સુરત | બજાર | શાળા | વડોદરા | ગાંધી રોડ",
        "રાજકોટ | ભોજનાલય | બેંક | ભાવનગર | પુસ્તકાલય | મીઠાઈ | જામનગર | સ્ટેશન રોડ",
    ),
    "gurmukhi": Script(
        "gurmukhi",
        "ਅੰਮ੍ਰਿਤਸਰ | ਢਾਬਾ | ਹਸਪਤਾਲ | ਲੁਧਿਆਣਾ | ਬਾਜ਼ਾਰ | ਸਕੂਲ | ਜਲੰਧਰ | ਮਾਲ ਰੋਡ",
        "ਪਟਿਆਲਾ | ਦੁਕਾਨ | ਬੈਂਕ | ਬਠਿੰਡਾ | ਡਾਕਘਰ | ਗੁਰਦੁਆਰਾ | ਮੋਗਾ | ਕਿਤਾਬ ਘਰ",
    ),
    "sinhala": Script(
        "sinhala",
        "කොළඹ | හෝටලය | රෝහල | මහනුවර | බැංකුව | පාසල | ගාල්ල | ගාලු පාර",
        "අනුරාධපුර | ෆාමසිය | වෙළඳසැල | මාතර | පුස්තකාලය | තැපැල් කාර්යාලය | නුවර එළිය | බස් නැවතුම",
    ),
    "myanmar": Script(
        "myanmar",
        "ရန်ကုန် | ဆေးဆိုင် | မန္တလေး | ဟိုတယ် | ဈေး | ကျောင်း | ဆေးရုံ | ပုဂံ",
        "နေပြည်တော် | ဘဏ် | စားသောက်ဆိုင် | ပဲခူး | စာအုပ်ဆိုင် | လမ်း | မော်လမြိုင် | ဘူတာ",
    ),
    "ethiopic": Script(
        "ethiopic",
        "አዲስ አበባ | ሆቴል | ባንክ | ትምህርት ቤት | መቀሌ | ምግብ ቤት | ሆስፒታል | ጎንደር",
        "ባህር ዳር | መድኃኒት ቤት | ሐዋሳ | ገበያ | ድሬዳዋ | ቡና | መጻሕፍት | ፖስታ ቤት",
    ),
}


def background(width: int, height: int, chance: random.Random) -> Image.Image:
    """A wall or a board: a tint with a gradient, speckle and now and then bricks."""
    noise = np.random.default_rng(chance.randrange(2**32))
    tint = np.array([chance.randrange(20, 236) for _ in range(3)], dtype=np.float64)
    slope = np.linspace(-1, 1, width)[None, :, None] * chance.uniform(-25, 25)
    slope = slope + np.linspace(-1, 1, height)[:, None, None] * chance.uniform(-25, 25)
    grain = noise.normal(0, chance.uniform(3, 12), (height, width, 1)) + noise.normal(0, 3, (height, width, 3))
    coarse = Image.fromarray(noise.integers(0, 255, (height // 24 + 2, width // 24 + 2), dtype=np.uint8))
    blotch = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC), dtype=np.float64)[..., None]
    pixels = tint + slope + grain + (blotch - 127) * chance.uniform(0.05, 0.18)
    if chance.random() < 0.3:
        brick_height, brick_width, depth = chance.randrange(28, 60), chance.randrange(70, 140), chance.uniform(10, 22)
        rows = np.arange(height) // brick_height
        joints = np.arange(height)[:, None] % brick_height < 3
        uprights = (np.arange(width)[None, :] + rows[:, None] % 2 * brick_width // 2) % brick_width < 3
        pixels = pixels - depth * (joints | uprights)[..., None]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def draw_sign(word: str, font_name: str, chance: random.Random) -> Image.Image:
    """One word on one textured picture, turned, slanted and blurred a little, after a JPEG."""
    size = chance.choice((34, 44, 56, 72))
    font = ImageFont.truetype(str(FONTS / f"{font_name}.woff2"), size, layout_engine=ImageFont.Layout.RAQM)
    left, top, right, bottom = font.getbbox(word)
    margin = size
    mask = Image.new("L", (int(right - left) + 2 * margin, int(bottom - top) + 2 * margin))
    ImageDraw.Draw(mask).text((margin - left, margin - top), word, font=font, fill=255)
    mask = mask.rotate(chance.uniform(-4, 4), Image.Resampling.BICUBIC, expand=True)
    width, height = mask.size
    lean, drop = chance.uniform(-0.08, 0.08) * height, chance.uniform(-0.06, 0.06) * height
    corners = (
        max(lean, 0),
        max(drop, 0),
        -max(-lean, 0),
        height,
        width,
        height - max(drop, 0),
        width - max(lean, 0),
        0,
    )
    mask = mask.transform((width, height), Image.Transform.QUAD, corners, Image.Resampling.BICUBIC)
    canvas = background(max(480, width + 60), max(360, height + 80), chance)
    at = (chance.randrange(canvas.width - width + 1), chance.randrange(canvas.height - height + 1))
    behind = np.asarray(canvas.convert("L").crop((*at, at[0] + width, at[1] + height)), dtype=np.float64)
    bright = float(behind[np.asarray(mask) > 128].mean())
    tone = chance.randrange(0, 40) if bright > 128 else chance.randrange(215, 256)
    colour = tuple(min(255, max(0, tone + chance.randrange(-15, 16))) for _ in range(3))
    canvas.paste(Image.new("RGB", mask.size, colour), at, mask)
    canvas = canvas.filter(ImageFilter.GaussianBlur(chance.uniform(0, 1.1)))
    stored = io.BytesIO()
    canvas.save(stored, "JPEG", quality=chance.randrange(70, 93))
    return Image.open(stored).convert("RGB")


def signs(name: str, which: str, rounds: int) -> Iterator[tuple[str, Image.Image]]:
    """Every word of a script, drawn so many times over; the seed hangs on the word alone."""
    for word in SCRIPTS[name].words(which):
        for turn in range(rounds):
            chance = random.Random(zlib.crc32(f"{which}/{turn}/{word}".encode()))
            yield word, draw_sign(word, SCRIPTS[name].font, chance)


def plain(text: str) -> str:
    """Composed, without invisible joiners at which engines and keyboards differ."""
    return unicodedata.normalize("NFC", text).replace("\u200c", "").replace("\u200d", "")


def measure(name: str, which: str, rounds: int, *, show: bool = False) -> dict[str, Any]:
    """Read every sign of a script."""
    right = characters = named = 0
    taken = []
    working = time.process_time()
    for word, picture in signs(name, which, rounds):
        start = time.perf_counter()
        lines = read_text(picture)
        taken.append(time.perf_counter() - start)
        truth, got = plain(word), plain(" ".join(line.text for line in lines))
        right += max(0, len(truth) - Levenshtein.distance(truth, got))
        characters += len(truth)
        scripts = {line.script for line in lines}
        # Han alone is Chinese and Japanese alike: a sign without kana can't be told apart by its script.
        named += scripts == {name} or (name == "japanese" and scripts == {"chinese"})
        if show and truth != got:
            print(f"  {word!r} read as {[(line.text, line.script, round(line.confidence, 2)) for line in lines]}")
    return {
        "signs": len(taken),
        "characters": characters,
        "character_accuracy": right / characters,
        "script_right": named / len(taken),
        "seconds_mean": statistics.mean(taken),
        "seconds_worst": max(taken),
        "cpu_mean": (time.process_time() - working) / len(taken),
    }


def photo_seconds(folder: Path) -> list[float]:
    """CPU seconds that reading takes for each photo of a folder and those below it, everything loaded."""
    taken = []
    for path in sorted(folder.rglob("*.jpg")):
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
        start = time.process_time()
        read_text(picture)
        taken.append(time.process_time() - start)
    return taken


def of_revision(revision: str, arguments: list[str]) -> dict[str, Any]:
    """The figures of the reader of another revision, by this very script."""
    root = Path(__file__).resolve().parents[1]
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        subprocess.run(
            ["git", "-C", str(root), "worktree", "add", "--quiet", "--detach", str(tree), revision], check=True
        )
        try:
            command = [sys.executable, str(Path(__file__).resolve()), *arguments, "--json"]
            paths = {**os.environ, "PYTHONPATH": str(tree / "src")}
            done = subprocess.run(command, env=paths, check=True, stdout=subprocess.PIPE)
        finally:
            subprocess.run(["git", "-C", str(root), "worktree", "remove", "--force", str(tree)], check=True)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def compare(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Both readers, side by side."""
    print(f"{'':<11} {'old':>7} {'new':>7}   characters right")
    for name, result in new["scripts"].items():
        before = old["scripts"][name]
        print(f"{name:<11} {before['character_accuracy']:>7.1%} {result['character_accuracy']:>7.1%}")
    pairs = [
        ("CPU seconds a sign", *(statistics.mean(r["cpu_mean"] for r in one["scripts"].values()) for one in (old, new)))
    ]
    if new.get("photos"):
        pairs.append(("CPU seconds a photo, p50", *(statistics.median(one["photos"]) for one in (old, new))))
    for words, before, now in pairs:
        print(f"{words}: {before:.2f} old, {now:.2f} new, {before / now:.1f} times as fast")


def promised_accuracy(name: str) -> float:
    """The share of a script's characters that must be right."""
    return 0.90 if name in FIRST_ENGINE else 0.80


def broken(results: dict[str, dict[str, Any]]) -> list[str]:
    """Promises that do not hold."""
    found = []
    for name, result in results.items():
        promised = promised_accuracy(name)
        if result["character_accuracy"] < promised:
            found.append(f"{name}: {result['character_accuracy']:.1%} of characters right, promised {promised:.0%}")
    if len(results) == len(SCRIPTS):
        mean = statistics.mean(result["seconds_mean"] for result in results.values())
        if mean > PROMISED_SECONDS:
            found.append(f"{mean:.2f} s a sign, promised {PROMISED_SECONDS:.1f} s")
    return found


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=3, help="how often each word is drawn")
    options.add_argument("--words", choices=("tuned", "held-out"), default="held-out")
    options.add_argument("--scripts", default=",".join(SCRIPTS), help="comma-separated")
    options.add_argument("--show", action="store_true", help="print what was misread")
    options.add_argument("--photos", type=Path, help="also read the photos of this folder")
    options.add_argument("--against", metavar="REV", help="also run the reader of another revision")
    options.add_argument("--json", action="store_true")
    options.add_argument("--check", action="store_true")
    chosen = options.parse_args()
    read_text(draw_sign("Warm up", "sans", random.Random(0)))
    results = {}
    for name in chosen.scripts.split(","):
        result = results[name] = measure(name, chosen.words, chosen.rounds, show=chosen.show)
        if not chosen.json:
            print(
                f"{name:<11} {result['signs']:>3} signs  {result['character_accuracy']:>6.1%} of characters  "
                f"{result['script_right']:>6.1%} scripts  {result['seconds_mean']:.2f} s mean "
                f"{result['seconds_worst']:.2f} s worst",
                flush=True,
            )
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    photos = photo_seconds(chosen.photos) if chosen.photos else []
    measured = {"machine": machine, "words": chosen.words, "scripts": results, "photos": photos}
    if chosen.against:
        given = ["--rounds", str(chosen.rounds), "--words", chosen.words, "--scripts", chosen.scripts]
        given += ["--photos", str(chosen.photos.resolve())] if chosen.photos else []
        compare(of_revision(chosen.against, given), measured)
        print(f"machine: {machine}")
    elif chosen.json:
        print(json.dumps(measured, indent=2))
    else:
        if photos:
            print(f"photos: {statistics.median(photos):.2f} CPU seconds, p50 of {len(photos)}")
        print(f"machine: {machine}; words: {chosen.words}")
    faults = broken(results) if chosen.check else []
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
