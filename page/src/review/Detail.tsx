import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { reviewApi } from "../api/review";
import type { ClaimShown, PlaceFound, ReviewedWhole } from "../api/types";
import { coordinates } from "../format";
import { disc } from "../map/geometry";
import { MapView } from "../map/MapView";
import type { Mark } from "../map/marks";
import { askOutlines, type Land, outlines } from "../state/outlines";
import { isWide, sureWords } from "../state/summary";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Loading } from "../ui/parts";
import { Correct } from "./Correct";
import type { ReviewState } from "./state";

const LEAST_KM = 0.2;

/** One photo with its finding: why, what files claim, and what the person decides. */
export function Detail({ state, id, onBack }: { state: ReviewState; id: string; onBack: (() => void) | null }) {
  const [whole, setWhole] = useState<ReviewedWhole | null>(null);
  const [pinning, setPinning] = useState(false);
  const changes = state.changes.value;
  const correct = useRef<HTMLButtonElement>(null);
  const wasCorrecting = useRef(false);
  useEffect(() => {
    // What had the focus is gone with the form.
    if (wasCorrecting.current && !state.correcting.value && document.activeElement === document.body) correct.current?.focus();
    wasCorrecting.current = state.correcting.value;
  }, [state.correcting.value]);
  useEffect(() => {
    let gone = false;
    reviewApi.one(id).then(
      (found) => {
        if (!gone) setWhole(found);
      },
      () => {
        if (!gone) setWhole(null);
      },
    );
    return () => {
      gone = true;
    };
  }, [id, changes]);
  useEffect(() => setPinning(false), [id, state.correcting.value]);
  const shown = whole?.id === id ? whole : null;
  const land = shown?.area === "country" ? (outlines.value.get(shown.place) ?? null) : null;
  useEffect(() => void (shown?.area === "country" ? askOutlines([shown.place]) : undefined), [shown]);
  const marks = useMemo(() => (shown ? marksOf(shown, land) : []), [shown, land]);
  const shapes = useMemo(() => (shown ? shapesOf(shown, land) : []), [shown?.id, shown?.verdict, land]);
  const claimed = useMemo(() => (shown?.claims ?? []).flatMap((one) => (one.lat === null || one.lon === null ? [] : [{ lat: one.lat, lon: one.lon }])), [shown]);
  const choose = (place: PlaceFound): void => void state.decide("corrected", place);
  const pin = async (lat: number, lon: number): Promise<void> => {
    setPinning(false);
    const [named] = await reviewApi.places({ lat, lon }).catch(() => []);
    choose(named ?? { lat, lon, words: "", country: null, region: null, precise: null, kind: null });
  };
  const busy = state.busy.value;
  const photo = state.photo.value;
  if (photo === null) return null;
  return (
    <section class="review-detail" aria-label={t("review.detail")}>
      {onBack === null ? null : (
        <button type="button" class="plain" onClick={onBack}>
          <Icon name="back" size={16} /> {t("review.back")}
        </button>
      )}
      <div class="review-pictures">
        <figure class="review-photo">
          <img src={reviewApi.pictureUrl(id, "view")} alt={t("review.photoAlt", { name: photo.name })} />
        </figure>
        <div class="review-map">
          <MapView
            candidates={NO_CANDIDATES}
            answer={null}
            area={null}
            claimed={claimed}
            mode={pinning ? "pin" : "look"}
            onDrawn={() => undefined}
            onPin={(lat, lon) => void pin(lat, lon)}
            highlighted={null}
            onHighlight={() => undefined}
            label={t("review.map")}
            more={marks}
            shapes={shapes}
            pinWords={{ title: t("review.pinTitle"), how: t("map.pinHow") }}
          />
        </div>
      </div>
      <div class="review-finding">
        <h2>{photo.at?.words || (photo.verdict === "corrected" && photo.at ? coordinates(photo.at.lat, photo.at.lon) : photo.place || t("finding.none"))}</h2>
        {photo.verdict === "corrected" ? <p class="quiet">{t("review.was", { place: photo.place || t("finding.none") })}</p> : photo.lat === null ? null : <p>{sureWords(photo)}</p>}
        <p class="quiet">{photo.copies > 1 ? t("review.copies", { name: photo.name, n: photo.copies }) : photo.name}</p>
      </div>
      <div class="buttons review-acts">
        <button type="button" class={photo.verdict === "confirmed" ? "" : "primary"} disabled={busy || photo.lat === null} aria-pressed={photo.verdict === "confirmed"} onClick={() => void state.decide("confirmed")}>
          <Icon name="check" size={16} /> {t("review.confirm")}
        </button>
        <button ref={correct} type="button" disabled={busy} aria-expanded={state.correcting.value} onClick={() => (state.correcting.value = !state.correcting.value)}>
          <Icon name="pin" size={16} /> {t("review.correct")}
        </button>
        <button type="button" disabled={busy} aria-pressed={photo.verdict === "rejected"} onClick={() => void state.decide("rejected")}>
          <Icon name="close" size={16} /> {t("review.reject")}
        </button>
        {photo.verdict === "open" ? null : (
          <button type="button" class="plain" disabled={busy} onClick={() => void state.decide("open")}>
            <Icon name="undo" size={16} /> {t("action.undo")}
          </button>
        )}
        {shown?.report ? (
          <a class="button plain" href={reviewApi.reportUrl(id)} target="_blank" rel="noreferrer" data-shortcut="report">
            <Icon name="report" size={16} /> {t("case.report")}
          </a>
        ) : null}
      </div>
      {state.correcting.value ? <Correct key={id} pinning={pinning} onPin={() => setPinning(!pinning)} onChoose={choose} /> : null}
      {shown === null ? (
        <Loading />
      ) : (
        <>
          {shown.explanation ? <p class="review-why">{shown.explanation}</p> : null}
          {shown.lat === null && shown.verdict === "open" ? <p class="quiet">{t("review.helps")}</p> : null}
          {shown.claims.length > 0 ? (
            <section class="review-claims" aria-labelledby="review-claims">
              <h3 id="review-claims">{t("review.claims")}</h3>
              <ul class="lines">
                {shown.claims.map((one, index) => (
                  <li key={index}>{claimWords(one)}</li>
                ))}
              </ul>
            </section>
          ) : null}
        </>
      )}
    </section>
  );
}

