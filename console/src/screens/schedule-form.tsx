// Making a schedule, changing one, and taking one away.
import { at as url, post, put, remove } from "../lib/api";
import { stringify, type Json } from "../lib/json";
import { go, href } from "../lib/router";
import { shell } from "../lib/shell";
import { askFor, type Parameter } from "../ui/form";

const OVERLAP: Parameter = { name: "overlap_policy", type: "enum", enum: ["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"], doc: "What happens when the run before is still open." };
const INPUT: Parameter = { name: "input", allows_null: true, doc: "What each run is given, as JSON." };
const JITTER: Parameter = { name: "jitter_seconds", type: "int", doc: "Each time is late by up to so much; 0: it is not." };
const NOTE: Parameter = { name: "note", type: "string", doc: "For people." };

const MAKE: Parameter[] = [
  { name: "schedule_id", type: "string", required: true },
  { name: "workflow_type", type: "string", required: true },
  { name: "cron", type: "string", doc: "Minute, hour, day, month, weekday: 0 2 * * *. Empty: only every so often." },
  { name: "every", type: "duration", allows_null: true, doc: "Every so often, in whole seconds." },
  { name: "timezone", type: "string", doc: "Of the cron text, such as Europe/Berlin." },
  INPUT,
  OVERLAP,
  NOTE,
];

const CHANGE: Parameter[] = [{ name: "spec", type: "object", doc: "cron_expressions, intervals, calendars, timezone." }, INPUT, OVERLAP, JITTER, NOTE];

interface Made {
  schedule_id: string;
  workflow_type: string;
  cron: string;
  every: number | null;
  timezone: string;
  input: Json;
  overlap_policy: string;
  note: string;
}

function specOf(made: Made) {
  return {
    ...(made.cron.trim() ? { cron_expressions: [made.cron.trim()] } : {}),
    ...(made.every ? { intervals: [{ every: `PT${Math.round(made.every / 1000)}S` }] } : {}),
    timezone: made.timezone.trim() || "UTC",
  };
}

/** The verb takes a cron text and a time zone; what else there is has no words in a shell. */
function line(value: Json | undefined): string {
  const made = value as unknown as Made | undefined;
  if (!made) return shell("schedule create", ["ID", "TYPE"]);
  const spec = [made.cron.trim() && `cron=${made.cron.trim()}`, made.every && `every=PT${Math.round(made.every / 1000)}S`, made.timezone.trim() && `timezone=${made.timezone.trim()}`];
  const words = [made.schedule_id || "ID", made.workflow_type || "TYPE", ...spec.filter((word) => typeof word === "string" && word), ...(made.input === null ? [] : [`input:=${stringify(made.input)}`])];
  return shell("schedule create", words as string[]);
}

export function makeSchedule() {
  askFor({
    title: "Make a schedule",
    say: "It starts a run of that type at its times, from now on.",
    parameters: MAKE,
    first: { schedule_id: "", workflow_type: "", cron: "", every: null, timezone: "UTC", input: null, overlap_policy: "skip", note: "" },
    go: "Make",
    shell: line,
    send: async (value) => {
      const made = value as unknown as Made;
      await post("/api/schedules", {
        schedule_id: made.schedule_id.trim(),
        spec: specOf(made),
        action: { workflow_type: made.workflow_type.trim(), ...(made.input === null ? {} : { input: made.input }) },
        overlap_policy: made.overlap_policy,
        ...(made.note.trim() ? { note: made.note.trim() } : {}),
      });
      go(href(["schedules", made.schedule_id.trim()]));
      return `${made.schedule_id.trim()} is made`;
    },
  });
}

/** Sends what differs, and nothing else: what is not sent stays. */
export function changeSchedule(one: any, again: () => void) {
  const before: Record<string, Json> = { spec: one.spec, input: one.action?.input ?? null, overlap_policy: one.overlap_policy, jitter_seconds: one.jitter_seconds ?? 0, note: one.note ?? "" };
  askFor({
    title: `Change ${one.schedule_id}`,
    say: "It counts from the next time on. Runs that it has started go on as they are.",
    parameters: CHANGE,
    first: before,
    go: "Change",
    keep: "Leave it",
    send: async (value) => {
      const after = value as Record<string, Json>;
      const changed = Object.keys(before).filter((name) => stringify(after[name] ?? null) !== stringify(before[name] ?? null));
      if (changed.length === 0) return "Nothing was changed";
      const { input, ...rest } = Object.fromEntries(changed.map((name) => [name, after[name]]));
      await put(url`/api/schedules/${one.schedule_id}`, { ...rest, ...(changed.includes("input") ? { action: { ...one.action, input } } : {}) });
      again();
      return `Changed: ${changed.join(", ").replace(/_/g, " ")}`;
    },
  });
}

export function deleteSchedule(one: any) {
  askFor({
    title: `Delete ${one.schedule_id}`,
    say: "It never fires again, and this cannot be undone. Runs that it has started go on, and its history stays.",
    go: "Delete",
    keep: "Keep it",
    danger: true,
    shell: () => shell("schedule delete", [one.schedule_id], { yes: true }),
    send: async () => {
      await remove(url`/api/schedules/${one.schedule_id}`);
      go(href(["schedules"]));
      return `${one.schedule_id} is deleted`;
    },
  });
}
