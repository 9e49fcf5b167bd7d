import { useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CaseShown } from "../api/types";
import { t } from "../strings";
import { Dialog } from "../ui/Dialog";
import { Field } from "../ui/Field";
import { Banner } from "../ui/parts";

/** Title and notes of a case. */
export function EditCase({ row, onClose, onSaved }: { row: CaseShown; onClose(): void; onSaved(row: CaseShown): void }) {
  const [title, setTitle] = useState(row.title);
  const [notes, setNotes] = useState(row.notes);
  const [trouble, setTrouble] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    try {
      onSaved(await api.changeCase(row.id, { title, notes }));
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    }
  };
  return (
    <Dialog title={t("edit.title")} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Field label={t("edit.name")} value={title} placeholder={row.photos[0]?.name ?? ""} onInput={setTitle} />
        <div class="field">
          <label class="field-label" for="edit-notes">
            {t("edit.notes")}
          </label>
          <textarea id="edit-notes" aria-describedby="edit-notes-help" rows={6} value={notes} onInput={(event) => setNotes(event.currentTarget.value)} />
          <span class="field-help" id="edit-notes-help">
            {t("edit.notesHelp")}
          </span>
        </div>
        {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
        <div class="buttons end">
          <button type="button" onClick={onClose}>
            {t("action.cancel")}
          </button>
          <button type="submit" class="primary">
            {t("action.save")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
