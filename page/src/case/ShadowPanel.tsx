import { t } from "../strings";
import { useShownWhenOpened } from "../ui/useShownWhenOpened";
import { Field } from "../ui/Field";
import { Icon } from "../ui/Icon";
import { Banner, Loading } from "../ui/parts";
import { OnlyThere, type Area } from "./OnlyThere";
import type { Shadows } from "./shadows";

const DAY_MS = 86_400_000;
const DATE = /^(\d{4})-\d{2}-\d{2}(?=T|$)/;

/** Moves the day of a time through its year; the hour and its zone stay as they are. */
function DateSlider({ time, onMoved, onDone }: { time: string; onMoved(time: string): void; onDone(): void }) {
  const found = DATE.exec(time.trim());
  const day = found ? Date.parse(`${found[0]}T00:00Z`) : NaN;
  if (!found || Number.isNaN(day)) return null;
  const begin = Date.UTC(Number(found[1]), 0, 1);
  const last = Math.round((Date.UTC(Number(found[1]) + 1, 0, 1) - begin) / DAY_MS) - 1;
  return (
    <label class="date-slider">
      {t("shadow.day", { day: found[0] })}
      <input
        type="range"
        min={0}
        max={last}
        value={Math.round((day - begin) / DAY_MS)}
        onInput={(event) => onMoved(time.trim().replace(DATE, new Date(begin + Number(event.currentTarget.value) * DAY_MS).toISOString().slice(0, 10)))}
        onChange={onDone}
      />
    </label>
  );
}

/** An object, its shadow and a time give a band on the map; with a place they say when it fits. */
export function ShadowPanel({ shadows, point, taken, onMark, onFound, onArea }: { shadows: Shadows; point: string | null; taken: string | null; onArea: ((area: Area) => void) | null; onMark(part: "object" | "shadow"): void; onFound(): void }) {
  const more = shadows.more.value;
  const panel = useShownWhenOpened();
  const ready = shadows.current.value !== null || more.length > 0;
  return (
    <section ref={panel} class="panel shadows" aria-labelledby="shadow-title">
      <div class="panel-head">
        <h3 id="shadow-title">{t("shadow.title")}</h3>
        <button type="button" class="plain square small" aria-label={t("action.close")} onClick={() => shadows.toggle()}>
          <Icon name="close" size={15} />
        </button>
      </div>
      {shadows.found.value === null ? (
        <p class="quiet">{t("shadow.lead")}</p>
      ) : (
        // Here, right under the map that shows it, and not below the form.
        <div class="stand-found">
          {shadows.found.value.words.map((line) => (
            <p key={line}>{line}</p>
          ))}
          {onArea === null ? null : <OnlyThere area={shadows.found.value.found.area ?? null} onArea={onArea} />}
        </div>
      )}
      {more.length === 0 ? null : (
        <ol class="stand-features">
          {more.map((one, index) => (
            <li key={`${one.time} ${one.ratio}`}>
              <span class="badge">{index + 1}</span>
              <span>{t("shadow.row", { time: one.time, ratio: one.ratio === null ? "–" : String(one.ratio) })}</span>
              <button type="button" class="plain square small" aria-label={t("shadow.remove", { n: index + 1 })} onClick={() => shadows.remove(index)}>
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ol>
      )}
      <div class="buttons">
        {(["object", "shadow"] as const).map((part) => (
          <button key={part} type="button" class="small" aria-pressed={shadows.marking.value === part} onClick={() => onMark(part)}>
            {t(`shadow.button.${part}`)}
          </button>
        ))}
      </div>
      <form
        class="shadow-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) void shadows.workOut().then(() => (shadows.shapes.value.length > 0 ? onFound() : undefined));
        }}
      >
        <Field label={t("shadow.ratio")} value={shadows.ratio.value} onInput={(value) => (shadows.ratio.value = value)} />
        <Field label={t("shadow.azimuth")} value={shadows.azimuth.value} onInput={(value) => (shadows.azimuth.value = value)} />
        <Field label={t("shadow.time")} value={shadows.time.value} placeholder={t("shadow.timeExample")} onInput={(value) => (shadows.time.value = value)} />
        {taken === null || taken === shadows.time.value ? null : (
          <div class="buttons">
            <button type="button" class="small" onClick={() => (shadows.time.value = taken)}>
              {t("shadow.useTaken", { time: taken })}
            </button>
          </div>
        )}
        <Field label={t("shadow.country")} help={t("shadow.countryHelp")} value={shadows.country.value} onInput={(value) => (shadows.country.value = value)} />
        <DateSlider time={shadows.time.value} onMoved={(time) => (shadows.time.value = time)} onDone={() => (ready ? void shadows.workOut() : undefined)} />
        <Field label={t("shadow.until")} value={shadows.until.value} onInput={(value) => (shadows.until.value = value)} />
        <Field label={t("shadow.place")} help={t("shadow.placeHelp")} value={shadows.place.value} onInput={(value) => (shadows.place.value = value)} />
        <div class="buttons">
          {point === null ? null : (
            <button type="button" class="small" onClick={() => (shadows.place.value = point)}>
              {t("shadow.useFinding")}
            </button>
          )}
          <button type="button" class="small" disabled={shadows.current.value === null} onClick={() => shadows.add()}>
            {t("shadow.add")}
          </button>
          <button type="submit" class="small primary" disabled={!ready || shadows.busy.value}>
            {shadows.place.value.trim() === "" ? t("shadow.where") : t("shadow.when")}
          </button>
        </div>
      </form>
      {shadows.busy.value ? <Loading words={t("stand.busy")} /> : null}
      {shadows.trouble.value === null ? null : <Banner kind="bad">{shadows.trouble.value}</Banner>}
    </section>
  );
}
