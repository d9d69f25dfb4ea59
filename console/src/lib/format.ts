// Numbers and times as people read them: at most three significant figures, two units, a space that does not break.
import { signal } from "@preact/signals";

const NBSP = "\u00a0";

/** Comes round every second while the page is seen, so that ages grow. */
export const now = signal(Date.now());
/** How far the server's clock is ahead of ours. */
export const skew = signal(0);
/** What the server's clock says at this moment, whatever ours says. */
export const rightNow = () => Date.now() + skew.peek();
setInterval(() => {
  if (!document.hidden) now.value = rightNow();
}, 1000);

/** How something ended, of the name of its event: "ActivityTimedOut" is "timed out". */
export function ended(event: string | null | undefined): string {
  return (/TimedOut$|[A-Z][a-z]+$/.exec(event ?? "")?.[0] ?? "").replace(/([a-z])([A-Z])/, "$1 $2").toLowerCase();
}

/** The moment that a page shows when it is not now: of a file, or of an earlier event. What is open there lasts until then. */
export const shownMoment = signal<number | null>(null);
export const untilNow = () => shownMoment.value ?? now.value;

export function number(n: number | bigint): string {
  return n.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

export interface Count {
  n: number;
  exact: boolean;
}

export function count(c: Count | number | null | undefined): string {
  if (c === null || c === undefined) return "unknown";
  if (typeof c === "number") return number(c);
  return (c.exact ? "" : "≥" + NBSP) + number(c.n);
}

/** "1 run", "3 runs", "no runs". */
export function many(n: number, one: string, more = one + "s"): string {
  return (n === 0 ? "no" : number(n)) + NBSP + (n === 1 ? one : more);
}

/** At most three significant figures. */
export function measure(n: number): string {
  if (!Number.isFinite(n)) return "unknown";
  const digits = Math.abs(n) >= 100 ? 0 : Math.abs(n) >= 10 ? 1 : 2;
  return n.toLocaleString("en-US", { maximumFractionDigits: digits });
}

export function bytes(n: number | null | undefined): string {
  if (n === null || n === undefined) return "unknown";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let at = 0;
  while (n >= 1000 && at < units.length - 1) {
    n /= 1024;
    at++;
  }
  return measure(n) + NBSP + units[at];
}

const UNITS: [string, number][] = [
  ["y", 31536000000],
  ["mo", 2592000000],
  ["d", 86400000],
  ["h", 3600000],
  ["min", 60000],
];

/** Two units at most: "7 h 19 min", "4.2 s", "3 d 4 h". */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return "unknown";
  const sign = ms < 0 ? "−" : "";
  ms = Math.abs(ms);
  if (ms < 1) return ms === 0 ? "0" + NBSP + "ms" : sign + measure(ms) + NBSP + "ms";
  if (ms < 1000) return sign + Math.round(ms) + NBSP + "ms";
  if (ms < 59950) return sign + (ms < 9950 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)) + NBSP + "s";
  for (let i = 0; i < UNITS.length; i++) {
    const [name, size] = UNITS[i]!;
    if (ms < size) continue;
    const whole = Math.floor(ms / size);
    const next = UNITS[i + 1];
    const rest = next ? Math.floor((ms % size) / next[1]) : Math.floor((ms % size) / 1000);
    const second = rest ? NBSP + rest + NBSP + (next ? next[0] : "s") : "";
    return sign + whole + NBSP + name + second;
  }
  return sign + "1" + NBSP + "min";
}

/** A moment of the server as milliseconds; null when there is none. Only the ISO form is read. */
export function moment(text: string | null | undefined): number | null {
  if (!text || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(text)) return null;
  const at = Date.parse(text.replace(/(\.\d{3})\d+/, "$1"));
  return Number.isNaN(at) ? null : at;
}

export type Zone = "utc" | "local" | "relative";

function parts(at: number, zone: Zone) {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, "0");
  return zone === "local"
    ? {
        day: `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`,
        time: `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`,
        ms: date.getMilliseconds(),
      }
    : { day: date.toISOString().slice(0, 10), time: date.toISOString().slice(11, 19), ms: date.getUTCMilliseconds() };
}

/** "14:02:41" today, "11 Apr 14:02" before, "2025-11-02 14:02" in another year. */
export function stamp(at: number, zone: Zone, fine = false): string {
  if (zone === "relative") return ago(at);
  const here = parts(at, zone);
  const today = parts(now.peek(), zone);
  const time = fine ? `${here.time}.${String(here.ms).padStart(3, "0")}` : here.time;
  if (here.day === today.day) return time;
  if (here.day.slice(0, 4) !== today.day.slice(0, 4)) return here.day + NBSP + time.slice(0, 5);
  const month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][Number(here.day.slice(5, 7)) - 1];
  return Number(here.day.slice(8)) + NBSP + month + NBSP + (fine ? time : time.slice(0, 5));
}

export function ago(at: number): string {
  const ms = now.value - at;
  if (Math.abs(ms) < 1000) return "now";
  return ms > 0 ? duration(ms) + " ago" : "in " + duration(-ms);
}

/** All forms of a moment, for the one who points at it. */
export function allForms(at: number): string {
  const local = parts(at, "local");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `${new Date(at).toISOString()}\n${local.day} ${local.time} ${zone}\n${ago(at)}`;
}
