import type { RivalView, AnswerView, ClaimView, Granularity, RunState } from "../api/types";
import { percent } from "../format";
import { go } from "../router";
import { settings } from "../state/server";
import { isWide, sureWords } from "../state/summary";
import type { RunView } from "../state/runReducer";
import { SuggestedMap } from "../maps/SuggestedMap";
import { maybe, t } from "../strings";
import { Banner, Bar, Odds } from "../ui/parts";
import { Coordinates, PointMenus } from "./Coordinates";

const FEW = 5;

interface FindingProps {
  view: RunView;
  state: RunState;
  answer: AnswerView | null;
  claims: readonly ClaimView[];
  granularity: Granularity;
  trouble: string | null;
  /** Leave out the facts but the point: they stand elsewhere. */
  brief: boolean;
  onAgain(): void;
  /** Look once more, without the area that was given; null where none was. */
  onEverywhere: (() => void) | null;
  /** Say in the checklist what the photo shows. */
  onSay(): void;
}

/** "Almost certain": the server's word, which card and report have too. */
function sureWord(answer: AnswerView): string {
  const [word, figures] = answer.sure.split(": ");
  return word && figures ? `${word}: ` : "";
}

function Sure({ answer }: { answer: AnswerView }) {
  if (answer.probability === null) return <p class="sure">{t("finding.notSaid")}</p>;
  return (
    <p class="sure">
      <span>
        {sureWord(answer)}
        <strong>{answer.radius_km === null && !answer.outline ? t("finding.percentOnly", { percent: percent(answer.probability) }) : sureWords(answer)}</strong>
      </span>
      <Odds probability={answer.probability} />
    </p>
  );
}

