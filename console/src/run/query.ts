// The query line, taken apart and put together again: words between spaces, "..." around values that have some.

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
