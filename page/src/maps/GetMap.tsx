import { useState } from "preact/hooks";
import { api } from "../api/client";
import type { MapJobShown, MapOfferShown } from "../api/types";
import { bytes, seconds } from "../format";
import { hashOf } from "../router";
import { isActive, loadMaps, mapAskedFor, maps } from "../state/maps";
import { settings } from "../state/server";
import { t } from "../strings";
import { Dialog } from "../ui/Dialog";
import { Banner, Bar, Loading } from "../ui/parts";
import { useAct } from "../ui/useAct";
import { progressWords } from "./progress";

/** A map by the name of its place: names the host and asks, shows what it takes and asks again, then how far it is. */
export function GetMap({ place }: { place: string }) {
  const [offer, setOffer] = useState<MapOfferShown | null>(null);
  const { busy, trouble, act } = useAct();
  const [begun, setBegun] = useState(maps.value?.job?.place === place && isActive(maps.value.job));
  const host = maps.value?.host ?? "";
  const job = maps.value?.job ?? null;
  const close = (): void => {
    mapAskedFor.value = null;
  };
  const ask = (): Promise<void> => act(async () => setOffer(await api.offerMap(place, host)));
  const start = (found: MapOfferShown): Promise<void> =>
    act(async () => {
      await api.getMap(place, host, found.size_bytes);
      setBegun(true);
      await loadMaps();
    });
  const stop = (): Promise<void> =>
    act(async () => {
      await api.cancelMap();
      await loadMaps();
    });
  const again = (): void => {
    setBegun(false);
    setOffer(null);
  };
  return (
    <Dialog title={t("maps.title", { place })} onClose={close}>
      {begun && job !== null ? (
        <Progress job={job} busy={busy} onStop={() => void stop()} onAgain={again} onClose={close} />
      ) : offer === null ? (
        <Host host={host} busy={busy} onAsk={() => void ask()} onClose={close} />
      ) : (
        <Offer offer={offer} busy={busy} onStart={() => void start(offer)} onClose={close} />
      )}
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
    </Dialog>
  );
}

function Host({ host, busy, onAsk, onClose }: { host: string; busy: boolean; onAsk(): void; onClose(): void }) {
  const offline = settings.value?.offline ?? true;
  return (
    <>
      <p>{t("maps.asks", { host })}</p>
      <p class="quiet">{t("maps.asksWhat")}</p>
      {offline ? (
        <Banner kind="info">
          {t("maps.offline")}{" "}
          <a href={hashOf({ screen: "settings" })} onClick={onClose}>
            {t("maps.toSettings")}
          </a>
        </Banner>
      ) : null}
      {busy ? <Loading words={t("maps.asking", { host })} /> : null}
      <div class="buttons end">
        <button type="button" onClick={onClose}>
          {t("action.cancel")}
        </button>
        <button type="button" class="primary" disabled={busy || offline} onClick={onAsk}>
          {t("maps.ask", { host })}
        </button>
      </div>
    </>
  );
}

function Offer({ offer, busy, onStart, onClose }: { offer: MapOfferShown; busy: boolean; onStart(): void; onClose(): void }) {
  const rows = [
    [t("maps.map"), offer.title],
    [t("maps.size"), bytes(offer.size_bytes)],
    [t("maps.from"), offer.host],
    [t("maps.day"), offer.day ?? ""],
    [t("maps.disk"), bytes(offer.disk_bytes)],
    [t("maps.work"), seconds(Math.max(1, offer.seconds))],
  ].filter(([, words]) => words !== "");
  return (
    <>
      <dl class="facts">
        {rows.map(([name, words]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      {offer.there === null ? null : <p class="quiet">{t(offer.up_to_date ? "maps.upToDate" : "maps.older", { day: offer.there })}</p>}
      <div class="buttons end">
        <button type="button" onClick={onClose}>
          {t("action.cancel")}
        </button>
        <button type="button" class="primary" disabled={busy || offer.up_to_date} onClick={onStart}>
          {t("maps.download", { size: bytes(offer.size_bytes) })}
        </button>
      </div>
    </>
  );
}

function Progress({ job, busy, onStop, onAgain, onClose }: { job: MapJobShown; busy: boolean; onStop(): void; onAgain(): void; onClose(): void }) {
  return (
    <>
      {job.state === "failed" ? <Banner kind="bad">{job.trouble ?? t("maps.failed", { place: job.place })}</Banner> : null}
      {job.state === "cancelled" ? <p>{t("maps.cancelled")}</p> : null}
      {job.state === "done" ? <Banner kind="good">{t("maps.done", { place: job.place })}</Banner> : null}
      {isActive(job) ? (
        <>
          <p role="status">{progressWords(job)}</p>
          <Bar share={job.share} />
          <p class="quiet">{t("maps.goesOn")}</p>
        </>
      ) : null}
      <div class="buttons end">
        {isActive(job) ? (
          <button type="button" disabled={busy} onClick={onStop}>
            {t("maps.stop")}
          </button>
        ) : job.state === "done" ? null : (
          <button type="button" onClick={onAgain}>
            {t("map.retry")}
          </button>
        )}
        <button type="button" class="primary" onClick={onClose}>
          {t("action.close")}
        </button>
      </div>
    </>
  );
}
