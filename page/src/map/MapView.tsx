import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { AnswerView, CandidateView } from "../api/types";
import { coordinates } from "../format";
import { announce } from "../state/announce";
import { mapsAdded } from "../state/maps";
import { askOutlines, outlines } from "../state/outlines";
import { settings } from "../state/server";
import { theme } from "../state/theme";
import { narrow } from "../state/width";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Loading } from "../ui/parts";
import { ZoomButtons } from "../ui/ZoomButtons";
import type { Engine, MapMode } from "./engine";
import { rectangle, type Spot } from "./geometry";
import "./map.css";
import { MapList } from "./MapList";
import { marksOf, type Mark } from "./marks";
import { DrawPanel, PinPanel, type PinWords } from "./panels";
import { canDrawMaps } from "./webgl";

export interface MapViewProps {
  candidates: CandidateView[];
  answer: AnswerView | null;
  area: GeoJSON.Geometry | null;
  claimed?: Spot[];
  mode: MapMode;
  onDrawn(geometry: GeoJSON.Polygon): void;
  onPin(lat: number, lon: number): void;
  highlighted: string | null;
  onHighlight(id: string | null): void;
  label: string;
  /** What else stands on the map, and lies on it; a feature's `tone` says how it looks. */
  more?: readonly Mark[];
  shapes?: readonly GeoJSON.Feature[];
  /** What a pin is for, where it is not to check a place. */
  pinWords?: PinWords | undefined;
}

type Phase = "loading" | "ready" | "unable" | "failed";
const NOWHERE: Spot[] = [];
const NO_MARKS: Mark[] = [];
const NO_SHAPES: GeoJSON.Feature[] = [];

/** Candidates, the answer and the search area on the atlas's own map; without WebGL, as a list. */
export function MapView(props: MapViewProps) {
  const whole = useRef<HTMLElement>(null);
  const container = useRef<HTMLDivElement>(null);
  const engine = useRef<Engine | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [phase, setPhase] = useState<Phase>("loading");
  const [attempt, setAttempt] = useState(0);
  const [patchy, setPatchy] = useState(false);
  const [empty, setEmpty] = useState(true);
  const [corners, setCorners] = useState({ count: 0, closable: false });
  const [pinned, setPinned] = useState<Spot | null>(null);
  const claimed = props.claimed ?? NOWHERE;
  const more = props.more ?? NO_MARKS;
  const shapes = props.shapes ?? NO_SHAPES;
  const marks = useMemo(() => [...marksOf(props.candidates, props.answer, claimed, outlines.value), ...more], [props.candidates, props.answer, claimed, more, outlines.value]);
  // While a run is under way its candidates come and go.
  useEffect(() => void askOutlines(props.candidates.map((one) => one.name)), [props.candidates.map((one) => one.name).join("\n")]);
  const wanted = theme.value;
  const online = settings.value && !settings.value.offline ? settings.value.online_tiles || null : null;

  useEffect(() => {
    let gone = false;
    const start = async (): Promise<void> => {
      const { Engine } = await import("./engine");
      if (gone || !container.current) return;
      engine.current = new Engine(container.current, latest.current.label, {
        highlight: (id) => latest.current.onHighlight(id),
        pinned: (spot) => pinAt(spot),
        patchy: setPatchy,
        drawnFirst: () => setEmpty(false),
        changed: (count, closable) => setCorners({ count, closable }),
        crossed: () => announce(t("map.crossed")),
        drawn: (shape) => drawn(shape),
      });
      setPhase("ready");
    };
    const begin = (): void => {
      start().catch(() => {
        if (!gone) setPhase(canDrawMaps() ? "failed" : "unable");
      });
    };
    // A map that nobody has turned to yet, on a phone's other tab, costs nothing.
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      begin();
    }, { rootMargin: "200px" });
    if (container.current) seen.observe(container.current);
    return () => {
      gone = true;
      seen.disconnect();
      engine.current?.destroy();
      engine.current = null;
    };
  }, [attempt]);

  useEffect(() => void engine.current?.setStyle(wanted, online), [phase, wanted, online, mapsAdded.value]);
  // Not after the next frame: whoever sees that one draws may set a corner at once.
  useLayoutEffect(() => engine.current?.setMode(props.mode), [phase, props.mode]);
  useEffect(() => engine.current?.setArea(props.area), [phase, props.area]);
  useEffect(() => engine.current?.setMarks(marks), [phase, marks]);
  useEffect(() => engine.current?.setShapes(shapes), [phase, shapes]);
  useEffect(() => engine.current?.setHighlighted(props.highlighted), [phase, props.highlighted]);
  useEffect(() => setPinned(null), [props.mode]);
  useEffect(() => {
    if (props.mode !== "look" && narrow.value) whole.current?.scrollIntoView({ block: "start" });
  }, [props.mode]);

  function pinAt(spot: Spot): void {
    setPinned(spot);
    announce(t("map.pinnedAt", { where: coordinates(spot.lat, spot.lon) }));
    // What is pinned for a purpose of its own becomes a mark of its own.
    if (latest.current.pinWords) engine.current?.dropPin();
    latest.current.onPin(spot.lat, spot.lon);
  }

  function drawn(shape: GeoJSON.Polygon): void {
    announce(t("map.drawn"));
    latest.current.onDrawn(shape);
  }

  function retry(): void {
    setPhase("loading");
    setEmpty(true);
    setAttempt(attempt + 1);
  }

  const live = phase === "ready" ? engine.current : null;
  return (
    <section ref={whole} class={`map-view mode-${props.mode}`} aria-label={props.label} data-phase={phase}>
      <div class="map-stage" hidden={phase === "unable"}>
        <div class="map-canvas" ref={container} />
        {props.mode !== "look" && <span class="map-crosshair" aria-hidden="true" />}
        {phase === "loading" && <Loading words={t("map.loading")} />}
        {phase === "ready" && empty && (
          <div class="map-busy">
            <Loading words={t("map.loading")} />
          </div>
        )}
        {phase === "failed" && (
          <p class="map-trouble" role="alert">
            {t("map.failed")}{" "}
            <button type="button" onClick={retry}>
              {t("map.retry")}
            </button>
          </p>
        )}
        {live && (
          <ZoomButtons what={t("map.noun")} onZoom={(by) => live.zoom(by)} onFit={() => live.fit("all")} fitWords={t("map.fitAll")}>
            {marks.some((mark) => mark.kind === "answer") && (
              <button type="button" class="square map-to-answer" aria-label={t("map.fitAnswer")} title={t("map.fitAnswer")} onClick={() => live.fit("answer")}>
                <Icon name="pin" size={18} />
              </button>
            )}
          </ZoomButtons>
        )}
        {patchy && phase === "ready" && (
          <p class="map-note" role="status">
            {t("map.patchy")}
          </p>
        )}
      </div>
      {phase === "unable" && <MapList marks={marks} />}
      {props.mode === "draw" && (
        <DrawPanel
          corners={corners}
          onFinish={live ? () => live.finishDrawing() : null}
          onUndo={live ? () => live.undoCorner() : null}
          onView={live ? () => drawn(rectangle(live.view())) : null}
          onBox={(bounds) => drawn(rectangle(bounds))}
        />
      )}
      {props.mode === "pin" && (
        <PinPanel
          words={props.pinWords}
          pinned={pinned}
          onCentre={live ? () => live.setPin(live.centre()) : null}
          onSpot={(spot) => (live ? live.setPin(spot) : pinAt(spot))}
        />
      )}
    </section>
  );
}
