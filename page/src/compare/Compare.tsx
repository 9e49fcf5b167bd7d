import { useEffect, useMemo, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { AnswerView, CandidateView, ClueView, CompareView, RunShown, SpentView } from "../api/types";
import { kilometres, longDate, percent, seconds } from "../format";
import { MapView } from "../map/MapView";
import { hashOf } from "../router";
import { sureWords } from "../state/summary";
import { counted, t } from "../strings";
import { Icon } from "../ui/Icon";
import { Seen } from "../case/Clues";
import { Banner, Bar, Empty, Loading, Odds } from "../ui/parts";

const LEFT = "1";
const RIGHT = "2";

interface Both {
  told: CompareView;
  left: RunShown;
  right: RunShown;
}

function Side({ letter, name, run, answer, model, spent }: { letter: string; name: string; run: RunShown; answer: AnswerView; model: string; spent: SpentView }) {
  const used = [counted("compare.steps", spent.turns), counted("timeline.calls", spent.calls), seconds(spent.seconds)].join(", ");
  return (
    <section class="panel compare-side" aria-label={name}>
      <p class="kicker">
        <span class="letter">{letter}</span>
        {name} · {longDate(run.created)}
      </p>
      <h2 class={answer.located ? "place" : "place quiet"}>
        <a href={hashOf({ screen: "case", caseId: run.case, runId: run.id })}>{answer.located ? answer.place : t("finding.none")}</a>
      </h2>
      {answer.located ? <p class="sure">{sureWords(answer)}</p> : null}
      {answer.located && answer.probability !== null ? <Odds probability={answer.probability} /> : null}
      <dl class="facts">
        <div>
          <dt>{t("compare.model")}</dt>
          <dd>{model}</dd>
        </div>
        {run.request.hint ? (
          <div>
            <dt>{t("wish.hint")}</dt>
            <dd>{run.request.hint}</dd>
          </div>
        ) : null}
        {run.request.within || run.request.area ? (
          <div>
            <dt>{t("wish.within")}</dt>
            <dd>{run.request.within ?? t("feedback.area")}</dd>
          </div>
        ) : null}
        <div>
          <dt>{t("compare.used")}</dt>
          <dd>{run.parent === null ? used : t("compare.usedWhole", { used })}</dd>
        </div>
      </dl>
      {answer.evidence.length > 0 ? (
        <>
          <h3>{t("compare.evidence")}</h3>
          <ul class="lines">
            {answer.evidence.slice(0, 5).map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </>
      ) : null}
    </section>
  );
}

function OnlyClues({ title, clues }: { title: string; clues: readonly ClueView[] }) {
  return (
    <section class="panel" aria-label={title}>
      <h3>{title}</h3>
      {clues.length === 0 ? <Empty>{t("compare.noClues")}</Empty> : null}
      <ul class="lines">
        {clues.map((clue) => (
          <li key={clue.id}>
            <Seen clue={clue} /> {clue.says} {clue.rejected ? <span class="tag">{t("compare.rejected")}</span> : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Share({ value }: { value: number | null }) {
  if (value === null) return <span class="quiet">{t("compare.notNamed")}</span>;
  return (
    <span class="candidate-share">
      <Bar share={value} />
      <span class="figure">{percent(value)}</span>
    </span>
  );
}

function pinsOf(told: CompareView): CandidateView[] {
  const pin = (id: string, letter: string, answer: AnswerView): CandidateView => ({
    id, letter, name: answer.place, lat: answer.lat, lon: answer.lon, radius_km: answer.radius_km, probability: answer.probability,
    for: [], against: [], fate: "open", is_answer: false, area: answer.area ?? null,
  });
  return [pin("left", LEFT, told.left), pin("right", RIGHT, told.right)].filter((one) => one.lat !== null);
}

/** Two runs side by side: what each found, how far apart, and what only one of them knew. */
export function Compare({ left, right }: { left: string; right: string }) {
  const [both, setBoth] = useState<Both | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [lit, setLit] = useState<string | null>(null);
  useEffect(() => {
    Promise.all([api.compare(left, right), api.run(left), api.run(right)]).then(
      ([told, one, other]) => setBoth({ told, left: one, right: other }),
      (thrown: unknown) => setTrouble(troubleOf(thrown).message),
    );
  }, [left, right]);
  const pins = useMemo(() => (both ? pinsOf(both.told) : []), [both]);
  if (trouble !== null) return <Banner kind="bad">{trouble}</Banner>;
  if (both === null) return <Loading />;
  const { told } = both;
  const verdict = told.words || (told.distance_km === null ? "" : t("compare.apart", { distance: kilometres(told.distance_km) }));
  return (
    <article class="compare">
      <div class="case-head">
        <a class="button plain square" href={hashOf({ screen: "case", caseId: both.right.case, runId: both.right.id })} aria-label={t("compare.back")}>
          <Icon name="back" />
        </a>
        <div class="case-title">
          <h1>{t("compare.title")}</h1>
          {verdict ? <p class="compare-words">{verdict}</p> : null}
        </div>
      </div>
      <div class="compare-grid">
        <Side letter={LEFT} name={t("compare.left")} run={both.left} answer={told.left} model={told.models.left} spent={told.spent.left} />
        <Side letter={RIGHT} name={t("compare.right")} run={both.right} answer={told.right} model={told.models.right} spent={told.spent.right} />
      </div>
      {pins.length > 0 ? (
        <MapView candidates={pins} answer={null} area={null} mode="look" onDrawn={() => undefined} onPin={() => undefined} highlighted={lit} onHighlight={setLit} label={t("compare.map")} />
      ) : null}
      {told.candidates.length > 0 ? (
        <section class="panel" aria-labelledby="compare-candidates">
          <h3 id="compare-candidates">{t("candidates.title")}</h3>
          <table class="odds-table">
            <thead>
              <tr>
                <th scope="col">{t("compare.place")}</th>
                <th scope="col">{t("compare.left")}</th>
                <th scope="col">{t("compare.right")}</th>
              </tr>
            </thead>
            <tbody>
              {told.candidates.map((one, index) => (
                <tr key={`${index}-${one.name}`}>
                  <th scope="row">{one.name}</th>
                  <td>
                    <Share value={one.left} />
                  </td>
                  <td>
                    <Share value={one.right} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : null}
      <div class="compare-grid">
        <OnlyClues title={t("compare.onlyLeft")} clues={told.only_left} />
        <OnlyClues title={t("compare.onlyRight")} clues={told.only_right} />
      </div>
    </article>
  );
}
