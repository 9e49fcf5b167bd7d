/** A case in a few words. */
import { signal } from "@preact/signals";
import type { CaseShown, RunShown, Summary } from "../api/types";
import { kilometres, percent } from "../format";
import { maybe, t } from "../strings";

const CHOSEN = "geosleuth.chosen";
const MOST_CHOSEN = 500;

function storedChoice(): ReadonlyMap<string, string> {
  try {
    const pairs: unknown = JSON.parse(localStorage.getItem(CHOSEN) ?? "[]");
    return new Map(Array.isArray(pairs) ? (pairs as [string, string][]) : []);
  } catch {
    return new Map();
  }
}

/** For each case the run that somebody chose to show it by, in this browser. */
export const chosenRuns = signal(storedChoice());

export function chooseRun(caseId: string, runId: string | null): void {
  const next = new Map(chosenRuns.value);
  next.delete(caseId);
  if (runId !== null) next.set(caseId, runId);
  chosenRuns.value = next;
  try {
    localStorage.setItem(CHOSEN, JSON.stringify([...next].slice(-MOST_CHOSEN)));
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

function rejectsMore(run: RunShown, before: RunShown): boolean {
  const count = ({ rejected }: RunShown): number => [rejected.clues, rejected.texts, rejected.places, rejected.readings].reduce((sum, one) => sum + (one?.length ?? 0), 0);
  return count(run) > count(before);
}

/** The run that a case is shown by: one that is under way, the one that was chosen, the surest that nobody has objected to, or the newest. */
export function mainRun(row: CaseShown): RunShown | null {
  const newestFirst = [...row.runs].reverse();
  const chosen = row.runs.find((run) => run.id === chosenRuns.value.get(row.id));
  const done = newestFirst.filter((run) => run.state === "done");
  const standing = done.filter((run) => !done.some((next) => next.parent === run.id && rejectsMore(next, run)));
  const odds = (run: RunShown): number => (run.answer?.place ? (run.answer.probability ?? 0) : -1);
  // The first of the surest is the newest of them.
  const best = standing.reduce<RunShown | null>((most, run) => (most === null || odds(run) > odds(most) ? run : most), null);
  return newestFirst.find(isActive) ?? chosen ?? best ?? newestFirst[0] ?? null;
}

export function isActive(run: RunShown): boolean {
  return run.state === "queued" || run.state === "running";
}

export function placeOf(run: RunShown | null): string {
  if (run === null) return t("case.noRun");
  if (run.answer?.place) return run.answer.place;
  if (run.state === "done") return t("finding.none");
  return stateWords(run.state);
}

export function stateWords(state: RunShown["state"]): string {
  return maybe(`runState.${state}`) ?? state;
}

type Sized = Pick<Summary, "place" | "lat" | "radius_km" | "probability" | "area">;
const CITY_KM = 25;

/** Whether a finding is a country or region, whose middle is no place to point at; one as small as a city is. */
export function isWide(answer: Pick<Sized, "area" | "radius_km"> | null): boolean {
  return !!answer?.area && (answer.radius_km ?? 0) > CITY_KM;
}

/** "83 % within 2 km" or "83 % in France", as far as it was said. */
export function sureWords(answer: Sized | null): string {
  if (!answer || answer.lat === null || answer.probability === null) return "";
  if (answer.area === "country" && answer.place) return t("finding.in", { percent: percent(answer.probability), country: answer.place });
  if (answer.radius_km === null) return percent(answer.probability);
  return t("finding.within", { percent: percent(answer.probability), radius: kilometres(answer.radius_km) });
}

export function titleOf(row: CaseShown): string {
  return row.title || row.photos[0]?.name || t("case.untitled");
}
