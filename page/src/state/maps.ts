/** Maps of the atlas: which are there, and the one that is being fetched. */
import { computed, signal } from "@preact/signals";
import { api, troubleOf } from "../api/client";
import type { MapJobShown, MapsShown } from "../api/types";
import { t } from "../strings";
import { announce } from "./announce";
import { meet } from "./server";

export const maps = signal<MapsShown | null>(null);
/** The server fetches maps for the person at its own machine only. */
export const mapsRefused = signal<string | null>(null);
/** Why it could not be asked which maps are there. */
export const mapsUnknown = signal<string | null>(null);
/** Counts up when a map was added, so that what is drawn of the atlas is drawn anew. */
export const mapsAdded = signal(0);
/** The place whose map somebody asks for. */
export const mapAskedFor = signal<string | null>(null);
export const fetching = computed(() => (maps.value?.job && isActive(maps.value.job) ? maps.value.job : null));

const LOOK_MS = 700;
let waiting = false;

export function isActive(job: MapJobShown): boolean {
  return job.state === "downloading" || job.state === "importing";
}

/** Ask what is there, and go on asking while a map is being fetched. */
export async function loadMaps(): Promise<void> {
  const before = fetching.value;
  try {
    maps.value = await api.maps();
    mapsRefused.value = null;
    mapsUnknown.value = null;
  } catch (thrown) {
    const trouble = troubleOf(thrown);
    if (trouble.status === 403) mapsRefused.value = trouble.message;
    else mapsUnknown.value = trouble.message;
    if (!trouble.gone || before === null) return;
  }
  const job = maps.value?.job ?? null;
  if (before !== null && job?.state === "done") {
    mapsAdded.value += 1;
    announce(t("maps.done", { place: job.place }));
    void meet();
  }
  if (before !== null && job?.state === "failed") announce(t("maps.failed", { place: job.place }));
  if (fetching.value !== null && !waiting) {
    waiting = true;
    setTimeout(() => {
      waiting = false;
      void loadMaps();
    }, LOOK_MS);
  }
}

/** Whether a map that is there covers a point. */
export function covered(lat: number, lon: number): boolean {
  return (maps.value?.regions ?? []).some(
    ({ south, west, north, east }) => south <= lat && lat <= north && (west <= east ? west <= lon && lon <= east : lon >= west || lon <= east),
  );
}
