"""Figures for people: no more digits than they carry, thousands set apart, units where they belong."""

from math import isinf, isnan

NONE = "–"
_THIN = "\N{NARROW NO-BREAK SPACE}"


def count(value: int) -> str:
    """A number of things."""
    return f"{value:,}"


def percent(value: float, decimals: int = 1) -> str:
    """A share in percent, without the sign: columns name their unit once."""
    return NONE if isnan(value) else f"{value:.{decimals}f}"


def percent_sign(value: float, decimals: int = 1) -> str:
    """A share in percent, with the sign."""
    return NONE if isnan(value) else f"{value:.{decimals}f}{_THIN}%"


def distance(km: float) -> str:
    """A measured distance: 523 m, 1.23 km, 12.3 km, 1,234 km."""
    if isnan(km):
        return NONE
    if isinf(km):
        return "∞"
    if km * 1000 < 1:
        return f"under 1{_THIN}m"
    # Each step asks whether the *rounded* value still fits, so that 999.6 m is 1.00 km and never 1000 m.
    if round(km * 1000) < 1000:
        return f"{km * 1000:.0f}{_THIN}m"
    for decimals, limit in ((2, 10), (1, 100)):
        if round(km, decimals) < limit:
            return f"{km:.{decimals}f}{_THIN}km"
    return f"{km:,.0f}{_THIN}km"


def threshold(km: float) -> str:
    """A threshold, which is exact: 500 m, 1 km, 2,500 km."""
    return f"{km * 1000:,.12g}{_THIN}m" if km < 1 else f"{km:,.12g}{_THIN}km"


def score(value: float) -> str:
    """A mean GeoScore."""
    return NONE if isnan(value) else f"{value:,.0f}"


def format_signed(value: float, decimals: int = 1) -> str:
    """A difference, with a true minus sign."""
    if isnan(value):
        return NONE
    written = f"{abs(value):,.{decimals}f}"
    if float(written.replace(",", "")) == 0:
        return written
    return ("+" if value > 0 else "−") + written


def p_value(value: float) -> str:
    """A p-value; below 0.001 only that."""
    return "< 0.001" if value < 0.001 else f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def place(lat: float, lon: float) -> str:
    """Coordinates to 4 decimals, about 11 m."""
    return NONE if isnan(lat) or isnan(lon) else f"{lat:.4f}, {lon:.4f}".replace("-", "−")


def plural(value: int, text: str, many: str) -> str:
    """A count with its noun."""
    return f"{count(value)} {text if value == 1 else many}"


def size(size_bytes: int) -> str:
    """The size of a file: 538 KB, 3.1 MB, 1.6 GB."""
    for unit, step in (("GB", 10**9), ("MB", 10**6)):
        if size_bytes >= 0.9995 * step:
            value = size_bytes / step
            return f"{value:,.0f} {unit}" if value >= 99.95 else f"{value:.1f} {unit}"
    return f"{max(1, round(size_bytes / 1000)) if size_bytes else 0} KB"


def duration(seconds: float) -> str:
    """A length of time, roughly: 40 s, 12 minutes, 1.6 hours."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return plural(round(seconds / 60), "minute", "minutes") if seconds < 5400 else f"{seconds / 3600:.1f} hours"
