import { useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CaseShown, RunRequest, RunShown } from "../api/types";
import { tidy } from "../home/intake";
import { Wishes } from "../home/Wishes";
import { withConsent } from "../state/consent";
import { t } from "../strings";
import { Dialog } from "../ui/Dialog";
import { Banner } from "../ui/parts";

/** A fresh run on the same photos, with other wishes; `everywhere` without the area, `photos` where they are not all of the case, `seen` what was ticked since. */
export function RunAgain({ row, like, everywhere, seen, photos, onClose, onBegun }: { row: CaseShown; like: RunShown | null; everywhere: boolean; seen: string | null; photos: number[] | null; onClose(): void; onBegun(run: RunShown): void }) {
  const before = like?.request;
  const [wishes, setWishes] = useState<Partial<RunRequest>>({
    ...(before ? { hint: before.hint, within: everywhere ? null : before.within, model: before.model, seen: before.seen } : {}),
    ...(seen === null ? {} : { seen }),
  });
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const begin = async (): Promise<void> => {
    setBusy(true);
    try {
      const run = await withConsent((send_to) => api.start(row.id, { ...tidy(wishes), send_to, ...(photos ? { photos } : {}) }));
      if (run !== null) {
        onClose();
        onBegun(run);
      }
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={t("runs.again")} onClose={onClose} wide>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void begin();
        }}
      >
        <p class="quiet">{t("runs.againWords")}</p>
        <Wishes value={wishes} onChange={setWishes} />
        {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
        <div class="buttons end">
          <button type="button" onClick={onClose}>
            {t("action.cancel")}
          </button>
          <button type="submit" class="primary" disabled={busy}>
            {t("home.begin")}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
