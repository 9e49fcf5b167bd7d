/** The ways to draw and to pin that need neither mouse nor sight of the map. */
import { useState } from "preact/hooks";
import { coordinates } from "../format";
import { counted, t, type TextKey } from "../strings";
import { Icon } from "../ui/Icon";
import type { Bounds, Spot } from "./geometry";
import { degrees, eastOf } from "./typed";

interface DrawPanelProps {
  corners: { count: number; closable: boolean };
  onFinish: (() => void) | null;
  onUndo: (() => void) | null;
  onView: (() => void) | null;
  onBox(bounds: Bounds): void;
}

export function DrawPanel({ corners, onFinish, onUndo, onView, onBox }: DrawPanelProps) {
  return (
    <div class="map-panel" role="group" aria-label={t("map.drawTitle")}>
      {onView && <p class="map-how">{t("map.drawHow")}</p>}
      <div class="map-panel-row">
        {onView && (
          <button type="button" onClick={onView}>
            <Icon name="map" size={16} /> {t("map.boxOfView")}
          </button>
        )}
        {onFinish && corners.count > 0 && (
          <>
            <button type="button" onClick={onFinish} disabled={!corners.closable}>
              <Icon name="check" size={16} /> {t("map.finish")}
            </button>
            <button type="button" class="plain" onClick={onUndo ?? undefined}>
              <Icon name="undo" size={16} /> {t("map.undoCorner")}
            </button>
            <span class="map-count" role="status">
              {counted("map.corners", corners.count)}
            </span>
          </>
        )}
      </div>
      <TypedForm
        fields={["north", "south", "west", "east"]}
        open={onView === null}
        summary={t("map.typeBox")}
        submit={t("map.useBox")}
        onValues={(values) => {
          const [north, south, west, east] = values as [number, number, number, number];
          if (north <= south) return t("map.northFirst");
          if (west === east) return t("map.noWidth");
          onBox({ south, west, north, east: eastOf(west, east) });
          return null;
        }}
      />
    </div>
  );
}

/** What to say beside a pin that is set for a purpose of its own. */
export interface PinWords {
  title: string;
  how: string;
}

interface PinPanelProps {
  words: PinWords | undefined;
  pinned: Spot | null;
  onCentre: (() => void) | null;
  onSpot(spot: Spot): void;
}

export function PinPanel({ words, pinned, onCentre, onSpot }: PinPanelProps) {
  return (
    <div class="map-panel" role="group" aria-label={words?.title ?? t("map.pinTitle")}>
      {onCentre && <p class="map-how">{words?.how ?? t("map.pinHow")}</p>}
      <div class="map-panel-row">
        {onCentre && (
          <button type="button" onClick={onCentre}>
            <Icon name="pin" size={16} /> {t("map.pinCentre")}
          </button>
        )}
        {pinned && <span class="map-count">{t("map.pinnedAt", { where: coordinates(pinned.lat, pinned.lon) })}</span>}
      </div>
      <TypedForm
        fields={["latitude", "longitude"]}
        open={onCentre === null}
        summary={t("map.typePin")}
        submit={t("map.usePin")}
        onValues={([lat, lon]) => {
          onSpot({ lat: lat as number, lon: lon as number });
          return null;
        }}
      />
    </div>
  );
}

type Field = "north" | "south" | "west" | "east" | "latitude" | "longitude";
const FIELD_WORDS: Record<Field, TextKey> = {
  north: "map.north",
  south: "map.south",
  west: "map.west",
  east: "map.east",
  latitude: "map.latitude",
  longitude: "map.longitude",
};

interface TypedFormProps {
  fields: Field[];
  open: boolean;
  summary: string;
  submit: string;
  /** Takes the numbers, or says what is wrong with them. */
  onValues(values: number[]): string | null;
}

function TypedForm({ fields, open, summary, submit, onValues }: TypedFormProps) {
  const [trouble, setTrouble] = useState<string | null>(null);

  function submitted(event: SubmitEvent): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const values: number[] = [];
    for (const field of fields) {
      const most = field === "north" || field === "south" || field === "latitude" ? 90 : 180;
      const value = degrees(String(form.get(field) ?? ""), most);
      if (value === null) {
        setTrouble(t("map.badNumber", { field: t(FIELD_WORDS[field]), most }));
        return;
      }
      values.push(value);
    }
    setTrouble(onValues(values));
  }

  return (
    <details class="map-typed" open={open}>
      <summary>{summary}</summary>
      <form onSubmit={submitted} noValidate>
        <div class="map-fields">
          {fields.map((field) => (
            <label key={field}>
              <span>{t(FIELD_WORDS[field])}</span>
              <input name={field} inputMode="text" autocomplete="off" size={9} required />
            </label>
          ))}
        </div>
        {trouble && (
          <p class="map-trouble" role="alert">
            {trouble}
          </p>
        )}
        <button type="submit">{submit}</button>
      </form>
    </details>
  );
}
