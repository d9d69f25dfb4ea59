// Task queues: how much work there is, who takes it, and whether it is handed out.
import { at as url, get, post } from "../lib/api";
import { duration, many, number } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { has, readOnly } from "../lib/session";
import { shell } from "../lib/shell";
import { token } from "../run/query";
import { Age, Button, Empty, Fault, PageHead, Status } from "../ui/basic";
import { askFor } from "../ui/form";
import { Meter } from "../ui/meter";
import { Asked, Card } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { LimitCard, waitingAt, type Limits } from "./limits";

function turn(queue: any) {
  const action = queue.paused_at ? "resume" : "pause";
  askFor({
    title: `${queue.paused_at ? "Resume" : "Pause"} queue ${queue.name}`,
    glyph: queue.paused_at ? undefined : "paused",
    say: queue.paused_at ? "Its tasks are handed out again." : "No task of it is handed out, whoever asks. What was handed out goes on, and nothing is lost: the tasks wait.",
    go: queue.paused_at ? "Resume" : "Pause",
    keep: queue.paused_at ? "Leave it paused" : "Let it run",
    shell: () => shell("queue " + action, [queue.name]),
    send: async () => {
      await post(url`/api/task-queues/${queue.name}/build-ids/` + (queue.paused_at ? "resume" : "drain"), { build_id: "*" });
      return `Queue ${queue.name} is ${queue.paused_at ? "open" : "paused"}`;
    },
  });
}

const KINDS: [string, string][] = [
  ["workflow", "turns"],
  ["activity", "activities"],
  ["query", "queries"],
  ["update_validation", "updates to judge"],
];

const alone = (queue: any) => queue.backlog > 0 && !queue.workers && !queue.pollers;

function State({ of: queue }: { of: any }) {
  if (queue.paused_at)
    return (
      <>
        <Status of="paused" />{" "}
        <span class="w sm">
          <Age at={queue.paused_at} />
        </span>
      </>
    );
  return alone(queue) ? <Status of="failed" word="no worker" /> : queue.backlog ? <Status of="waiting" word="working it off" /> : <Status of="completed" word="all taken" />;
}

const COLUMNS = (most: number, limits: Limits | null): Column<any>[] => [
  {
    head: "Queue",
    look: "b nw",
    by: (queue) => queue.name,
    cell: (queue) => (
      <a class="mono q" href={href(["runs"], { q: "is:open " + token("queue", queue.name) })}>
        {queue.name}
      </a>
    ),
  },
  { head: "State", look: "nw state", cell: (queue) => <State of={queue} /> },
  {
    head: "Demand",
    by: (queue) => queue.demand,
    cell: (queue) => (
      <span class="progress">
        <Meter run value={queue.demand / most} label={`demand ${queue.demand}`} />
        <span class="nw">{number(queue.demand)}</span>
      </span>
    ),
  },
  {
    head: "Waiting",
    look: "num",
    by: (queue) => queue.backlog,
    cell: (queue) => (
      <span title={KINDS.filter(([kind]) => queue.ready?.[kind]).map(([kind, word]) => `${number(queue.ready[kind])} ${word}`).join(", ")}>{number(queue.backlog)}</span>
    ),
  },
  ...(limits?.limits.length
    ? [
        {
          head: "Before limits",
          look: "num",
          by: (queue: any) => waitingAt(limits, queue.name),
          cell: (queue: any) => {
            const n = waitingAt(limits, queue.name);
            return n ? (
              <a href={href(["queues"], { before: queue.name })} aria-label={`${many(n, "run")} of ${queue.name} wait before limits`}>
                {number(n)}
              </a>
            ) : (
              <span class="d">0</span>
            );
          },
        },
      ]
    : []),
  { head: "In hand", look: "num", by: (queue) => queue.in_flight, cell: (queue) => number(queue.in_flight) },
  {
    head: "Oldest",
    look: "num",
    by: (queue) => queue.oldest_age_ms ?? 0,
    cell: (queue) => <span class={alone(queue) ? "c-failed b" : "d"}>{queue.oldest_age_ms ? duration(queue.oldest_age_ms) : "none"}</span>,
  },
  { head: "Workers", look: "num", by: (queue) => queue.workers, cell: (queue) => number(queue.workers) },
  { head: "Polls", look: "num d", by: (queue) => queue.pollers, cell: (queue) => number(queue.pollers) },
  {
    head: "What to do",
    quiet: true,
    look: "num",
    cell: (queue) => (
      <Button size="small" why={readOnly.value} label={`${queue.paused_at ? "Resume" : "Pause"} ${queue.name}`} onClick={() => turn(queue)}>
        {queue.paused_at ? "Resume…" : "Pause…"}
      </Button>
    ),
  },
];

export function Queues() {
  const asked = useData("queues", (stop) => get("queues", {}, stop), ["metrics", "workers", "list"]);
  const limits = useData<Limits>(has("limits") ? "limits" : null, (stop) => get("limits", {}, stop), ["metrics", "workers", "list"]);
  const queues: any[] = asked.data?.queues ?? [];
  const idle = queues.filter(alone).length;
  return (
    <>
      <PageHead title="Queues" say={asked.data && (queues.length ? many(queues.length, "queue") + (idle ? `, ${idle} with work and no worker` : "") : "none")} />
      <Asked of={asked}>
        {() =>
          queues.length === 0 ? (
            <Card>
              <Empty title="No queue has had work or workers.">
                <p class="d">A queue is there as soon as a run or a worker names it.</p>
              </Empty>
            </Card>
          ) : (
            <div class="stack">
              <Card label="Queues" scroll>
                <Table label="Queues" columns={COLUMNS(Math.max(1, ...queues.map((queue) => queue.demand)), limits.data)} rows={queues} id={(queue) => queue.name} />
                <div class="selbar d sm">Demand is what waits and what is in hand: the number that an autoscaler needs.</div>
              </Card>
              {limits.fault && <Fault of={limits.fault} again={limits.again} what="The limits could not be read." />}
              {limits.data && <LimitCard of={limits.data} />}
            </div>
          )
        }
      </Asked>
    </>
  );
}
