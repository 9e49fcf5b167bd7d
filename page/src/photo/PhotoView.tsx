import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Box } from "../api/types";
import { t } from "../strings";
import { ZoomButtons } from "../ui/ZoomButtons";
import { listen } from "./gestures";
import type { Marking, PhotoMark } from "./marking";
import { MarkLayer, Marks } from "./MarkLayer";
import "./photo.css";
import { PhotoTabs } from "./PhotoTabs";
import { type Lie, shifted, showing, WHOLE, zoomed } from "./zoom";

export interface PhotoBox {
  id: string;
  /** Which photo it lies on, as an index into `photos`. */
  photo: number;
  box: Box;
  label: string;
  kind: "text" | "clue" | "crop";
  rejected?: boolean;
  number: number | null;
}

export interface ShownPhoto {
  src: string;
  width: number;
  height: number;
  alt: string;
}

export interface PhotoViewProps {
  photos: ShownPhoto[];
  shown: number;
  onShow(n: number): void;
  boxes: PhotoBox[];
  highlighted: string | null;
  onHighlight(id: string | null): void;
  /** A box was clicked. */
  onChoose?(id: string): void;
  marks?: readonly PhotoMark[];
  marking?: Marking | null;
}

const STEP = 1.5;
const STRIDE = 0.12;
const ROOM = 0.08;

/** A photo with what was read and noticed in it; zoom and pan by wheel, fingers, buttons or keys. */
export function PhotoView({ photos, shown, onShow, boxes, highlighted, onHighlight, onChoose, marks = [], marking = null }: PhotoViewProps) {
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  const [lie, setLie] = useState<Lie>(WHOLE);
  const [broken, setBroken] = useState(false);
  /** The box that the pointer is on: what is pointed at is in sight already, and must not move away. */
  const under = useRef<string | null>(null);
  const current = useRef(lie);
  current.current = lie;
  const photo = photos[shown];
  const here = useMemo(() => inOrder(boxes.filter((box) => box.photo === shown)), [boxes, shown]);
  const marked = boxes.find((box) => box.id === highlighted);

  useEffect(() => {
    setLie(WHOLE);
    setBroken(false);
  }, [shown, photo?.src]);
  useEffect(() => {
    if (!frame.current) return undefined;
    const gestures = listen(frame.current, () => current.current, setLie);
    return () => gestures.stop();
  }, [photo === undefined]);
  useEffect(() => {
    if (marked && marked.photo === shown && marked.id !== under.current) setLie((before) => showing(before, marked.box));
  }, [highlighted]);

  if (!photo) return <p class="empty">{t("photo.none")}</p>;

  function light(id: string | null, byPointer: boolean): void {
    under.current = byPointer ? id : null;
    onHighlight(id);
  }

  function key(event: KeyboardEvent): void {
    const next = moved(lie, event);
    if (!next) return;
    event.preventDefault();
    setLie(next);
  }

  const place = { transform: `translate(${lie.x * 100}%, ${lie.y * 100}%) scale(${lie.scale})`, "--scale": String(lie.scale) };
  return (
    <div class="photo-view">
      {marking ? (
        <p class="marking-how" role="status">
          {marking.how}
        </p>
      ) : null}
      {photos.length > 1 && <PhotoTabs id={id} photos={photos} shown={shown} onShow={onShow} pointed={marked?.photo ?? null} />}
      <div
        class="photo-panel"
        id={`${id}-panel`}
        {...(photos.length > 1 ? { role: "tabpanel", "aria-labelledby": `${id}-tab-${shown}` } : {})}
      >
        <div
          ref={frame}
          class={`photo-frame${lie.scale > 1 ? " zoomed" : ""}`}
          style={{ aspectRatio: `${photo.width} / ${photo.height}`, "--ratio": String(photo.width / photo.height) }}
          tabIndex={0}
          role="group"
          aria-label={t("photo.frame", { alt: photo.alt })}
          onKeyDown={key}
        >
          <div class="photo-lie" style={place}>
            {broken ? (
              <p class="photo-broken">{t("photo.broken")}</p>
            ) : (
              <img src={photo.src} width={photo.width} height={photo.height} alt={photo.alt} draggable={false} onError={() => setBroken(true)} />
            )}
            {here.map((box) => (
              <BoxMark key={box.id} box={box} number={box.number} lit={box.id === highlighted} dim={dims(marked, box, shown)} onLight={light} onChoose={onChoose} />
            ))}
            <Marks marks={marks.filter((mark) => mark.photo === shown)} />
            {marking ? <MarkLayer marking={marking} /> : null}
          </div>
        </div>
        <ZoomButtons
          what={t("photo.noun")}
          onZoom={(by) => setLie(zoomed(lie, by > 0 ? STEP : 1 / STEP))}
          onFit={() => setLie(WHOLE)}
          fitWords={t("photo.whole")}
        />
      </div>
    </div>
  );
}

