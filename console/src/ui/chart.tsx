// Pictures of numbers over time: small lines, and charts with a shared cursor. Each has a name for those who do not see it, and
// the charts a table that says the same. Colours are those of tokens.css, read again when the theme changes.
import { signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { measure, number, stamp } from "../lib/format";
import { palette, zone } from "../lib/prefs";
import { Icon } from "./basic";
import { Table, type Column } from "./table";

const color = (token: string) => getComputedStyle(document.documentElement).getPropertyValue("--" + token).trim();

/** A line without axes, or bars; the last value is a dot. Nothing but zeros is a line at the ground. */
export function Spark({ values, label, token = "c5", bars, most = -1 }: { values: number[]; label: string; token?: string; bars?: boolean; most?: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const look = palette.value;
  const key = values.join(",");
  useEffect(() => {
    const draw = () => {
      const at = canvas.current!;
      const ratio = devicePixelRatio || 1;
      const [width, height] = [at.clientWidth, at.clientHeight];
      if (!width || !height) return;
      at.width = Math.round(width * ratio);
      at.height = Math.round(height * ratio);
      const pen = at.getContext("2d")!;
      pen.scale(ratio, ratio);
      const top = Math.max(1e-9, ...values);
      if (bars) {
        const step = width / Math.max(1, values.length);
        values.forEach((value, i) => {
          const tall = value ? Math.max(2, (value / top) * (height - 2)) : 1;
          pen.fillStyle = color(!value ? "line2" : i === most ? "c3" : token);
          pen.fillRect(i * step, height - tall, Math.max(1, step - 1.5), tall);
        });
        return;
      }
      const x = (i: number) => 1 + (i * (width - 5)) / Math.max(1, values.length - 1);
      const y = (value: number) => height - 3 - (value / top) * (height - 7);
      pen.strokeStyle = pen.fillStyle = color(token);
      pen.lineWidth = 1.4;
      pen.lineJoin = "round";
      pen.beginPath();
      values.forEach((value, i) => pen.lineTo(x(i), y(value)));
      pen.stroke();
      pen.beginPath();
      pen.arc(x(values.length - 1), y(values[values.length - 1] ?? 0), 2.2, 0, 7);
      pen.fill();
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, [key, look, token, bars, most]);
  return <canvas ref={canvas} class="sparkline" role="img" aria-label={label} />;
}

export interface Series {
  name: string;
  token: string;
  /** null: nothing is known of that step; the line is broken there. */
  values: (number | null)[];
  /** The same at an earlier time, step by step: a faint line. */
  before?: (number | null)[];
}

/** Something that happened at a moment, in seconds: a line across the chart with its name. */
export interface Mark {
  at: number;
  name: string;
  said: string;
}

/** Seconds as the axis and the readout say them. */
const clock = (seconds: number) => stamp(seconds * 1000, zone.peek() === "relative" ? "utc" : zone.peek()).replace(/^(\d\d:\d\d):00$/, "$1");

const told = (value: number | null | undefined) => (value === null || value === undefined ? "none" : measure(value));

const HEIGHT = 168; // as in pages.css
const SLIM = 84;
const ABOVE = 10;
const BELOW = 24;
const MINUTE = 60;
const DAY = 1440;
const X_STEPS = [1, 5, 10, 30, ...[1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, DAY, 2 * DAY, 7 * DAY, 28 * DAY, 91 * DAY, 364 * DAY].map((minutes) => minutes * MINUTE)];

/** The step that a pointer is at, in seconds: all charts of a page show it. */
const pointed = signal<number | null>(null);

/** Round numbers from nothing to the top, some four of them. */
function yTicks(top: number): number[] {
  const least = top / 4;
  const size = 10 ** Math.floor(Math.log10(least));
  const step = Math.max(1, [1, 2, 5, 10].find((n) => n * size >= least)! * size);
  return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step);
}

/** Round moments of the zone that is shown, at least so far apart. */
function xTicks(from: number, to: number, most: number): number[] {
  const step = X_STEPS.find((one) => (to - from) / one <= most) ?? X_STEPS[X_STEPS.length - 1]!;
  const shift = zone.peek() === "local" ? new Date(from * 1000).getTimezoneOffset() * MINUTE : 0;
  const first = Math.ceil((from - shift) / step) * step + shift;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, i) => first + i * step);
}

/** A line through what is known; where its neighbours are not, a dot. */
function Line({ of, x, y }: { of: Series; x: (i: number) => number; y: (value: number) => number }) {
  const known = (i: number) => of.values[i] !== null && of.values[i] !== undefined;
  const path = of.values.map((value, i) => (value === null ? "" : `${known(i - 1) ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`)).join("");
  return (
    <g class={"t-" + of.token}>
      <path class="line" d={path} />
      {of.values.map((value, i) => value !== null && !known(i - 1) && !known(i + 1) && <circle key={i} cx={x(i)} cy={y(value)} r="2.5" />)}
    </g>
  );
}

/** Bars that stand on the bars of the series before. */
function Bars({ of, below, x, y, wide }: { of: Series; below: number[]; x: (i: number) => number; y: (value: number) => number; wide: number }) {
  const path = of.values.map((value, i) => {
    if (!value) return "";
    const [foot, head] = [y(below[i]!), y(below[i]! + value)];
    return `M${(x(i) - wide / 2).toFixed(1)} ${foot.toFixed(1)}V${head.toFixed(1)}h${wide.toFixed(1)}V${foot.toFixed(1)}z`;
  });
  return <path class={`t-${of.token} bars`} d={path.join("")} />;
}

/** Lines across the chart, each with its name where there is room, the newest first; all of them are told when pointed at. */
function Marks({ of, over, from, to, width }: { of: Mark[]; over: (when: number) => number; from: number; to: number; width: number }) {
  let free = width; // names stand from there on
  return (
    <>
      {[...of].reverse().map((mark) => {
        const x = over(Math.min(to, Math.max(from, mark.at)));
        const long = 6.2 * mark.name.length + 8;
        const ahead = x + long <= free;
        const named = ahead || (x <= free && x - long > 0);
        if (named) free = ahead ? x : x - long;
        return (
          <g class="deploy" key={mark.said}>
            <title>{mark.said}</title>
            <line x1={x} x2={x} y1={ABOVE} y2={HEIGHT - BELOW} />
            <path d={`M${x - 4} ${ABOVE - 6}h8l-4 6z`} />
            {named && (
              <text class={ahead ? undefined : "end"} x={ahead ? x + 5 : x - 5} y={ABOVE + 6}>
                {mark.name}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

/** What was before, as a series of its own: of bars their sum. */
function faint(series: Series[], stacked: boolean | undefined, steps: number): Series[] {
  if (!series.some((one) => one.before)) return [];
  if (!stacked) return series.map((one) => ({ ...one, values: one.before ?? new Array(steps).fill(null) }));
  return [{ name: "all", token: "c5", values: Array.from({ length: steps }, (_, i) => series.reduce((sum, one) => sum + (one.before?.[i] ?? 0), 0)) }];
}

interface PlotProps {
  title: string;
  at: number[];
  series: Series[];
  /** Bars on top of each other; else lines. */
  stacked?: boolean;
  unit?: string;
  /** What is heard in place of the picture; else how much it is in all. */
  say?: string;
  /** Half as high, with the top of the scale alone. */
  slim?: boolean;
  /** Seconds from one to the next, where there may be one alone. */
  each?: number;
  /** What follows the heading. */
  end?: ComponentChildren;
  /** Takes the time that is chosen: by dragging over the bars, by a click on one, or in the table. Seconds, the end not with it. */
  brush?: (from: number, to: number) => void;
  /** What `before` of a series is called. */
  before?: string;
  marks?: Mark[];
}

export function Plot({ title, at, series, stacked, unit = "", say, slim, each = MINUTE, end, brush, before = "before", marks = [] }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const asTable = useSignal(false);
  const drag = useSignal<[number, number] | null>(null); // the steps from and to which it is dragged
  const tall = slim ? SLIM : HEIGHT;
  useEffect(() => {
    const parent = box.current;
    if (!parent) return;
    const observer = new ResizeObserver(() => (width.value = parent.clientWidth));
    observer.observe(parent);
    return () => observer.disconnect();
  }, [asTable.value]);

  const below = series.map((_, n) => at.map((_, i) => (stacked ? series.slice(0, n).reduce((sum, one) => sum + (one.values[i] ?? 0), 0) : 0)));
  const earlier = faint(series, stacked, at.length);
  const top = 1.12 * Math.max(1 / 1.12, ...series.flatMap((one, n) => one.values.map((value, i) => (value ?? 0) + below[n]![i]!)), ...earlier.flatMap((one) => one.values.map((value) => value ?? 0)));
  const ys = slim ? yTicks(top).slice(-1) : yTicks(top);
  const left = 12 + 7 * Math.max(...ys.map((n) => number(n).length));
  const step = at.length > 1 ? at[1]! - at[0]! : each;
  const edge = stacked ? step / 2 : 0; // half a bar at either end
  const [from, to] = [(at[0] ?? 0) - edge, (at[at.length - 1] ?? 1) + edge];
  const over = (when: number) => left + ((when - from) / Math.max(1, to - from)) * (width.value - left - 6);
  const x = (i: number) => over(at[i]!);
  const y = (value: number) => tall - BELOW - (value / top) * (tall - BELOW - ABOVE);
  const wide = Math.min(24, Math.max(1, 0.8 * (over(from + step) - over(from))));
  const stepAt = (event: PointerEvent) => {
    const when = from + ((event.offsetX - left) / Math.max(1, width.value - left - 6)) * (to - from);
    return Math.min(at.length - 1, Math.max(0, Math.round((when - at[0]!) / step)));
  };
  const move = (event: PointerEvent) => {
    const i = stepAt(event);
    pointed.value = at[i] ?? null;
    if (drag.value) drag.value = [drag.value[0], i];
  };
  const press = (event: PointerEvent) => {
    if (!brush || event.button !== 0) return;
    (event.currentTarget as Element).setPointerCapture(event.pointerId);
    drag.value = [stepAt(event), stepAt(event)];
  };
  const chosen = drag.value && [Math.min(...drag.value), Math.max(...drag.value)];
  const drop = () => {
    drag.value = null;
    if (chosen) brush?.(at[chosen[0]!]!, at[chosen[1]!]! + step);
  };
  const index = pointed.value === null ? -1 : at.indexOf(pointed.value);
  const here = index < 0 ? null : index;
  const inStep = (i: number) => marks.filter((mark) => mark.at >= at[i]! && (mark.at < at[i]! + step || i === at.length - 1));
  return (
    <section class="card chart">
      <div class="row">
        <h2>
          {title}
          {unit && <span class="w sm">, {unit}</span>}
        </h2>
        {end}
        <span class="grow" />
        <div class="legend">
          {here !== null && at[here] !== undefined && <span class="w">{clock(at[here]!)}</span>}
          {series.map((one) => (
            <span key={one.name}>
              <i class={`${stacked ? "" : "line "}t-${one.token}`} />
              {here !== null && one.values[here] !== undefined ? <b title={one.name}>{told(one.values[here])}</b> : one.name}
              {here !== null && one.before && <span class="w"> ({told(one.before[here])})</span>}
            </span>
          ))}
          {earlier.length > 0 && (
            <span>
              <i class="line was" />
              {before}
            </span>
          )}
        </div>
        <button type="button" class="copy" aria-pressed={asTable.value} aria-label={`${title}: as a table`} title="as a table" onClick={() => (asTable.value = !asTable.value)}>
          <Icon name="columns" />
        </button>
      </div>
      {asTable.value ? (
        <div class="twin" tabIndex={0} role="region" aria-label={title + ", as a table"}>
          <Table
            dense
            rows={at.map((when, i) => ({ when, i })).reverse()}
            most={10000}
            id={(row) => row.when}
            columns={[
              { head: "At", look: "nw d", cell: (row) => clock(row.when) },
              ...series.flatMap((one): Column<{ when: number; i: number }>[] => [
                { head: one.name, look: "num", cell: (row) => told(one.values[row.i]) },
                ...(one.before ? [{ head: `${one.name}, ${before}`, look: "num d", cell: (row: { i: number }) => told(one.before![row.i]) }] : []),
              ]),
              ...(marks.length ? [{ head: "Builds", look: "d", cell: (row: { i: number }) => inStep(row.i).map((mark) => mark.said).join("; ") }] : []),
              ...(brush
                ? [
                    {
                      head: "Narrow",
                      quiet: true,
                      look: "num",
                      cell: (row: { when: number }) => (
                        <button type="button" class="linkbtn" aria-label={`Only ${clock(row.when)}`} onClick={() => brush(row.when, row.when + step)}>
                          only these
                        </button>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        </div>
      ) : (
        <div class={slim ? "plot slim" : "plot"} ref={box} role="img" aria-label={`${title}${unit && ", " + unit}: ${say ?? series.map((one) => `${one.name} ${measure(one.values.reduce<number>((a, b) => a + (b ?? 0), 0))}`).join(", ") + " in all"}${marks.length ? `; ${marks.map((mark) => mark.said).join("; ")}` : ""}`}>
          {width.value > 0 && at.length > 0 && (
            <svg
              width={width.value}
              height={tall}
              class={brush && "brushed"}
              aria-hidden="true"
              onPointerMove={move}
              onPointerLeave={() => (pointed.value = null)}
              onPointerDown={press}
              onPointerUp={drop}
              onPointerCancel={() => (drag.value = null)}
            >
              {ys.map((n) => (
                <g key={n}>
                  <line class="grid" x1={left} x2={width.value} y1={y(n)} y2={y(n)} />
                  <text class="end" x={left - 6} y={y(n) + 4}>
                    {number(n)}
                  </text>
                </g>
              ))}
              {xTicks(from, to, Math.max(2, width.value / 90)).map((when) => (
                <text key={when} class="mid" x={Math.min(over(when), width.value - 17)} y={tall - 6}>
                  {clock(when)}
                </text>
              ))}
              {earlier.map((one) => (
                <g key={one.name} class="was">
                  <Line of={one} x={x} y={y} />
                </g>
              ))}
              <Marks of={marks} over={over} from={from} to={to} width={width.value} />
              {series.map((one, n) => (stacked ? <Bars key={one.name} of={one} below={below[n]!} x={x} y={y} wide={wide} /> : <Line key={one.name} of={one} x={x} y={y} />))}
              {here !== null && <line class="cursor" x1={x(here)} x2={x(here)} y1={ABOVE} y2={tall - BELOW} />}
              {chosen && <rect class="brush" x={x(chosen[0]!) - wide / 2} width={x(chosen[1]!) - x(chosen[0]!) + wide} y={ABOVE / 2} height={tall - BELOW - ABOVE / 2} />}
            </svg>
          )}
        </div>
      )}
    </section>
  );
}
