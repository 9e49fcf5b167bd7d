/** What a person said to go on, in their own words: told by what a run was asked beyond the run before it. */
import type { CaseShown, RunShown } from "../api/types";
import { t } from "../strings";

function added(now: readonly string[] | undefined, before: readonly string[] | undefined): string[] {
  const known = new Set(before);
  return [...new Set(now)].filter((one) => !known.has(one));
}

function wordsOf(run: RunShown, before: RunShown): string {
  const names = (row: RunShown): string[] => row.rejected.places.map((place) => place.name);
  const clues = (row: RunShown): string[] => [...row.rejected.seen, ...row.rejected.texts];
  const { hint, within, area } = run.request;
  const earlier = before.request.hint ?? "";
  const parts = [
    ...added(names(run), names(before)).map((name) => t("timeline.notPlace", { name })),
    ...added(clues(run), clues(before)).map((seen) => t("timeline.notClue", { seen })),
  ];
  const read = (row: RunShown): string[] => row.rejected.readings.map((one) => JSON.stringify([one.was, one.text]));
  for (const one of added(read(run), read(before))) {
    const [was, text] = JSON.parse(one) as [string, string];
    parts.push(was === "" || was === text ? t("timeline.reads", { text }) : t("timeline.corrects", { was, text }));
  }
  // A hint that comes on top stands behind the earlier one.
  if (hint && hint !== earlier) parts.push(hint.startsWith(`${earlier}; `) ? hint.slice(earlier.length + 2) : hint);
  if (within && within !== before.request.within) parts.push(t("timeline.within", { where: within }));
  if (area && JSON.stringify(area) !== JSON.stringify(before.request.area)) parts.push(t("timeline.area"));
  return parts.join("; ") || t("timeline.again");
}

/** For each time that somebody went on, the first one first; null where the run before it is gone. */
export function saidBefore(row: CaseShown, run: RunShown): (string | null)[] {
  const said: (string | null)[] = [];
  let at: RunShown | undefined = run;
  while (at !== undefined && at.parent !== null) {
    const parent: string = at.parent;
    const before: RunShown | undefined = row.runs.find((one) => one.id === parent);
    said.unshift(before ? wordsOf(at, before) : null);
    at = before;
  }
  return said;
}
