import type { AnswerView } from "../api/types";
import { coordinates } from "../format";
import type { MapMode } from "../map/engine";
import { isWide } from "../state/summary";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { later } from "../ui/later";
import type { Area } from "./OnlyThere";
import type { Shadows } from "./shadows";
import type { Stand } from "./resectionPanel";

const ShadowPanel = later(async () => (await import("./ShadowPanel")).ShadowPanel);
const StandPanel = later(async () => (await import("./StandPanel")).StandPanel);

interface MapToolsProps {
  mode: MapMode;
  answer: AnswerView | null;
  stand: Stand;
  shadows: Shadows;
  /** The number of the photo that is shown. */
  number: number;
  mayCheck: boolean;
  mayStand: boolean;
  /** When the photo says that it was taken. */
  taken: string | null;
  onMode(mode: MapMode): void;
  onCheck(): void;
  /** The photo is needed next. */
  onPhoto(): void;
  /** The map shows something new. */
  onMap(): void;
  /** Look only in an area that was worked out, where that may be told. */
  onArea: ((area: Area) => void) | null;
}

/** What can be worked out with photo and map together. */
export function MapTools({ mode, answer, stand, shadows, number, mayCheck, mayStand, taken, onMode, onCheck, onPhoto, onMap, onArea }: MapToolsProps) {
  const located = answer !== null && !isWide(answer) && answer.lat !== null && answer.lon !== null;
  return (
    <>
      <div class="map-tools buttons">
        <button type="button" class="small" aria-pressed={mode === "pin" && stand.pending.value === null} data-shortcut="pin" disabled={!mayCheck} onClick={onCheck}>
          <Icon name="pin" size={16} />
          <span>{t("check.button")}</span>
        </button>
        <button
          type="button"
          class="small"
          aria-pressed={stand.open.value}
          disabled={!mayStand}
          onClick={() => {
            onMode("look");
            stand.toggle();
          }}
        >
          <Icon name="stand" size={16} />
          <span>{t("stand.title")}</span>
        </button>
        <button type="button" class="small" aria-pressed={shadows.open.value} onClick={() => shadows.toggle()}>
          <Icon name="sun" size={16} />
          <span>{t("shadow.title")}</span>
        </button>
        {mode === "look" ? null : (
          <button
            type="button"
            class="plain small"
            onClick={() => {
              onMode("look");
              stand.cancel();
            }}
          >
            {t("action.cancel")}
          </button>
        )}
      </div>
      {stand.open.value ? (
        <StandPanel
          stand={stand}
          number={number}
          onArea={onArea}
          onMark={() => {
            shadows.marking.value = null;
            stand.mark();
            onMode("look");
            onPhoto();
          }}
        />
      ) : null}
      {shadows.open.value ? (
        <ShadowPanel
          shadows={shadows}
          point={located ? coordinates(answer.lat ?? 0, answer.lon ?? 0, answer.radius_km) : null}
          onMark={(part) => {
            stand.cancel();
            shadows.marking.value = part;
            onPhoto();
          }}
          taken={taken}
          onFound={onMap}
          onArea={onArea}
        />
      ) : null}
    </>
  );
}
