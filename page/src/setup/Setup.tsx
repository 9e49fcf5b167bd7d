import { useEffect, useState } from "preact/hooks";
import { setupApi } from "../api/setup";
import type { SetupShown } from "../api/types";
import { troubleOf } from "../api/client";
import { notify } from "../state/announce";
import { meet, settings } from "../state/server";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Banner, Loading } from "../ui/parts";
import { useAct } from "../ui/useAct";
import { Offer } from "./Offer";
import { Confirm } from "../ui/Dialog";
import { ModelRow, OWN_SERVER } from "./ModelRow";
import "./setup.css";

const DETECTIVE = "none";
const OLLAMA = "Ollama";

/** What is within reach, what each costs and where photos go; one is tried and made the default. */
export function Setup({ onDone, onDismiss }: { onDone(): void; onDismiss?: () => void }) {
  const [offlineFor, setOfflineFor] = useState<{ model: string; baseUrl: string | null } | null>(null);
  const [view, setView] = useState<SetupShown | null>(null);
  const { busy, trouble, setTrouble, act } = useAct();
  const look = (): Promise<void> => act(async () => setView(await setupApi.look()));
  useEffect(() => {
    // Offline nobody is asked before somebody wants it, not even a server on this machine.
    if (settings.value?.offline === false) void look();
    else
      setupApi.read().then(setView, (thrown: unknown) => setTrouble(troubleOf(thrown).message));
  }, []);
  const keep = (model: string, baseUrl: string | null): Promise<void> =>
    act(async () => {
      setOfflineFor(null);
      settings.value = await setupApi.setDefault(model, baseUrl);
      setView((before) => (before === null ? before : { ...before, default: settings.value?.model ?? null }));
      notify(model === DETECTIVE ? t("setup.setDetective") : t("setup.set", { model }));
      onDone();
      void meet();
    });
  const choose = (model: string, baseUrl: string | null): void => {
    if (settings.value?.offline && model !== DETECTIVE && !model.startsWith("hf:")) setOfflineFor({ model, baseUrl });
    else void keep(model, baseUrl);
  };
  const kept = { model: settings.value?.model ?? null, base_url: settings.value?.base_url ?? null };
  const models = view?.models ?? [];
  const blind = models.filter((one) => one.sees === false);
  // What is wrong with Ollama is told once, where it is offered.
  const noOllama = view?.offer?.runs === false ? view.broken.find((one) => one.title === OLLAMA) : undefined;
  const broken = view?.broken.filter((one) => one !== noOllama) ?? [];
  // Those that keep photos here come first.
  const listed = models.filter((one) => one.sees !== false).sort((left, right) => Number(left.sent_to !== null) - Number(right.sent_to !== null));
  return (
    <section class="setup" aria-labelledby="setup-title">
      <header class="setup-head">
        <h2 id="setup-title">{t("setup.title")}</h2>
        {onDismiss === undefined ? null : (
          <button type="button" class="plain square" aria-label={t("setup.dismiss")} title={t("setup.dismiss")} onClick={onDismiss}>
            <Icon name="close" />
          </button>
        )}
      </header>
      <p class="quiet">{t("setup.lead")}</p>
      {onDismiss === undefined ? <p>{t("setup.inUse", { model: kept.model ?? t("setup.detective") })}</p> : null}
      {view === null && trouble === null ? <Loading /> : null}
      {listed.length > 0 ? <p>{t("setup.listed")}</p> : view?.asked ? <p>{t("setup.nothing")}</p> : null}
      {listed.length === 0 ? null : (
        <ul class="setup-models">
          {listed.map((one) => (
            <ModelRow key={`${one.model} ${one.base_url ?? ""}`} one={one} busy={busy} kept={kept} onChoose={choose} />
          ))}
        </ul>
      )}
      {blind.length > 0 ? <p class="quiet">{t("setup.blind", { models: blind.map((one) => one.model).join(", ") })}</p> : null}
      {broken.map((one) => (
        <Banner key={one.where} kind="caution">
          {t("setup.broken", { title: one.title, where: one.where, trouble: one.trouble })}
        </Banner>
      ))}
      {view?.offer ? <Offer offer={view.offer} broken={noOllama ?? null} before={view.pull} onFetched={() => void look()} /> : null}
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
      <p class="quiet">{t("setup.asks")}</p>
      <div class="buttons">
        <button type="button" class={view?.asked ? "" : "primary"} disabled={busy} onClick={() => void look()}>
          <Icon name="search" size={16} /> {view?.asked ? t("setup.lookAgain") : t("setup.look")}
        </button>
        <button type="button" disabled={busy} onClick={() => choose(DETECTIVE, null)}>
          {t("setup.without")}
        </button>
      </div>
      <ul class="setup-models">
        <ModelRow one={OWN_SERVER} busy={busy} kept={kept} onChoose={choose} />
      </ul>
      {onDismiss === undefined ? null : <p class="quiet">{t("setup.again")}</p>}
      {offlineFor === null ? null : (
        <Confirm
          title={t("setup.offlineTitle")}
          words={[t("setup.offlineWhy", { model: offlineFor.model }), t("settings.offlineOff")]}
          yes={t("setup.offlineYes")}
          busy={busy}
          onYes={() => void keep(offlineFor.model, offlineFor.baseUrl)}
          onClose={() => setOfflineFor(null)}
        />
      )}
    </section>
  );
}
