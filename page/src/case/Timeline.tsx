import { useState } from "preact/hooks";
import { api } from "../api/client";
import type { CallView, ObservedView } from "../api/types";
import { seconds } from "../format";
import type { TurnView } from "../state/runReducer";
import type { Silence } from "./silence";
import { counted, t } from "../strings";
import { Icon, type IconName } from "../ui/Icon";
import { Empty } from "../ui/parts";

const ICONS: readonly (readonly [RegExp, IconName])[] = [
  [/zoom|crop|look|view/, "zoom"],
  [/text|read|ocr/, "text"],
  [/map|place|geocode|reverse|near|poi|street|search/, "map"],
  [/note|hypoth|candidate/, "note"],
  [/sun|shadow|climate/, "sun"],
];
const FEW = 6;
const LINES = 4;

function iconOf(tool: string): IconName {
  return ICONS.find(([pattern]) => pattern.test(tool))?.[1] ?? "search";
}

interface Shared {
  runId: string;
  live: boolean;
  silence: Silence;
  onHighlight(id: string | null): void;
}

/** A withheld name leaves a gap in the words: it is marked as one. */
function gapped(words: string): string {
  return words.replace(/ {2,}/g, " … ").replace(/ (for|with|up|country|brand)$/, "$& …");
}

function Call({ runId, live, silence, call, outcome, onHighlight }: Shared & { call: CallView; outcome: ObservedView | null }) {
  const capped = silence.withheld !== null;
  const came = capped && outcome?.words === "done" ? t("timeline.untold") : outcome?.words;
  const picture = outcome?.picture ?? null;
  // Short readings are in the words already.
  const lines = outcome?.lines.filter((line) => !outcome.words.includes(line.text)) ?? [];
  return (
    <li class={`call ${outcome ? (outcome.ok ? "" : "failed") : live ? "waiting" : "broken"}`} onMouseEnter={() => onHighlight(`crop-${call.id}`)} onMouseLeave={() => onHighlight(null)}>
      <span class="call-icon">{outcome || !live ? <Icon name={iconOf(call.tool)} size={15} /> : <span class="spinner" aria-hidden="true" />}</span>
      <div class="call-words">
        <p class="call-asked">
          {(capped ? gapped(call.words) : call.words) || call.tool}
          {outcome && outcome.seconds >= 0.05 ? <span class="call-time">{seconds(outcome.seconds)}</span> : null}
        </p>
        {outcome && came ? (
          <p class="call-came">
            {outcome.ok ? "" : `${t("timeline.failed")} `}
            {came}
          </p>
        ) : null}
        {outcome || live ? null : <p class="call-came">{t("timeline.brokenOff")}</p>}
        {lines.length > 0 ? (
          <p class="call-lines">
            {lines.slice(0, LINES).map((line, index) => (
              <q key={`${index}-${line.text}`}>{line.text}</q>
            ))}
            {lines.length > LINES ? <span class="quiet">{t("timeline.moreLines", { n: lines.length - LINES })}</span> : null}
          </p>
        ) : null}
        {picture ? <img class="call-crop" src={api.pictureUrl(runId, picture.handle)} width={picture.width} height={picture.height} alt={t("timeline.crop", { words: call.words || call.tool })} loading="lazy" /> : null}
      </div>
    </li>
  );
}

function Turn({ turn, said, open, onToggle, ...shared }: Shared & { turn: TurnView; said: string | null; open: boolean; onToggle(): void }) {
  const failed = turn.calls.filter(({ outcome }) => outcome && !outcome.ok).length;
  return (
    <li class="turn">
      {turn.before ? (
        <p class="went-on">
          <Icon name="think" size={15} />
          <span>
            <strong>{t("timeline.you")}</strong> {said ?? turn.before}
          </span>
        </p>
      ) : null}
      <h4 class="turn-head">
        <button type="button" class="plain" aria-expanded={open} onClick={onToggle}>
          <span class={`chevron ${open ? "open" : ""}`}>
            <Icon name="down" size={14} />
          </span>
          {t("timeline.turn", { n: turn.turn })}
          <span class="quiet">
            {turn.calls.length > 0 ? ` · ${counted("timeline.calls", turn.calls.length)}` : ""}
            {failed > 0 ? ` · ${t("timeline.failures", { n: failed })}` : ""}
          </span>
        </button>
      </h4>
      {open ? (
        <div class="turn-body">
          {turn.thought ? <p class="thought prose">{turn.thought}</p> : null}
          {turn.text ? <p class="turn-text prose">{turn.text}</p> : null}
          {turn.calls.length === 0 && !turn.text && !turn.thought ? <p class="quiet">{t("timeline.answers")}</p> : null}
          <ul class="calls">
            {turn.calls.map(({ call, outcome }) => (
              <Call key={call.id} {...shared} call={call} outcome={outcome} />
            ))}
          </ul>
        </div>
      ) : null}
    </li>
  );
}

/** What was thought and done, turn by turn; `said` is what a person said each time they went on, in order. */
export function Timeline({ turns, said, ...shared }: Shared & { turns: readonly TurnView[]; said: readonly (string | null)[] }) {
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  const [all, setAll] = useState<boolean | null>(null);
  const last = turns.at(-1)?.turn;
  const openByItself = (turn: TurnView): boolean => all ?? (turns.length <= FEW || turn.turn === last);
  if (turns.length === 0) return <Empty>{shared.silence.of(t("timeline.yet"), t("timeline.none"))}</Empty>;
  const wentOn = turns.filter((turn) => turn.before !== "");
  const saidAt = (turn: TurnView): string | null => (turn.before === "" ? null : (said.at(wentOn.indexOf(turn) - wentOn.length) ?? null));
  const anyOpen = turns.some((turn) => openByItself(turn) !== toggled.has(turn.turn));
  return (
    <>
      {shared.silence.withheld === null ? null : <p class="quiet">{shared.silence.withheld}</p>}
      <button
        type="button"
        class="plain small fold-all"
        onClick={() => {
          setAll(!anyOpen);
          setToggled(new Set());
        }}
      >
        {anyOpen ? t("timeline.foldAll") : t("timeline.openAll")}
      </button>
      <ol class="turns">
        {turns.map((turn) => (
          <Turn
            key={turn.turn}
            {...shared}
            turn={turn}
            said={saidAt(turn)}
            open={openByItself(turn) !== toggled.has(turn.turn)}
            onToggle={() => {
              const next = new Set(toggled);
              if (!next.delete(turn.turn)) next.add(turn.turn);
              setToggled(next);
            }}
          />
        ))}
      </ol>
    </>
  );
}
