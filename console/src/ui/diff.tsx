// Two texts line by line: what went is marked with minus, what came with plus, and what stayed is folded away from the changes.
import type { ComponentChildren } from "preact";
import { number } from "../lib/format";

export interface DiffLine {
  kind: "same" | "del" | "add";
  text: string;
}

const MOST = 1500; // lines of which pairs are looked for; beyond that what is between the equal ends is taken as changed

/** The shortest list of changes for short texts; equal beginnings and ends cost nothing. */
export function diffLines(a: string[], b: string[]): DiffLine[] {
  let from = 0;
  while (from < a.length && from < b.length && a[from] === b[from]) from++;
  let end = 0;
  while (end < a.length - from && end < b.length - from && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const [x, y] = [a.slice(from, a.length - end), b.slice(from, b.length - end)];
  const middle: DiffLine[] = [];
  if (x.length * y.length > MOST * MOST) middle.push(...x.map((text): DiffLine => ({ kind: "del", text })), ...y.map((text): DiffLine => ({ kind: "add", text })));
  else {
    const wide = y.length + 1;
    const best = new Uint16Array((x.length + 1) * wide);
    for (let i = x.length - 1; i >= 0; i--)
      for (let j = y.length - 1; j >= 0; j--) best[i * wide + j] = x[i] === y[j] ? best[(i + 1) * wide + j + 1]! + 1 : Math.max(best[(i + 1) * wide + j]!, best[i * wide + j + 1]!);
    let [i, j] = [0, 0];
    while (i < x.length || j < y.length) {
      if (i < x.length && j < y.length && x[i] === y[j]) middle.push({ kind: "same", text: x[i++]! }), j++;
      else if (i < x.length && (j >= y.length || best[(i + 1) * wide + j]! >= best[i * wide + j + 1]!)) middle.push({ kind: "del", text: x[i++]! });
      else middle.push({ kind: "add", text: y[j++]! });
    }
  }
  const same = (text: string): DiffLine => ({ kind: "same", text });
  return [...a.slice(0, from).map(same), ...middle, ...a.slice(a.length - end).map(same)];
}

const AROUND = 3;
const WORDS = { same: "", del: "gone: ", add: "new: " };

export function Diff({ a, b, label, equal }: { a: string; b: string; label: string; equal: ComponentChildren }) {
  const lines = diffLines(a.split("\n"), b.split("\n"));
  if (lines.every((line) => line.kind === "same")) return <p class="d sm">{equal}</p>;
  const near = new Set<number>();
  lines.forEach((line, i) => {
    if (line.kind !== "same") for (let at = i - AROUND; at <= i + AROUND; at++) near.add(at);
  });
  const out: ComponentChildren[] = [];
  let hidden = 0;
  lines.forEach((line, i) => {
    if (!near.has(i)) {
      hidden++;
      return;
    }
    if (hidden) out.push(<div class="w">… {number(hidden)} equal lines</div>);
    hidden = 0;
    out.push(
      <div class={line.kind === "same" ? undefined : line.kind}>
        <span class="off">{WORDS[line.kind]}</span>
        {line.text}
      </div>,
    );
  });
  if (hidden) out.push(<div class="w">… {number(hidden)} equal lines</div>);
  return (
    <div class="jsn" role="group" aria-label={label} tabIndex={0}>
      {out}
    </div>
  );
}
