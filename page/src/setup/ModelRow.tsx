import { useState } from "preact/hooks";
import { setupApi } from "../api/setup";
import type { ReachableShown, TriedShown } from "../api/types";
import { troubleOf } from "../api/client";
import { seconds } from "../format";
import { withConsent } from "../state/consent";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Field } from "../ui/Field";
import { Banner } from "../ui/parts";

const OPEN_NAME = ":NAME";

/** A server at an address that the person writes, of which nothing is known yet. */
export const OWN_SERVER: ReachableShown = { model: `server${OPEN_NAME}`, where: "", base_url: null, sees: null, sent_to: null, cost: "" };

interface ModelRowProps {
  one: ReachableShown;
  busy: boolean;
  /** What is the default now, and where it is. */
  kept: { model: string | null; base_url: string | null };
  onChoose(model: string, baseUrl: string | null): void;
}

/** One model: where it is, where photos go, what it costs; tried on the example photo, made the default. */
export function ModelRow({ one, busy, kept, onChoose }: ModelRowProps) {
  const own = one === OWN_SERVER;
  const keptHere = own && kept.model?.startsWith("server:");
  const [name, setName] = useState(keptHere ? (kept.model ?? "").slice("server:".length) : "");
  const [address, setAddress] = useState(keptHere ? (kept.base_url ?? "") : "");
  const [trying, setTrying] = useState(false);
  const [tried, setTried] = useState<TriedShown | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const open = one.model.endsWith(OPEN_NAME);
  const prefix = one.model.slice(0, one.model.indexOf(":") + 1);
  const model = open ? `${prefix}${name.trim()}` : one.model;
  const baseUrl = own ? address.trim() : one.base_url;
  const unnamed = (open && name.trim() === "") || (own && baseUrl === "");
  const isDefault = kept.model === model && (kept.base_url ?? null) === baseUrl;
  const attempt = async (): Promise<void> => {
    setTrying(true);
    setTried(null);
    setTrouble(null);
    try {
      setTried(await withConsent((hosts) => setupApi.attempt(model, baseUrl, hosts)));
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    } finally {
      setTrying(false);
    }
  };
  return (
    <li class="setup-model">
      <p class="setup-name">
        {own ? <span>{t("setup.own")}</span> : <code>{unnamed ? `${prefix}…` : shortName(model)}</code>}
        {isDefault ? <span class="setup-badge">{t("setup.default")}</span> : null}
      </p>
      {own ? <p class="quiet">{t("setup.ownHelp")}</p> : <Facts one={one} />}
      {own ? <Field label={t("setup.address")} type="url" value={address} placeholder={t("setup.addressExample")} onInput={setAddress} /> : null}
      {open ? <Field label={t("setup.name")} value={name} placeholder={own ? t("setup.ownExample") : t("setup.nameExample")} onInput={setName} /> : null}
      <div class="buttons">
        <button type="button" disabled={busy || trying || unnamed} aria-label={t("setup.tryOf", { model: shortName(model) })} onClick={() => void attempt()}>
          {trying ? <span class="spinner" aria-hidden="true" /> : null}
          {trying ? t("setup.trying") : t("setup.try")}
        </button>
        <button type="button" class="primary" disabled={busy || trying || unnamed || isDefault} aria-label={t("setup.useOf", { model: shortName(model) })} onClick={() => onChoose(model, baseUrl)}>
          {t("setup.use")}
        </button>
      </div>
      <div role="status">{tried === null ? null : <Banner kind={tried.right ? "good" : "caution"}>{t(tried.right ? "setup.right" : "setup.wrong", { answer: tried.answer, time: seconds(tried.seconds) })}</Banner>}</div>
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
    </li>
  );
}

function Facts({ one }: { one: ReachableShown }) {
  return (
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
  );
}

/** Weights by the end of their folder, which says enough. */
function shortName(model: string): string {
  const found = /models--([^/]+)\/snapshots\//.exec(model);
  return found?.[1] === undefined ? model : `hf: ${found[1].replaceAll("--", "/")}`;
}
