import { useState } from "preact/hooks";
import { reviewApi, type Verdict } from "../api/review";
import type { FilesShown } from "../api/types";
import { t } from "../strings";
import { Dialog } from "../ui/Dialog";
import { Banner, Loading } from "../ui/parts";
import { useAct } from "../ui/useAct";

/** What is written for the places that hold: sidecars, copies, or both. */
export function WriteFiles({ counts, onClose }: { counts: Record<Verdict, number>; onClose(): void }) {
  const [sidecars, setSidecars] = useState(true);
  const [copies, setCopies] = useState(false);
  const { busy, trouble, act } = useAct();
  const [done, setDone] = useState<FilesShown | null>(null);
  const held = counts.confirmed + counts.corrected;
  const write = (): Promise<void> => act(async () => setDone(await reviewApi.write(sidecars, copies)));
  return (
    <Dialog title={t("review.writeTitle")} onClose={onClose}>
      <p>{t("review.writeWhat", { n: held })}</p>
      <fieldset class="choice">
        <legend class="sr-only">{t("review.writeKinds")}</legend>
        <label class="tick">
          <input type="checkbox" checked={sidecars} onChange={() => setSidecars(!sidecars)} />
          <span>{t("review.sidecars")}</span>
        </label>
        <label class="tick">
          <input type="checkbox" checked={copies} onChange={() => setCopies(!copies)} />
          <span>{t("review.exif")}</span>
        </label>
      </fieldset>
      <p class="quiet">{t("review.writeNote")}</p>
      {busy ? <Loading /> : null}
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
      <div role="status">
        {done === null ? null : (
          <Banner kind={done.troubles.length > 0 || done.kept > 0 ? "caution" : "good"}>
            <p>{t("review.wrote", { sidecars: done.sidecars, copies: done.copies, removed: done.removed })}</p>
            {done.kept > 0 ? <p>{t("review.kept", { n: done.kept, names: namesOf(done) })}</p> : null}
            {done.troubles.length > 0 ? (
              <ul class="lines">
                {done.troubles.map((one) => (
                  <li key={one}>{one}</li>
                ))}
              </ul>
            ) : null}
          </Banner>
        )}
      </div>
      <div class="buttons end">
        <button type="button" onClick={onClose}>
          {t("action.close")}
        </button>
        <button type="button" class="primary" disabled={busy || (!sidecars && !copies)} onClick={() => void write()}>
          {t("review.writeNow")}
        </button>
      </div>
    </Dialog>
  );
}

function namesOf(done: FilesShown): string {
  const names = done.left.join(", ");
  return done.kept > done.left.length ? t("review.keptMore", { names }) : names;
}
