import type { Budget, SpentView } from "../api/types";
import { money, seconds } from "../format";
import { LANGUAGE, t } from "../strings";
import { Bar } from "../ui/parts";

const grouped = new Intl.NumberFormat(LANGUAGE);

interface Row {
  name: string;
  used: number;
  most: number | null;
  words(value: number): string;
}

/** What was used of the budget: bars where there is a limit, figures where there is none. */
export function Spending({ spent, budget }: { spent: SpentView | null; budget: Budget | null }) {
  if (spent === null && budget === null) return null;
  const plain = (value: number): string => grouped.format(value);
  const rows: Row[] = [
    { name: t("spent.turns"), used: spent?.turns ?? 0, most: budget?.turns ?? null, words: plain },
    { name: t("spent.calls"), used: spent?.calls ?? 0, most: budget?.calls ?? null, words: plain },
    { name: t("spent.time"), used: spent?.seconds ?? 0, most: budget?.seconds ?? null, words: seconds },
    { name: t("spent.tokens"), used: spent?.tokens ?? 0, most: budget?.tokens ?? null, words: plain },
    { name: t("spent.money"), used: spent?.usd ?? 0, most: budget?.usd ?? null, words: money },
  ];
  const shown = rows.filter((row) => row.most !== null || row.used > 0);
  return (
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
  );
}
