// The query line, taken apart and put together again: words between spaces, "..." around values that have some.

/** The words of a query. */
export function words(text: string): string[] {
  return text.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

/** A word of a field and a value. */
export function token(field: string, value: string, not = false): string {
  const bare = /^[^\s"]+$/.test(value) ? value : `"${value.replace(/"/g, "")}"`;
  return `${not ? "-" : ""}${field}:${bare}`;
}

/** Field, sign and value of a word, for the eye. */
export function parts(word: string): { field: string; value: string } {
  const found = /^(-?[A-Za-z_][\w.-]*(?::|[<>]=?))(.*)$/s.exec(word);
  return found ? { field: found[1]!, value: found[2]! } : { field: "", value: word };
}

export function without(query: string, word: string): string {
  return words(query)
    .filter((other) => other !== word)
    .join(" ");
}

/** Adds a word, in place of its opposite; takes it away when it is there. */
export function toggled(query: string, word: string): string {
  const opposite = word.startsWith("-") ? word.slice(1) : "-" + word;
  const all = words(query);
  return (all.includes(word) ? all.filter((other) => other !== word) : [...all.filter((other) => other !== opposite), word]).join(" ");
}

/** Bytes of UTF-8, as the server counts. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
