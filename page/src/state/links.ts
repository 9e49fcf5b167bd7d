/** What belongs together: which clue speaks for which candidate, and where each is on the photos. */
import type { Box, CandidateView, ClueView, ObservedView, TextLine } from "../api/types";
import type { TurnView } from "./runReducer";

export interface PhotoBox {
  id: string;
  photo: number;
  box: Box;
  label: string;
  kind: "text" | "clue" | "crop";
  rejected?: boolean;
}

const KM_PER_DEGREE = 111.2;
const LEAST_KM = 2;
/** How much a clue counts of which a model does not say how much it does. */
export const LEAST_SAID = 0.1;

function roughKm(one: { lat: number; lon: number }, other: { lat: number; lon: number }): number {
  const dLat = one.lat - other.lat;
  const dLon = (((one.lon - other.lon + 540) % 360) - 180) * Math.cos((one.lat * Math.PI) / 180);
  return Math.hypot(dLat, dLon) * KM_PER_DEGREE;
}

/** How strongly a clue speaks for a candidate; 0 where it says nothing about it. */
export function support(clue: ClueView, candidate: CandidateView): number {
  let strongest = 0;
  const named = candidate.name.toLowerCase();
  for (const one of clue.supports) {
    const { lat, lon } = one;
    const near =
      lat !== null && lon !== null && candidate.lat !== null && candidate.lon !== null
        ? roughKm({ lat, lon }, { lat: candidate.lat, lon: candidate.lon }) <= Math.max(LEAST_KM, candidate.radius_km ?? 0)
        : false;
    const said = [one.name, one.country].some((name) => name !== null && name !== "" && named.includes(name.toLowerCase()));
    if (near || said) strongest = Math.max(strongest, one.log_ratio ?? LEAST_SAID);
  }
  return strongest;
}

/** The ids that light up together with one id. */
export function linkedTo(id: string | null, clues: readonly ClueView[], candidates: readonly CandidateView[], boxOf: ReadonlyMap<string, string>): ReadonlySet<string> {
  const linked = new Set<string>();
  if (id === null) return linked;
  linked.add(id);
  for (const clue of clues) {
    const pointed = clue.id === id || boxOf.get(clue.id) === id;
    if (!pointed) continue;
    linked.add(clue.id);
    linked.add(boxOf.get(clue.id) ?? clue.id);
    for (const candidate of candidates) if (support(clue, candidate) > 0) linked.add(candidate.id);
  }
  const candidate = candidates.find((one) => one.id === id);
  if (candidate) for (const one of clues) if (!one.rejected && support(one, candidate) > 0) linked.add(one.id).add(boxOf.get(one.id) ?? one.id);
  return linked;
}

/** The one of a list that a view which can light up a single thing should show; the list has the first choice first. */
export function strongestOf(linked: ReadonlySet<string>, ids: readonly string[]): string | null {
  return ids.find((id) => linked.has(id)) ?? null;
}

/** The share of the smaller box that lies in the other. */
export function overlap(one: Box, other: Box): number {
  const width = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
  const height = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  if (width <= 0 || height <= 0) return 0;
  const area = (box: Box): number => (box[2] - box[0]) * (box[3] - box[1]);
  return (width * height) / Math.max(1e-9, Math.min(area(one), area(other)));
}

const SAME = 0.6;
const ALIKE = 0.9;

export interface Boxes {
  boxes: PhotoBox[];
  /** The box of each clue; clues that speak of the same spot share one. */
  boxOf: ReadonlyMap<string, string>;
}

/** Boxes for the photos: clues, text that no clue speaks of, and while a run is under way what it looks at now. */
export function boxesOf(clues: readonly ClueView[], lines: readonly Pick<TextLine, "text" | "photo" | "box">[], turns: readonly TurnView[], live: boolean, rejected: ReadonlySet<string>): Boxes {
  const boxes: PhotoBox[] = [];
  const boxOf = new Map<string, string>();
  const free = (photo: number, box: Box): boolean => !boxes.some((known) => known.photo === photo && overlap(known.box, box) > SAME);
  for (const clue of clues) {
    const { photo, box } = clue;
    if (photo === null || !box) continue;
    const out = clue.rejected || rejected.has(clue.id);
    const known = boxes.find((one) => one.photo === photo && overlap(one.box, box) > ALIKE);
    boxOf.set(clue.id, known?.id ?? clue.id);
    // A spot is out only where every clue that speaks of it is.
    if (known) known.rejected = (known.rejected ?? false) && out;
    else boxes.push({ id: clue.id, photo, box, label: clue.seen, kind: "clue", rejected: out });
  }
  lines.forEach((line, index) => {
    if (line.text !== "" && free(line.photo, line.box)) boxes.push({ id: `text-${index}`, photo: line.photo, box: line.box, label: line.text, kind: "text" });
  });
  if (live) {
    const outcomes = turns.flatMap((turn) => turn.calls.map((one) => one.outcome)).filter((one): one is ObservedView => one !== null);
    const last = outcomes.findLast((one) => one.picture?.box);
    if (last?.picture?.box) boxes.push({ id: `crop-${last.call}`, photo: last.picture.photo, box: last.picture.box, label: last.words, kind: "crop" });
  }
  return { boxes, boxOf };
}
