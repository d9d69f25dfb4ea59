// Bars on a canvas: hatched is queued, solid is running, dots are back-off, outlined is waiting for outside, thin is a timer.
import { duration, moment } from "../lib/format";
import type { Attempt, Bar, Spans } from "./place";
import type { GanttRow } from "./rows";
import type { Scale } from "./scale";
import { ticks } from "./scale";

export type Pen = CanvasRenderingContext2D;
type Colours = (name: string) => string;

let cachedTheme = "";
let cache = new Map<string, string>();

/** The colours of the theme that is on, from the tokens. */
export function colours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const theme = style.getPropertyValue("--surface") + style.getPropertyValue("--ink");
  if (theme !== cachedTheme) {
    cachedTheme = theme;
    cache = new Map();
  }
  return (name) => {
    let colour = cache.get(name);
    if (colour === undefined) cache.set(name, (colour = style.getPropertyValue("--" + name).trim()));
    return colour;
  };
}

/** A pen for a canvas of this size in the page. */
export function penOf(canvas: HTMLCanvasElement, width: number, height: number): Pen | null {
  const dense = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
    canvas.width = Math.round(width * dense);
    canvas.height = Math.round(height * dense);
  }
  const pen = canvas.getContext("2d");
  if (!pen) return null;
  pen.setTransform(dense, 0, 0, dense, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px " + getComputedStyle(document.documentElement).getPropertyValue("--sans");
  pen.textBaseline = "middle";
  pen.textAlign = "left";
  return pen;
}

const H = 14;

export function box(pen: Pen, x: number, y: number, w: number, h: number, r = 2) {
  pen.beginPath();
  pen.roundRect(x, y, Math.max(1, w), h, Math.max(0, Math.min(r, w / 2)));
}

function rect(pen: Pen, colour: string, x: number, y: number, w: number, h: number) {
  pen.fillStyle = colour;
  pen.fillRect(x, y, w, h);
}

