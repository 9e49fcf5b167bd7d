import { useMemo, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CaseShown, CheckShown, ClaimView, ClueView, RunShown, PlaceShown } from "../api/types";
import { MapView } from "../map/MapView";
import { numbersOf } from "../photo/numbering";
import type { Marking, Share } from "../photo/marking";
import { ImageSearch } from "../photo/ImageSearch";
import { PhotoView } from "../photo/PhotoView";
import { announce, notify } from "../state/announce";
import { go } from "../router";
import { seenFor, seenWords } from "../state/seen";
import { boxesOf, linkedTo, strongestOf } from "../state/links";
import { sureWords, titleOf } from "../state/summary";
import { narrow } from "../state/width";
import { t } from "../strings";
import { Banner } from "../ui/parts";
import { Panel } from "../ui/Panel";
import { Tabs, type Tab } from "../ui/Tabs";
import { placeMarks } from "../video/videos";
import { Candidates } from "./Candidates";
import { CheckPlace } from "./CheckPlace";
import { Claims } from "./Claims";
import { Clues } from "./Clues";
import { Gathered } from "./feedback";
import { FeedbackBar } from "./FeedbackBar";
import { Finding, FindingFacts, Trust } from "./Finding";
import { MapTools } from "./MapTools";
import { Notes } from "./Notes";
import { Runs } from "./Runs";
import { Shadows } from "./shadows";
import { Stand } from "./resectionPanel";
import { silenceOf } from "./silence";
import { Spending } from "./Spending";
import { saidBefore } from "./spoken";
import { Team } from "./Team";
import { TextPanel } from "./TextPanel";
import { Timeline } from "./Timeline";
import { useReading } from "./useReading";
import { useRun } from "./useRun";
import { useScrolledPast } from "./useScrolledPast";

type Column = "photo" | "map" | "steps";

interface RunPaneProps {
  row: CaseShown;
  run: RunShown;
  /** Of a video, all places that it shows. */
  places: readonly PlaceShown[];
  onOver(): void;
  onChanged(row: CaseShown): void;
  onContinued(run: RunShown): void;
  onDelete(run: RunShown): void;
  onAgain(): void;
  /** Ask for a run without the area that this one kept to. */
  onEverywhere(): void;
}

