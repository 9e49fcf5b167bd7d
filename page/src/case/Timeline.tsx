import { useState } from "preact/hooks";
import { api } from "../api/client";
import type { CallView, ObservedTold } from "../api/types";
import { seconds } from "../format";
import type { TurnView } from "../state/told";
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

function Call({ runId, call, outcome, onHighlight }: { runId: string; call: CallView; outcome: ObservedTold | null; onHighlight(id: string | null): void }) {
  const picture = outcome?.picture ?? null;
  // Short readings are in the words already.
  const lines = outcome?.lines.filter((line) => !outcome.words.includes(line.text)) ?? [];
  return (
    <li class={`call ${outcome ? (outcome.ok ? "" : "failed") : "waiting"}`} onMouseEnter={() => onHighlight(`crop-${call.id}`)} onMouseLeave={() => onHighlight(null)}>
      <span class="call-icon">{outcome ? <Icon name={iconOf(call.tool)} size={15} /> : <span class="spinner" aria-hidden="true" />}</span>
      <div class="call-words">
        <p class="call-asked">
          {call.words || call.tool}
          {outcome && outcome.seconds >= 0.05 ? <span class="call-time">{seconds(outcome.seconds)}</span> : null}
        </p>
        {outcome?.words ? (
          <p class="call-came">
            {outcome.ok ? "" : `${t("timeline.failed")} `}
            {outcome.words}
          </p>
        ) : null}
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

function Turn({ runId, turn, open, onToggle, onHighlight }: { runId: string; turn: TurnView; open: boolean; onToggle(): void; onHighlight(id: string | null): void }) {
  const failed = turn.calls.filter(({ outcome }) => outcome && !outcome.ok).length;
  return (
    <li class="turn">
      {turn.before ? (
        <p class="went-on">
          <Icon name="think" size={15} />
          <span>
            <strong>{t("timeline.you")}</strong> {turn.before}
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
              <Call key={call.id} runId={runId} call={call} outcome={outcome} onHighlight={onHighlight} />
            ))}
          </ul>
        </div>
      ) : null}
    </li>
  );
}

/** What was thought and done, turn by turn. */
export function Timeline({ runId, turns, live, onHighlight }: { runId: string; turns: readonly TurnView[]; live: boolean; onHighlight(id: string | null): void }) {
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  const [all, setAll] = useState<boolean | null>(null);
  const last = turns.at(-1)?.turn;
  const openByItself = (turn: TurnView): boolean => all ?? (turns.length <= FEW || turn.turn === last);
  if (turns.length === 0) return <Empty>{live ? t("timeline.yet") : t("timeline.none")}</Empty>;
  const anyOpen = turns.some((turn) => openByItself(turn) !== toggled.has(turn.turn));
  return (
    <>
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
            runId={runId}
            turn={turn}
            open={openByItself(turn) !== toggled.has(turn.turn)}
            onHighlight={onHighlight}
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
