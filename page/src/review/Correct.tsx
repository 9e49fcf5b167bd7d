import { useEffect, useRef, useState } from "preact/hooks";
import { reviewApi } from "../api/review";
import type { PlaceFound } from "../api/types";
import { coordinates } from "../format";
import { counted, t } from "../strings";
import { Icon } from "../ui/Icon";
import { Banner, Loading } from "../ui/parts";
import { useAct } from "../ui/useAct";

/** Another place: by its name or coordinates, or by a pin on the map. */
export function Correct({ pinning, onPin, onChoose }: { pinning: boolean; onPin(): void; onChoose(place: PlaceFound): void }) {
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<PlaceFound[] | null>(null);
  const { busy, trouble, act } = useAct();
  const line = useRef<HTMLInputElement>(null);
  useEffect(() => line.current?.focus(), []);
  const look = (): Promise<void> => act(async () => setFound(await reviewApi.places({ query: query.trim() })));
  return (
    <form
      class="review-correct"
      onSubmit={(event) => {
        event.preventDefault();
        if (query.trim()) void look();
      }}
    >
      <label class="field-label" for="review-query">
        {t("review.query")}
      </label>
      <div class="review-query">
        <input ref={line} id="review-query" type="text" autocomplete="off" spellcheck={false} maxLength={300} value={query} placeholder={t("review.queryExample")} onInput={(event) => setQuery(event.currentTarget.value)} />
        <button type="submit" disabled={busy || query.trim() === ""}>
          <Icon name="search" size={16} /> {t("review.lookUp")}
        </button>
        <button type="button" aria-pressed={pinning} onClick={onPin}>
          <Icon name="pin" size={16} /> {t("review.pin")}
        </button>
      </div>
      {busy ? <Loading /> : null}
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
      <p class="sr-only" role="status">
        {found === null || busy ? "" : counted("review.hits", found.length)}
      </p>
      {found !== null && !busy && found.length === 0 ? <p class="quiet">{t("review.noHit")}</p> : null}
      {found !== null && found.length > 0 ? (
        <ul class="review-hits">
          {found.map((one) => (
            <li key={`${one.words} ${one.kind ?? ""} ${one.lat} ${one.lon}`}>
              <button type="button" class="plain" onClick={() => onChoose(one)}>
                <Icon name="pin" size={15} />
                <span class="review-hit">
                  <span>{one.words || coordinates(one.lat, one.lon)}</span> <span class="quiet">{[one.kind, coordinates(one.lat, one.lon)].filter(Boolean).join(" · ")}</span>
                </span>
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </form>
  );
}
