/** Figures as people say them; the same words as in the report. */
import { LANGUAGE, t } from "./strings";

const grouped = new Intl.NumberFormat(LANGUAGE);

/** A share as a whole percentage, as the server's `whole_percent` rounds it: halves go to the even number. */
export function wholePercent(share: number): number {
  const exact = 100 * Number(share.toFixed(3));
  const below = Math.floor(exact);
  return exact - below === 0.5 ? below + (below % 2) : Math.round(exact);
}

/** A probability in percent, never quite nothing and never quite all. */
export function percent(probability: number): string {
  const rounded = wholePercent(probability);
  if (rounded >= 100) return t("figure.over99");
  if (rounded <= 0) return t("figure.under1");
  return t("figure.percent", { n: rounded });
}

/** A distance or radius: 220 m, 2.5 km, 1,200 km. */
export function kilometres(km: number): string {
  if (km < 0.9995) return t("figure.m", { n: grouped.format(Math.max(1, Math.round(km * 1000))) });
  if (km < 9.95) return t("figure.km", { n: km.toFixed(1).replace(/\.0$/, "") });
  return t("figure.km", { n: grouped.format(Math.round(km)) });
}

/** A point with no more decimals than its radius deserves. */
export function coordinates(lat: number, lon: number, radiusKm: number | null = null): string {
  const decimals = radiusKm === null || radiusKm < 0.1 ? 5 : radiusKm < 1 ? 4 : radiusKm < 10 ? 3 : radiusKm < 100 ? 2 : 1;
  return `${lat.toFixed(decimals)}, ${lon.toFixed(decimals)}`;
}

/** Seconds as people say them: 0.4 s, 12 s, 3 min 5 s. */
export function seconds(value: number): string {
  if (value < 9.95) return t("figure.s", { n: value.toFixed(1).replace(/\.0$/, "") });
  const whole = Math.round(value);
  if (whole < 60) return t("figure.s", { n: whole });
  if (whole % 60 === 0) return t("figure.wholeMin", { min: whole / 60 });
  return t("figure.min", { min: Math.floor(whole / 60), s: whole % 60 });
}

/** The size of a file: 538 KB, 3.1 MB, 1.6 GB. */
export function bytes(count: number): string {
  for (const [key, step] of [["figure.gb", 1e9], ["figure.mb", 1e6]] as const) {
    const value = count / step;
    if (value >= 0.9995) return t(key, { n: value >= 99.95 ? grouped.format(Math.round(value)) : value.toFixed(1) });
  }
  return t("figure.kb", { n: count === 0 ? 0 : Math.max(1, Math.round(count / 1000)) });
}

export function money(usd: number): string {
  return t("figure.usd", { n: usd.toFixed(usd < 1 ? 3 : 2) });
}

/** Times are seconds since 1970. */
export function longDate(when: number): string {
  return new Intl.DateTimeFormat(LANGUAGE, { dateStyle: "medium", timeStyle: "short" }).format(new Date(when * 1000));
}

/** Today only the hour, this year no year. */
export function shortDate(when: number, now: Date = new Date()): string {
  const date = new Date(when * 1000);
  const today = date.toDateString() === now.toDateString();
  const options: Intl.DateTimeFormatOptions = today
    ? { hour: "2-digit", minute: "2-digit" }
    : { day: "numeric", month: "short", ...(date.getFullYear() === now.getFullYear() ? {} : { year: "numeric" }) };
  return new Intl.DateTimeFormat("en-GB", options).format(date);
}

export function isoDate(when: number): string {
  return new Date(when * 1000).toISOString();
}
