import type { ClueView, SupportView } from "../api/types";
import { inOrder } from "../photo/numbering";
import { LEAST_SAID } from "../state/links";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Empty } from "../ui/parts";

interface CluesProps {
  clues: readonly ClueView[];
  /** The numbers that the boxes on the photo bear. */
  numbers: ReadonlyMap<string, number>;
  rejected: ReadonlyMap<string, string>;
  linked: ReadonlySet<string>;
  /** What to say where there are none. */
  silence: string;
  photos: number;
  /** Whether what may mislead about a clue matters here. */
  warns(clue: ClueView): boolean;
  onHighlight(id: string | null): void;
  onReject(id: string, seen: string): void;
}

const SHOWN = 3;
const ARTICLE = /^(an?|the) /;
const STRONG = 3;
const FAIR = 1;

function strength(logRatio: number | null): string {
  if (logRatio === null) return t("clues.fairly");
  if (logRatio >= STRONG) return t("clues.strongly");
  return logRatio >= FAIR ? t("clues.fairly") : t("clues.weakly");
}

function Supports({ supports }: { supports: readonly SupportView[] }) {
  const weight = (one: SupportView): number => one.log_ratio ?? LEAST_SAID;
  const speaking = supports.filter((one) => weight(one) > 0).sort((one, other) => weight(other) - weight(one));
  const first = speaking[0];
  if (!first) return null;
  const distinct = speaking
    .map((one) => one.name || one.country || "")
    .filter((name, index, all) => !all.slice(0, index).some((earlier) => earlier.includes(name)));
  const names = distinct.slice(0, SHOWN);
  const more = distinct.length - names.length;
  return (
    <p class="clue-supports">
      {strength(first.log_ratio)} {names.join(", ")}
      {more > 0 ? ` ${t("clues.andMore", { n: more })}` : ""}
    </p>
  );
}

/** A text that was read stands in quotation marks, a model's own words do not. */
export function Seen({ clue }: { clue: ClueView }) {
  return clue.kind === "said" ? <span class="clue-seen">{clue.seen}</span> : <q class="clue-seen">{clue.seen}</q>;
}

/** What was noticed, each with its box on the photo and what it speaks for. */
export function Clues(props: CluesProps) {
  if (props.clues.length === 0) return <Empty>{props.silence}</Empty>;
  // What is rejected stays at the end, and has lost its place among the numbers.
  const order = inOrder(props.clues.map((clue) => (clue.rejected ? null : (props.numbers.get(clue.id) ?? null))));
  const counted = order.flatMap((place) => props.clues[place] ?? []);
  return (
    <ul class="clues">
      {counted.map((clue) => {
        const number = props.numbers.get(clue.id);
        const kind = (clue.kind_words || clue.kind).replace(ARTICLE, "");
        const rejected = clue.rejected || props.rejected.has(clue.id);
        return (
          <li
            key={clue.id}
            class={`clue-row ${rejected ? "out" : ""} ${props.linked.has(clue.id) ? "linked" : ""}`}
            onMouseEnter={() => props.onHighlight(clue.id)}
            onMouseLeave={() => props.onHighlight(null)}
            onFocusCapture={() => props.onHighlight(clue.id)}
          >
            <div class="clue-words">
              <p class="clue-head">
                {number === undefined ? null : <span class="badge">{number}</span>}
                <span class="tag">{kind}</span>
                <Seen clue={clue} />
                {rejected ? <span class="tag">{t("candidates.rejected")}</span> : null}
                {props.photos > 1 && clue.photo !== null ? <span class="quiet">{t("clues.onPhoto", { n: clue.photo })}</span> : null}
              </p>
              {clue.says ? <p class="clue-says">{clue.says}</p> : null}
              {rejected ? null : <Supports supports={clue.supports} />}
              {clue.caution && props.warns(clue) ? (
                <p class="clue-caution">
                  <Icon name="warn" size={14} /> {clue.caution}
                </p>
              ) : null}
            </div>
            <button
              type="button"
              class="plain square small reject"
              disabled={clue.rejected}
              aria-pressed={rejected}
              aria-label={rejected ? t("clues.unreject", { kind, seen: clue.seen }) : t("clues.reject", { kind, seen: clue.seen })}
              title={rejected ? t("action.undo") : t("action.reject")}
              onClick={() => props.onReject(clue.id, clue.seen)}
            >
              <Icon name={rejected ? "undo" : "close"} size={15} />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
