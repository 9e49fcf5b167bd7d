import { useState } from "preact/hooks";
import type { CaseShown, RunShown } from "../api/types";
import { shortDate } from "../format";
import { go, hashOf } from "../router";
import { chooseRun, chosenRuns, mainRun, placeOf, sureWords } from "../state/summary";
import { t } from "../strings";
import { Icon } from "../ui/Icon";

/** What a run was told besides the photos, in a few words. */
function toldOf(run: RunShown): string {
  const parts: string[] = [];
  if (run.parent !== null) parts.push(t("runs.continued"));
  const rejected = run.rejected.clues.length + run.rejected.places.length;
  if (rejected > 0) parts.push(t("runs.rejected", { n: rejected }));
  if (run.request.hint) parts.push(t("runs.hint", { hint: run.request.hint }));
  if (run.request.within) parts.push(run.request.within);
  if (run.request.area) parts.push(t("feedback.area"));
  if (run.request.model) parts.push(run.request.model);
  return parts.join(" · ");
}

/** The runs of a case, the newest first; two of them can be laid side by side. */
export function Runs({ row, shown, onDelete }: { row: CaseShown; shown: string; onDelete(run: RunShown): void }) {
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const comparable = row.runs.filter((run) => run.answer !== null).map((run) => run.id);
  // Of two there is nothing to choose.
  const picked = chosen ?? (comparable.length === 2 ? comparable : []);
  const many = row.runs.length > 1;
  const main = mainRun(row)?.id;
  const newestFirst = [...row.runs].reverse();
  const pick = (id: string): void => setChosen(picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id].slice(-2));
  const [one, other] = picked;
  const compare = (): void => {
    if (one === undefined || other === undefined) return;
    const order = row.runs.map((run) => run.id);
    const [left, right] = order.indexOf(one) < order.indexOf(other) ? [one, other] : [other, one];
    go({ screen: "compare", left, right });
  };
  return (
    <>
      <ul class="runs">
        {newestFirst.map((run) => {
          const number = row.runs.indexOf(run) + 1;
          return (
            <li key={run.id} class={run.id === shown ? "shown" : ""}>
              {many ? (
                <input type="checkbox" aria-label={t("runs.pick", { n: number })} checked={picked.includes(run.id)} disabled={run.answer === null} onChange={() => pick(run.id)} />
              ) : null}
              <a href={hashOf({ screen: "case", caseId: row.id, runId: run.id })} aria-current={run.id === shown ? "true" : undefined}>
                <span class="run-number">{t("runs.number", { n: number })}</span>
                <span class="run-place">{placeOf(run)}</span>
                <span class="run-sure">{sureWords(run.answer)}</span>
                <span class="run-told">
                  {shortDate(run.created)}
                  {toldOf(run) ? ` · ${toldOf(run)}` : ""}
                </span>
              </a>
              {many ? (
                <button
                  type="button"
                  class="plain square small choose-run"
                  aria-pressed={main === run.id}
                  aria-label={t("runs.choose", { n: number })}
                  title={main === run.id ? t("runs.chosen") : t("runs.choose", { n: number })}
                  onClick={() => chooseRun(row.id, main === run.id && chosenRuns.value.has(row.id) ? null : run.id)}
                >
                  <Icon name="star" size={15} />
                </button>
              ) : null}
              {many ? (
                <button type="button" class="plain square small" aria-label={t("runs.delete", { n: number })} title={t("runs.delete", { n: number })} onClick={() => onDelete(run)}>
                  <Icon name="bin" size={15} />
                </button>
              ) : null}
            </li>
          );
        })}
      </ul>
      {many ? (
        <button type="button" class="small" disabled={other === undefined} onClick={compare}>
          <Icon name="compare" size={16} />
          <span>{t("runs.compare")}</span>
        </button>
      ) : null}
    </>
  );
}
