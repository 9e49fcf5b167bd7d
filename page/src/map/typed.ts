/** Degrees as people type them: 43.73, 43,73, 43.73 N, 43° 44' 24" S. Null where it is no such thing, or too large. */
export function degrees(text: string, most: number): number | null {
  const match = /^\s*([-+\u2212]?)\s*(\d+(?:[.,]\d+)?)\s*°?\s*(?:(\d+(?:[.,]\d+)?)\s*['′’]\s*)?(?:(\d+(?:[.,]\d+)?)\s*(?:"|″|”|'')\s*)?([NSEWnsew]?)\s*$/.exec(text);
  if (!match) return null;
  const [, sign, whole, minutes, seconds, letter] = match;
  const value = plain(whole) + plain(minutes) / 60 + plain(seconds) / 3600;
  if (!Number.isFinite(value) || value > most) return null;
  if (letter && /[NSns]/.test(letter) !== (most === 90)) return null;
  const negative = sign === "-" || sign === "\u2212" || /[SWsw]/.test(letter ?? "");
  return negative ? -value : value;
}

function plain(text: string | undefined): number {
  return text ? Number(text.replace(",", ".")) : 0;
}

/** A box whose east lies west of its west crosses the date line. */
export function eastOf(west: number, east: number): number {
  return east > west ? east : east + 360;
}