function line(pen: Pen, colour: string, points: [number, number][], width = 1.5) {
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.lineJoin = "round";
  pen.beginPath();
  points.forEach(([x, y], i) => (i ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.stroke();
}

export function hatch(pen: Pen, x: number, y: number, w: number, h: number, colour: string) {
  pen.save();
  box(pen, x, y, w, h);
  pen.clip();
  pen.strokeStyle = colour;
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (let k = Math.max(-h, x - h); k < x + w + h; k += 4) {
    pen.moveTo(k, y + h);
    pen.lineTo(k + h, y);
  }
  pen.stroke();
  pen.restore();
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  box(pen, x + 0.5, y + 0.5, Math.max(1, w - 1), h - 1);
  pen.stroke();
}

export function dots(pen: Pen, x: number, y: number, w: number, colour: string) {
  pen.fillStyle = colour;
  for (let k = x + 3; k < x + w - 1; k += 6) {
    pen.beginPath();
    pen.arc(k, y, 1.5, 0, 7);
    pen.fill();
  }
}

export function lost(pen: Pen, x: number, y: number, w: number, h: number, colour: Colours) {
  pen.fillStyle = colour("bar-lost");
  pen.beginPath();
  pen.moveTo(x, y);
  for (let i = 0; i <= 4; i++) pen.lineTo(x + (i % 2 ? 4 : 0), y + (h * i) / 4);
  for (let i = 4; i >= 0; i--) pen.lineTo(x + w + (i % 2 ? 4 : 0), y + (h * i) / 4);
  pen.closePath();
  pen.globalAlpha = 0.7;
  pen.fill();
  pen.globalAlpha = 1;
  for (const edge of [x, x + w])
    line(
      pen,
      colour("ink2"),
      [0, 1, 2, 3, 4].map((i) => [edge + (i % 2 ? 4 : 0), y - 1 + ((h + 2) * i) / 4] as [number, number]),
      1.4,
    );
}

export function waitBox(pen: Pen, x: number, y: number, w: number, h: number, colour: Colours) {
  box(pen, x + 0.75, y + 0.75, w - 1.5, h - 1.5);
  pen.fillStyle = colour("waiting-soft");
  pen.fill();
  pen.strokeStyle = colour("bar-wait");
  pen.lineWidth = 1.5;
  pen.stroke();
}

export function timerLine(pen: Pen, x: number, y: number, w: number, colour: Colours, ended: boolean) {
  rect(pen, colour("bar-flow"), x, y + 6, w, 2);
  if (ended) rect(pen, colour("bar-flow"), x + w - 2, y + 2, 2, 10);
}

/** An open bar does not end: it fades. */
function fade(pen: Pen, x: number, y: number, ground: string) {
  const soft = pen.createLinearGradient(x - 22, 0, x, 0);
  soft.addColorStop(0, ground + "00");
  soft.addColorStop(1, ground + "e6");
  pen.fillStyle = soft;
  pen.fillRect(x - 22, y - 1, 23, H + 2);
}

/** A worker that went away was heard of last before: until then it ran. */
function lostFrom(attempt: Attempt | undefined, from: number, to: number): number {
  const heard = moment(attempt?.last_heartbeat_at);
  return heard !== null && heard > from && heard < to ? heard : from + (to - from) * 0.3;
}

function drawSegments(pen: Pen, colour: Colours, scale: Scale, bar: Bar, y: number, now: number, ground: string, child: boolean, right: number) {
  const run = colour(child ? "bar-child" : "bar-run");
  const isChild = bar.child_instance_id !== null;
  const attemptOf = (number: number | null) => bar.attempts.find((each) => each.number === number);
  const marks: (() => void)[] = [];
  const losses: { x: number; text: string; took: number }[] = [];
  for (const segment of bar.segments) {
    const from = moment(segment.from);
    if (from === null) continue;
    const open = segment.to === null && bar.open;
    const to = moment(segment.to) ?? (bar.open ? now : (moment(bar.to) ?? from));
    const x = scale.x(from);
    const w = Math.max(2, scale.x(to) - x);
    if (x > right + 40 || x + w < -40) continue;
    const attempt = attemptOf(segment.attempt);
    if (segment.kind === "queued") hatch(pen, x - Math.max(0, 4 - w), y, Math.max(4, w), H, colour("bar-queue"));
    else if (segment.kind === "backoff") dots(pen, x, y + H / 2, w, run);
    else if (segment.kind === "timer") timerLine(pen, x, y, w, colour, !open);
    else if (segment.kind === "waiting" && !/wait|update/.test(bar.kind)) rect(pen, colour("bar-queue"), x, y + 2, 3, H - 4);
    else if (segment.kind === "waiting") waitBox(pen, x, y, Math.max(4, w), H, colour);
    else if (segment.kind === "lost") {
      const gap = lostFrom(attempt, from, to);
      const gx = scale.x(gap);
      box(pen, x, y, Math.max(2, gx - x), H);
      pen.fillStyle = run;
      pen.fill();
      const next = bar.attempts.find((each) => each.number > (segment.attempt ?? 0) && each.started_at);
      const until = moment(next?.started_at) ?? to;
      const gw = Math.max(8, scale.x(until) - gx);
      marks.push(() => {
        lost(pen, gx - 2, y, gw, H, colour);
        const text = next ? `worker ${attempt?.worker ?? ""} lost, resumed${next.worker ? " on " + next.worker : ""} after ${duration(until - gap)}` : `worker ${attempt?.worker ?? ""} lost`;
        losses.push({ x: gx - 6, text, took: Math.max(0, until - gap) });
        line(
          pen,
          colour("ink3"),
          [
            [gx + gw / 2, y + H + 1],
            [gx + gw / 2, y + H + 6],
          ],
          1,
        );
      });
    } else if (isChild) {
      box(pen, x + 0.5, y + 0.5, Math.max(2, w - 1), H - 1);
      pen.fillStyle = colour("bar-child-track");
      pen.fill();
      pen.strokeStyle = colour("bar-child");
      pen.lineWidth = 1;
      pen.stroke();
    } else {
      const progress = attempt?.progress;
      const part = open && progress?.total ? Math.max(0, Math.min(1, (progress.current ?? 0) / progress.total)) : null;
      box(pen, x, y, w, H);
      pen.fillStyle = part === null ? run : colour(child ? "bar-child-track" : "bar-track");
      pen.fill();
      if (part !== null) {
        box(pen, x, y, w * part, H);
        pen.fillStyle = run;
        pen.fill();
        if (w > 90) {
          pen.fillStyle = colour("ink2");
          pen.textAlign = "right";
          pen.fillText(`${Math.round(part * 100)} %`, x + w - 26, y + H / 2);
          pen.textAlign = "left";
        }
      }
      let before = -9;
      for (const beat of attempt?.heartbeats ?? []) {
        const bx = scale.x(moment(beat) ?? 0);
        if (bx - before < 6 || bx < x + 4 || bx > x + w * (part ?? 1) - 3) continue;
        rect(pen, colour("tick-beat"), bx, y + 9, 1, 5);
        before = bx;
      }
    }
    if (open) fade(pen, x + w, y, ground);
    if (attempt && (attempt.status === "failed" || attempt.status === "timed_out") && segment.to && segment.kind === "running") marks.push(() => rect(pen, colour("cfail"), x + w - 1.5, y - 3, 3, H + 6));
  }
  for (const mark of marks) mark();
  const ends = losses.map((one) => one.x + pen.measureText(one.text).width + 10);
  const crowded = losses.some((one, i) => i > 0 && (one.x < ends[i - 1]! || ends[i]! > right));
  const total = losses.reduce((sum, one) => sum + one.took, 0);
  const room = losses.every((one) => pen.measureText(one.text).width < right - 14);
  const short = `worker lost${losses.length > 1 ? ` ${losses.length} times` : ""}, resumed after ${duration(total)}${losses.length > 1 ? " in all" : ""}`;
  const said = losses.length && (crowded || !room) ? [{ x: losses[0]!.x, text: short }] : losses;
  pen.fillStyle = colour("ink2");
  for (const { x, text } of said) pen.fillText(text, Math.max(4, Math.min(x, right - pen.measureText(text).width - 10)), y + H + 13);
  if (bar.failed && bar.attempts.length === 0 && bar.to) rect(pen, colour("cfail"), scale.x(moment(bar.to) ?? 0) - 1.5, y - 3, 3, H + 6);
}

function drawDeadline(pen: Pen, colour: Colours, bar: Bar, y: number, nowX: number, x: number, text: string) {
  pen.setLineDash([2, 3]);
  line(
    pen,
    colour("bar-wait"),
    [
      [nowX, y + 7],
      [x, y + 7],
    ],
    1.2,
  );
  pen.setLineDash([]);
  line(
    pen,
    colour("waiting"),
    [
      [x, y + 15],
      [x, y - 2],
    ],
    1.4,
  );
  pen.fillStyle = colour("waiting");
  pen.beginPath();
  pen.moveTo(x, y - 2);
  pen.lineTo(x - 9, y + 1.5);
  pen.lineTo(x, y + 5);
  pen.fill();
  if (bar.open && text) {
    pen.textAlign = "right";
    pen.fillText(text, x - 5, y + 16);
    pen.textAlign = "left";
  }
}

export interface GanttView {
  rows: GanttRow[];
  scale: Scale;
  start: number;
  now: number;
  isNow: boolean;
  over: boolean;
  top: number; // how far the rows are scrolled
  width: number;
  height: number;
  selected: string;
  nowText: string;
  deadline: (at: number) => string;
}

export const HEAD = 28;

/** The part of the timeline that is in view. */
export function drawGantt(canvas: HTMLCanvasElement, view: GanttView) {
  const pen = penOf(canvas, view.width, view.height);
  if (!pen) return;
  const colour = colours();
  const { scale, width, height, top } = view;
  const small = width < 420;
  const end = scale.x(view.now);
  for (const row of view.rows) if (row.key === view.selected) rect(pen, colour("accent-soft"), 0, HEAD + row.y - top, width, row.height);
  for (const tick of ticks(scale, view.start, small ? 64 : 84)) {
    if (tick.x > width - 8) continue;
    rect(pen, colour("line"), Math.round(tick.x), 22, 1, height);
    if (view.isNow && !view.over && Math.abs(tick.x - end) < 60) continue;
    pen.fillStyle = colour("ink3");
    pen.textAlign = tick.x < 30 ? "left" : "center";
    pen.fillText(tick.text, tick.x < 30 ? Math.max(2, tick.x) : tick.x, 12);
  }
  pen.textAlign = "left";
  for (const piece of scale.pieces) {
    if (!piece.folded) continue;
    rect(pen, colour("sunken"), piece.x, 22, piece.width, height);
    rect(pen, colour("line2"), piece.x, 22, 1, height);
    rect(pen, colour("line2"), piece.x + piece.width, 22, 1, height);
  }
  pen.save();
  pen.beginPath();
  pen.rect(0, HEAD - 4, width, height);
  pen.clip();
  for (const row of view.rows) {
    const y = HEAD + row.y - top + 8;
    if (y > height + 20 || y < -50) continue;
    const ground = colour(row.key === view.selected ? "accent-soft" : "surface");
    if (row.kind === "run") {
      const x = scale.x(moment(row.spans.from) ?? scale.from);
      const open = row.spans.to === null;
      box(pen, x, y + 3, scale.x(moment(row.spans.to) ?? view.now) - x, 8);
      pen.fillStyle = colour("bar-flow");
      pen.fill();
      if (open) fade(pen, scale.x(view.now), y, ground);
    } else if (row.kind === "barrier") {
      const x = scale.x(moment(row.barrier!.from) ?? scale.from);
      const to = scale.x(moment(row.barrier!.to) ?? view.now);
      line(pen, colour(row.barrier!.failed ? "cfail" : "bar-queue"), [
        [x + 0.75, y + 13],
        [x + 0.75, y + 5],
        [Math.max(x + 4, to), y + 5],
        [Math.max(x + 4, to), y + 13],
      ]);
    } else {
      const bar = row.bar!;
      drawSegments(pen, colour, scale, bar, y, view.now, ground, !row.own, width);
      const deadline = moment(bar.deadline_at);
      if (bar.open && deadline !== null && deadline > view.now && view.isNow && bar.kind !== "activity") drawDeadline(pen, colour, bar, y, end, Math.min(width - 6, end + (small ? 26 : 52)), small ? "" : view.deadline(deadline));
    }
  }
  for (const piece of scale.pieces) {
    if (!piece.folded) continue;
    pen.save();
    pen.translate(piece.x + piece.width / 2 + 0.5, Math.max(70, height - 56));
    pen.rotate(-Math.PI / 2);
    const text = `${duration(piece.to - piece.from)} idle`;
    const wide = pen.measureText(text).width + 10;
    rect(pen, colour("sunken"), -wide / 2, -8, wide, 15);
    pen.fillStyle = colour("ink2");
    pen.textAlign = "center";
    pen.fillText(text, 0, 0);
    pen.restore();
  }
  pen.restore();
  if (view.over) return;
  const x = Math.round(end);
  rect(pen, colour(view.isNow ? "accent" : "mark"), x, 22, 1.5, height);
  const text = view.nowText;
  const wide = pen.measureText(text).width + 12;
  const bx = Math.min(width - wide - 2, x - wide / 2);
  box(pen, bx, 4, wide, 17, 4);
  pen.fillStyle = colour(view.isNow ? "accent" : "mark");
  pen.fill();
  pen.fillStyle = colour("on-accent");
  pen.fillText(text, bx + 6, 13);
}

/** The whole run in one line: where it was busy, where something failed, which part is shown below. */
export function drawStrip(canvas: HTMLCanvasElement, width: number, height: number, spans: Spans, from: number, to: number, window: [number, number]) {
  const pen = penOf(canvas, width, height);
  if (!pen) return;
  const colour = colours();
  const inner = width - 8;
  const x = (time: number) => 4 + ((time - from) / Math.max(1, to - from)) * inner;
  box(pen, 0, 0, width, height, 4);
  pen.fillStyle = colour("sunken");
  pen.fill();
  const bins = Math.max(20, Math.min(220, Math.floor(inner / 5)));
  const sums = new Array<number>(bins).fill(0);
  const failures: number[] = [];
  const gone: number[] = [];
  for (const bar of spans.bars) {
    for (const segment of bar.segments) {
      if (segment.kind !== "running" && segment.kind !== "queued" && segment.kind !== "lost") continue;
      if (bar.child_instance_id) continue;
      const begin = moment(segment.from);
      if (begin === null) continue;
      const first = Math.max(0, Math.min(bins - 1, Math.floor(((begin - from) / Math.max(1, to - from)) * bins)));
      const last = Math.max(first, Math.min(bins - 1, Math.floor((((moment(segment.to) ?? to) - from) / Math.max(1, to - from)) * bins)));
      for (let i = first; i <= last; i++) sums[i]!++;
      if (segment.kind === "lost") gone.push(moment(segment.to) ?? to);
    }
    for (const attempt of bar.attempts) if (attempt.status === "failed" || attempt.status === "timed_out") failures.push(moment(attempt.closed_at) ?? from);
    if (bar.failed && !bar.attempts.length) failures.push(moment(bar.to) ?? from);
  }
  const most = Math.max(1, ...sums);
  sums.forEach((sum, i) => {
    const h = sum ? Math.max(3, (height - 12) * Math.sqrt(sum / most)) : 1.5;
    rect(pen, colour(sum ? "bar-run" : "line2"), 4 + (i * inner) / bins, height - 3 - h, inner / bins - 1, h);
  });
  let before = -9;
  for (const at of failures.sort((a, b) => a - b)) {
    if (x(at) - before < 3) continue;
    before = x(at);
    rect(pen, colour("cfail"), before - 1, 3, 2.5, height - 6);
  }
  for (const at of gone)
    line(
      pen,
      colour("ink2"),
      [0, 1, 2, 3, 4].map((i) => [x(at) + (i % 2 ? 4 : 0), 3 + ((height - 6) * i) / 4] as [number, number]),
      1.3,
    );
  const a = Math.max(1, x(window[0]) - 3);
  const b = Math.min(width - 1, x(window[1]) + 3);
  pen.strokeStyle = colour("accent");
  pen.lineWidth = 1.5;
  box(pen, a, 1, Math.max(6, b - a), height - 2, 4);
  pen.stroke();
  for (const edge of [a, b]) {
    pen.fillStyle = colour("accent");
    box(pen, edge - 2.5, height / 2 - 8, 5, 16, 2);
    pen.fill();
  }
}

/** A sign of the legend. */
export function drawKey(canvas: HTMLCanvasElement, kind: string) {
  const pen = penOf(canvas, 22, 12);
  if (!pen) return;
  const colour = colours();
  if (kind === "queued") hatch(pen, 0, 1, 22, 10, colour("bar-queue"));
  else if (kind === "running") {
    box(pen, 0, 1, 22, 10);
    pen.fillStyle = colour("bar-run");
    pen.fill();
  } else if (kind === "backoff") dots(pen, 0, 6, 22, colour("bar-run"));
  else if (kind === "waiting") waitBox(pen, 0, 1, 22, 10, colour);
  else if (kind === "timer") timerLine(pen, 0, -1, 22, colour, true);
  else if (kind === "failed") rect(pen, colour("cfail"), 10, 0, 3, 12);
  else if (kind === "lost") lost(pen, 3, 1, 12, 10, colour);
  else if (kind === "folded") {
    rect(pen, colour("sunken"), 4, 0, 14, 12);
    rect(pen, colour("line2"), 4, 0, 1, 12);
    rect(pen, colour("line2"), 17, 0, 1, 12);
  }
}
