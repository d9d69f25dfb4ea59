// The picture of a run: where the time went, what failed, and what it waits for. Bars are on a canvas, names and focus in the
// page; only the rows in view are in either. The Steps tab says the same in words.
import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { duration, moment, now, stamp } from "../lib/format";
import { useKey } from "../lib/keys";
import { useData } from "../lib/live";
import { palette, zone } from "../lib/prefs";
import { param, set } from "../lib/router";
import { Bones, Empty, Fault, Icon, RunLink } from "../ui/basic";
import { drawGantt, drawKey, drawStrip, HEAD } from "./draw";
import { howMany, Older } from "./older";
import { readPart, usePart, type Place, type Spans } from "./place";
import { makeRows, type GanttRow } from "./rows";
import { busyIntervals, makeScale } from "./scale";

const VIEW_MAX = 640;
const LEGEND: [string, string][] = [
  ["queued", "queued"],
  ["running", "running"],
  ["backoff", "back-off"],
  ["waiting", "waiting for outside"],
  ["timer", "timer"],
  ["failed", "failed attempt"],
  ["lost", "worker lost"],
  ["folded", "idle, folded"],
];

/** The width of an element, from the moment on when it is there. */
function useWidth(): [(element: HTMLDivElement | null) => void, number] {
  const width = useSignal(0);
  const watch = useRef<ResizeObserver | null>(null);
  const refer = useCallback((element: HTMLDivElement | null) => {
    watch.current?.disconnect();
    if (!element) return;
    width.value = element.clientWidth;
    watch.current = new ResizeObserver(() => (width.value = element.clientWidth));
    watch.current.observe(element);
  }, []);
  return [refer, width.value];
}

function Key({ kind }: { kind: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) drawKey(canvas.current, kind);
  }, [palette.value]);
  return <canvas ref={canvas} aria-hidden="true" />;
}

function Strip({ spans, from, to, window: [a, b], show }: { spans: Spans; from: number; to: number; window: [number, number]; show: (window: [number, number] | null) => void }) {
  const [box, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ mode: "new" | "left" | "right" | "move"; from: number; window: [number, number] } | null>(null);
  useEffect(() => {
    if (canvas.current && width) drawStrip(canvas.current, width, 38, spans, from, to, [a, b]);
  });
  const timeAt = (event: PointerEvent) => {
    const place = canvas.current!.getBoundingClientRect();
    return from + (Math.max(0, Math.min(1, (event.clientX - place.left - 4) / Math.max(1, place.width - 8))) * (to - from));
  };
  const least = Math.max(20, (to - from) / 500);
  const apply = (first: number, last: number) => {
    const low = Math.max(from, Math.min(first, last));
    const high = Math.min(to, Math.max(first, last));
    show(high - low < least || (low <= from && high >= to) ? null : [low, high]);
  };
  const move = (event: PointerEvent) => {
    if (!drag.current) return;
    const at = timeAt(event);
    const { mode, from: began, window: was } = drag.current;
    if (mode === "new") apply(began, at);
    else if (mode === "left") apply(at, was[1]);
    else if (mode === "right") apply(was[0], at);
    else {
      const by = Math.max(from - was[0], Math.min(to - was[1], at - began));
      apply(was[0] + by, was[1] + by);
    }
  };
  const keys = (event: KeyboardEvent) => {
    const long = b - a;
    const by = { ArrowLeft: -long / 10, ArrowRight: long / 10 }[event.key];
    if (by !== undefined) apply(Math.max(from, a + by), Math.min(to, b + by));
    else if (event.key === "+" || event.key === "ArrowUp") apply(a + long / 8, b - long / 8);
    else if (event.key === "-" || event.key === "ArrowDown") apply(a - long / 6, b + long / 6);
    else if (event.key === "Home" || event.key === "0") show(null);
    else return;
    event.preventDefault();
  };
  const part = ((b - a) / Math.max(1, to - from)) * 100;
  return (
    <div class="stripwrap">
      <div
        ref={box}
        class="strip1"
        role="slider"
        tabIndex={0}
        aria-label="Part of the run that is shown: arrows move it, plus and minus change it, Home shows all"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(((a - from) / Math.max(1, to - from)) * 100)}
        aria-valuetext={part > 99.5 ? "the whole run" : `${duration(b - a)} from ${duration(a - from)} on`}
        onKeyDown={keys}
      >
        <canvas
          ref={canvas}
          onPointerDown={(event) => {
            const at = timeAt(event);
            const near = ((to - from) / Math.max(1, width)) * 8;
            const whole = part > 99.5;
            const mode = whole ? "new" : Math.abs(at - a) < near ? "left" : Math.abs(at - b) < near ? "right" : at > a && at < b ? "move" : "new";
            drag.current = { mode, from: at, window: [a, b] };
            event.currentTarget.setPointerCapture(event.pointerId);
          }}
          onPointerMove={move}
          onPointerUp={() => (drag.current = null)}
          onDblClick={() => show(null)}
        />
      </div>
    </div>
  );
}

