/** A case in a few words. */
import type { AnswerSummary, AnswerView, AreaKind, CaseRow, RunRow } from "../api/types";
import { kilometres, percent } from "../format";
import { maybe, t } from "../strings";

/** The run that a case is shown by: one that is under way, else the newest with a result, else the newest. */
export function mainRun(row: CaseRow): RunRow | null {
  const newestFirst = [...row.runs].reverse();
  return newestFirst.find(isActive) ?? newestFirst.find((run) => run.state === "done") ?? newestFirst[0] ?? null;
}

export function isActive(run: RunRow): boolean {
  return run.state === "queued" || run.state === "running";
}

export function placeOf(run: RunRow | null): string {
  if (run === null) return t("case.noRun");
  if (run.answer?.place) return run.answer.place;
  if (run.state === "done") return t("finding.none");
  return stateWords(run.state);
}

export function stateWords(state: RunRow["state"]): string {
  return maybe(`runState.${state}`) ?? state;
}

type Sized = Pick<AnswerSummary, "place" | "lat" | "radius_km" | "probability" | "area"> & Pick<AnswerView, "outline">;
const CITY_KM = 25;

/** Whether a finding is a country or region, whose middle is no place to point at; one as small as a city is. */
export function isWide(answer: Pick<Sized, "area" | "outline" | "radius_km"> | null): boolean {
  return areaOf(answer) !== null && (answer?.radius_km ?? 0) > CITY_KM;
}

function areaOf(answer: Pick<Sized, "area" | "outline"> | null): AreaKind | null {
  return answer?.area ?? (answer?.outline ? "country" : null);
}

/** "83 % within 2 km" or "83 % in France", as far as it was said. */
export function sureWords(answer: Sized | null): string {
  if (!answer || answer.lat === null || answer.probability === null) return "";
  if (areaOf(answer) === "country" && answer.place) return t("finding.in", { percent: percent(answer.probability), country: answer.place });
  if (answer.radius_km === null) return percent(answer.probability);
  return t("finding.within", { percent: percent(answer.probability), radius: kilometres(answer.radius_km) });
}

export function titleOf(row: CaseRow): string {
  return row.title || row.photos[0]?.name || t("case.untitled");
}
