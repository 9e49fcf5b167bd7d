import { useEffect, useMemo, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CaseShown } from "../api/types";
import { percent } from "../format";
import { MapView } from "../map/MapView";
import type { Mark } from "../map/marks";
import { hashOf } from "../router";
import { isWide, mainRun, sureWords, titleOf } from "../state/summary";
import { counted, t } from "../strings";
import { Banner } from "../ui/parts";

const MOST_PAGES = 40;
const SURE = [0, 0.45, 0.65, 0.85, 0.97] as const;
const DAYS = [0, 1, 7, 30, 365] as const;
const DAY_S = 86_400;
const NOTHING = (): void => undefined;

async function allCases(query: string, signal: AbortSignal): Promise<CaseShown[]> {
  const rows: CaseShown[] = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found = await api.cases(query, signal, rows.at(-1)?.id);
    if (found.length === 0) break;
    rows.push(...found);
  }
  return rows;
}

/** Where all cases were found, as sure and as new as somebody wants them. */
export function CasesMap({ query, version }: { query: string; version: number }) {
  const [rows, setRows] = useState<CaseShown[]>([]);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [least, setLeast] = useState(0);
  const [days, setDays] = useState(0);
  const [lit, setLit] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    allCases(query, stop.signal).then(setRows, (thrown: unknown) => {
      if (!stop.signal.aborted) setTrouble(troubleOf(thrown).message);
    });
    return () => stop.abort();
  }, [query, version]);

  const shown = useMemo(() => {
    const since = days === 0 ? 0 : Date.now() / 1000 - days * DAY_S;
    return rows.flatMap((row) => {
      const answer = mainRun(row)?.answer;
      const counts = answer != null && answer.lat !== null && answer.lon !== null && (answer.probability ?? 0) >= least && row.created >= since;
      return counts ? [{ row, answer }] : [];
    });
  }, [rows, least, days]);
  const marks = useMemo(
    () =>
      shown.map(({ row, answer }, index): Mark => ({
        id: row.id, kind: "rival", letter: String(index + 1), name: answer.place ?? "", words: `${answer.place ?? ""}, ${sureWords(answer)}`, lat: answer.lat ?? 0, lon: answer.lon ?? 0,
        radiusKm: answer.radius_km ?? 0, strength: answer.probability ?? 0.35, stands: isWide(answer) ? "letter" : "pin",
      })),
    [shown],
  );
  const chosen = shown.find(({ row }) => row.id === lit);
  const words = (value: number, every: string, one: string): string => (value === 0 ? every : one);
  return (
    <div class="cases-map">
      <div class="buttons">
        <label>
          {t("casesMap.sure")}{" "}
          <select value={String(least)} onChange={(event) => setLeast(Number(event.currentTarget.value))}>
            {SURE.map((one) => (
              <option key={one} value={String(one)}>
                {words(one, t("casesMap.any"), t("casesMap.least", { percent: percent(one) }))}
              </option>
            ))}
          </select>
        </label>
        <label>
          {t("casesMap.time")}{" "}
          <select value={String(days)} onChange={(event) => setDays(Number(event.currentTarget.value))}>
            {DAYS.map((one) => (
              <option key={one} value={String(one)}>
                {words(one, t("casesMap.ever"), counted("casesMap.days", one))}
              </option>
            ))}
          </select>
        </label>
        <span class="quiet" role="status">
          {counted("casesMap.shown", shown.length)}
        </span>
      </div>
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
      <MapView candidates={[]} answer={null} area={null} mode="look" onDrawn={NOTHING} onPin={NOTHING} more={marks} highlighted={lit} onHighlight={(id) => (id === null ? undefined : setLit(id))} label={t("casesMap.label")} />
      {chosen ? (
        <p>
          <a href={hashOf({ screen: "case", caseId: chosen.row.id, runId: null })}>
            {titleOf(chosen.row)}: {chosen.answer.place}
          </a>{" "}
          {sureWords(chosen.answer)}
        </p>
      ) : (
        <p class="quiet">{t("casesMap.choose")}</p>
      )}
    </div>
  );
}
