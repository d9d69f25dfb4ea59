// JSON as people read it: folded, searched, and only the lines in view. It is read from its text, so that numbers are shown
// as they were sent, and a text that was cut is shown as far as it goes.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { bytes, number } from "../lib/format";
import { stringify, type Json } from "../lib/json";
import { Copy } from "./basic";

interface Line {
  depth: number;
  key: string | null;
  text: string; // a scalar as it was sent, or the bracket
  kind: "open" | "close" | "text" | "number" | "word";
  end: number; // of "open": the line that closes it
  inside: number; // of "open": how many members
  comma: boolean;
}

const TOKENS = /\s*(?:("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d[\d.eE+-]*)|(true|false|null)|([[\]{},]))/y;

/** The lines of a JSON text; `whole` is false when it ends too soon or is no JSON. */
export function jsonLines(text: string): { lines: Line[]; whole: boolean } {
  const lines: Line[] = [];
  const open: number[] = [];
  let key: string | null = null;
  let at = 0;
  const add = (line: string, kind: Line["kind"]) => {
    const parent = open.at(-1);
    if (kind !== "close" && parent !== undefined) lines[parent]!.inside++;
    lines.push({ depth: open.length - (kind === "close" ? 1 : 0), key, text: line, kind, end: lines.length, inside: 0, comma: false });
    key = null;
  };
  for (;;) {
    TOKENS.lastIndex = at;
    const token = TOKENS.exec(text);
    if (!token) break;
    at = TOKENS.lastIndex;
    const [, string, colon, digits, word, mark] = token;
    if (string !== undefined && colon) key = string;
    else if (string !== undefined) add(string, "text");
    else if (digits) add(digits, "number");
    else if (word) add(word, "word");
    else if (mark === ",") lines.at(-1)!.comma = true;
    else if (mark === "{" || mark === "[") {
      add(mark, "open");
      open.push(lines.length - 1);
    } else {
      const begin = open.at(-1);
      if (begin === undefined) break;
      if (begin === lines.length - 1) Object.assign(lines[begin]!, { text: lines[begin]!.text + mark, kind: "word" });
      else {
        add(mark!, "close");
        lines[begin]!.end = lines.length - 1;
      }
      open.pop();
    }
  }
  for (const begin of open) lines[begin]!.end = lines.length;
  return { lines, whole: open.length === 0 && text.slice(at).trim() === "" && lines.length > 0 };
}

const ROW = 24;
const VIEW = 420;
const COLOUR = { text: "js", number: "jn", word: "jn", open: "", close: "" };

function Value({ line, found }: { line: Line; found: string }) {
  const hit = found !== "" && (line.text.toLowerCase().includes(found) || (line.key ?? "").toLowerCase().includes(found));
  return (
    <span class={hit ? "jhit" : ""}>
      {line.key !== null && (
        <>
          <span class="jk">{line.key}</span>
          {": "}
        </>
      )}
      <span class={COLOUR[line.kind]}>{line.text}</span>
    </span>
  );
}

/** A JSON text with folding. Few lines wrap; many scroll, and only those in view are in the page. */
export function JsonView({ text, label = "JSON", found = "", note, tools = true }: { text: string; label?: string; found?: string; note?: ComponentChildren; tools?: boolean }) {
  const { lines, whole } = useMemo(() => jsonLines(text), [text]);
  const folded = useSignal<ReadonlySet<number>>(new Set());
  const top = useSignal(0);
  const box = useRef<HTMLDivElement>(null);
  const shown: number[] = [];
  for (let i = 0; i < lines.length; i++) {
    shown.push(i);
    if (folded.value.has(i)) i = lines[i]!.end;
  }
  const many = shown.length > 120;
  const first = many ? Math.max(0, Math.floor(top.value / ROW) - 5) : 0;
  const last = many ? Math.min(shown.length, first + Math.ceil(VIEW / ROW) + 10) : shown.length;
  const fold = (i: number) => {
    const next = new Set(folded.value);
    if (!next.delete(i)) next.add(i);
    folded.value = next;
  };
  if (lines.length === 0) return <pre tabIndex={0}>{text}</pre>;
  return (
    <div class="jview">
      <div class={many ? "jbox many" : "jbox"} ref={box} tabIndex={0} role="group" aria-label={label} onScroll={(event) => many && (top.value = event.currentTarget.scrollTop)}>
        {many && first > 0 && <div style={{ height: first * ROW + "px" }} />}
        {shown.slice(first, last).map((i) => {
          const line = lines[i]!;
          const shut = folded.value.has(i);
          return (
            <div key={i} class="jline" style={{ "--in": line.depth }}>
              {line.kind === "open" && (
                <button type="button" class="jfold" aria-expanded={!shut} aria-label={`Fold ${line.key ?? "value"}`} onClick={() => fold(i)}>
                  {shut ? "▸" : "▾"}
                </button>
              )}
              <Value line={line} found={found.toLowerCase()} />
              {shut && (
                <span class="w">
                  {" "}
                  {number(line.inside)} … {line.text === "{" ? "}" : "]"}
                </span>
              )}
              {(shut ? lines[line.end]?.comma : line.comma) && ","}
            </div>
          );
        })}
        {many && last < shown.length && <div style={{ height: (shown.length - last) * ROW + "px" }} />}
      </div>
      {tools && (
        <>
          <Copy text={text} label={`Copy ${label}`} />
          {(note || !whole) && <p class="sm w">{note ?? "cut here"}</p>}
        </>
      )}
    </div>
  );
}

export interface Payload {
  codec: string | null;
  text: string | null;
  bytes: number;
  cut: boolean;
}

/** A payload of a run. Says when it is not all there, and why it cannot be read. */
export function PayloadView({ of, label, none = "nothing" }: { of: Payload | null | undefined; label?: string; none?: string }) {
  if (!of) return <p class="d sm">{none}</p>;
  if (of.text === null || of.text === undefined)
    return (
      <p class="d sm">
        {bytes(of.bytes)} in the codec {of.codec ?? "unknown"}, which the server does not read.
      </p>
    );
  if (of.text.length < 64 && !/[[{]/.test(of.text)) return <JsonView text={of.text} label={label} tools={false} />;
  return <JsonView text={of.text} label={label} note={of.cut ? `${bytes(of.text.length)} of ${bytes(of.bytes)} shown` : undefined} />;
}

/** A value that came inside of an answer. */
export function ValueView({ value, label }: { value: Json; label?: string }) {
  return <JsonView text={stringify(value)} label={label} />;
}