/** What is left where nothing decides: the first few places and their shares. */
function Likeliest({ candidates }: { candidates: readonly RivalView[] }) {
  const weighed = candidates.filter((one) => one.probability !== null).slice(0, FEW);
  if (weighed.length === 0) return null;
  return (
    <>
      <p class="quiet">{t("finding.likeliest")}</p>
      <ul class="lines">
        {weighed.map((one) => (
          <li key={one.id}>
            {one.name} <span class="figure">{percent(one.probability ?? 0)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** The coordinates, unless the finding is so wide that its middle is no place. */
function Point({ answer }: { answer: AnswerView }) {
  if (!answer.located || answer.lat === null || answer.lon === null || isWide(answer)) return null;
  return <Coordinates lat={answer.lat} lon={answer.lon} radiusKm={answer.radius_km} />;
}

/** What can be done with its point, which may stand elsewhere, how finely it is told, and a map that would help. */
export function FindingFacts({ answer, granularity, pointElsewhere = false, onAgain }: { answer: AnswerView; granularity: Granularity; pointElsewhere?: boolean; onAgain(): void }) {
  return (
    <>
      {answer.located && answer.lat !== null && answer.lon !== null ? (
        <div class="finding-facts">
          {pointElsewhere ? null : <Point answer={answer} />}
          {isWide(answer) ? null : <PointMenus lat={answer.lat} lon={answer.lon} radiusKm={answer.radius_km} />}
          {granularity === "exact" ? null : <span class="tag">{t("finding.capped", { level: levelName(granularity) })}</span>}
          <span class="lead-not-verdict">{t("finding.lead")}</span>
        </div>
      ) : null}
      <SuggestedMap answer={answer} onAgain={onAgain} />
    </>
  );
}

function levelName(granularity: Granularity): string {
  return maybe(`granularity.${granularity}`) ?? granularity;
}

/** The finding in words: where, how sure, and that it is a lead. */
export function Finding({ view, state, answer, claims, granularity, trouble, brief, onAgain, onEverywhere, onSay }: FindingProps) {
  const found = answer?.located ?? false;
  const told = claims.some((claim) => claim.conflict);
  const conflict = told || (answer?.conflicts ?? []).some((one) => one);
  const capped = granularity !== "exact";
  const level = levelName(granularity);
  return (
    <section id="finding" class={`finding ${state}`} aria-labelledby="finding-title">
      <div class="place-row">
        <h2 id="finding-title" class={found ? "place" : "place quiet"}>
          {heading(view, state, answer, found)}
        </h2>
        {brief && answer !== null ? <Point answer={answer} /> : null}
      </div>
      {view.preparing ? (
        <p class="preparing">
          <span>{t("finding.preparing", { what: view.preparing.what, percent: percent(view.preparing.share) })}</span>
          <Bar share={view.preparing.share} />
        </p>
      ) : null}
      {answer && found ? <Sure answer={answer} /> : null}
      {[...new Set(claims.flatMap((claim) => claim.not_a_photo ?? []))].map((nature) => (
        <Banner key={nature} kind="caution">
          {t("finding.unlike", { nature })}
        </Banner>
      ))}
      {answer !== null && !found ? (
        <div class="cant-tell">
          <p class="prose">{(capped ? "" : reason(answer)) || t("finding.cantTell")}</p>
          <p>{t("finding.helps")}</p>
          <div class="buttons">
            {onEverywhere === null ? null : (
              <button type="button" class="primary" onClick={onEverywhere}>
                {t("way.everywhere")}
              </button>
            )}
            <button type="button" class={onEverywhere === null ? "primary" : ""} onClick={onSay}>
              {t("way.see")}
            </button>
            {settings.value?.model ? null : (
              <button type="button" onClick={() => go({ screen: "settings" })}>
                {t("way.model")}
              </button>
            )}
          </div>
          <Likeliest candidates={answer.candidates} />
        </div>
      ) : null}
      {brief || answer === null ? null : <FindingFacts answer={answer} granularity={granularity} onAgain={onAgain} />}
      {conflict && capped ? <Banner kind="caution">{t("finding.conflictUntold", { level })}</Banner> : null}
      {told && !capped ? (
        <Banner kind="caution">
          <a
            href="#claims"
            onClick={(event) => {
              event.preventDefault();
              document.getElementById("claims")?.scrollIntoView({ block: "center" });
            }}
          >
            {t("finding.conflict")}
          </a>
        </Banner>
      ) : null}
      {state === "interrupted" ? <Banner kind="caution">{t("finding.interrupted")}</Banner> : null}
      {state === "cancelled" ? <Banner kind="info">{t("finding.cancelled")}</Banner> : null}
      {state === "failed" ? <Banner kind="bad">{trouble ?? t("finding.failed")}</Banner> : null}
      {state === "done" && trouble ? <Banner kind="caution">{trouble}</Banner> : null}
    </section>
  );
}

function heading(view: RunView, state: RunState, answer: AnswerView | null, found: boolean): string {
  if (found && answer) return answer.place;
  if (state === "queued") return view.position !== null && view.position > 1 ? t("finding.queue", { n: view.position - 1 }) : t("finding.queued");
  if (state === "running") return view.preparing ? t("finding.first") : t("finding.running");
  if (answer !== null) return t("finding.none");
  if (state === "done") return t("state.loading");
  return maybe(`runState.${state}`) ?? state;
}

/** Why no place is named; the advice beside it is written for the command line. */
function reason(answer: AnswerView): string {
  return answer.explanation.replace(answer.would_help, "").trim();
}

const FETCH = / Fetch it with: .*$/s;

/** What else would help: a map that is suggested above, with a button, is not told twice. */
function advice(answer: AnswerView): string {
  return answer.map && FETCH.test(answer.would_help) ? "" : answer.would_help.replace(FETCH, "");
}

/** Words without the heading that they stand under: "It hangs on one sign" is "One sign" there. */
function under(heading: string, words: string): string {
  if (!words.startsWith(heading)) return words;
  const rest = words.slice(heading.length).replace(/^:?\s+/, "");
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

const SENTENCE = /(?:"(?:\\.|[^"\\])*"|“[^”]*”|[^.]|\.(?!\s|$))+(?:\.|$)/gu;

/** One idea a line. */
function Lines({ words }: { words: string }) {
  const found = words.match(SENTENCE) ?? [words];
  return (
    <>
      {found.map((one, index) => (
        <p key={index}>{one.trim()}</p>
      ))}
    </>
  );
}

/** What it hangs on, what speaks against it and what would help, where that was said. */
export function Trust({ answer }: { answer: AnswerView }) {
  const why = answer.located ? (answer.why ?? "") : "";
  const explained = answer.located && answer.explanation !== why ? answer.explanation : "";
  const levels = (answer.levels ?? []).filter((one) => one.reasoning || one.uncertainty);
  const parts = [
    [t("trust.why"), why],
    [t("trust.hangs"), answer.hangs_on],
    [t("trust.against"), answer.against],
    [t(answer.map ? "trust.helpMore" : "trust.help"), answer.located ? under(t("trust.help"), advice(answer)) : ""],
  ].filter((part): part is [string, string] => Boolean(part[1]));
  if (parts.length + levels.length === 0 && explained === "") return null;
  return (
    <section class="panel trust" aria-labelledby="trust-title">
      <h3 id="trust-title">{t("trust.title")}</h3>
      <dl class="trust-parts">
        {parts.map(([name, words]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd class="prose">
              <Lines words={under(name, words)} />
            </dd>
          </div>
        ))}
        {levels.map((one) => (
          <div key={one.level}>
            <dt>
              {t(`level.${one.level}`)}
              {one.name ? `: ${one.name}` : ""}
              {one.uncertainty ? " " : ""}
              {one.uncertainty ? <span class="tag">{t("level.uncertainty", { how: one.uncertainty })}</span> : null}
            </dt>
            {one.reasoning ? <dd class="prose">{one.reasoning}</dd> : null}
          </div>
        ))}
      </dl>
      {explained ? (
        <details class="more">
          <summary>{t("trust.explanation")}</summary>
          <p class="quiet prose">{explained}</p>
        </details>
      ) : null}
    </section>
  );
}
