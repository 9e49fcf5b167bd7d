/** The land of candidates that are whole countries, asked for once by name. */
import { signal } from "@preact/signals";
import { api } from "../api/client";

export type Land = GeoJSON.Polygon | GeoJSON.MultiPolygon;

export const outlines = signal<ReadonlyMap<string, Land | null>>(new Map());

export async function askOutlines(names: readonly string[]): Promise<void> {
  const unknown = [...new Set(names)].filter((name) => !outlines.value.has(name)).slice(0, 100);
  if (unknown.length === 0) return;
  const asked = new Map(outlines.value);
  for (const name of unknown) asked.set(name, null);
  outlines.value = asked;
  try {
    const found = await api.outlines(unknown);
    outlines.value = new Map([...outlines.value, ...Object.entries(found)]);
  } catch {
    // A circle in place of an outline is no trouble.
  }
}