const NO_CANDIDATES: [] = [];

function claimWords(one: ClaimShown): string {
  if (one.trouble !== null) return t("review.claimBroken", { trouble: one.trouble });
  const where = [one.lat !== null && one.lon !== null ? coordinates(one.lat, one.lon) : null, one.place].filter(Boolean).join("; ");
  const key = one.source === "sidecar" ? "review.claimSidecar" : "review.claimFile";
  return one.estimated ? `${t(key, { where })} ${t("claims.estimated")}` : t(key, { where });
}

function marksOf(one: ReviewedWhole, land: Land | null): Mark[] {
  const marks: Mark[] = [];
  if (one.lat !== null && one.lon !== null)
    marks.push({ id: "found", kind: "answer", letter: "A", name: one.place, words: one.place, lat: one.lat, lon: one.lon, radiusKm: one.radius_km ?? 0, outline: land, stands: isWide(one) ? "nothing" : "pin", strength: one.verdict === "open" || one.verdict === "confirmed" ? 1 : 0.3 });
  if (one.at !== null) {
    const words = t("review.correctedAt", { place: one.at.words || coordinates(one.at.lat, one.at.lon) });
    // Without a pin of the finding it is the only letter on the map.
    const letter = marks.some((mark) => mark.stands === "pin") ? "B" : "A";
    marks.push({ id: "corrected", kind: "pinned", letter, name: words, words, lat: one.at.lat, lon: one.at.lon, radiusKm: 0, strength: 1 });
  }
  return marks;
}

/** What the map shows whole: the place that holds. */
function shapesOf(one: ReviewedWhole, land: Land | null): GeoJSON.Feature[] {
  const at = one.at ?? (one.lat !== null && one.lon !== null ? { lat: one.lat, lon: one.lon } : null);
  if (at === null) return [];
  const radius = one.at ? 5 : Math.max(LEAST_KM, one.radius_km ?? 5);
  return [{ type: "Feature", properties: { tone: "band", opacity: 0 }, geometry: one.at === null && land !== null ? land : disc(at, radius) }];
}
