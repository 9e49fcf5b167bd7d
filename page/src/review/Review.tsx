import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Verdict } from "../api/review";
import { about } from "../state/server";
import { narrow } from "../state/width";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Banner, Empty, Loading } from "../ui/parts";
import { Detail } from "./Detail";
import { Row } from "./Row";
import "./review.css";
import { ReviewState } from "./state";
import { WriteFiles } from "./WriteFiles";

const VERDICTS: readonly (Verdict | null)[] = [null, "open", "confirmed", "corrected", "rejected"];
const LEAST: readonly (number | null)[] = [null, 0.5, 0.8, 0.95];
const KEYS: readonly (readonly [string, string])[] = [
  ["j k", t("review.keyMove")],
  ["y", t("review.keyConfirm")],
  ["n", t("review.keyReject")],
  ["c", t("review.keyCorrect")],
  ["o", t("review.keyUndo")],
  ["m", t("review.keySelect")],
  ["a", t("review.keyAll")],
  ["w", t("review.keyWrite")],
];

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && !(target instanceof HTMLInputElement && target.type === "checkbox");
}

/** The findings of a batch: confirm, correct or reject them, and write files for those that hold. */
export function Review() {
  const state = useMemo(() => new ReviewState(), []);
  const [writing, setWriting] = useState(false);
  const [opened, setOpened] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (about.value?.review) void state.load();
  }, [about.value?.review]);
  useEffect(() => {
    const acts: Readonly<Record<string, () => void>> = {
      j: () => state.step(1),
      k: () => state.step(-1),
      y: () => void state.decide("confirmed"),
      n: () => void state.decide("rejected"),
      o: () => void state.decide("open"),
      c: () => (state.correcting.value = !state.correcting.value),
      m: () => state.current.value !== null && state.toggle(state.current.value),
      a: () => (state.all.value ? state.unselect() : state.selectAll()),
      w: () => setWriting(true),
    };
    const act = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
      const found = acts[event.key];
      if (!found || state.busy.value) return;
      event.preventDefault();
      found();
    };
    document.addEventListener("keydown", act);
    return () => document.removeEventListener("keydown", act);
  }, [state]);
  const view = state.view.value;
  const current = state.current.value;
  useEffect(() => {
    list.current?.querySelector(`[data-id="${current}"]`)?.scrollIntoView({ block: "nearest" });
  }, [current]);
  if (about.value !== null && !about.value.review) return <Empty>{t("review.none")}</Empty>;
  if (view === null) return state.trouble.value === null ? <Loading /> : <Banner kind="bad">{state.trouble.value}</Banner>;
  const chosen = state.chosenCount.value;
  const decided = view.total - view.counts.open;
  const showsDetail = !narrow.value || opened;
  return (
    <article class={`review ${narrow.value && opened ? "one" : ""}`}>
      <header class="review-head">
        <div>
          <h1>{t("review.title", { name: view.name })}</h1>
          <p class="quiet" role="status">
            {t("review.progress", { done: decided, total: view.total, confirmed: view.counts.confirmed, corrected: view.counts.corrected, rejected: view.counts.rejected })}
          </p>
        </div>
        <button type="button" class="primary" onClick={() => setWriting(true)}>
          <Icon name="save" size={16} /> {t("review.write")}
        </button>
      </header>
      {state.trouble.value === null ? null : <Banner kind="bad">{state.trouble.value}</Banner>}
      <div class="review-body">
        <section class="review-list" aria-label={t("review.list")}>
          <div class="review-filters">
            <label>
              <span>{t("review.filter")}</span>
              <select value={state.verdict.value ?? ""} onChange={(event) => void state.show(VERDICTS.find((one) => one === event.currentTarget.value) ?? null, state.least.value)}>
                {VERDICTS.map((one) => (
                  <option key={one ?? "all"} value={one ?? ""}>
                    {one === null ? t("review.all", { n: view.total }) : t(`review.filter.${one}`, { n: view.counts[one] })}
                  </option>
                ))}
              </select>
            </label>
            <label>
              <span>{t("review.least")}</span>
              <select value={String(state.least.value ?? "")} onChange={(event) => void state.show(state.verdict.value, Number(event.currentTarget.value) || null)}>
                {LEAST.map((one) => (
                  <option key={one ?? "any"} value={one ?? ""}>
                    {one === null ? t("review.any") : t("review.atLeast", { percent: t("figure.percent", { n: one * 100 }) })}
                  </option>
                ))}
              </select>
            </label>
          </div>
          <div class="review-bulk">
            <button type="button" class="small" disabled={view.matching === 0} aria-pressed={state.all.value} onClick={() => (chosen > 0 ? state.unselect() : state.selectAll())}>
              {chosen > 0 ? t("review.unselect") : t("review.selectAll", { n: view.matching })}
            </button>
            {chosen > 0 ? (
              <>
                <span role="status">{t("review.selected", { n: chosen })}</span>
                <button type="button" class="small" disabled={state.busy.value} onClick={() => void state.decide("confirmed")}>
                  {t("review.confirmMany")}
                </button>
                <button type="button" class="small" disabled={state.busy.value} onClick={() => void state.decide("rejected")}>
                  {t("review.rejectMany")}
                </button>
                <button type="button" class="small plain" disabled={state.busy.value} onClick={() => void state.decide("open")}>
                  {t("review.undoMany")}
                </button>
              </>
            ) : null}
          </div>
          {view.photos.length === 0 ? <Empty>{t("review.empty")}</Empty> : null}
          <ul ref={list} class="review-rows">
            {view.photos.map((one) => (
              <Row
                key={one.id}
                one={one}
                current={one.id === current}
                selected={state.isSelected(one.id)}
                onOpen={() => {
                  state.open(one.id);
                  setOpened(true);
                }}
                onSelect={() => state.toggle(one.id)}
              />
            ))}
          </ul>
          {view.photos.length < view.matching ? (
            <button type="button" class="plain" onClick={() => void state.more()}>
              {t("review.more", { n: view.matching - view.photos.length })}
            </button>
          ) : null}
        </section>
        {showsDetail && current !== null && state.photo.value !== null ? <Detail state={state} id={current} onBack={narrow.value ? () => setOpened(false) : null} /> : null}
      </div>
      <details class="more review-keys">
        <summary>{t("review.keys")}</summary>
        <dl class="shortcuts">
          {KEYS.map(([key, words]) => (
            <div key={key}>
              <dt>
                {key.split(" ").map((one) => (
                  <kbd key={one}>{one}</kbd>
                ))}
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
      </details>
      {writing ? <WriteFiles counts={view.counts} onClose={() => setWriting(false)} /> : null}
    </article>
  );
}
