/** What somebody gathers to say about a run before it goes on. */
import { computed, signal } from "@preact/signals";
import type { Box, Feedback, ReadingShown } from "../api/types";
import { keyOf, type Line } from "./lines";

export class Gathered {
  readonly clues = signal<ReadonlyMap<string, string>>(new Map());
  readonly candidates = signal<ReadonlyMap<string, string>>(new Map());
  /** Lines that are not about the place. */
  readonly texts = signal<ReadonlyMap<string, string>>(new Map());
  /** What somebody reads, by the spot. */
  readonly readings = signal<ReadonlyMap<string, ReadingShown>>(new Map());
  readonly hint = signal("");
  readonly within = signal("");
  readonly area = signal<GeoJSON.Polygon | GeoJSON.MultiPolygon | null>(null);

  readonly count = computed(
    () => this.clues.value.size + this.candidates.value.size + this.texts.value.size + [...this.readings.value.values()].filter((one) => one.text !== "").length + (this.hint.value.trim() ? 1 : 0) + (this.within.value.trim() ? 1 : 0) + (this.area.value ? 1 : 0),
  );

  toggle(what: "clues" | "candidates" | "texts", id: string, label: string): void {
    const next = new Map(this[what].value);
    if (!next.delete(id)) next.set(id, label);
    this[what].value = next;
  }

  /** A line as somebody reads it; with its own words they vouch for it. */
  read(line: Line, text: string): void {
    this.readings.value = new Map(this.readings.value).set(line.key, { text, photo: line.photo, box: line.box, was: line.own ? line.was : line.text });
  }

  /** A part of a photo that was read on request; returns the key of its line. */
  add(photo: number, box: Box, text: string): string {
    const key = keyOf(photo, box);
    this.readings.value = new Map(this.readings.value).set(key, { text, photo, box, was: "" });
    return key;
  }

  forget(key: string): void {
    const next = new Map(this.readings.value);
    next.delete(key);
    this.readings.value = next;
  }

  /** An outline and words for the area exclude each other: the last one said holds. */
  draw(area: GeoJSON.Polygon | GeoJSON.MultiPolygon | null): void {
    this.area.value = area;
    if (area) this.within.value = "";
  }

  say(within: string): void {
    this.within.value = within;
    if (within.trim()) this.area.value = null;
  }

  clear(): void {
    this.clues.value = new Map();
    this.candidates.value = new Map();
    this.texts.value = new Map();
    this.readings.value = new Map();
    this.hint.value = "";
    this.within.value = "";
    this.area.value = null;
  }

  feedback(sendTo: string[]): Feedback {
    return {
      reject_clues: [...this.clues.value.keys()],
      reject_candidates: [...this.candidates.value.keys()],
      reject_texts: [...this.texts.value.keys()],
      readings: [...this.readings.value.values()].filter((one) => one.text !== ""),
      hint: this.hint.value.trim() || null,
      within: this.within.value.trim() || null,
      area: this.area.value,
      send_to: sendTo,
    };
  }
}
