/** What somebody gathers to say about a run before it goes on. */
import { computed, signal } from "@preact/signals";
import type { Feedback } from "../api/types";

export class Gathered {
  readonly clues = signal<ReadonlyMap<string, string>>(new Map());
  readonly candidates = signal<ReadonlyMap<string, string>>(new Map());
  readonly hint = signal("");
  readonly within = signal("");
  readonly area = signal<GeoJSON.Polygon | null>(null);

  readonly count = computed(
    () => this.clues.value.size + this.candidates.value.size + (this.hint.value.trim() ? 1 : 0) + (this.within.value.trim() ? 1 : 0) + (this.area.value ? 1 : 0),
  );

  toggle(what: "clues" | "candidates", id: string, label: string): void {
    const next = new Map(this[what].value);
    if (!next.delete(id)) next.set(id, label);
    this[what].value = next;
  }

  /** An outline and words for the area exclude each other: the last one said holds. */
  draw(area: GeoJSON.Polygon | null): void {
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
    this.hint.value = "";
    this.within.value = "";
    this.area.value = null;
  }

  feedback(sendTo: string[]): Feedback {
    return {
      reject_clues: [...this.clues.value.keys()],
      reject_candidates: [...this.candidates.value.keys()],
      hint: this.hint.value.trim() || null,
      within: this.within.value.trim() || null,
      area: this.area.value,
      send_to: sendTo,
    };
  }
}
