// Time on the picture: long stretches in which nothing happens become a narrow stripe of a fixed width, the rest is to scale.
import { duration, moment } from "../lib/format";
import type { Spans } from "./place";

export interface Piece {
  from: number;
  to: number;
  x: number;
  width: number;
  folded: boolean;
}

export interface Scale {
  pieces: Piece[];
  x: (time: number) => number;
  from: number;
  to: number;
}

const STRIPE = 30;

/** Where something happens: attempts and queues as they last, of everything else its beginning and its end. */
export function busyIntervals(all: Spans[], end: number): [number, number][] {
  const out: [number, number][] = [];
  for (const spans of all) {
    const begin = moment(spans.from);
    if (begin !== null) out.push([begin, begin]);
    for (const bar of spans.bars)
      for (const segment of bar.segments) {
        const from = moment(segment.from);
        if (from === null) continue;
        const to = moment(segment.to) ?? end;
        const works = bar.kind === "activity" && (segment.kind === "running" || segment.kind === "lost");
        if (works) out.push([from, to]);
        else out.push([from, from], ...(segment.to ? ([[to, to]] as [number, number][]) : []));
      }
  }
  out.push([end, end]);
  out.sort((a, b) => a[0] - b[0]);
  const merged: [number, number][] = [];
  for (const [from, to] of out) {
    const last = merged.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else merged.push([from, to]);
  }
  return merged;
}

/** From the time of the window to its pixels. */
export function makeScale(busy: [number, number][], from: number, to: number, left: number, width: number, fold: boolean): Scale {
  const span = Math.max(1, to - from);
  const gaps: [number, number][] = [];
  if (fold) {
    const found: [number, number][] = [];
    for (let i = 1; i < busy.length; i++) {
      const gap: [number, number] = [Math.max(from, busy[i - 1]![1]), Math.min(to, busy[i]![0])];
      if (gap[1] > gap[0]) found.push(gap);
    }
    // the longest go first, as long as one takes a good part of what is still to scale
    found.sort((a, b) => b[1] - b[0] - (a[1] - a[0]));
    let rest = span;
    for (const gap of found) {
      const long = gap[1] - gap[0];
      if (gaps.length >= 8 || long < 1000 || long < rest * (long > 60000 ? 0.25 : 0.5)) break;
      const room = Math.max(20, (rest - long) * 0.06); // so that what ends there is seen to end
      const inner: [number, number] = [gap[0] + room, gap[1] - room];
      if (inner[1] - inner[0] < long / 2) break;
      gaps.push(inner);
      rest -= inner[1] - inner[0];
    }
    gaps.sort((a, b) => a[0] - b[0]);
  }
  const folded = gaps.reduce((sum, [a, b]) => sum + b - a, 0);
  const ratio = Math.max(20, width - gaps.length * STRIPE) / Math.max(1, span - folded);
  const pieces: Piece[] = [];
  let at = from;
  let x = left;
  const add = (until: number, stripe: boolean) => {
    const wide = stripe ? STRIPE : (until - at) * ratio;
    pieces.push({ from: at, to: until, x, width: wide, folded: stripe });
    at = until;
    x += wide;
  };
  for (const [a, b] of gaps) {
    if (a > at) add(a, false);
    add(b, true);
  }
  if (to > at || pieces.length === 0) add(to, false);
  return {
    pieces,
    from,
    to,
    x: (time) => {
      if (time <= from) return left + Math.max(-40, (time - from) * ratio);
      for (const piece of pieces) if (time <= piece.to) return piece.x + ((time - piece.from) / Math.max(1, piece.to - piece.from)) * piece.width;
      const last = pieces.at(-1)!;
      return Math.min(last.x + last.width + 40, last.x + last.width + (time - to) * ratio);
    },
  };
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000, 600000, 900000, 1800000, 3600000, 7200000, 21600000, 43200000, 86400000, 172800000, 604800000, 2592000000];

/** A time that can be told from the one a step before it, where duration() would say the same of both. */
function tickText(time: number, step: number): string {
  if (time === 0) return "0";
  const shows = time < 1000 ? 1 : time < 9950 ? 100 : time < 3600000 ? 1000 : time < 86400000 ? 60000 : 3600000;
  if (step >= shows) return duration(time);
  if (time < 59950) return (time / 1000).toFixed(step >= 100 ? 1 : step >= 10 ? 2 : 3) + "\u00a0s";
  const over = time % shows;
  return over ? "+" + duration(over) : duration(time);
}

/** Times to write above: since the start of the run, none too near to the next. */
export function ticks(scale: Scale, start: number, room: number): { x: number; text: string }[] {
  const out: { x: number; text: string }[] = [];
  for (const piece of scale.pieces) {
    if (piece.folded) continue;
    const step = STEPS.find((one) => (one / Math.max(1, piece.to - piece.from)) * piece.width >= room) ?? STEPS.at(-1)!;
    for (let time = Math.ceil((piece.from - start) / step) * step; time + start <= piece.to; time += step) {
      const x = scale.x(time + start);
      if (out.length && x - out.at(-1)!.x < room * 0.8) continue;
      out.push({ x, text: tickText(time, step) });
    }
  }
  return out;
}
