/** Every word of the page comes from en.json. A translation is a file with the same keys. */
import english from "./en.json";

export type TextKey = keyof typeof english;
type CountedKey = { [K in TextKey]: K extends `${infer Stem}.one` ? (`${Stem}.other` extends TextKey ? Stem : never) : never }[TextKey];

const LANGUAGE = "en";
const plurals = new Intl.PluralRules(LANGUAGE);
const numbers = new Intl.NumberFormat(LANGUAGE);

/** The text of a key; `{name}` in it is replaced by the value of that name. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  return english[key].replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? numbers.format(value) : value;
  });
}

/** The text for so many of a thing: `{n}` is the number. */
export function counted(stem: CountedKey, n: number, values: Readonly<Record<string, string | number>> = {}): string {
  const form: TextKey = plurals.select(n) === "one" ? `${stem}.one` : `${stem}.other`;
  return t(form, { ...values, n });
}

/** The text of a key that is made from data, such as a state, where there is one. */
export function maybe(key: string): string | null {
  return Object.hasOwn(english, key) ? english[key as TextKey] : null;
}

export { LANGUAGE };
