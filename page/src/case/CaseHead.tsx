import { useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CaseShown, RunShown } from "../api/types";
import { longDate } from "../format";
import { DeleteCase } from "../home/DeleteCase";
import { go, hashOf } from "../router";
import { notify } from "../state/announce";
import { isActive, titleOf } from "../state/summary";
import { counted, t } from "../strings";
import { Icon } from "../ui/Icon";
import { later } from "../ui/later";
import { ExportMenu } from "./ExportMenu";

const EditCase = later(async () => (await import("../home/EditCase")).EditCase);

/** What the case is called, and what can be done with it as a whole. `ofVideo` says that its photos are frames. */
export function CaseHead({ row, run, ofVideo, onChanged }: { row: CaseShown; run: RunShown | null; ofVideo: boolean; onChanged(row: CaseShown): void }) {
  const [editing, setEditing] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [stopping, setStopping] = useState(false);
  const active = run !== null && isActive(run);
  const told = run !== null && (run.answer !== null || run.state === "done");

  const cancel = async (): Promise<void> => {
    if (run === null) return;
    setStopping(true);
    try {
      await api.cancel(run.id);
    } catch (thrown) {
      notify(troubleOf(thrown).message, { bad: true });
    } finally {
      setStopping(false);
    }
  };

  return (
    <div class="case-head">
      <a class="button plain square" href={hashOf({ screen: "home" })} aria-label={t("case.back")}>
        <Icon name="back" />
      </a>
      <div class="case-title">
        <h1>{titleOf(row)}</h1>
        <p class="quiet">
          {counted(ofVideo ? "case.frames" : "case.photos", row.photos.length)} · {longDate(row.created)}
        </p>
      </div>
      <div class="buttons">
        {active ? (
          <button type="button" class="danger-quiet" data-shortcut="cancel" disabled={stopping} onClick={() => void cancel()}>
            <Icon name="stop" />
            <span>{stopping ? t("case.stopping") : t("case.cancel")}</span>
          </button>
        ) : null}
        {run === null ? null : (
          <>
            {told && !active ? (
              <a class="button" href={api.fileUrl(run.id, "html")} target="_blank" rel="noopener" data-shortcut="report">
                <Icon name="report" />
                <span>{t("case.report")}</span>
              </a>
            ) : null}
            <ExportMenu runId={run.id} disabled={!told || active} />
          </>
        )}
        <button type="button" class="plain square" aria-label={t("case.edit")} title={t("case.edit")} onClick={() => setEditing(true)}>
          <Icon name="note" />
        </button>
        <button type="button" class="plain square" aria-label={t("case.delete")} title={t("case.delete")} onClick={() => setDeleting(true)}>
          <Icon name="bin" />
        </button>
      </div>
      {editing ? (
        <EditCase
          row={row}
          onClose={() => setEditing(false)}
          onSaved={(saved) => {
            setEditing(false);
            onChanged(saved);
          }}
        />
      ) : null}
      {deleting ? <DeleteCase row={row} onClose={() => setDeleting(false)} onDeleted={() => go({ screen: "home" })} /> : null}
    </div>
  );
}