function RowLabel({ row, top, on, select, fold }: { row: GanttRow; top: number; on: boolean; select: () => void; fold: () => void }) {
  const fraction = row.barrier && `${row.barrier.done}/${row.barrier.size}`;
  return (
    <div class={[on && "on", row.tall && "tall"].filter(Boolean).join(" ")} style={{ "--in": row.depth, top: `${HEAD + row.y - top}px` }}>
      {row.folds && (
        <button type="button" class="gfold" aria-expanded={!row.shut} aria-label={`${row.kind === "barrier" ? "Fold" : "Open in place"} ${row.name}`} onClick={fold}>
          <Icon name={row.shut ? "right" : "down"} small />
        </button>
      )}
      <button type="button" class="gname" aria-pressed={on} title={`${row.name}${row.note ? ", " + row.note : ""}`} onClick={select}>
        <span>{row.name}</span>
        {row.note && <span class="d">{row.note}</span>}
      </button>
      {fraction && <span class="frac">{fraction}</span>}
    </div>
  );
}

export function Timeline({ place, id, type, step, select }: { place: Place; id: string; type: string; step: string; select: (step: number | null) => void }) {
  const data = usePart<{ spans: Spans }>(place, "spans", { limit: howMany() });
  const opened = place.bundle ? [] : param("open").split(",").filter(Boolean); // a file has one run
  const children = useData<Map<string, Spans>>(
    opened.length ? "children " + opened.join(",") + place.at : null,
    async (stop) => {
      const out = new Map<string, Spans>();
      await Promise.all(opened.map(async (id) => out.set(id, (await readPart({ id, run: "", at: "", bundle: "" }, "spans", { limit: 500 }, stop)).spans)));
      return out;
    },
    opened.map((id) => "run:" + id),
  );
  const [box, width] = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const scrolled = useSignal(0);
  const spans = data.data?.spans;
  const shut = new Set(param("shut").split(",").filter(Boolean));
  const fold = param("fold") !== "off";
  useKey("z", () => set({ fold: fold ? "off" : null }, true));

  palette.value; // other colours, another picture
  const none = new Map<string, Spans>();
  const rows = spans ? makeRows(id, type, spans, shut, (opened.length && children.data) || none, !place.bundle) : [];
  const whole = rows.length ? rows.at(-1)!.y + rows.at(-1)!.height : 0;
  const height = Math.min(VIEW_MAX, whole + HEAD + 6);
  const start = moment(spans?.from) ?? 0;
  const over = spans ? spans.to !== null : true;
  const last = spans?.is_now ? now.value : Math.max(start, ...(spans?.bars ?? []).flatMap((bar) => [bar, ...bar.segments].flatMap((each) => [moment(each.from) ?? 0, moment(each.to) ?? 0])));
  const end = moment(spans?.to) ?? last;
  const zoom = /^(\d+)-(\d+)$/.exec(param("zoom"));
  const from = zoom ? start + Number(zoom[1]) : start;
  const until = zoom ? Math.min(end, start + Number(zoom[2])) : end;
  const selected = rows.find((row) => row.own && row.bar && String(row.bar.step) === step)?.key ?? "";
  const inner = Math.max(40, width - (over ? 22 : 70));
  const busy = spans ? busyIntervals([spans, ...((opened.length && children.data?.values()) || [])], end) : [];
  const scale = makeScale(busy, from, Math.max(until, from + 1), 10, inner, fold);
  const folded = scale.pieces.filter((piece) => piece.folded);
  const top = scrolled.value;

  useLayoutEffect(() => {
    if (!canvas.current || !width || !spans) return;
    drawGantt(canvas.current, {
      rows,
      scale,
      start,
      now: end,
      isNow: spans.is_now,
      over: over || until < end,
      top,
      width,
      height,
      selected,
      nowText: spans.is_now ? `${stamp(end, zone.value === "relative" ? "utc" : zone.value).slice(0, 8)} now` : place.at ? `event ${place.at}` : "the end",
      deadline: (at) => stamp(at, zone.value),
    });
  });
  const keyMove = (by: number) => {
    const own = rows.filter((row) => row.bar && row.own);
    const at = own.findIndex((row) => row.key === selected);
    const row = own[Math.max(0, Math.min(own.length - 1, at + by))];
    if (!row) return;
    select(row.bar!.step);
    const box = scroller.current;
    if (box && (row.y < box.scrollTop || row.y + row.height > box.scrollTop + height - HEAD)) box.scrollTop = Math.max(0, row.y - 90);
  };
  useKey("j", () => keyMove(1));
  useKey("k", () => keyMove(-1));
  const turn = (row: GanttRow) => {
    if (row.kind === "barrier") {
      const next = new Set(shut);
      if (!next.delete(row.key)) next.add(row.key);
      set({ shut: [...next].join(",") }, true);
    } else {
      const id = row.bar!.child_instance_id!;
      set({ open: (opened.includes(id) ? opened.filter((one) => one !== id) : [...opened, id]).join(",") }, true);
    }
  };
  const pick = (row: GanttRow) => row.own && select(row.bar ? (String(row.bar.step) === step ? null : row.bar.step) : null);

  if (!spans) return data.fault ? <Fault of={data.fault} again={data.again} what="The timeline could not be read." /> : <Bones slow={data.slow} rows={8} />;
  return (
    <>
      <Strip spans={spans} from={start} to={Math.max(end, start + 1)} window={[from, until]} show={(window) => set({ zoom: window ? `${Math.floor(window[0] - start)}-${Math.ceil(window[1] - start)}` : null }, true)} />
      <Older place={place} shown={spans.bars.length} left={spans.left_out} what="steps" />
      {spans.bars.length === 0 && <Empty title="No step was begun yet." />}
      <div class="gantt" ref={scroller} style={{ height: `${height}px` }} onScroll={(event) => (scrolled.value = event.currentTarget.scrollTop)}>
        <div class="gpane" style={{ height: `${height}px` }}>
          <div class="gl" role="group" aria-label="Rows of the timeline">
            {rows
              .filter((row) => row.y + row.height > top - ROW_SLACK && row.y < top + height + ROW_SLACK)
              .map((row) => (
                <RowLabel key={row.key} row={row} top={top} on={row.key === selected} select={() => pick(row)} fold={() => turn(row)} />
              ))}
          </div>
          <div ref={box} class="gc">
            <canvas
              ref={canvas}
              role="img"
              aria-label={`Timeline of ${rows.length} rows. The Steps tab has the same in words.`}
              style={{ height: `${height}px` }}
              onClick={(event) => {
                const y = event.offsetY - HEAD + top;
                const row = rows.find((one) => y >= one.y && y < one.y + one.height);
                if (row) pick(row);
              }}
            />
          </div>
        </div>
        <div style={{ height: `${Math.max(0, whole + HEAD + 6 - height)}px` }} />
      </div>
      {opened.length > 0 && (
        <p class="d sm pad1">
          Opened in place:{" "}
          {opened.map((id) => (
            <RunLink key={id} id={id} class="sp" />
          ))}
        </p>
      )}
      <div class="keyrow">
        {LEGEND.map(([kind, text]) => (
          <span key={kind}>
            <Key kind={kind} />
            {text}
          </span>
        ))}
        <span class="grow" />
        {folded.length > 0 && <span>{duration(folded.reduce((sum, piece) => sum + piece.to - piece.from, 0))} of idle time folded</span>}
      </div>
    </>
  );
}

const ROW_SLACK = 60;

/** Beside the tabs: idle time folded or not. */
export function FoldSwitch() {
  const fold = param("fold") !== "off";
  return (
    <label class="row nowrap sm d hide-s">
      <input type="checkbox" checked={fold} onChange={() => set({ fold: fold ? "off" : null }, true)} /> fold idle <kbd>z</kbd>
    </label>
  );
}
