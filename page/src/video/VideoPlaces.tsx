import { useEffect } from "preact/hooks";
import { api } from "../api/client";
import type { CaseShown, PlaceShown } from "../api/types";
import { hashOf } from "../router";
import { isActive, placeOf, sureWords } from "../state/summary";
import { t } from "../strings";
import { Panel } from "../ui/Panel";
import "./video.css";
import { clock, runOf, whenOf } from "./videos";

const AGAIN_MS = 1500;

/** The places that a video shows: when, where, and which second says what. */
export function VideoPlaces({ row, places, shown, onChanged }: { row: CaseShown; places: readonly PlaceShown[]; shown: string | null; onChanged(row: CaseShown): void }) {
  const waiting = places.length > 0 && row.runs.some(isActive);
  useEffect(() => {
    if (!waiting) return undefined;
    // The runs of the other places tell this screen nothing: it looks.
    const timer = setTimeout(() => void api.case(row.id).then(onChanged, () => undefined), AGAIN_MS);
    return () => clearTimeout(timer);
  }, [row, waiting]);
  if (places.length === 0) return null;
  return (
    <Panel id="places" title={t("video.places")} count={places.length}>
      <ol class="video-places">
        {places.map((place, index) => {
          const run = runOf(row, place);
          const when = whenOf(place);
          const head = (
            <>
              <span class="place-number" aria-hidden="true">
                {index + 1}
              </span>
              <span class="place-words">
                <strong>{placeOf(run)}</strong>
                <span class="quiet">
                  {when}
                  {run && sureWords(run.answer) ? ` · ${sureWords(run.answer)}` : ""}
                </span>
              </span>
            </>
          );
          return (
            <li key={place.frames[0]?.photo ?? index} class={run !== null && run.id === shown ? "shown" : ""}>
              {run === null ? (
                <div class="place-head">{head}</div>
              ) : (
                <a class="place-head" href={hashOf({ screen: "case", caseId: row.id, runId: run.id })} aria-current={run.id === shown ? "true" : undefined}>
                  {head}
                </a>
              )}
              <ul class="place-frames" aria-label={t("video.frames", { n: index + 1 })}>
                {place.frames.map((frame) => (
                  <li key={frame.photo}>
                    <img src={api.photoUrl(row.id, frame.photo, "thumb")} alt={t("video.frameAlt", { when: clock(frame.seconds) })} loading="lazy" />
                    <span class="frame-words">
                      <b>{clock(frame.seconds)}</b> <span dir="auto">{frame.reads.length > 0 ? frame.reads.map((line) => `“${line}”`).join(" ") : t("video.noText")}</span>
                    </span>
                  </li>
                ))}
              </ul>
            </li>
          );
        })}
      </ol>
    </Panel>
  );
}
