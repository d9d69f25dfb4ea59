// JSON as people read it: folded, searched, and only the lines in view. It is read from its text, so that numbers are shown
// as they were sent, and a text that was cut is shown as far as it goes.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { bytes, number } from "../lib/format";
import { stringify, type Json } from "../lib/json";
import { Button, Copy, copy } from "./basic";

interface Line {
  depth: number;
  key: string | null;
  text: string; // a scalar as it was sent, or the bracket
  kind: "open" | "close" | "text" | "number" | "word";
  end: number; // of "open": the line that closes it
  inside: number; // of "open": how many members
  comma: boolean;
  parent: number; // the line of the bracket around it; -1: none
  place: number; // which of its members it is
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
    lines.push({ depth: open.length - (kind === "close" ? 1 : 0), key, text: line, kind, end: lines.length, inside: 0, comma: false, parent: parent ?? -1, place: parent === undefined ? 0 : lines[parent]!.inside - 1 });
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

/** Where a line is: $.items[3].name */
function pathOf(lines: Line[], i: number): string {
  const line = lines[i]!;
  if (line.parent < 0) return "$";
  const around = pathOf(lines, line.parent);
  if (line.key === null) return `${around}[${line.place}]`;
  const key = JSON.parse(line.key) as string;
  return /^[A-Za-z_]\w*$/.test(key) ? `${around}.${key}` : `${around}[${line.key}]`;
}

const hits = (line: Line, found: string) => line.text.toLowerCase().includes(found) || (line.key ?? "").toLowerCase().includes(found);

const ROW = 24;
const VIEW = 420;
const COLOUR = { text: "js", number: "jn", word: "jn", open: "", close: "" };

function Value({ line, found, path }: { line: Line; found: string; path?: () => string }) {
  return (
    <span class={found !== "" && hits(line, found) ? "jhit" : ""}>
      {line.key !== null && (
        <>
          {path ? (
            <button type="button" class="jk jpath" title="Copy the path of this value" onClick={() => void copy(path(), `Copied ${path()}`)}>
              {line.key}
            </button>
          ) : (
            <span class="jk">{line.key}</span>
          )}
          {": "}
        </>
      )}
      <span class={COLOUR[line.kind]}>{line.text}</span>
    </span>
  );
}

/** A JSON text with folding. Few lines wrap; many scroll, and only those in view are in the page. */
export function JsonView({ text, label = "JSON", note, tools = true, search }: { text: string; label?: string; note?: ComponentChildren; tools?: boolean; search?: boolean }) {
  const { lines, whole } = useMemo(() => jsonLines(text), [text]);
  const folded = useSignal<ReadonlySet<number>>(new Set());
  const top = useSignal(0);
  const find = useSignal("");
  const turn = useSignal(-1);
  const found = find.value.trim().toLowerCase();
  const places = useMemo(() => (found ? lines.flatMap((line, i) => (hits(line, found) ? [i] : [])) : []), [lines, found]);
  const box = useRef<HTMLDivElement>(null);
  const shown: number[] = [];
  for (let i = 0; i < lines.length; i++) {
    shown.push(i);
    if (folded.value.has(i)) i = lines[i]!.end;
  }
  const many = shown.length > 120;
  const first = many ? Math.max(0, Math.floor(top.value / ROW) - 5) : 0;
  const last = many ? Math.min(shown.length, first + Math.ceil(VIEW / ROW) + 10) : shown.length;
  /** The next hit, unfolded and in view. */
  const next = (by: number) => {
    if (!places.length) return;
    turn.value = (turn.value + by + places.length) % places.length;
    const at = places[turn.value]!;
    const open = new Set(folded.value);
    for (let i = lines[at]!.parent; i >= 0; i = lines[i]!.parent) open.delete(i);
    folded.value = open;
    requestAnimationFrame(() => {
      const line = box.current?.querySelector(`[data-line="${at}"]`);
      if (line) line.scrollIntoView({ block: "nearest" });
      else box.current?.scrollTo(0, Math.max(0, at * ROW - VIEW / 2));
    });
  };
  const fold = (i: number) => {
    const next = new Set(folded.value);
    if (!next.delete(i)) next.add(i);
    folded.value = next;
  };
  if (lines.length === 0) return <pre tabIndex={0}>{text}</pre>;
  return (
    <div class="jview">
      {search && (
        <div class="row jfind">
          <input
            class="in filter"
            type="search"
            aria-label={`Find in ${label}`}
            placeholder="find"
            value={find.value}
            onInput={(event) => ((find.value = event.currentTarget.value), (turn.value = -1))}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              next(event.shiftKey ? -1 : 1);
            }}
          />
          {found && (
            <span class="d sm" role="status">
              {places.length ? `${turn.value < 0 ? "" : `${number(turn.value + 1)} of `}${number(places.length)} found; Enter goes on` : "not found"}
            </span>
          )}
          <span class="grow" />
          <Button size="small" onClick={() => (folded.value = new Set(folded.value.size ? [] : lines.flatMap((line, i) => (line.kind === "open" && line.depth === 1 ? [i] : []))))}>
            {folded.value.size ? "Unfold all" : "Fold all"}
          </Button>
        </div>
      )}
      <div class="jbody">
      <div class={many ? "jbox many" : "jbox"} ref={box} tabIndex={0} role="group" aria-label={label} onScroll={(event) => many && (top.value = event.currentTarget.scrollTop)}>
        {many && first > 0 && <div style={{ height: first * ROW + "px" }} />}
        {shown.slice(first, last).map((i) => {
          const line = lines[i]!;
          const shut = folded.value.has(i);
          return (
            <div key={i} data-line={i} class={places[turn.value] === i ? "jline at" : "jline"} style={{ "--in": line.depth }}>
              {line.kind === "open" && (
                <button type="button" class="jfold" aria-expanded={!shut} aria-label={`Fold ${line.key ?? "value"}`} onClick={() => fold(i)}>
                  {shut ? "▸" : "▾"}
                </button>
              )}
              <Value line={line} found={found} path={search ? () => pathOf(lines, i) : undefined} />
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
      {tools && <Copy text={text} label={`Copy ${label}`} />}
      </div>
      {tools && (note || !whole) && <p class="sm w">{note ?? "cut here"}</p>}
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
