import type { BudgetView, SpentView } from "../api/types";
import { money, seconds } from "../format";
import { counted, LANGUAGE, t } from "../strings";
import { Bar } from "../ui/parts";

const grouped = new Intl.NumberFormat(LANGUAGE);

interface Row {
  name: string;
  used: number;
  most: number | null;
  words(value: number): string;
}

/** What was used: of a run that was continued all of it, as elsewhere; else bars where the budget has a limit. */
export function Spending({ stretch, whole, budget: limits }: { stretch: SpentView | null; whole: SpentView | null; budget: BudgetView | null }) {
  if (stretch === null && whole === null && limits === null) return null;
  const plain = (value: number): string => grouped.format(value);
  const continued = stretch !== null && whole !== null && whole.turns > stretch.turns;
  // A limit holds from where the run was continued.
  const [spent, budget] = continued ? [whole, null] : [stretch ?? whole, limits];
  const rows: Row[] = [
    { name: t("spent.turns"), used: spent?.turns ?? 0, most: budget?.turns ?? null, words: plain },
    { name: t("spent.calls"), used: spent?.calls ?? 0, most: budget?.calls ?? null, words: plain },
    { name: t("spent.time"), used: spent?.seconds ?? 0, most: budget?.seconds ?? null, words: seconds },
    { name: t("spent.tokens"), used: spent?.tokens ?? 0, most: budget?.tokens ?? null, words: plain },
    { name: t("spent.money"), used: spent?.usd ?? 0, most: budget?.usd ?? null, words: money },
  ];
  const shown = rows.filter((row) => row.most !== null || row.used > 0);
  const since = continued ? [counted("compare.steps", stretch.turns), counted("timeline.calls", stretch.calls), seconds(stretch.seconds)].join(", ") : "";
  return (
    <>
      <dl class="spending" aria-label={t("spent.title")}>
        {shown.map((row) => (
          <div key={row.name}>
            <dt>{row.name}</dt>
            <dd>
              <span class="figure">{row.most === null ? row.words(row.used) : t("spent.of", { used: row.words(row.used), most: row.words(row.most) })}</span>
              {row.most === null ? null : <Bar share={row.used / Math.max(row.most, 1e-9)} />}
            </dd>
          </div>
        ))}
      </dl>
      {continued ? <p class="quiet spending-whole">{t("spent.whole", { used: since })}</p> : null}
    </>
  );
}
