// The query line, taken apart and put together again: words between spaces, "..." around values that have some.

import type { Count } from "../lib/format";

/** The words of a query. */
export function words(text: string): string[] {
  return text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [];
}

/** A word of a field and a value. */
export function token(field: string, value: string): string {
  const bare = /^[^\s":<>]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
  return `${field}:${bare}`;
}

/** Field and value of a word, for the eye. */
export function parts(word: string): { field: string; value: string } {
  const found = /^([A-Za-z_][\w.-]*(?::|[<>]=?))(.*)$/s.exec(word);
  return found ? { field: found[1]!, value: found[2]! } : { field: "", value: word };
}

export function without(query: string, word: string): string {
  return words(query)
    .filter((other) => other !== word)
    .join(" ");
}

/** Adds a word in place of another of its field, of which there can be one; takes it away when it is there. */
export function toggled(query: string, word: string): string {
  const all = words(query);
  const { field } = parts(word);
  return (all.includes(word) ? all.filter((other) => other !== word) : [...all.filter((other) => parts(other).field !== field), word]).join(" ");
}

export interface Facet {
  values: { value: string; n: number }[];
  exact: boolean;
}

export interface Suggestion {
  text: string;
  help: string;
  count?: Count;
}

const STATES = ["open", "closed", "running", "waiting", "completed", "failed", "cancelled", "terminated", "attention", "repair", "blocked", "paused", "problem", "archived", "current"];

const FIELDS: [string, string, string?][] = [
  ["is:", "a state: open, failed, blocked …"],
  ["type:", "a workflow type", "workflow_type"],
  ["status:", "what the row says", "status"],
  ["waiting:", "what it waits for", "wait_kind"],
  ["queue:", "a task queue", "queue"],
  ["build:", "the build that it began with", "compatibility"],
  ["key:", "a business key; *part* for a part of it"],
  ["id:", "a workflow id; *part* for a part of it"],
  ["run:", "a run id"],
  ["reason:", "how it closed", "closed_reason"],
  ["failure:", "the fingerprint of a failure", "failure"],
  ["label.", "a label: label.region:eu"],
  ["attr.", "a search attribute: attr.total>5"],
  ["started<", "less than so long ago: started<1h"],
  ["started>", "longer ago than that, or after a moment"],
  ["closed<", "closed less than so long ago: closed<2d"],
  ["closed>", "closed longer ago, or after a moment"],
];

/** What a word that is being written may become: fields, then the values that the found runs have. */
export function suggestions(typed: string, facets: Record<string, Facet>): Suggestion[] {
  const { field, value } = parts(typed);
  const has = (text: string) => text.toLowerCase().includes(value.toLowerCase().replace(/"/g, ""));
  if (field === "is:") return STATES.filter(has).map((name) => ({ text: "is:" + name, help: "" }));
  const facet = field.startsWith("label.") ? facets["label:" + field.slice(6, -1)] : facets[FIELDS.find(([name]) => name === field)?.[2] ?? ""];
  if (facet) return facet.values.filter((each) => each.value && has(each.value)).map((each) => ({ text: token(field.slice(0, -1), each.value), help: "", count: { n: each.n, exact: facet.exact } }));
  if (field) return [];
  return FIELDS.filter(([name]) => name.startsWith(typed.toLowerCase())).map(([text, help]) => ({ text, help }));
}
