"""A photo of a sign with a few lines of Latin text, large enough to be read."""

from pathlib import Path

from PIL import ExifTags, Image, ImageDraw, ImageFont


def camera_exif() -> Image.Exif:
    """What a camera writes of itself: a drawn sign would be taken for a drawing, and left out of a folder."""
    exif = Image.Exif()
    exif[ExifTags.Base.Make], exif[ExifTags.Base.Model] = "Drawn", "for tests"
    return exif


def sign_photo(path: Path, *lines: str) -> Path:
    """Write the photo of a sign."""
    image = Image.new("RGB", (1100, 160 + 120 * len(lines)), (204, 196, 180))
    draw = ImageDraw.Draw(image)
    draw.rectangle((40, 40, 1060, image.height - 40), fill=(246, 244, 236), outline=(40, 40, 60), width=6)
    font = ImageFont.load_default(72)
    for number, line in enumerate(lines):
        draw.text((90, 80 + 120 * number), line, fill=(20, 20, 40), font=font)
    image.save(path, quality=92, exif=camera_exif())
    return path
