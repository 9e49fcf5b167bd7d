import { coordinates, percent } from "../format";
import { t } from "../strings";
import { Field } from "../ui/Field";
import { Icon } from "../ui/Icon";
import { Banner, Loading } from "../ui/parts";
import { OnlyThere, type Area } from "./OnlyThere";
import { useShownWhenOpened } from "../ui/useShownWhenOpened";
import type { Stand } from "./resectionPanel";

/** Where the camera stood, from what photo and map both show. `number` is the number of the photo that is shown. */
export function StandPanel({ stand, number, onMark, onArea }: { stand: Stand; number: number; onMark(): void; onArea: ((area: Area) => void) | null }) {
  const features = stand.features.value;
  const pending = stand.pending.value !== null;
  const found = stand.found.value;
  const next = features.length + 1;
  const panel = useShownWhenOpened();
  return (
    <section ref={panel} class="panel stand" aria-labelledby="stand-title">
      <div class="panel-head">
        <h3 id="stand-title">{t("stand.title")}</h3>
        <button type="button" class="plain square small" aria-label={t("action.close")} onClick={() => stand.toggle()}>
          <Icon name="close" size={15} />
        </button>
      </div>
      <p class="quiet">{t("stand.lead")}</p>
      {features.length === 0 ? null : (
        <ol class="stand-features">
          {features.map((one, index) => (
            <li key={`${one.seen.x} ${one.spot.lat}`}>
              <span class="badge">{index + 1}</span>
              <span>{t("stand.row", { column: percent(one.seen.x), where: coordinates(one.spot.lat, one.spot.lon) })}</span>
              <button type="button" class="plain square small" aria-label={t("stand.remove", { n: index + 1 })} onClick={() => stand.remove(index, number)}>
                <Icon name="close" size={14} />
              </button>
            </li>
          ))}
        </ol>
      )}
      <p class="stand-step" role="status">
        {stand.marking.value ? t("stand.nowPhoto", { n: next }) : pending ? t("stand.nowMap") : ""}
      </p>
      <div class="buttons">
        {stand.marking.value || pending ? (
          <button type="button" class="small" onClick={() => stand.cancel()}>
            {t("action.cancel")}
          </button>
        ) : (
          <button type="button" class="small" onClick={onMark}>
            <Icon name="plus" size={16} />
            <span>{t("stand.mark", { n: next })}</span>
          </button>
        )}
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void stand.workOut(number);
        }}
        onFocusOut={() => void (features.length > 1 && found !== null && stand.fovChanged() && stand.workOut(number))}
      >
        <Field label={t("stand.fov")} help={t("stand.fovHelp")} type="number" min={1} max={170} value={stand.fov.value} onInput={(value) => (stand.fov.value = value)} />
      </form>
      {stand.busy.value ? <Loading words={t("stand.busy")} /> : null}
      {stand.trouble.value === null ? null : <Banner kind="bad">{stand.trouble.value}</Banner>}
      {found === null ? null : (
        <div class="stand-found">
          {found.words.map((line) => (
            <p key={line}>{line}</p>
          ))}
          {onArea === null ? null : <OnlyThere area={found.found.area ?? null} onArea={onArea} />}
        </div>
      )}
    </section>
  );
}
