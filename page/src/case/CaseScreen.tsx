import { useEffect, useRef, useState } from "preact/hooks";
import { api, troubleOf, whenSomethingIsMissing } from "../api/client";
import type { CaseShown, RunShown } from "../api/types";
import { go, hashOf } from "../router";
import { notify } from "../state/announce";
import { seenFor, seenWords } from "../state/seen";
import { mainRun } from "../state/summary";
import { t } from "../strings";
import { Confirm } from "../ui/Dialog";
import { later } from "../ui/later";
import { Banner, Empty, Loading } from "../ui/parts";
import { CaseHead } from "./CaseHead";
import { useVideos } from "../video/useVideos";
import { VideoPlaces } from "../video/VideoPlaces";
import { RunPane } from "./RunPane";

const RunAgain = later(async () => (await import("./RunAgain")).RunAgain);
const AGAIN_MS = 3000;

/** One case: its photos, and the run that is shown of it. */
export function CaseScreen({ caseId, runId }: { caseId: string; runId: string | null }) {
  const [row, setRow] = useState<CaseShown | null>(null);
  const [trouble, setTrouble] = useState<{ message: string; missing: boolean } | null>(null);
  const [deleting, setDeleting] = useState<RunShown | null>(null);
  const [asking, setAsking] = useState<"again" | "everywhere" | null>(null);
  const [ticked, setTicked] = useState<string | null>(null);
  const known = useRef(false);
  const places = useVideos(row);

  const load = async (): Promise<void> => {
    try {
      setRow(await api.case(caseId));
      known.current = true;
      setTrouble(null);
    } catch (thrown) {
      const told = troubleOf(thrown);
      if (told.status === 404) setRow(null);
      setTrouble({ message: told.message, missing: told.status === 404 });
      if (told.gone || told.status >= 500) setTimeout(() => void load(), AGAIN_MS);
    }
  };
  useEffect(() => void load(), [caseId, runId]);
  useEffect(() => {
    if (seenFor.value?.caseId === caseId && seenFor.value.told) {
      setTicked(seenWords.value);
      setAsking("again");
      seenWords.value = "";
    }
    seenFor.value = null;
  }, [caseId]);
  useEffect(() => {
    // Somebody may delete the case elsewhere: whatever of it is not there any more, and every return, makes us look.
    let looking = false;
    const look = async (): Promise<void> => {
      if (looking) return;
      looking = true;
      try {
        const now = await api.case(caseId);
        if (runId !== null && !now.runs.some((one) => one.id === runId)) setRow(now);
      } catch (thrown) {
        if (troubleOf(thrown).status === 404) await load();
      } finally {
        looking = false;
      }
    };
    const returned = (): void => {
      if (document.visibilityState === "visible") void look();
    };
    whenSomethingIsMissing(() => void look());
    document.addEventListener("visibilitychange", returned);
    return () => {
      whenSomethingIsMissing(() => undefined);
      document.removeEventListener("visibilitychange", returned);
    };
  }, [caseId, runId]);

  if (row === null) {
    if (trouble === null) return <Loading />;
    return (
      <div class="stack">
        <Banner kind="bad">{trouble.missing ? (known.current ? t("case.deleted") : t("case.missing")) : trouble.message}</Banner>
        <p>
          <a href={hashOf({ screen: "home" })}>{t("case.back")}</a>
        </p>
      </div>
    );
  }
  const run = row.runs.find((one) => one.id === runId) ?? mainRun(row);
  const show = (next: RunShown): void => go({ screen: "case", caseId, runId: next.id });

  const remove = async (gone: RunShown): Promise<void> => {
    setDeleting(null);
    try {
      await api.deleteRun(gone.id);
      if (gone.id === run?.id) go({ screen: "case", caseId, runId: null }, { replace: true });
      await load();
    } catch (thrown) {
      notify(troubleOf(thrown).message, { bad: true });
    }
  };

  return (
    <article class="case">
      <CaseHead row={row} run={run} ofVideo={places.length > 0} onChanged={setRow} />
      {trouble === null ? null : <Banner kind="bad">{t("error.goneWaiting")}</Banner>}
      <VideoPlaces row={row} places={places} shown={run?.id ?? null} onChanged={setRow} />
      {run === null ? (
        <div class="stack">
          <Empty>{t("case.noRunLong")}</Empty>
          <div class="buttons">
            <button type="button" class="primary" onClick={() => setAsking("again")}>
              {t("runs.again")}
            </button>
          </div>
        </div>
      ) : (
        <RunPane
          key={run.id}
          row={row}
          run={run}
          places={places}
          onOver={() => void load()}
          onChanged={setRow}
          onContinued={show}
          onDelete={setDeleting}
          onAgain={() => setAsking("again")}
          onEverywhere={() => setAsking("everywhere")}
        />
      )}
      {asking ? <RunAgain row={row} like={run} everywhere={asking === "everywhere"} seen={ticked} photos={places.length > 0 && run !== null ? run.photos : null} onClose={() => {
        setAsking(null);
        setTicked(null);
      }} onBegun={show} /> : null}
      {deleting === null ? null : (
        <Confirm
          title={t("deleteRun.title", { n: row.runs.indexOf(deleting) + 1 })}
          words={[t("deleteRun.what"), t("delete.forGood")]}
          yes={t("deleteRun.yes")}
          danger
          onYes={() => void remove(deleting)}
          onClose={() => setDeleting(null)}
        />
      )}
    </article>
  );
}
