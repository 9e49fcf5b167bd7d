import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../strings";
import type { Marking, PhotoMark, Share } from "./marking";

const STEP = 0.01;
const LEAP = 0.05;
const LEAST = 0.01;

function within(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** The photo and what to do in it, clear of the bars above and below; what is in sight stays where it is. */
function bringIntoView(view: HTMLElement | null): void {
  if (view === null) return;
  const { top, bottom } = view.getBoundingClientRect();
  const { scrollMarginTop, scrollMarginBottom } = getComputedStyle(view);
  const above = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + parseFloat(scrollMarginTop);
  const inSight = top >= above && bottom <= innerHeight - parseFloat(scrollMarginBottom);
  if (!inSight) view.scrollIntoView({ block: "start" });
}

/** Points, boxes and lines that somebody has marked. */
export function Marks({ marks }: { marks: readonly PhotoMark[] }) {
  return (
    <>
      <svg class="photo-marks" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        {marks.map((mark) => (
          <Shape key={mark.id} kind={mark.kind} from={mark.from} to={mark.to} />
        ))}
      </svg>
      {marks.map((mark) => (
        <span key={mark.id} class="photo-mark-label" style={{ left: `${mark.to.x * 100}%`, top: `${mark.to.y * 100}%` }}>
          {mark.label}
        </span>
      ))}
    </>
  );
}

function Shape({ kind, from, to }: { kind: PhotoMark["kind"]; from: Share; to: Share }) {
  if (kind === "box") {
    return <rect x={Math.min(from.x, to.x)} y={Math.min(from.y, to.y)} width={Math.abs(to.x - from.x)} height={Math.abs(to.y - from.y)} />;
  }
  // A point's column is what counts.
  if (kind === "point") return <line x1={from.x} y1={0} x2={from.x} y2={1} />;
  return <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
}

/** Takes a mark by pointer or keys: arrows move the cross, Enter sets an end. */
export function MarkLayer({ marking }: { marking: Marking }) {
  const layer = useRef<HTMLDivElement>(null);
  // Keys may come faster than the page draws.
  const now = useRef<{ at: Share; from: Share | null }>({ at: { x: 0.5, y: 0.5 }, from: null });
  const [{ at, from }, draw] = useState(now.current);
  const pressed = useRef(false);
  const set = (change: Partial<{ at: Share; from: Share | null }>): void => {
    now.current = { ...now.current, ...change };
    draw(now.current);
  };
  useEffect(() => {
    set({ from: null });
    layer.current?.focus({ preventScroll: true });
    bringIntoView(layer.current?.closest<HTMLElement>(".photo-view") ?? null);
  }, [marking.kind, marking.how]);

  const share = (event: PointerEvent): Share => {
    const frame = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: within((event.clientX - frame.left) / frame.width), y: within((event.clientY - frame.top) / frame.height) };
  };
  const end = (first: Share, second: Share): void => {
    set({ from: null });
    if (marking.kind === "point" || Math.hypot(second.x - first.x, second.y - first.y) >= LEAST) marking.onDone(first, second);
  };
  const key = (event: KeyboardEvent): void => {
    const { at, from } = now.current;
    const by = event.shiftKey ? LEAP : STEP;
    const move = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }[event.key];
    if (move) set({ at: { x: within(at.x + (move[0] ?? 0)), y: within(at.y + (move[1] ?? 0)) } });
    else if (event.key === "Escape" && from) set({ from: null });
    else if (event.key !== "Enter" && event.key !== " ") return;
    else if (marking.kind === "point") end(at, at);
    else if (from) end(from, at);
    else set({ from: at });
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={layer}
      class="photo-marking"
      role="application"
      tabIndex={0}
      aria-label={`${marking.how} ${t("mark.keys")}`}
      onKeyDown={key}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        pressed.current = true;
        set({ at: share(event), from: marking.kind === "point" ? null : share(event) });
      }}
      onPointerMove={(event) => {
        if (pressed.current) set({ at: share(event) });
      }}
      onPointerUp={(event) => {
        if (!pressed.current) return;
        pressed.current = false;
        end(now.current.from ?? share(event), share(event));
      }}
      onPointerCancel={() => {
        pressed.current = false;
        set({ from: null });
      }}
    >
      <svg class="photo-marks" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
        <g class="cross">
          <line x1={at.x} y1={0} x2={at.x} y2={1} />
          {marking.kind === "point" ? null : <line x1={0} y1={at.y} x2={1} y2={at.y} />}
        </g>
        {from ? <Shape kind={marking.kind} from={from} to={at} /> : null}
      </svg>
    </div>
  );
}
