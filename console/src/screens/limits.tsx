// What steps of machines stand before: concurrency keys and who has their slots, rate limits and what is left of them.
import { duration, many, measure, moment, now, number } from "../lib/format";
import { href, param, set } from "../lib/router";
import { Mono, RunLink, Time } from "../ui/basic";
import { Meter } from "../ui/meter";
import { Card } from "../ui/part";
import { Table, type Column } from "../ui/table";

interface Slot {
  number: number;
  workflow_id: string | null;
  run_id: string | null;
  workflow_type: string | null;
  task_queue: string | null;
  owner: string;
  until: string;
}

interface Limit {
  key: string;
  kind: "concurrency" | "rate";
  limit: { name: string; at_once?: number; allowed?: number; per_ms?: number; burst?: number } | null;
  slots: number | null;
  taken: Slot[];
  tokens: number | null;
  full_at: string | null;
  waiting: number;
  queues: { name: string; taken: number; waiting: number }[];
}

export interface Limits {
  limits: Limit[];
  exact: boolean;
}

const idOf = (one: Limit) => one.kind + " " + one.key;

/** How many runs of a queue wait before a limit. */
export const waitingAt = (all: Limits | null, queue: string): number =>
  (all?.limits ?? []).reduce((sum, one) => sum + one.queues.reduce((n, at) => n + (at.name === queue ? at.waiting : 0), 0), 0);

function declared(one: Limit): string {
  const { limit } = one;
  if (one.kind === "concurrency") return limit ? `${number(limit.at_once!)} at once` : "1 at once, undeclared";
  if (!limit) return "nobody declares it";
  return `${number(limit.allowed!)} in ${duration(limit.per_ms)}${limit.burst === limit.allowed ? "" : `, burst ${number(limit.burst!)}`}`;
}

/** What is taken of it, as a bar and in words. */
function Use({ of: one }: { of: Limit }) {
  const most = one.kind === "rate" ? one.limit?.burst : one.slots;
  if (!most) return <span class="d">nobody can have it yet</span>;
  const full = moment(one.full_at);
  const said = one.kind === "rate" ? `${measure(one.tokens ?? most)} of ${number(most)} left` : `${number(one.taken.length)} of ${number(most)} taken`;
  return (
    <span class="progress">
      <Meter run value={one.kind === "rate" ? 1 - (one.tokens ?? most) / most : one.taken.length / most} label={said} />
      <span>
        <span class="nw">{said}</span>
        {one.kind === "rate" && full !== null && full > now.value && <span class="d nw">, full in {duration(full - now.value)}</span>}
      </span>
    </span>
  );
}

/** Who has the slots. A lease is renewed while its step runs, and ends by itself when its process is gone. */
function Takers({ of: one }: { of: Limit }) {
  return (
    <Table
      label={`Slots of ${one.key}`}
      dense
      rows={one.taken}
      id={(slot) => slot.number}
      columns={[
        { head: "Slot", look: "num", cell: (slot) => number(slot.number + 1) },
        { head: "Run", look: "b cname", cell: (slot) => (slot.workflow_id ? <RunLink id={slot.workflow_id} run={slot.run_id} class="q" /> : <span class="d">a run that is gone</span>) },
        { head: "Type", cell: (slot) => slot.workflow_type ?? "unknown" },
        { head: "Queue", look: "d", cell: (slot) => slot.task_queue ?? "unknown" },
        { head: "Held by", look: "brk", cell: (slot) => <Mono class="d">{slot.owner}</Mono> },
        { head: "Lease ends", look: "num d", cell: (slot) => <Time at={slot.until} /> },
      ]}
    />
  );
}

const columns = (open: string): Column<Limit>[] => [
  {
    head: "Key",
    look: "b cname brk",
    by: (one) => one.key,
    cell: (one) =>
      one.taken.length ? (
        <button type="button" class="linkbtn" aria-expanded={idOf(one) === open} onClick={() => set({ limit: idOf(one) === open ? null : idOf(one) }, true)}>
          <Mono>{one.key}</Mono>
        </button>
      ) : (
        <Mono>{one.key}</Mono>
      ),
  },
  { head: "What", look: "nw d", by: (one) => one.kind, cell: (one) => (one.kind === "rate" ? "rate limit" : "concurrency key") },
  { head: "Limit", look: "nw", cell: (one) => <span class={one.limit || one.kind === "concurrency" ? "" : "c-waiting"}>{declared(one)}</span> },
  { head: "Use", look: "wide", cell: (one) => <Use of={one} /> },
  { head: "Runs wait", look: "num", by: (one) => one.waiting, cell: (one) => <span class={one.waiting ? "b" : "d"}>{number(one.waiting)}</span> },
  {
    head: "Queues",
    look: "d",
    cell: (one) =>
      one.queues.length ? one.queues.map((at) => `${at.name}${one.queues.length > 1 && at.waiting ? ` (${number(at.waiting)})` : ""}`).join(", ") : "none now",
  },
];

/** All of them; with `before` in the address, those that runs of that queue stand at. */
export function LimitCard({ of }: { of: Limits }) {
  const queue = param("before");
  const open = param("limit");
  const shown = queue ? of.limits.filter((one) => one.queues.some((at) => at.name === queue)) : of.limits;
  const hidden = of.limits.length - shown.length;
  if (!of.limits.length) return null;
  return (
    <Card title="Limits" say="what steps of machines stand before" scroll>
      <Table
        label="Limits"
        columns={columns(open)}
        rows={shown}
        id={idOf}
        detail={(one) => idOf(one) === open && one.taken.length > 0 && <Takers of={one} />}
        empty={`No limit has to do with ${queue} now.`}
      />
      <div class="selbar d sm">
        {queue && (
          <>
            <span>
              Of queue <Mono>{queue}</Mono>; {many(hidden, "other")} hidden.
            </span>
            <a href={href(["queues"])}>Show all</a>
          </>
        )}
        <span>
          Slots and tokens are those of all processes of the store, runs that wait are this server's.{!of.exact && " There are more than are shown."}
        </span>
      </div>
    </Card>
  );
}
