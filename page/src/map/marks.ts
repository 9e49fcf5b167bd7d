/** What stands on the map: candidates, the answer, and what the files claim. */
import type { AnswerView, CandidateView } from "../api/types";
import { coordinates, kilometres, percent } from "../format";
import { t } from "../strings";
import { isWide } from "../state/summary";
import { middleOf, type Spot } from "./geometry";

export type MarkKind = "answer" | "rival" | "dropped" | "claimed" | "pinned" | "feature" | "camera" | "place";

export interface Mark extends Spot {
  id: string;
  kind: MarkKind;
  letter: string;
  name: string;
  /** One line for the pin's label and for whoever hears the page. */
  words: string;
  radiusKm: number;
  /** What is drawn in place of a circle. */
  outline?: GeoJSON.Polygon | GeoJSON.MultiPolygon | null;
  /** How much the mark stands out, from 0 to 1. */
  strength: number;
  /** A wide area has a letter in its middle, or nothing: a pin would point at a place that nobody named. */
  stands?: "pin" | "letter" | "nothing";
}

const UNWEIGHED = 0.35;
const DROPPED = 0.1;
const SAME_SPOT_DEGREES = 0.0005;

export function letterAt(index: number): string {
  const last = String.fromCharCode(65 + (index % 26));
  return index < 26 ? last : letterAt(Math.floor(index / 26) - 1) + last;
}

function wordsOf(name: string, probability: number | null, radiusKm: number | null, dropped: boolean): string {
  const parts = [name];
  if (dropped) parts.push(t("map.dropped"));
  else if (probability !== null) parts.push(percent(probability));
  if (radiusKm) parts.push(t("map.within", { distance: kilometres(radiusKm) }));
  return parts.join(" · ");
}

/** Where the answer's own point is one of the candidates, that candidate is the answer. */
function isAnswer(candidate: CandidateView, answer: AnswerView | null): boolean {
  if (candidate.is_answer !== undefined) return candidate.is_answer;
  if (candidate.fate === "answered") return true;
  if (!answer || answer.lat === null || answer.lon === null || candidate.lat === null || candidate.lon === null) return false;
  return (
    Math.abs(candidate.lat - answer.lat) < SAME_SPOT_DEGREES && Math.abs(candidate.lon - answer.lon) < SAME_SPOT_DEGREES
  );
}

export function marksOf(
  candidates: readonly CandidateView[],
  answer: AnswerView | null,
  claimed: readonly Spot[],
  outlines: ReadonlyMap<string, GeoJSON.Polygon | GeoJSON.MultiPolygon | null> = new Map(),
): Mark[] {
  const marks: Mark[] = [];
  candidates.forEach((candidate, index) => {
    if (candidate.lat === null || candidate.lon === null) return;
    const dropped = candidate.fate === "dropped";
    const chosen = !dropped && isAnswer(candidate, answer);
    const outline = (chosen ? answer?.outline : outlines.get(candidate.name)) ?? null;
    const radiusKm = (chosen ? (answer?.radius_km ?? candidate.radius_km) : candidate.radius_km) ?? 0;
    const area = candidate.area ?? (outline ? "country" : null);
    const wide = chosen ? isWide(answer) : isWide({ area, radius_km: radiusKm || Infinity });
    const at = wide && outline ? middleOf(outline) : { lat: candidate.lat, lon: candidate.lon };
    marks.push({
      ...at,
      id: candidate.id,
      kind: chosen ? "answer" : dropped ? "dropped" : "rival",
      letter: candidate.letter ?? letterAt(index),
      name: candidate.name,
      words: wordsOf(candidate.name, candidate.probability, outline ? null : radiusKm, dropped),
      stands: !wide ? "pin" : chosen ? "nothing" : "letter",
      radiusKm,
      outline,
      strength: dropped ? DROPPED : (candidate.probability ?? UNWEIGHED),
    });
  });
  if (answer && answer.lat !== null && answer.lon !== null && !marks.some((mark) => mark.kind === "answer")) {
    const name = answer.place ?? coordinates(answer.lat, answer.lon, answer.radius_km);
    marks.push({
      id: "answer",
      kind: "answer",
      letter: answer.candidates.find((one) => one.is_answer)?.letter ?? "★",
      name,
      words: wordsOf(name, answer.probability, answer.outline ? null : answer.radius_km, false),
      lat: answer.lat,
      lon: answer.lon,
      radiusKm: answer.radius_km ?? 0,
      outline: answer.outline,
      strength: answer.probability ?? 1,
      stands: isWide(answer) ? "nothing" : "pin",
    });
  }
  claimed.forEach((spot, index) => {
    const words = t("map.claimed", { where: coordinates(spot.lat, spot.lon) });
    marks.push({ ...spot, id: `claimed-${index}`, kind: "claimed", letter: "", name: words, words, radiusKm: 0, strength: 0.5 });
  });
  return marks;
}