interface BoxMarkProps {
  box: PhotoBox;
  number: number | null;
  lit: boolean;
  dim: boolean;
  onLight(id: string | null, byPointer: boolean): void;
  onChoose: ((id: string) => void) | undefined;
}

function BoxMark({ box, number, lit, dim, onLight, onChoose }: BoxMarkProps) {
  const [left, top, right, bottom] = box.box;
  const place = { left: `${left * 100}%`, top: `${top * 100}%`, width: `${(right - left) * 100}%`, height: `${(bottom - top) * 100}%` };
  const look = `photo-box ${box.kind}${lit ? " highlighted" : ""}${dim ? " dim" : ""}${box.rejected ? " rejected" : ""}`;
  if (box.kind === "crop") {
    return <span class={look} style={place} data-id={box.id} title={box.label} />;
  }
  const words = t(box.rejected ? "photo.boxRejected" : "photo.box", { n: String(number ?? ""), label: box.label });
  return (
    <button
      type="button"
      class={look}
      style={place}
      data-id={box.id}
      aria-label={words}
      title={words}
      onPointerEnter={() => onLight(box.id, true)}
      onPointerLeave={() => onLight(null, true)}
      onFocus={(event) => onLight(box.id, !event.currentTarget.matches(":focus-visible"))}
      onBlur={() => onLight(null, false)}
      onClick={() => {
        onLight(box.id, true);
        onChoose?.(box.id);
      }}
    >
      <span class={`photo-number ${sideOf(box.box)}`} aria-hidden="true">
        {number}
      </span>
    </button>
  );
}

/** Where a number has room beside its box: it must not cover what the box shows, nor stand outside of the photo. */
function sideOf([left, top, right, bottom]: Box): "above" | "before" | "after" | "below" | "inside" {
  if (top >= ROOM) return "above";
  if (left >= ROOM) return "before";
  if (right <= 1 - ROOM) return "after";
  return bottom <= 1 - ROOM ? "below" : "inside";
}

// Large boxes first, so that small ones lie on top and can be reached.
function inOrder(boxes: PhotoBox[]): PhotoBox[] {
  const size = ({ box }: PhotoBox): number => (box[2] - box[0]) * (box[3] - box[1]);
  const rank = (box: PhotoBox): number => (box.kind === "crop" ? 0 : 1);
  return [...boxes].sort((one, other) => rank(one) - rank(other) || size(other) - size(one));
}

function dims(marked: PhotoBox | undefined, box: PhotoBox, shown: number): boolean {
  return marked !== undefined && marked.photo === shown && marked.id !== box.id;
}

function moved(lie: Lie, event: KeyboardEvent): Lie | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  switch (event.key) {
    case "+":
    case "=":
      return zoomed(lie, STEP);
    case "-":
    case "_":
      return zoomed(lie, 1 / STEP);
    case "0":
      return WHOLE;
    case "ArrowLeft":
      return lie.scale > 1 ? shifted(lie, STRIDE, 0) : null;
    case "ArrowRight":
      return lie.scale > 1 ? shifted(lie, -STRIDE, 0) : null;
    case "ArrowUp":
      return lie.scale > 1 ? shifted(lie, 0, STRIDE) : null;
    case "ArrowDown":
      return lie.scale > 1 ? shifted(lie, 0, -STRIDE) : null;
    default:
      return null;
  }
}
