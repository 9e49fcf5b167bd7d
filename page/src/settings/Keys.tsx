import { useEffect, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { Keeping, KeyList, KeyShown } from "../api/types";
import { announce } from "../state/announce";
import { t } from "../strings";
import { Field } from "../ui/Field";
import { Icon } from "../ui/Icon";
import { Banner, Loading } from "../ui/parts";

function whereOf(row: KeyShown): string {
  switch (row.keep) {
    case "memory":
      return t("keysafe.inMemory");
    case "keyring":
      return t("keysafe.inKeyring");
    case "environment":
      return t("keysafe.inEnvironment");
    case null:
      return t("keysafe.unset");
  }
}

/** Keys of model services. They go in and never come out again: the page only learns whether one is there. */
export function Keys() {
  const [list, setList] = useState<KeyList | null>(null);
  const [service, setService] = useState("");
  const [key, setKey] = useState("");
  const [keep, setKeep] = useState<Keeping>("memory");
  const [trouble, setTrouble] = useState<string | null>(null);

  const act = async (change: () => Promise<unknown>, said: string): Promise<void> => {
    try {
      await change();
      if (said) announce(said);
      const found = await api.keys();
      setList(found);
      setTrouble(null);
      setService((before) => before || (found.keys[0]?.service ?? ""));
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    }
  };
  useEffect(() => void act(() => Promise.resolve(), ""), []);

  const put = async (): Promise<void> => {
    await act(() => api.setKey(service, key, keep), t("keysafe.put"));
    setKey("");
  };
  const known = list?.keys ?? [];
  return (
    <section class="settings-part" aria-labelledby="keys-title">
      <h2 id="keys-title">{t("keysafe.title")}</h2>
      <p class="quiet">{t("keysafe.lead")}</p>
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
      {list === null ? (
        trouble === null ? (
          <Loading />
        ) : null
      ) : known.some((row) => row.set) ? (
        <ul class="keylist">
          {known
            .filter((row) => row.set)
            .map((row) => (
              <li key={row.service}>
                <Icon name="lock" size={16} />
                <span class="key-name">{row.title}</span>
                <span class="quiet">{whereOf(row)}</span>
                {row.keep === "environment" ? null : (
                  <button type="button" class="small" onClick={() => void act(() => api.deleteKey(row.service), t("keysafe.gone"))}>
                    {t("keysafe.forget")}
                  </button>
                )}
              </li>
            ))}
        </ul>
      ) : (
        <p class="empty">{t("keysafe.none")}</p>
      )}
      <form
        class="keyform"
        onSubmit={(event) => {
          event.preventDefault();
          void put();
        }}
      >
        <label class="field">
          <span class="field-label">{t("keysafe.service")}</span>
          <select value={service} onChange={(event) => setService(event.currentTarget.value)}>
            {known.map((row) => (
              <option key={row.service} value={row.service}>
                {row.title}
              </option>
            ))}
          </select>
        </label>
        <Field label={t("keysafe.key")} type="password" value={key} autocomplete="off" onInput={setKey} />
        <fieldset class="choice">
          <legend>{t("keysafe.keep")}</legend>
          <label class="tick">
            <input type="radio" name="keep" checked={keep === "memory"} onChange={() => setKeep("memory")} />
            <span>{t("keysafe.memory")}</span>
          </label>
          <label class="tick">
            <input type="radio" name="keep" checked={keep === "keyring"} disabled={!(list?.keyring ?? false)} onChange={() => setKeep("keyring")} />
            <span>{list?.keyring ? t("keysafe.keyring") : t("keysafe.noKeyring")}</span>
          </label>
        </fieldset>
        <div class="buttons">
          <button type="submit" disabled={key.trim() === "" || service === ""}>
            {t("keysafe.save")}
          </button>
        </div>
      </form>
    </section>
  );
}