/** The finding in words; under it the photo with its clues, the map with its candidates, and how it went. */
export function RunPane({ row, run, places, onOver, onChanged, onContinued, onDelete, onAgain, onEverywhere }: RunPaneProps) {
  const shown = useRun(run, onOver);
  const { view, result, answer, clues, candidates, live } = shown;
  const gathered = useMemo(() => new Gathered(), []);
  const stand = useMemo(() => new Stand(row.id), [row.id]);
  const shadows = useMemo(() => new Shadows(), [row.id]);
  const [lit, setLit] = useState<string | null>(null);
  const [photo, setPhoto] = useState(0);
  const [mode, setMode] = useState<"look" | "draw" | "pin">("look");
  const [column, setColumn] = useState<Column>(run.answer?.lat == null ? "photo" : "map");
  const [checked, setChecked] = useState<CheckShown | null>(null);
  const [checking, setChecking] = useState(false);

  const rejectedClues = gathered.clues.value;
  const reading = useReading(run, shown.lines, gathered);
  const photos = useMemo(
    () => run.photos.map((number) => row.photos.find((one) => one.number === number)).filter((one) => one !== undefined),
    [run.photos, row.photos],
  );
  const { boxes, boxOf, numbers } = useMemo(() => {
    const found = boxesOf(clues, reading.lines, view.turns, live, new Set(rejectedClues.keys()));
    const counted = numbersOf(found.boxes, result?.text ?? []);
    const ofClues = [...found.boxOf].map(([clue, box]): [string, number] => [clue, counted.get(box) ?? 0]);
    return { boxes: found.boxes.map((box) => ({ ...box, photo: box.photo - 1, number: counted.get(box.id) ?? null })), boxOf: found.boxOf, numbers: new Map(ofClues) };
  }, [clues, reading.lines, view.turns, live, rejectedClues, result]);
  const linked = useMemo(() => linkedTo(lit, clues, candidates, boxOf), [lit, clues, candidates, boxOf]);
  const claims = result?.claims ?? [];
  const claimed = useMemo(() => claims.flatMap(({ lat, lon }) => (lat !== null && lon !== null ? [{ lat, lon }] : [])), [claims]);

  const light = (id: string | null): void => {
    setLit(id);
    const boxId = id === null ? null : (boxOf.get(id) ?? id);
    const box = boxes.find((one) => one.id === boxId);
    // Whoever marks something in one photo must not find another there.
    if (box && box.photo !== photo && photos[box.photo] && !stand.open.value && !shadows.open.value) setPhoto(box.photo);
  };
  const check = async (lat: number, lon: number): Promise<void> => {
    setChecking(true);
    setChecked(null);
    try {
      const found = await api.check(run.id, lat, lon);
      setChecked(found);
      announce(t(`check.say.${found.verdict}`));
    } catch (thrown) {
      notify(troubleOf(thrown).message, { bad: true });
    } finally {
      setChecking(false);
    }
  };
  const toMap = (next: "draw" | "pin"): void => {
    stand.cancel();
    setMode(mode === next ? "look" : next);
    setColumn("map");
  };

  const shownNumber = photos[photo]?.number ?? 1;
  const marking: Marking | null = stand.marking.value
    ? { kind: "point", how: t("stand.nowPhoto", { n: stand.features.value.length + 1 }), onDone: seen }
    : (shadows.markingOf(photo, photos[photo]?.width ?? 1, photos[photo]?.height ?? 1) ?? reading.marking(photo, shownNumber));
  const shapes = useMemo(() => [...stand.shapes.value, ...shadows.shapes.value], [stand.shapes.value, shadows.shapes.value]);
  const more = useMemo(() => [...stand.mapMarks.value, ...placeMarks(row, places, run.id)], [stand.mapMarks.value, row, places, run.id]);
  function seen(at: Share): void {
    stand.seen(photo, at);
    setColumn("map");
    setMode("pin");
  }

  // A warning that is true of every such clue says something where the finding hangs on it, or has rivals.
  const warns = (clue: ClueView): boolean => answer !== null && (!answer.located || answer.candidates.length > 1 || answer.hangs_on.includes(clue.seen));
  const sayMore = (): void => {
    seenWords.value = run.request.seen ?? "";
    seenFor.value = { caseId: row.id, runId: run.id, told: false };
    go({ screen: "see" });
  };
  const lookOnlyIn = (area: GeoJSON.Polygon | GeoJSON.MultiPolygon): void => {
    gathered.draw(area);
    announce(t("area.taken"));
  };

  const silence = silenceOf(shown.state, run.granularity);
  // What was said last has no step yet while the run has not answered to it.
  const said = useMemo(() => saidBefore(row, run), [row, run]).slice(0, view.resumed === "" ? undefined : -1);
  const whoLooked = result?.model ?? view.started?.policy ?? run.request.model ?? "";
  const small = narrow.value;
  // A phone has room for the place and the map: what else there is to say of a finding stands below the map.
  const factsBelow = small && (answer?.located ?? false);
  const past = useScrolledPast("#finding", small);
  const tabs: readonly Tab<Column>[] = [
    { name: "photo", label: t("case.tabPhoto") },
    { name: "map", label: t("case.tabMap") },
    { name: "steps", label: t("case.tabSteps") },
  ];
  const columnProps = (name: Column) => ({
    id: `column-${name}`,
    class: `column ${name}`,
    ...(small ? { role: "tabpanel" as const, "aria-labelledby": `column-tab-${name}`, hidden: column !== name } : {}),
  });

  return (
    <>
      {shown.reachable ? null : <Banner kind="caution">{t("error.reconnecting")}</Banner>}
      {shown.trouble === null ? null : <Banner kind="bad">{shown.trouble}</Banner>}
      <Finding view={view} state={shown.state} answer={answer} claims={claims} granularity={run.granularity} trouble={run.trouble ?? view.ended?.trouble ?? null} brief={factsBelow} onAgain={onAgain} onEverywhere={run.request.within || run.request.area ? onEverywhere : null} onSay={sayMore} />
      {small ? (
        <div class="sticky-summary">
          {answer?.located && past ? (
            <p>
              <strong>{answer.place}</strong> <span>{sureWords(answer)}</span>
            </p>
          ) : null}
          <Tabs<Column> label={t("case.tabs")} tabs={tabs} shown={column} onShow={setColumn} idStem="column" />
        </div>
      ) : null}
      <div class="columns">
        <div {...columnProps("photo")}>
          <PhotoView
            photos={photos.map((one, index) => ({
              src: api.photoUrl(row.id, one.number, "view"),
              width: one.width,
              height: one.height,
              alt: photos.length > 1 ? t("case.photoAlt", { n: index + 1, of: photos.length, title: titleOf(row) }) : t("case.onePhotoAlt", { title: titleOf(row) }),
            }))}
            shown={photo}
            onShow={setPhoto}
            boxes={boxes}
            highlighted={strongestOf(linked, boxes.map((box) => box.id))}
            onHighlight={light}
            onChoose={(id) => {
              const box = boxes.find((one) => one.id === id);
              if (box) reading.choose(box.photo + 1, box.box);
            }}
            marks={[...stand.photoMarks.value, ...shadows.photoMarks.value]}
            marking={marking}
          />
          {photos[photo] ? (
            <div class="buttons">
              <ImageSearch src={api.photoUrl(row.id, shownNumber, "view")} />
            </div>
          ) : null}
          <Panel id="clues" title={t("clues.title")} count={clues.length}>
            <Clues clues={clues} numbers={numbers} rejected={rejectedClues} linked={linked} silence={silence.of(t("clues.yet"), t("clues.none"))} photos={photos.length} warns={warns} onHighlight={light} onReject={(id, seen) => gathered.toggle("clues", id, seen)} />
          </Panel>
          {run.granularity === "exact" ? (
            <TextPanel
              reading={reading}
              gathered={gathered}
              photos={photos.length}
              silence={silence.of(t("text.yet"), t("text.none"))}
              onMark={() => {
                stand.cancel();
                reading.toggle();
              }}
            />
          ) : null}
          <Panel id="claims" title={t("claims.title")}>
            {result === null ? (
              <p class="empty">{silence.of(t("claims.later"), t("state.loading"))}</p>
            ) : (
              <Claims claims={claims} silence={claims.length > 0 ? (silence.withheld ?? t("claims.none")) : silence.of(t("claims.later"), t("claims.none"))} />
            )}
          </Panel>
        </div>
        <div {...columnProps("map")}>
          <MapView
            candidates={candidates}
            answer={answer}
            area={gathered.area.value ?? run.request.area}
            claimed={claimed}
            mode={mode}
            onDrawn={(area) => {
              gathered.draw(area);
              setMode("look");
            }}
            onPin={(lat, lon) => {
              setMode("look");
              if (stand.pending.value === null) void check(lat, lon);
              else stand.placed({ lat, lon }, shownNumber);
            }}
            more={more}
            shapes={shapes}
            pinWords={stand.pending.value === null ? undefined : { title: t("stand.nowMap"), how: t("stand.pinHow") }}
            highlighted={strongestOf(linked, candidates.map((one) => one.id))}
            onHighlight={light}
            label={t("case.map")}
          />
          {factsBelow && answer ? <FindingFacts answer={answer} granularity={run.granularity} pointElsewhere onAgain={onAgain} /> : null}
          <MapTools
            mode={mode}
            answer={answer}
            stand={stand}
            shadows={shadows}
            number={shownNumber}
            mayCheck={!live && answer !== null}
            mayStand={run.granularity === "exact"}
            taken={takenOf(claims, shownNumber)}
            onMode={setMode}
            onArea={run.granularity === "exact" ? lookOnlyIn : null}
            onCheck={() => toMap("pin")}
            onPhoto={() => setColumn("photo")}
            onMap={() => document.querySelector("#column-map .map-view")?.scrollIntoView({ block: "start" })}
          />
          <CheckPlace checked={checked} busy={checking} onClose={() => setChecked(null)} />
          <Panel id="candidates" title={t("candidates.title")} count={candidates.length}>
            <Candidates candidates={candidates} rejected={gathered.candidates.value} linked={linked} silence={silence.of(t("candidates.yet"), t("candidates.none"))} withheld={silence.withheld} onHighlight={light} onReject={(id, name) => gathered.toggle("candidates", id, name)} />
          </Panel>
          {answer ? <Trust answer={answer} /> : null}
        </div>
        <div {...columnProps("steps")}>
          <Panel id="steps" title={t("timeline.title")}>
            <Spending stretch={view.spent} whole={result?.spent ?? null} budget={view.budget} />
            <Timeline runId={run.id} turns={view.turns} said={said} live={live} silence={silence} onHighlight={light} />
          </Panel>
          <Team team={result?.team ?? null} members={view.members} />
          <Panel
            id="runs"
            title={t("runs.title")}
            count={row.runs.length}
            aside={
              <button type="button" class="plain small" disabled={live} onClick={onAgain}>
                {t("runs.again")}
              </button>
            }
          >
            <Runs row={row} shown={run.id} onDelete={onDelete} />
          </Panel>
          <Notes row={row} onSaved={onChanged} />
          {whoLooked === "" ? null : <p class="made-by quiet">{t("case.madeBy", { model: whoLooked, level: t(`granularity.${run.granularity}`) })}</p>}
        </div>
      </div>
      <FeedbackBar run={{ ...run, state: shown.state }} gathered={gathered} drawing={mode === "draw"} onDraw={() => toMap("draw")} onContinued={onContinued} />
    </>
  );
}

/** When the photo says that it was taken, without a fraction of a second. */
function takenOf(claims: readonly ClaimView[], number: number): string | null {
  return claims.find((one) => one.photo === number)?.taken_at ?? null;
}
