"""Build the table of words that are words first, whatever village is called so: "pets", "makan", "piscina".

    python scripts/build_common_words.py

Source: the most frequent words of 40 languages in the data of wordfreq 3.1.1 (CC BY-SA 4.0). Names of large cities are
left out, since they are frequent words too. Each line of the table
holds a word and the languages that have it. Needs ``pip install msgpack``.
"""

import gzip
import sys
from collections import defaultdict
from pathlib import Path

import msgpack

from geosleuth.names import fold
from geosleuth.names.country_names import cities_by_country, countries
from registry import wheel_files

TABLE = Path(__file__).parents[1] / "src/geosleuth/evidence/data/common_words.txt.gz"
WORDS_A_LANGUAGE = 10_000
OF_TOWNS = 1_500
"""A town's name is a word first only where it is as frequent as this."""

LARGE_CITY = 50_000
LEAST_LETTERS = 3


def main() -> int:
    """Read, fold, leave out cities and countries, write."""
    towns = [city for several in cities_by_country().values() for city in several]
    cities = {fold(city.names[0]) for city in towns if city.population >= LARGE_CITY}
    cities |= {fold(country.name) for country in countries().values()}
    named = {fold(city.names[0]) for city in towns}
    words: dict[str, set[str]] = defaultdict(set)
    for name, content in sorted(wheel_files("wordfreq", "3.1.1", ".msgpack.gz").items()):
        if "/small_" not in name:
            continue
        language = name.rpartition("small_")[2].partition(".")[0]
        buckets = msgpack.unpackb(gzip.decompress(content), raw=False)[1:]
        frequent = [word for bucket in buckets for word in bucket][:WORDS_A_LANGUAGE]
        for rank, word in enumerate(frequent):
            if word.isalpha() and (rank < OF_TOWNS or fold(word) not in named):
                words[fold(word)].add(language)
    kept = sorted(word for word in words if len(word) >= LEAST_LETTERS and " " not in word and word not in cities)
    # No time in the file: the same source always gives the same bytes.
    TABLE.write_bytes(
        gzip.compress("\n".join(f"{word} {','.join(sorted(words[word]))}" for word in kept).encode("utf-8"), 9, mtime=0)
    )
    print(f"{len(kept)} words, {TABLE.stat().st_size / 1000:.0f} kB", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
