// What the server knows of a thing, field by field under the names of its API; and the work that lies behind a run.
import { useSignal } from "@preact/signals";
import { number } from "../lib/format";
import type { Json } from "../lib/json";
import { Mono, Status, Time } from "../ui/basic";
import { CardHead, Facts } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { usePart, type Place } from "./place";

const MOST = 500;

/** The leaves of a value with the path to each: ["why.next.0.action", "signal"]. */
function leaves(value: Json | undefined, path = "", out: [string, string][] = []): [string, string][] {
  if (out.length >= MOST || value === null || value === undefined || value === "") return out;
  if (typeof value !== "object") out.push([path, String(value)]);
  else for (const [name, one] of Object.entries(value)) leaves(one as Json, path ? `${path}.${name}` : name, out);
  return out;
}

/** All fields, for whom the page says too little. */
export function AllFields({ of, but = [] }: { of: any; but?: string[] }) {
  const open = useSignal(false);
  if (!of) return null;
  const rest = Object.fromEntries(Object.entries(of).filter(([name]) => !but.includes(name)));
  return (
    <details class="insp-more fields" onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>All fields</summary>
      {open.value && <Facts of={leaves(rest as Json).map(([name, value]) => [<Mono class="sm brk">{name}</Mono>, <span class="brk sm">{value}</span>])} />}
    </details>
  );
}

const COLUMNS: Column<any>[] = [
  { head: "Task", look: "cname", by: (task) => task.type, cell: (task) => <Mono>{task.type}</Mono> },
  { head: "State", look: "state", cell: (task) => <Status of={task.task_missing ? "blocked" : task.status === "leased" ? "running" : task.status === "completed" ? "completed" : "waiting"} word={task.status} /> },
  { head: "Transport", look: "nw", by: (task) => task.transport_state, cell: (task) => task.transport_state?.replace(/_/g, " ") },
  { head: "Queue", look: "nw d", by: (task) => task.queue, cell: (task) => task.queue },
  { head: "Attempts", look: "num", by: (task) => task.attempt_count, cell: (task) => number(task.attempt_count ?? 0) },
  { head: "Held by", look: "brk d", cell: (task) => task.lease_owner },
  { head: "Ready", look: "num d", by: (task) => task.available_at, cell: (task) => task.available_at && <Time at={task.available_at} /> },
];

/** What lies at queues for this run, and what should and does not. */
export function Tasks({ place }: { place: Place }) {
  const tasks: any[] = usePart<{ tasks: any[] }>(place, place.at ? null : "tasks").data?.tasks ?? [];
  if (!tasks.length) return null;
  return (
    <>
      <CardHead title="Tasks" say="what workers take, or should find" />
      <div class="scroll">
        <Table label="Tasks" dense columns={COLUMNS} rows={tasks} id={(task) => task.id ?? task.expected_task_id} />
      </div>
    </>
  );
}
