import { useEffect, useState } from "preact/hooks";
import { setupApi } from "../api/setup";
import type { PullShown, SetupShown } from "../api/types";
import { troubleOf } from "../api/client";
import { bytes, percent } from "../format";
import { t } from "../strings";
import { Banner, Bar } from "../ui/parts";

const LOOK_MS = 700;

/** A small open model that Ollama could fetch: named, sized, its licence shown, asked. */
export function Offer({ offer, broken, before, onFetched }: { offer: NonNullable<SetupShown["offer"]>; broken: SetupShown["broken"][number] | null; before: PullShown | null; onFetched(): void }) {
  const [job, setJob] = useState<PullShown | null>(before);
  const [trouble, setTrouble] = useState<string | null>(null);
  const fetching = job?.state === "fetching";
  useEffect(() => {
    if (!fetching) return undefined;
    const timer = setInterval(() => {
      setupApi.pulling().then(
        (found) => {
          setJob(found);
          if (found?.state === "done") onFetched();
        },
        () => undefined,
      );
    }, LOOK_MS);
    return () => clearInterval(timer);
  }, [fetching]);
  const act = async (work: () => Promise<PullShown | null>): Promise<void> => {
    setTrouble(null);
    try {
      setJob(await work());
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    }
  };
  const share = job && job.size_bytes > 0 ? job.done_bytes / job.size_bytes : 0;
  return (
    <div class="setup-offer">
      <h3>{t("setup.offerTitle")}</h3>
      <p>{t("setup.offer", { model: offer.model, size: t("figure.gb", { n: offer.size_gb }), licence: offer.licence, host: offer.host })}</p>
      {offer.runs ? null : (
        <p>
          {broken === null ? t("setup.noOllama") : t("setup.ollamaBroken", { where: broken.where, trouble: broken.trouble })}{" "}
          <code>
            ollama pull {offer.model}
          </code>
        </p>
      )}
      {fetching && job ? (
        <>
          <p role="status">{job.size_bytes > 0 ? t("setup.fetching", { share: percent(share), size: bytes(job.size_bytes) }) : t("setup.beginning")}</p>
          <Bar share={share} />
          <button type="button" onClick={() => void act(async () => (await setupApi.stopPull(), setupApi.pulling()))}>
            {t("maps.stop")}
          </button>
        </>
      ) : offer.runs ? (
        <button type="button" class="primary" onClick={() => void act(() => setupApi.pull(offer.host))}>
          {t("setup.fetch", { host: offer.host })}
        </button>
      ) : null}
      {job?.state === "cancelled" ? <p>{t("maps.cancelled")}</p> : null}
      {job?.state === "failed" ? <Banner kind="bad">{job.trouble}</Banner> : null}
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
    </div>
  );
}
