import { useEffect, useRef, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import { bytes as sized } from "../format";
import { t } from "../strings";
import { Banner, Loading } from "../ui/parts";

/** What all cases take on the disk, and a way to be rid of them, in two steps. */
export function Disk() {
  const [bytes, setBytes] = useState<number | null>(null);
  const [unknown, setUnknown] = useState<string | null>(null);
  const [sure, setSure] = useState(false);
  const [said, setSaid] = useState("");
  const [trouble, setTrouble] = useState("");
  const look = (): void => {
    api.disk().then(
      (found) => {
        setBytes(found.bytes);
        setUnknown(null);
      },
      (thrown: unknown) => {
        setBytes(null);
        setUnknown(troubleOf(thrown).message);
      },
    );
  };
  useEffect(look, []);
  const cancel = useRef<HTMLButtonElement>(null);
  const first = useRef<HTMLButtonElement>(null);
  // The button that was pressed is gone: whoever uses keys goes on at what took its place.
  const ask = (now: boolean): void => {
    setSure(now);
    requestAnimationFrame(() => (now ? cancel : first).current?.focus());
  };
  const wipe = async (): Promise<void> => {
    try {
      const { cases } = await api.wipe();
      setSaid(t("disk.wiped", { count: cases }));
      ask(false);
      look();
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    }
  };
  return (
    <section class="settings-part" aria-labelledby="disk-title">
      <h2 id="disk-title">{t("disk.title")}</h2>
      {unknown !== null ? <p class="quiet">{t("disk.unknown", { trouble: unknown })}</p> : bytes === null ? <Loading /> : <p>{t("disk.used", { size: sized(bytes) })}</p>}
      {trouble === "" ? null : <Banner kind="bad">{trouble}</Banner>}
      {sure ? (
        <>
          <p>{t("disk.sure")}</p>
          <div class="buttons">
            <button type="button" class="danger" onClick={() => void wipe()}>
              {t("disk.wipeNow")}
            </button>
            <button ref={cancel} type="button" onClick={() => ask(false)}>
              {t("action.cancel")}
            </button>
          </div>
        </>
      ) : (
        <div class="buttons">
          <button ref={first} type="button" onClick={() => ask(true)}>
            {t("disk.wipe")}
          </button>
        </div>
      )}
      <p role="status" class="quiet">
        {said}
      </p>
    </section>
  );
}
