import { useId, useState } from "preact/hooks";
import { setupApi, type Reachable, type Tried } from "../api/setup";
import { troubleOf } from "../api/client";
import { seconds } from "../format";
import { withConsent } from "../state/consent";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Banner } from "../ui/parts";

const OPEN_NAME = ":NAME";

/** One model: where it is, where photos go, what it costs; tried on the example photo, made the default. */
export function ModelRow({ one, busy, isDefault, onChoose }: { one: Reachable; busy: boolean; isDefault: boolean; onChoose(model: string): void }) {
  const [name, setName] = useState("");
  const [trying, setTrying] = useState(false);
  const [tried, setTried] = useState<Tried | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const nameId = useId();
  const open = one.model.endsWith(OPEN_NAME);
  const prefix = one.model.slice(0, one.model.indexOf(":") + 1);
  const model = open ? `${prefix}${name.trim()}` : one.model;
  const unnamed = open && name.trim() === "";
  const attempt = async (): Promise<void> => {
    setTrying(true);
    setTried(null);
    setTrouble(null);
    try {
      setTried(await withConsent((hosts) => setupApi.attempt(model, one.base_url, hosts)));
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    } finally {
      setTrying(false);
    }
  };
  return (
    <li class="setup-model">
      <p class="setup-name">
        <code>{unnamed ? `${prefix}…` : shortName(model)}</code>
        {isDefault ? <span class="setup-badge">{t("setup.default")}</span> : null}
      </p>
      <dl class="setup-facts">
        <div>
          <dt>{t("setup.where")}</dt>
          <dd>{one.where}</dd>
        </div>
        <div>
          <dt>{t("setup.photos")}</dt>
          <dd class={one.sent_to === null ? "stays" : "leaves"}>
            <Icon name={one.sent_to === null ? "lock" : "link"} size={15} /> {one.sent_to === null ? t("setup.stay") : t("setup.go", { host: one.sent_to })}
          </dd>
        </div>
        <div>
          <dt>{t("setup.cost")}</dt>
          <dd>{one.cost}</dd>
        </div>
        <div>
          <dt>{t("setup.sees")}</dt>
          <dd>{one.sees === null ? t("setup.notSaid") : t("setup.yes")}</dd>
        </div>
      </dl>
      {open ? (
        <div class="field">
          <label class="field-label" for={nameId}>
            {t("setup.name")}
          </label>
          <input id={nameId} type="text" autocomplete="off" spellcheck={false} value={name} placeholder={t("setup.nameExample")} onInput={(event) => setName(event.currentTarget.value)} />
        </div>
      ) : null}
      <div class="buttons">
        <button type="button" disabled={busy || trying || unnamed} aria-label={t("setup.tryOf", { model: shortName(model) })} onClick={() => void attempt()}>
          {trying ? <span class="spinner" aria-hidden="true" /> : null}
          {trying ? t("setup.trying") : t("setup.try")}
        </button>
        <button type="button" class="primary" disabled={busy || trying || unnamed || isDefault} aria-label={t("setup.useOf", { model: shortName(model) })} onClick={() => onChoose(model)}>
          {t("setup.use")}
        </button>
      </div>
      <div role="status">{tried === null ? null : <Banner kind="good">{t("setup.answered", { answer: tried.answer, time: seconds(tried.seconds) })}</Banner>}</div>
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
    </li>
  );
}

/** Weights by the end of their folder, which says enough. */
function shortName(model: string): string {
  const found = /models--([^/]+)\/snapshots\//.exec(model);
  return found?.[1] === undefined ? model : `hf: ${found[1].replaceAll("--", "/")}`;
}
