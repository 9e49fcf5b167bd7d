import { useEffect, useMemo, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { CandidateView, GuideAttribute, SightingsShown } from "../api/types";
import { percent } from "../format";
import { MapView } from "../map/MapView";
import { letterAt } from "../map/marks";
import { go } from "../router";
import { announce } from "../state/announce";
import { seenFor, seenWords, ticksOf, withoutPart } from "../state/seen";
import { counted, maybe, t } from "../strings";
import { Field } from "../ui/Field";
import { Banner, Bar, Chip, Empty, Loading } from "../ui/parts";
import { Drawing } from "./Drawing";
import { Understood, useWeighed } from "./Understood";

/** What is ticked, as the server reads it: attribute=value. */
type Ticks = ReadonlySet<string>;

function candidatesOf(found: SightingsShown | null): CandidateView[] {
  return (found?.countries ?? []).map((one, index) => ({
    id: one.code, name: one.name, lat: one.lat, lon: one.lon, radius_km: one.radius_km, probability: one.share,
    for: [], against: [], fate: "open", letter: letterAt(index), is_answer: false,
  }));
}

/** "What do you see?": every tick ranks the countries anew, on the map and in the list. */
export function Checklist() {
  const [asked, setAsked] = useState<GuideAttribute[] | null>(null);
  const [ticks, setTicks] = useState<Ticks>(() => ticksOf(seenWords.value).ticks);
  const [words, setWords] = useState(() => ticksOf(seenWords.value).written);
  const [unasked, setUnasked] = useState<string | null>(null);
  const [highlighted, setHighlighted] = useState<string | null>(null);

  useEffect(() => {
    api.guide().then((told) => setAsked(told.attributes), (thrown: unknown) => setUnasked(troubleOf(thrown).message));
  }, []);

  const written = words.trim();
  const anything = ticks.size > 0 || written !== "";
  const { found, trouble: unweighed } = useWeighed([...ticks, ...(written === "" ? [] : [written])]);
  const trouble = unasked ?? unweighed;
  useEffect(() => {
    const first = found?.countries[0];
    if (first) announce(t("see.leads", { country: first.name, share: percent(first.share) }));
  }, [found]);
  const understood = (found?.sightings ?? []).filter((one) => !ticks.has(one.words));

  const candidates = useMemo(() => candidatesOf(found), [found]);
  const labels = useMemo(() => labelsOf(asked ?? []), [asked]);
  const groups = useMemo(() => groupsOf(asked ?? []), [asked]);
  const flip = (key: string): void => {
    const next = new Set(ticks);
    if (!next.delete(key)) next.add(key);
    setTicks(next);
  };
  const use = (): void => {
    seenWords.value = [...ticks, written].filter((one) => one !== "").join(", ");
    const from = seenFor.value;
    if (from === null) {
      go({ screen: "home" });
      return;
    }
    seenFor.value = { ...from, told: true };
    go({ screen: "case", caseId: from.caseId, runId: from.runId });
  };

  return (
    <div class="see">
      <div class="see-head">
        <h1>{t("see.title")}</h1>
        <p class="quiet">{t("see.lead")}</p>
      </div>
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
      <div class="see-grid">
        <div class="see-questions">
          <Field label={t("see.words")} help={t("see.wordsHelp")} value={words} onInput={setWords} />
          <Understood
            sightings={understood}
            onDrop={(part) => setWords(withoutPart(words, part))}
            onMean={(part, key) => {
              setWords(withoutPart(words, part));
              setTicks(new Set(ticks).add(key));
            }}
          />
          {asked === null && trouble === null ? <Loading /> : null}
          {groups.map(([group, attributes]) => (
            <Group key={group} group={group} attributes={attributes} ticks={ticks} onFlip={flip} />
          ))}
        </div>
        <section class="see-odds" aria-label={t("see.odds")}>
          <MapView
            candidates={candidates} answer={null} area={null} mode="look" onDrawn={() => undefined} onPin={() => undefined}
            highlighted={highlighted} onHighlight={setHighlighted} label={t("see.map")}
          />
          <div class="see-ticked">
            {[...ticks].map((key) => (
              <Chip key={key} label={labels.get(key) ?? key} words={labels.get(key) ?? key} onRemove={() => flip(key)} />
            ))}
          </div>
          {found === null ? <Empty>{t("see.nothing")}</Empty> : <Ranking found={found} highlighted={highlighted} onHighlight={setHighlighted} />}
          <div class="buttons">
            <button type="button" class="primary" disabled={!anything} onClick={use}>
              {t(seenFor.value === null ? "see.use" : "see.useAgain")}
            </button>
            <button
              type="button" disabled={!anything}
              onClick={() => {
                setTicks(new Set());
                setWords("");
                seenWords.value = "";
              }}
            >
              {t("see.clear")}
            </button>
          </div>
        </section>
      </div>
      {found?.countries[0] === undefined ? null : (
        <p class="see-leader" aria-hidden="true">
          {found.countries.slice(0, 3).map((one) => `${one.name} ${percent(one.share)}`).join(" · ")}
        </p>
      )}
    </div>
  );
}

function Group({ group, attributes, ticks, onFlip }: { group: string; attributes: readonly GuideAttribute[]; ticks: Ticks; onFlip(key: string): void }) {
  const count = attributes.flatMap((one) => one.values.filter((value) => ticks.has(`${one.attribute}=${value.value}`))).length;
  return (
    <details class="see-group" open={group === "road"}>
      <summary>
        {maybe(`see.group.${group}`) ?? group}
        {count > 0 ? <span class="see-count">{counted("see.ticked", count)}</span> : null}
      </summary>
      {attributes.map((one) => (
        <fieldset key={one.attribute} class="see-attribute">
          <legend>{one.question}</legend>
          <div class="see-values">
            {one.values.map((value) => {
              const key = `${one.attribute}=${value.value}`;
              return (
                <label key={key} class={`see-value ${ticks.has(key) ? "on" : ""}`}>
                  <input type="checkbox" checked={ticks.has(key)} onChange={() => onFlip(key)} />
                  <Drawing attribute={one.attribute} value={value.value} />
                  <span>{value.label}</span>
                </label>
              );
            })}
          </div>
        </fieldset>
      ))}
    </details>
  );
}

function Ranking({ found, highlighted, onHighlight }: { found: SightingsShown; highlighted: string | null; onHighlight(id: string | null): void }) {
  return (
    <>
      <ol class="see-ranking">
        {found.countries.map((one, index) => (
          <li key={one.code} class={highlighted === one.code ? "on" : ""} onMouseEnter={() => onHighlight(one.code)} onMouseLeave={() => onHighlight(null)}>
            <span class="letter">{letterAt(index)}</span>
            <span class="see-country">{one.name}</span>
            <Bar share={one.share} />
            <span class="see-share">{percent(one.share)}</span>
          </li>
        ))}
      </ol>
      {found.not_understood.length === 0 ? null : <p class="quiet">{t("see.unknown", { words: found.not_understood.join("; ") })}</p>}
      <details class="more">
        <summary>{t("see.why")}</summary>
        <ul class="lines">
          {found.sightings.map((one) => (
            <li key={`${one.label}${one.words}`}>
              {one.label}
              <span class="quiet">
                {" "}
                {Object.entries(one.moved).map(([country, factor]) => t("see.moved", { country, factor: factor.toPrecision(2) })).join(", ")}
              </span>
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function labelsOf(attributes: readonly GuideAttribute[]): Map<string, string> {
  return new Map(attributes.flatMap((one) => one.values.map((value) => [`${one.attribute}=${value.value}`, `${one.label}: ${value.label}`])));
}

function groupsOf(attributes: readonly GuideAttribute[]): [string, GuideAttribute[]][] {
  const found = new Map<string, GuideAttribute[]>();
  for (const one of attributes) found.set(one.group, [...(found.get(one.group) ?? []), one]);
  return [...found];
}
