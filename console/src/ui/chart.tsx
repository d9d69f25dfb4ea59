// Pictures of numbers over time: small lines, and charts with a shared cursor. Each has a name for those who do not see it, and
// the charts a table that says the same. Colours are those of tokens.css, read again when the theme changes.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { measure, number, stamp } from "../lib/format";
import { palette, zone } from "../lib/prefs";
import { Icon } from "./basic";
import { Table, type Column } from "./table";

const color = (token: string) => getComputedStyle(document.documentElement).getPropertyValue("--" + token).trim();

/** A colour of the theme on its card, at 60 %: ordinary outcomes are pale, and bars behind do not shine through. */
function pale(token: string): string {
  const [one, ground] = [color(token), color("surface")].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return `rgb(${one!.map((part, i) => Math.round(0.6 * part + 0.4 * ground![i]!)).join(" ")})`;
}

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
}

/** Seconds as the axis and the readout say them. */
const clock = (seconds: number) => stamp(seconds * 1000, zone.peek() === "relative" ? "utc" : zone.peek()).replace(/^(\d\d:\d\d):00$/, "$1");

const told = (value: number | null | undefined) => (value === null || value === undefined ? "none" : measure(value));

/** `stacked`: bars on top of each other; else lines. `say` is what is heard in place of the picture; else how much it is in all. */
export function Plot({ title, at, series, stacked, unit = "", say }: { title: string; at: number[]; series: Series[]; stacked?: boolean; unit?: string; say?: string }) {
  const box = useRef<HTMLDivElement>(null);
  const asTable = useSignal(false);
  const readout = useSignal<number | null>(null);
  const look = palette.value;
  const key = JSON.stringify([at, series]);
  useEffect(() => {
    const parent = box.current;
    if (!parent || at.length === 0) return;
    const sums: number[][] = [];
    if (stacked) for (const one of series) sums.push(one.values.map((value, i) => (value ?? 0) + (sums[sums.length - 1]?.[i] ?? 0)));
    const drawn = stacked ? [...sums].reverse() : series.map((one) => one.values);
    const order = stacked ? [...series].reverse() : series;
    const grid = { stroke: color("line"), width: 1 };
    const font = `11px ${getComputedStyle(document.body).fontFamily}`;
    const axis = { stroke: color("ink3"), font, grid, ticks: { show: false } };
    const bars = uPlot.paths.bars!({ size: [0.8, 24], gap: 0 });
    const plot = new uPlot(
      {
        width: parent.clientWidth,
        height: 168,
        legend: { show: false },
        cursor: { sync: { key: "holdfast" }, drag: { x: false, y: false }, points: { show: !stacked } },
        scales: { x: { time: true }, y: { range: (_plot, _least, most) => [0, Math.max(1, (most || 0) * 1.12)] } },
        axes: [
          { ...axis, grid: { show: false }, size: 26, gap: 6, space: 90, values: (_plot, splits) => splits.map(clock) },
          { ...axis, size: (_plot, values) => 10 + 7 * Math.max(1, ...(values ?? [""]).map((text) => text.length)), gap: 6, space: 36, values: (_plot, splits) => splits.map((n) => (n >= 1000 ? number(n) : String(n))), incrs: [1, 2, 5, 10, 20, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 1000000] },
        ],
        series: [
          {},
          ...order.map((one) =>
            stacked
              ? { label: one.name, stroke: "transparent", fill: one.token === "cfail" ? color(one.token) : pale(one.token), paths: bars, points: { show: false }, width: 0 }
              : { label: one.name, stroke: color(one.token), width: 1.5, points: { show: one.values.includes(null), size: 5 } },
          ),
        ],
        hooks: { setCursor: [(self) => (readout.value = self.cursor.idx ?? null)] },
        // Kept on the canvas of uPlot's own; the box around it has the size.
        padding: [8, 4, 0, 0],
      },
      [at, ...drawn],
      parent,
    );
    const observer = new ResizeObserver(() => parent.clientWidth && plot.setSize({ width: parent.clientWidth, height: 168 }));
    observer.observe(parent);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [key, look, asTable.value, stacked]);

  const here = readout.value;
  return (
    <section class="card chart">
      <div class="row">
        <h2>
          {title}
          {unit && <span class="w sm">, {unit}</span>}
        </h2>
        <span class="grow" />
        <div class="legend">
          {here !== null && at[here] !== undefined && <span class="w">{clock(at[here]!)}</span>}
          {series.map((one) => (
            <span key={one.name}>
              <i class={`${stacked ? "" : "line "}t-${one.token}`} />
              {here !== null && one.values[here] !== undefined ? <b title={one.name}>{told(one.values[here])}</b> : one.name}
            </span>
          ))}
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
              ...series.map((one): Column<{ when: number; i: number }> => ({ head: one.name, look: "num", cell: (row) => told(one.values[row.i]) })),
            ]}
          />
        </div>
      ) : (
        <div class="plot" ref={box} role="img" aria-label={`${title}${unit && ", " + unit}: ${say ?? series.map((one) => `${one.name} ${measure(one.values.reduce<number>((a, b) => a + (b ?? 0), 0))}`).join(", ") + " in all"}`} />
      )}
    </section>
  );
}
