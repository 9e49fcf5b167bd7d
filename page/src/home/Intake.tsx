import { useEffect, useRef, useState } from "preact/hooks";
import exampleUrl from "../assets/example.jpg";
import { api, troubleOf } from "../api/client";
import type { RunRequest } from "../api/types";
import { go, hashOf } from "../router";
import { announce, notify } from "../state/announce";
import { withConsent } from "../state/consent";
import { seenFor, seenWords } from "../state/seen";
import { settings } from "../state/server";
import { counted, t } from "../strings";
import { Icon } from "../ui/Icon";
import { Banner } from "../ui/parts";
import { beginVideo, isVideo } from "../video/videos";
import { caseOf, chosenOf, drop, filesOf, flawOf, tidy, type Chosen, type Refused } from "./intake";
import { Tray } from "./Tray";
import { Wishes } from "./Wishes";

/** Drop, paste or pick photos, say what is known, and begin. */
export function Intake({ first, onBegun }: { first: boolean; onBegun(): void }) {
  const [photos, setPhotos] = useState<Chosen[]>([]);
  const [onePlace, setOnePlace] = useState(true);
  const [wishes, setWishes] = useState<Partial<RunRequest>>(() => (seenWords.value === "" ? {} : { seen: seenWords.value }));
  const [over, setOver] = useState(false);
  const [busy, setBusy] = useState<string | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [refused, setRefused] = useState<readonly Refused[]>([]);
  /** What looks like no photograph, and waits for a word. */
  const [unlike, setUnlike] = useState<readonly string[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const begin = useRef<HTMLButtonElement>(null);
  const model = settings.value?.model ?? null;
  const allRefused = photos.every((photo) => refused.some((one) => one.key === photo.key));

  const complain = (one: Chosen, undrawn = false): void => {
    const why = flawOf(one.file, undrawn);
    if (why === null) return;
    setRefused((before) => [...before.filter(({ key }) => key !== one.key), { key: one.key, line: t("home.refused", { name: one.file.name, why }) }]);
  };

  const add = (files: readonly File[]): void => {
    if (files.length === 0) return;
    setTrouble(null);
    setUnlike([]);
    const chosen = files.map(chosenOf);
    setPhotos((before) => [...before, ...chosen]);
    chosen.forEach((one) => complain(one));
    announce(counted("say.chosen", files.length));
    // The photos, and what is said about them, stay in sight.
    requestAnimationFrame(() => begin.current?.focus({ preventScroll: true }));
  };

  useEffect(() => {
    // What is ticked from here on is for a new photo.
    seenFor.value = null;
    const paste = (event: ClipboardEvent): void => add(filesOf(event.clipboardData));
    const hover = (event: DragEvent): void => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setOver(event.type === "dragover");
    };
    const dropped = (event: DragEvent): void => {
      setOver(false);
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      add(filesOf(event.dataTransfer));
    };
    document.addEventListener("paste", paste);
    document.addEventListener("dragover", hover);
    document.addEventListener("dragleave", hover);
    document.addEventListener("drop", dropped);
    return () => {
      document.removeEventListener("paste", paste);
      document.removeEventListener("dragover", hover);
      document.removeEventListener("dragleave", hover);
      document.removeEventListener("drop", dropped);
    };
  }, []);

  const clear = (): void => {
    photos.forEach(drop);
    setPhotos([]);
    setRefused([]);
    setUnlike([]);
  };

  const startVideo = async (): Promise<void> => {
    setTrouble(null);
    try {
      const begun = await beginVideo(photos.map((one) => one.file), wishes, setBusy);
      if (begun === null) return;
      onBegun();
      clear();
      go({ screen: "case", ...begun });
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    } finally {
      setBusy(null);
    }
  };

  const start = async (anyway = false): Promise<void> => {
    if (photos.some((one) => isVideo(one.file))) return startVideo();
    const groups = onePlace ? [photos] : photos.map((photo) => [photo]);
    let last: { caseId: string; runId: string } | null = null;
    let done = 0;
    let begun = 0;
    const turnedAway: Refused[] = [];
    const held: string[] = [];
    const settled = new Set<Chosen>();
    setTrouble(null);
    setRefused([]);
    setUnlike([]);
    try {
      for (const group of groups) {
        setBusy(t("home.uploading", { done: done + 1, of: photos.length }));
        const { caseId, refused: now, unlike: odd } = await caseOf(group, () => {
          done += 1;
          setBusy(t("home.uploading", { done: Math.min(done + 1, photos.length), of: photos.length }));
        });
        turnedAway.push(...now);
        if (caseId === null) continue;
        if (!anyway && odd.length > 0) {
          held.push(...odd);
          await api.deleteCase(caseId);
          continue;
        }
        const run = await withConsent((send_to) => api.start(caseId, { ...tidy(wishes), send_to })).catch(async (thrown: unknown) => {
          await api.deleteCase(caseId);
          throw thrown;
        });
        if (run === null) {
          await api.deleteCase(caseId);
          continue;
        }
        last = { caseId, runId: run.id };
        begun += 1;
        group.filter((photo) => !now.some((one) => one.key === photo.key)).forEach((photo) => settled.add(photo));
      }
      setRefused(turnedAway);
      setUnlike(held);
      if (last === null) return;
      onBegun();
      if (groups.length === 1) {
        clear();
        if (turnedAway.length > 0) notify(turnedAway.map((one) => one.line).join("\n"), { bad: true });
        go({ screen: "case", caseId: last.caseId, runId: last.runId });
      } else notify(counted("home.begun", begun));
    } catch (thrown) {
      setRefused(turnedAway);
      setTrouble(troubleOf(thrown).message);
    } finally {
      // What is under way leaves the tray; what was refused stays there, marked.
      if (groups.length > 1) {
        settled.forEach(drop);
        setPhotos((before) => before.filter((photo) => !settled.has(photo)));
      }
      setBusy(null);
    }
  };

  const example = async (): Promise<void> => {
    const picture = await (await fetch(exampleUrl)).blob();
    add([new File([picture], "example.jpg", { type: "image/jpeg" })]);
  };

  return (
    <section class="intake" aria-labelledby="intake-title">
      <h1 id="intake-title">{t("home.title")}</h1>
      {model === null ? (
        <>
          <p class="lead">{t("home.lead")}</p>
          <p class="lead-ways">
            <a href={hashOf({ screen: "see" })}>{t("way.see")}</a>
            <a href={hashOf({ screen: "settings" })}>{t("way.model")}</a>
          </p>
        </>
      ) : (
        <p class="lead">{t("home.leadModel", { model })}</p>
      )}
      <div class={`dropzone ${over ? "over" : ""} ${photos.length > 0 ? "filled" : ""}`}>
        {photos.length === 0 ? (
          <div class="drop-words">
            <Icon name="photo" size={40} />
            <p class="drop-main">{over ? t("home.dropNow") : t("home.drop")}</p>
            <p class="drop-more">{t("home.dropMore")}</p>
            <div class="buttons">
              <button type="button" class="primary" data-shortcut="upload" onClick={() => picker.current?.click()}>
                {t("home.pick")}
              </button>
              {first ? (
                <button type="button" onClick={() => void example()}>
                  {t("home.example")}
                </button>
              ) : null}
            </div>
          </div>
        ) : (
          <form
            class="staged"
            onSubmit={(event) => {
              event.preventDefault();
              void start();
            }}
          >
            <Tray
              photos={photos}
              refused={new Set(refused.map((one) => one.key))}
              onRemove={(gone) => {
                drop(gone);
                setRefused(refused.filter((one) => one.key !== gone.key));
                setUnlike([]);
                setPhotos(photos.filter((one) => one !== gone));
              }}
              onUndrawn={(one) => complain(one, true)}
              onMore={() => picker.current?.click()}
            />
            {refused.length === 0 ? null : (
              <Banner kind="bad">
                <ul class="lines">
                  {refused.map((one) => (
                    <li key={one.key}>{one.line}</li>
                  ))}
                </ul>
              </Banner>
            )}
            {unlike.length === 0 ? null : (
              <Banner kind="caution">
                <div role="status">
                  <ul class="lines">
                    {unlike.map((line, index) => (
                      <li key={index}>{line}</li>
                    ))}
                  </ul>
                  <p>{t("home.unlikeWhy")}</p>
                </div>
                <button type="button" disabled={busy !== null} onClick={() => void start(true)}>
                  {t("home.anyway")}
                </button>
              </Banner>
            )}
            {photos.length > 1 ? (
              <fieldset class="choice">
                <legend>{t("home.together")}</legend>
                <label class="tick">
                  <input type="radio" name="together" checked={onePlace} onChange={() => setOnePlace(true)} />
                  <span>{t("home.onePlace")}</span>
                </label>
                <label class="tick">
                  <input type="radio" name="together" checked={!onePlace} onChange={() => setOnePlace(false)} />
                  <span>{t("home.eachPlace")}</span>
                </label>
              </fieldset>
            ) : null}
            <Wishes value={wishes} onChange={setWishes} />
            <div class="buttons">
              <button ref={begin} type="submit" class="primary large" disabled={busy !== null || allRefused}>
                {busy ?? t("home.begin")}
              </button>
              <button type="button" class="plain" disabled={busy !== null} onClick={clear}>
                {t("home.clear")}
              </button>
            </div>
          </form>
        )}
        <input
          ref={picker}
          type="file"
          hidden
          accept="image/*,video/*,.heic,.heif,.mkv"
          multiple
          onChange={(event) => {
            add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
      </div>
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
    </section>
  );
}
