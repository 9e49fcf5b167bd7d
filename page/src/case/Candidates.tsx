import type { CandidateView } from "../api/types";
import { kilometres, percent } from "../format";
import { outlines } from "../state/outlines";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Bar, Empty } from "../ui/parts";

interface CandidatesProps {
  candidates: readonly CandidateView[];
  rejected: ReadonlyMap<string, string>;
  linked: ReadonlySet<string>;
  /** What to say where there are none. */
  silence: string;
  /** That evidence is withheld, where it is. */
  withheld: string | null;
  onHighlight(id: string | null): void;
  onReject(id: string, name: string): void;
}

function Side({ title, lines, kind }: { title: string; lines: readonly string[]; kind: "for" | "against" }) {
  if (lines.length === 0) return null;
  return (
    <div class={`side ${kind}`}>
      <span class="side-title">{title}</span>
      <ul class="lines">
        {lines.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

/** Where it could be, the likeliest first, with what speaks for it and against it. */
export function Candidates(props: CandidatesProps) {
  if (props.candidates.length === 0) return <Empty>{props.silence}</Empty>;
  return (
    <ol class="candidates">
      {props.candidates.map((one, index) => {
        const rejected = props.rejected.has(one.id);
        const out = rejected || one.fate === "dropped";
        return (
          <li
            key={one.id}
            class={`candidate ${one.is_answer ? "answer" : ""} ${out ? "out" : ""} ${props.linked.has(one.id) ? "linked" : ""}`}
            onMouseEnter={() => props.onHighlight(one.id)}
            onMouseLeave={() => props.onHighlight(null)}
            onFocusCapture={() => props.onHighlight(one.id)}
          >
            <details open={index === 0 || undefined}>
              <summary>
                <span class={`letter ${one.is_answer ? "answer" : ""}`} aria-hidden="true">
                  {one.letter ?? String.fromCharCode(65 + (index % 26))}
                </span>
                <span class="candidate-name">{one.name}</span>
                {one.probability === null ? null : (
                  <span class="candidate-share">
                    <Bar share={one.probability} kind={one.is_answer ? "answer" : ""} />
                    <span class="figure">{percent(one.probability)}</span>
                  </span>
                )}
                {rejected ? <span class="tag">{t("candidates.rejected")}</span> : one.fate === "dropped" ? <span class="tag">{t("candidates.dropped")}</span> : null}
              </summary>
              <div class="candidate-body">
                {outlines.value.get(one.name) ? (
                  <p class="quiet">{t("candidates.country")}</p>
                ) : one.radius_km === null ? null : (
                  <p class="quiet">{t("candidates.radius", { radius: kilometres(one.radius_km) })}</p>
                )}
                <Side title={t("candidates.for")} lines={one.for} kind="for" />
                <Side title={t("candidates.against")} lines={one.against} kind="against" />
                {one.for.length + one.against.length === 0 ? <p class="quiet">{props.withheld ?? t("candidates.noEvidence")}</p> : null}
              </div>
            </details>
            <button
              type="button"
              class="plain square small reject"
              aria-pressed={rejected}
              aria-label={rejected ? t("candidates.unreject", { name: one.name }) : t("candidates.reject", { name: one.name })}
              title={rejected ? t("action.undo") : t("action.reject")}
              onClick={() => props.onReject(one.id, one.name)}
            >
              <Icon name={rejected ? "undo" : "close"} size={15} />
            </button>
          </li>
        );
      })}
    </ol>
  );
}
