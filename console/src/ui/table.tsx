// The one table: columns that sort, rows that can be opened, what is said when there are none. On a phone each row becomes a
// small card whose values carry the names of their columns.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { number } from "../lib/format";
import { param, set } from "../lib/router";
import { Button, Empty } from "./basic";

export interface Column<T> {
  /** Its heading, and its name in the address when it is sorted by. */
  head: string;
  cell: (row: T) => ComponentChildren;
  /** Classes of its cells. "num" puts the heading at the right, too; "hide-s" leaves it out on a phone. */
  look?: string;
  /** What it is sorted by; a column without it does not sort. */
  by?: (row: T) => number | string | null | undefined;
  /** In its place where the server sorts, which alone has all rows: how it does now, and a turn the other way. */
  served?: { down: boolean; turn: () => void };
  /** The heading is only for those who hear it. */
  quiet?: boolean;
  /** In place of the heading's text: a box that ticks all rows. */
  title?: ComponentChildren;
}

interface TableProps<T> {
  label?: string;
  columns: Column<T>[];
  rows: T[];
  id: (row: T) => string | number;
  dense?: boolean;
  /** Stays a table on a phone, too: it is narrow. */
  narrow?: boolean;
  /** Without headings, for two or three columns that explain themselves. */
  bare?: boolean;
  /** Attributes of a row: chosen, clicked. */
  row?: (row: T) => JSX.HTMLAttributes<HTMLTableRowElement> | Record<string, unknown>;
  /** What stands below a row that is open. */
  detail?: (row: T) => ComponentChildren;
  empty?: string;
  /** How many rows are shown before one asks for more. */
  most?: number;
}

const STEP = 1000; // rows that are added at once: more of them in a page are slow

/** Texts by the alphabet, numbers by size; what is not known comes last, whichever way. */
function compare(a: number | string | null | undefined, b: number | string | null | undefined, down: boolean): number {
  if (a === null || a === undefined || b === null || b === undefined) return Number(a === null || a === undefined) - Number(b === null || b === undefined);
  const less = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
  return down ? -less : less;
}

function Heading<T>({ of, down }: { of: Column<T>; down: boolean | null }) {
  const next = down === null ? of.head : down ? null : "-" + of.head;
  return (
    <th scope="col" class={(of.look ?? "").split(" ").filter((name) => /^(num|hide-[sm]|c\w+)$/.test(name) && name !== "cut").join(" ") || undefined} aria-sort={down === null ? undefined : down ? "descending" : "ascending"}>
      {of.title !== undefined ? (
        of.title
      ) : of.quiet ? (
        <span class="off">{of.head}</span>
      ) : of.by || of.served ? (
        <button type="button" class="sort" title={`Sort by ${of.head.toLowerCase()}`} onClick={of.served?.turn ?? (() => set({ sort: next }, true))}>
          {of.head}
          {down !== null && <span aria-hidden="true"> {down ? "↓" : "↑"}</span>}
        </button>
      ) : (
        of.head
      )}
    </th>
  );
}

export function Table<T>({ label, columns, rows, id, dense, narrow, bare, row, detail, empty, most = 200 }: TableProps<T>) {
  const more = useSignal(0);
  const asked = param("sort");
  const down = asked.startsWith("-");
  const by = columns.find((one) => one.by && one.head === (down ? asked.slice(1) : asked));
  const sorted = by ? [...rows].sort((a, b) => compare(by.by!(a), by.by!(b), down)) : rows;
  const top = columns.find((one) => /\b(cname|idcol)\b/.test(one.look ?? "")) ?? columns[0]; // what a row is called, on a phone
  const shown = sorted.slice(0, most + more.value);
  const left = rows.length - shown.length;
  if (rows.length === 0 && empty) return <Empty title={empty} />;
  return (
    <>
      <table role="table" class={[!narrow && "stackable", dense && "dense"].filter(Boolean).join(" ")} aria-label={label}>
        {!bare && (
          <thead>
            <tr>
              {columns.map((one) => (
                <Heading key={one.head} of={one} down={one.served ? one.served.down : one === by ? down : null} />
              ))}
            </tr>
          </thead>
        )}
        <tbody>
          {shown.map((each) => {
            const below = detail?.(each);
            return (
              <>
                <tr role="row" key={id(each)} {...(row?.(each) as object)}>
                  {columns.map((one) => (
                    <td role="cell" key={one.head} class={one === top ? `${one.look ?? ""} called` : one.look} data-head={one === top || bare || one.quiet || one.title ? undefined : one.head}>
                      {one.cell(each)}
                    </td>
                  ))}
                </tr>
                {below && (
                  <tr role="row" key={id(each) + "+"} class="more">
                    <td role="cell" colSpan={columns.length}>{below}</td>
                  </tr>
                )}
              </>
            );
          })}
        </tbody>
      </table>
      {left > 0 && (
        <div class="selbar">
          <span class="d">
            {number(shown.length)} of {number(rows.length)} are shown
          </span>
          <Button size="small" onClick={() => (more.value += STEP)}>
            {left > STEP ? `Show ${number(STEP)} more` : "Show all"}
          </Button>
        </div>
      )}
    </>
  );
}
