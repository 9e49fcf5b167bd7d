import { api } from "../api/client";
import type { CaseShown } from "../api/types";
import { isoDate, longDate, shortDate } from "../format";
import { hashOf } from "../router";
import { isActive, mainRun, placeOf, sureWords, titleOf } from "../state/summary";
import { counted, t } from "../strings";
import { Icon } from "../ui/Icon";
import { Bar } from "../ui/parts";

export function CaseCard({ row, onDelete, onEdit }: { row: CaseShown; onDelete(): void; onEdit(): void }) {
  const run = mainRun(row);
  const first = row.photos[0];
  const sure = sureWords(run?.answer ?? null);
  const found = run?.state === "done" && run.answer?.lat != null;
  return (
    <li class="case-card">
      <a class="case-link" href={hashOf({ screen: "case", caseId: row.id, runId: null })}>
        <span class="case-thumb">
          {first ? <img src={api.photoUrl(row.id, first.number, "thumb")} alt="" loading="lazy" /> : <Icon name="photo" size={28} />}
          {row.photos.length > 1 ? <span class="case-count">{counted("case.photos", row.photos.length)}</span> : null}
        </span>
        <span class="case-words">
          <span class={`case-place ${found ? "" : "quiet"}`}>{placeOf(run)}</span>
          {sure === "" ? null : (
            <span class="case-sure">
              <Bar share={run?.answer?.probability ?? 0} />
              <span>{sure}</span>
            </span>
          )}
          {run && isActive(run) ? (
            <span class="case-sure">
              <span class="spinner" aria-hidden="true" />
              {t("case.underWay")}
            </span>
          ) : null}
          <span class="case-meta">
            <time dateTime={isoDate(row.created)} title={longDate(row.created)}>
              {shortDate(row.created)}
            </time>
            <span class="case-name">{titleOf(row)}</span>
          </span>
          {row.notes ? <span class="case-notes">{row.notes}</span> : null}
        </span>
      </a>
      <span class="case-actions">
        <button type="button" class="plain square small" aria-label={t("case.editOf", { title: titleOf(row) })} title={t("case.edit")} onClick={onEdit}>
          <Icon name="note" size={16} />
        </button>
        <button type="button" class="plain square small" aria-label={t("case.deleteOf", { title: titleOf(row) })} title={t("case.delete")} onClick={onDelete}>
          <Icon name="bin" size={16} />
        </button>
      </span>
    </li>
  );
}
