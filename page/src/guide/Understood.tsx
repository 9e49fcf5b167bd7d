import { useEffect, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { GuideAttribute, SightingsShown } from "../api/types";
import { t } from "../strings";
import { Chip } from "../ui/parts";

const TYPING_MS = 250;
const FEW = 2;

/** What the server makes of things seen, asked anew when they have not changed for a moment. */
export function useWeighed(seen: readonly string[]): { found: SightingsShown | null; trouble: string | null } {
  const [found, setFound] = useState<SightingsShown | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const key = seen.join("\n");
  useEffect(() => {
    setTrouble(null);
    if (key === "") {
      setFound(null);
      return undefined;
    }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api.weigh([...seen], stop.signal).then(setFound, (thrown: unknown) => {
        if (!stop.signal.aborted) setTrouble(troubleOf(thrown).message);
      });
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  return { found, trouble };
}

interface UnderstoodProps {
  sightings: readonly { words: string; label: string }[];
  onDrop(words: string): void;
  /** They mean this instead, as attribute=value. */
  onMean(words: string, key: string): void;
}

/** How written words were understood: each can be dropped, or given another meaning. */
export function Understood({ sightings, onDrop, onMean }: UnderstoodProps) {
  const [asked, setAsked] = useState<readonly GuideAttribute[]>([]);
  const [changing, setChanging] = useState<string | null>(null);
  useEffect(() => {
    if (changing !== null && asked.length === 0) api.guide().then((told) => setAsked(told.attributes), () => setChanging(null));
  }, [changing]);
  if (sightings.length === 0) return null;
  return (
    <div class="understood" role="group" aria-label={t("understood.title")}>
      {sightings.map(({ words, label }) => (
        <span key={words} class="understood-one">
          <Chip label={words} words={t("understood.as", { words, label: shortened(label) })} onRemove={() => onDrop(words)} />
          {changing === words ? (
            <select
              aria-label={t("understood.means", { words })}
              onChange={(event) => {
                setChanging(null);
                if (event.currentTarget.value !== "") onMean(words, event.currentTarget.value);
              }}
            >
              <option value="">{t("understood.choose")}</option>
              {asked.map((one) => (
                <optgroup key={one.attribute} label={one.label}>
                  {one.values.map((value) => (
                    <option key={value.value} value={`${one.attribute}=${value.value}`}>
                      {value.label}
                    </option>
                  ))}
                </optgroup>
              ))}
            </select>
          ) : (
            <button type="button" class="plain small" aria-label={t("understood.changeOf", { words })} onClick={() => setChanging(words)}>
              {t("understood.change")}
            </button>
          )}
        </span>
      ))}
    </div>
  );
}

/** "Centre line: Yellow, broken or Yellow, solid and 6 more", where words fit many values. */
function shortened(label: string): string {
  const values = label.split(" or ");
  return values.length <= FEW + 1 ? label : t("understood.more", { values: values.slice(0, FEW).join(" or "), n: values.length - FEW });
}
