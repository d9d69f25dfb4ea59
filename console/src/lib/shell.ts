// Lines for a shell that do what the page does, as they stand: for whoever has said where the server is, and in the namespace
// that the page shows. What only they know is written large (STORE).
import { namespace } from "./api";
import { stringify, type Json } from "./json";

/** A word of a line. */
export function quoted(word: string): string {
  return /^[A-Za-z0-9_.:\/@%+=,-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

/** Arguments as the verbs take them: name=text, name:=JSON, or one JSON text. */
export function inputWords(value: Json | undefined): string[] {
  if (value === undefined || value === null) return [];
  const plain = typeof value === "object" && !Array.isArray(value) && Object.keys(value).every((name) => /^[A-Za-z_][\w.-]*$/.test(name));
  if (!plain) return [stringify(value)];
  return Object.entries(value as Record<string, Json>).map(([name, one]) => (typeof one === "string" ? `${name}=${one}` : `${name}:=${stringify(one)}`));
}

type Flags = Record<string, string | number | boolean | null | undefined>;

/** A line of a verb. Flags without a value are left out; `true` is a flag that takes none. */
export function shell(verb: string, words: string[], flags: Flags = {}): string {
  const space = namespace();
  const all: Flags = { ...flags, namespace: space === "default" ? null : space };
  const options = Object.entries(all).flatMap(([name, value]) => (value === true ? [`--${name}`] : value ? [`--${name} ${quoted(String(value))}`] : []));
  const own = words.map(quoted);
  return ["holdfast", verb, ...(words.some((word) => word.startsWith("-")) ? [...options, "--", ...own] : [...own, ...options])].join(" ");
}

/** Filters of a list, as the server has read them, in the words of the verb ls; `line` is what they were read from, and the only
 * form that leaves something out. */
export function filterWords(filters: Record<string, Json>, line: string): string[] {
  if (filters.not) return ["q=" + line];
  const labels = Object.entries((filters.labels ?? {}) as Record<string, Json>).map(([name, value]) => `label=${name}=${value}`);
  const attributes = Object.entries((filters.search_attributes ?? {}) as Record<string, Json>).flatMap(([name, value]) => {
    const bounds: [string, Json][] = value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [["eq", value]];
    return bounds.map(([sign, bound]) => `search_attribute=${name}${SIGNS[sign] ?? "="}${typeof bound === "string" ? bound : stringify(bound)}`);
  });
  const plain = Object.entries(filters).filter(([name]) => name !== "labels" && name !== "search_attributes");
  // `status` is a word of the verb: what stands in the row has another name there.
  return [...plain.map(([name, value]) => `${name === "status" ? "run_status" : name}=${value}`), ...labels, ...attributes];
}

const SIGNS: Record<string, string> = { gte: ">=", lte: "<=", gt: ">", lt: "<" };
