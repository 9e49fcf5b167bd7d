import { useEffect, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { SettingsShown as Kept } from "../api/types";
import { about, meet, settings } from "../state/server";
import { SetupLater } from "../setup/FirstVisit";
import { chooseTheme, themeChoice, type ThemeChoice } from "../state/theme";
import { t } from "../strings";
import { Field } from "../ui/Field";
import { Banner, Loading } from "../ui/parts";
import { Switch } from "../ui/Switch";
import { Disk } from "./Disk";
import { Keys } from "./Keys";
import { Maps } from "./Maps";

const GRANULARITIES: readonly Kept["granularity"][] = ["exact", "street", "city", "region", "country"];
const THEMES: readonly ThemeChoice[] = ["system", "light", "dark"];

/** What holds for all cases. Every change is kept at once, by the one button. */
export function Settings() {
  const [draft, setDraft] = useState<Kept | null>(settings.value);
  const [state, setState] = useState<"idle" | "saved" | string>("idle");
  const kept = settings.value;
  useEffect(() => {
    if (draft === null && kept !== null) setDraft(kept);
  }, [kept]);
  if (draft === null || kept === null) return <Loading />;
  const set = (change: Partial<Kept>): void => {
    setDraft({ ...draft, ...change });
    setState("idle");
  };
  const changed = JSON.stringify(draft) !== JSON.stringify(kept);
  const save = async (): Promise<void> => {
    try {
      const saved = await api.changeSettings(draft);
      settings.value = saved;
      setDraft(saved);
      setState("saved");
      void meet();
    } catch (thrown) {
      setState(troubleOf(thrown).message);
    }
  };
  return (
    <article class="settings">
      <h1>{t("settings.title")}</h1>
      <SetupLater
        onDone={() => {
          const { model, base_url, offline } = settings.value ?? draft;
          setDraft((before) => (before === null ? before : { ...before, model, base_url, offline }));
        }}
      />
      <form
        class="settings-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <fieldset>
          <legend>{t("settings.network")}</legend>
          <Switch label={t("settings.offline")} help={draft.offline ? t("settings.offlineOn") : t("settings.offlineOff")} on={draft.offline} onChange={(offline) => set({ offline })} />
          <Switch
            label={t("settings.tiles")}
            help={draft.offline ? t("settings.tilesOffline") : t("settings.tilesHelp")}
            on={draft.online_tiles !== null}
            disabled={draft.offline}
            onChange={(on) => set({ online_tiles: on ? "" : null })}
          />
          {draft.online_tiles === null || draft.offline ? null : (
            <Field label={t("settings.tilesUrl")} help={t("settings.tilesUrlHelp")} type="url" value={draft.online_tiles} onInput={(online_tiles) => set({ online_tiles })} />
          )}
        </fieldset>
        <fieldset>
          <legend>{t("settings.privacy")}</legend>
          <div class="field">
            <label class="field-label" for="granularity">
              {t("settings.granularity")}
            </label>
            <select
              id="granularity"
              aria-describedby="granularity-help"
              value={draft.granularity}
              onChange={(event) => {
                const level = GRANULARITIES.find((one) => one === event.currentTarget.value);
                if (level) set({ granularity: level });
              }}
            >
              {GRANULARITIES.map((level) => (
                <option key={level} value={level}>
                  {t(`granularity.${level}`)}
                </option>
              ))}
            </select>
            <span class="field-help" id="granularity-help">
              {t("settings.granularityHelp")}
            </span>
          </div>
          <Field
            label={t("settings.retention")}
            help={t("settings.retentionHelp")}
            type="number"
            min={1}
            max={36500}
            value={draft.retention_days === null ? "" : String(draft.retention_days)}
            placeholder={t("settings.keepForever")}
            onInput={(text) => set({ retention_days: text === "" ? null : Math.max(1, Math.min(36500, Math.round(Number(text)) || 1)) })}
          />
          <Field
            label={t("settings.quota")}
            help={t("settings.quotaHelp")}
            type="number"
            min={1}
            max={1e9}
            value={draft.quota_mb === null ? "" : String(draft.quota_mb)}
            placeholder={t("settings.noQuota")}
            onInput={(text) => set({ quota_mb: text === "" ? null : Math.max(1, Math.min(1e9, Math.round(Number(text)) || 1)) })}
          />
        </fieldset>
        {state === "idle" || state === "saved" ? null : <Banner kind="bad">{state}</Banner>}
        <div class={`buttons settings-save ${changed ? "unsaved" : ""}`}>
          <button type="submit" class="primary" disabled={!changed}>
            {t("action.save")}
          </button>
          <span role="status" class="quiet">
            {state === "saved" ? t("settings.saved") : changed ? t("settings.unsaved") : ""}
          </span>
        </div>
      </form>
      <Disk />
      <Maps />
      <Keys />
      <section class="settings-part" aria-labelledby="look-title">
        <h2 id="look-title">{t("settings.look")}</h2>
        <fieldset class="choice">
          <legend>{t("settings.theme")}</legend>
          {THEMES.map((choice) => (
            <label key={choice} class="tick">
              <input type="radio" name="theme" checked={themeChoice.value === choice} onChange={() => chooseTheme(choice)} />
              <span>{t(`theme.${choice}`)}</span>
            </label>
          ))}
        </fieldset>
      </section>
      <section class="settings-part" aria-labelledby="about-title">
        <h2 id="about-title">{t("settings.about")}</h2>
        <p class="quiet">{t("settings.version", { version: about.value?.version ?? "" })}</p>
      </section>
    </article>
  );
}
