// The query line, taken apart and put together again: words between spaces, "..." around values that have some.

/** The words of a query. */
export function words(text: string): string[] {
  return text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g) ?? [];
}

/** A word of a field and a value. */
export function token(field: string, value: string): string {
  const shown = /^[^\s":<>]+$/.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
  return `${field}:${shown}`;
}

/** Field and value of a word, for the eye. A minus in front, which leaves out, belongs to the field. */
export function parts(word: string): { field: string; value: string } {
  const found = /^(-?[A-Za-z_][\w.-]*(?::|[<>]=?))(.*)$/s.exec(word);
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

/** Leaves the runs of a word out, or no longer. The word itself cannot be asked for meanwhile. */
export function leftOut(query: string, word: string): string {
  const out = "-" + word;
  const all = words(query).filter((other) => other !== word);
  return (all.includes(out) ? all.filter((other) => other !== out) : [...all, out]).join(" ");
}

/** A value without the quotes that it needs in a line. */
export function bare(value: string): string {
  return value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value;
}

export interface Facet {
  values: { value: string; n: number }[];
  exact: boolean;
}
