import { useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CaseShown } from "../api/types";
import { announce, notify } from "../state/announce";
import { titleOf } from "../state/summary";
import { counted, t } from "../strings";
import { Confirm } from "../ui/Dialog";

/** Says what is deleted before it is. */
export function DeleteCase({ row, onClose, onDeleted }: { row: CaseShown; onClose(): void; onDeleted(): void }) {
  const [busy, setBusy] = useState(false);
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      await api.deleteCase(row.id);
      announce(t("delete.done", { title: titleOf(row) }));
      onDeleted();
    } catch (thrown) {
      notify(troubleOf(thrown).message, { bad: true });
      onClose();
    }
  };
  const what = t("delete.what", {
    photos: counted("case.photos", row.photos.length),
    runs: counted("case.runs", row.runs.length),
  });
  return (
    <Confirm
      title={t("delete.title", { title: titleOf(row) })}
      words={[what, t("delete.forGood")]}
      yes={t("delete.yes")}
      danger
      busy={busy}
      onYes={() => void act()}
      onClose={onClose}
    />
  );
}
