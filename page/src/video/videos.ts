/** Videos: what they show, and how one becomes a case with a run for each of its places. */
import { api } from "../api/client";
import type { CaseShown, RunRequest, RunShown, PlaceShown } from "../api/types";
import { tidy } from "../home/intake";
import type { Mark } from "../map/marks";
import { withConsent } from "../state/consent";
import { isWide, placeOf, sureWords } from "../state/summary";
import { t } from "../strings";

const ENDING = /\.(mp4|m4v|mov|mkv|webm|avi)$/i;

export function isVideo(file: File): boolean {
  return file.type.startsWith("video/") || ENDING.test(file.name);
}

/** A second of a video, as players show it: 1:04.5. */
export function clock(seconds: number): string {
  const tenths = Math.round(Math.max(0, seconds) * 10);
  const whole = Math.floor(tenths / 10);
  const two = (number: number): string => String(number).padStart(2, "0");
  const tail = `${two(whole % 60)}${tenths % 10 ? `.${tenths % 10}` : ""}`;
  return whole < 3600 ? `${Math.floor(whole / 60)}:${tail}` : `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${tail}`;
}

export function whenOf(place: PlaceShown): string {
  return place.spans.map(([from, to]) => `${clock(from)}–${clock(to)}`).join(", ");
}

export function runOf(row: CaseShown, place: PlaceShown): RunShown | null {
  return row.runs.find((run) => run.id === place.run) ?? null;
}

/** Send a video and start a run for each place; null where nobody agreed to send its frames on. */
export async function beginVideo(files: readonly File[], wishes: Partial<RunRequest>, say: (words: string) => void): Promise<{ caseId: string; runId: string } | null> {
  const [file] = files;
  if (file === undefined || files.length > 1) throw new Error(t("video.alone"));
  say(t("video.looking"));
  const caseId = (await api.newCase(file.name.slice(0, 200), "")).id;
  try {
    const found = await api.addVideo(caseId, file.name, file);
    const places = found.flatMap((video) => video.places);
    const runs = await withConsent(async (send_to) => {
      const begun: RunShown[] = [];
      for (const place of places) begun.push(await api.start(caseId, { ...tidy(wishes), send_to, photos: place.frames.map((frame) => frame.photo) }));
      return begun;
    });
    const first = runs?.[0];
    if (first) return { caseId, runId: first.id };
    await api.deleteCase(caseId);
    return null;
  } catch (thrown) {
    await api.deleteCase(caseId);
    throw thrown;
  }
}

/** The places of a case's videos for the map of one of them; the others have their numbers. */
export function placeMarks(row: CaseShown, places: readonly PlaceShown[], shown: string): Mark[] {
  // A place that was run again has a newer run than the one that is shown, of the same frames.
  const own = row.runs.find((run) => run.id === shown)?.photos.join();
  return places.flatMap((place, index): Mark[] => {
    const run = runOf(row, place);
    const { lat, lon } = run?.answer ?? { lat: null, lon: null };
    if (run === null || run.photos.join() === own || lat === null || lon === null) return [];
    const name = `${t("video.place", { n: index + 1 })}: ${placeOf(run)}`;
    const words = [name, sureWords(run.answer), whenOf(place)].filter((part) => part !== "").join(" · ");
    return [{ lat, lon, id: `place-${index}`, kind: "place", letter: String(index + 1), name, words, radiusKm: run.answer?.radius_km ?? 0, strength: 0.6, stands: isWide(run.answer) ? "letter" : "pin" }];
  });
}
