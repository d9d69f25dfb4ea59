// Which run the page is about, and at which moment.
import { at, get } from "../lib/api";
import { moment, untilNow } from "../lib/format";
import { useData, type Data } from "../lib/live";
import { href, param, path, type Query } from "../lib/router";

export interface Place {
  id: string;
  run: string; // empty: the newest
  at: string; // empty: now, or the end of a bundle
  bundle: string; // of an opened file; empty: of the store
}

export function usePlace(): Place {
  const [page, name = ""] = path.value;
  return page === "bundles" ? { id: "", run: "", at: param("at"), bundle: name } : { id: name, run: param("run_id"), at: param("at"), bundle: "" };
}

/** Where the run is found below /console/api/. */
const where = (place: Place) => (place.bundle ? at`bundles/${place.bundle}/run` : at`runs/${place.id}`);

/** A part of the run ("waits"), or its head (""). */
export function readPart<T = any>(place: Place, part: string, values: Query = {}, stop?: AbortSignal): Promise<T> {
  return get<T>(where(place) + (part && "/" + part), { run_id: place.run || null, at: place.at || null, ...values }, stop);
}

/** The same, kept true while it is shown; an earlier moment does not change. */
export function usePart<T = any>(place: Place, part: string | null, values: Query = {}): Data<T> {
  const key = part === null ? null : `run ${JSON.stringify([place, part, values])}`;
  return useData<T>(key, (stop) => readPart(place, part!, values, stop), place.at || place.bundle ? [] : ["run:" + place.id]);
}

/** Another state of the same page. */
export function here(place: Place, values: Query): string {
  return href(place.bundle ? ["bundles", place.bundle] : ["runs", place.id], { ...Object.fromEntries(new URL(location.href).searchParams), ...values });
}

export interface Segment {
  kind: "queued" | "running" | "backoff" | "lost" | "waiting" | "timer";
  from: string;
  to: string | null;
  attempt: number | null;
}

export interface Attempt {
  number: number;
  worker: string | null;
  status: string;
  started_at: string | null;
  closed_at: string | null;
  last_heartbeat_at: string | null;
  heartbeats: string[];
  progress: { current?: number; total?: number; unit?: string; message?: string } | null;
  failure_type: string | null;
  message: string | null;
  timeout_kind: string | null;
}

export interface Bar {
  step: number;
  kind: string;
  name: string | null;
  summary?: string | null;
  source_line: string | null;
  from: string;
  to: string | null;
  deadline_at: string | null;
  open: boolean;
  failed: boolean;
  handled: boolean;
  outcome: string | null;
  group: { parallel_group_id: string }[] | null;
  child_run_id: string | null;
  child_instance_id: string | null;
  segments: Segment[];
  attempts: Attempt[];
}

export interface Barrier {
  id: string;
  kind: string;
  depth: number;
  step: number;
  size: number;
  leaves: number;
  done: number;
  failed: number;
  from: string;
  to: string | null;
}

export interface Spans {
  run_id: string;
  from: string;
  to: string | null;
  events: number;
  is_now: boolean;
  bars: Bar[];
  barriers: Barrier[];
  left_out: number; // older bars
}

/** What a step is called where there is little room. */
export function barName(bar: Bar): string {
  return bar.name ?? bar.kind.replace(/_/g, " ");
}

/** How a step stands, as one of the words that glyphs have. */
export function barState(bar: Bar): string {
  if (bar.failed) return "failed";
  if (!bar.open) return /Cancel/.test(bar.outcome ?? "") ? "cancelled" : /TimedOut/.test(bar.outcome ?? "") ? "timed_out" : "completed";
  const last = bar.segments.at(-1)?.kind;
  return last === "running" && bar.kind === "activity" ? "running" : last === "backoff" ? "retrying" : last === "queued" ? "running" : "waiting";
}

export function took(from: string | null, to: string | null): number | null {
  const begin = moment(from);
  return begin === null ? null : Math.max(0, (moment(to) ?? untilNow()) - begin);
}
