import { useEffect, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CaseShown } from "../api/types";
import { serverGone } from "../state/server";
import { isActive } from "../state/summary";
import { counted, t } from "../strings";
import { Icon } from "../ui/Icon";
import { later } from "../ui/later";
import { Banner, Empty, Loading } from "../ui/parts";
import { CaseCard } from "./CaseCard";
import { DeleteCase } from "./DeleteCase";
import { ExampleFinding } from "./ExampleFinding";

const EditCase = later(async () => (await import("./EditCase")).EditCase);

const CasesMap = later(async () => (await import("./CasesMap")).CasesMap);
const PAGE = 50;
const TYPING_MS = 200;
const REFRESH_MS = 4000;

/** The cases on this machine, the newest first; a search looks through titles, notes and places. */
export function History({ version, onCount }: { version: number; onCount(known: number): void }) {
  const [query, setQuery] = useState("");
  const [rows, setRows] = useState<CaseShown[] | null>(null);
  const [full, setFull] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<CaseShown | null>(null);
  const [editing, setEditing] = useState<CaseShown | null>(null);
  const [again, setAgain] = useState(0);
  const [mapped, setMapped] = useState(false);

  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(
      () => {
        api.cases(query, stop.signal).then(
          (found) => {
            setRows(found);
            setFull(found.length >= PAGE);
            setTrouble(null);
            if (query === "") onCount(found.length);
          },
          (thrown: unknown) => {
            if (!stop.signal.aborted) setTrouble(troubleOf(thrown).message);
          },
        );
      },
      query === "" ? 0 : TYPING_MS,
    );
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query, version, again]);

  const waiting = trouble !== null || (rows?.some((row) => row.runs.some(isActive)) ?? false);
  useEffect(() => {
    if (!waiting) return undefined;
    const timer = setTimeout(() => setAgain(again + 1), REFRESH_MS);
    return () => clearTimeout(timer);
  }, [waiting, again, rows]);

  const older = async (): Promise<void> => {
    const last = rows?.at(-1);
    if (!last || !rows) return;
    const found = await api.cases(query, undefined, last.id);
    setRows([...rows, ...found]);
    setFull(found.length >= PAGE);
  };

  const empty = rows !== null && rows.length === 0 && query === "";
  return (
    <section class="history" aria-labelledby="history-title">
      <div class="section-head">
        <h2 id="history-title">{t("history.title")}</h2>
        {empty ? null : (
          <button type="button" aria-pressed={mapped} onClick={() => setMapped(!mapped)}>
            <Icon name="map" />
            <span>{t("history.map")}</span>
          </button>
        )}
        {empty ? null : (
          <label class="search">
            <Icon name="search" />
            <span class="sr-only">{t("history.search")}</span>
            <input type="search" value={query} placeholder={t("history.search")} data-shortcut="search" onInput={(event) => setQuery(event.currentTarget.value)} />
          </label>
        )}
      </div>
      {trouble === null || serverGone.value ? null : <Banner kind="bad">{trouble}</Banner>}
      {rows === null && trouble === null ? <Loading /> : null}
      {empty ? <ExampleFinding /> : null}
      {rows !== null && rows.length === 0 && query !== "" ? <Empty>{t("history.nothing", { query })}</Empty> : null}
      <p class="sr-only" role="status">
        {rows !== null && query !== "" ? counted("history.found", rows.length) : ""}
      </p>
      {mapped && !empty ? <CasesMap query={query} version={version + again} /> : null}
      {rows !== null && rows.length > 0 ? (
        <ul class="cards">
          {rows.map((row) => (
            <CaseCard key={row.id} row={row} onDelete={() => setDeleting(row)} onEdit={() => setEditing(row)} />
          ))}
        </ul>
      ) : null}
      {full ? (
        <button type="button" class="plain" onClick={() => void older()}>
          {t("history.older")}
        </button>
      ) : null}
      {deleting ? (
        <DeleteCase
          row={deleting}
          onClose={() => setDeleting(null)}
          onDeleted={() => {
            setDeleting(null);
            setAgain(again + 1);
          }}
        />
      ) : null}
      {editing ? (
        <EditCase
          row={editing}
          onClose={() => setEditing(null)}
          onSaved={() => {
            setEditing(null);
            setAgain(again + 1);
          }}
        />
      ) : null}
    </section>
  );
}
