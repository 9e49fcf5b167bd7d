import { useEffect, useRef, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CaseShown } from "../api/types";
import { t } from "../strings";

const PAUSE_MS = 700;

/** Notes that keep themselves; nothing but the person who writes them ever reads them. */
export function Notes({ row, onSaved }: { row: CaseShown; onSaved(row: CaseShown): void }) {
  const [notes, setNotes] = useState(row.notes);
  const [state, setState] = useState<"idle" | "writing" | "saved" | string>("idle");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(notes);
  latest.current = notes;
  const kept = useRef(row.notes);

  const save = async (): Promise<void> => {
    clearTimeout(timer.current);
    if (latest.current === kept.current) return;
    const sent = latest.current;
    try {
      const saved = await api.changeCase(row.id, { notes: sent });
      kept.current = sent;
      setState("saved");
      onSaved(saved);
    } catch (thrown) {
      setState(troubleOf(thrown).message);
    }
  };
  useEffect(() => () => void save(), []);

  const words = state === "idle" ? "" : state === "writing" ? t("notes.writing") : state === "saved" ? t("notes.saved") : state;
  return (
    <section class="panel" aria-labelledby="notes-title">
      <h3 id="notes-title">{t("edit.notes")}</h3>
      <textarea
        aria-labelledby="notes-title"
        rows={3}
        value={notes}
        placeholder={t("notes.placeholder")}
        maxLength={20000}
        onInput={(event) => {
          setNotes(event.currentTarget.value);
          setState("writing");
          clearTimeout(timer.current);
          timer.current = setTimeout(() => void save(), PAUSE_MS);
        }}
        onBlur={() => void save()}
      />
      <span class="field-help" role="status">
        {words}
      </span>
    </section>
  );
}
