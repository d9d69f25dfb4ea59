// Who works, who is gone, and can this be shut down?
import { at as url, get, post } from "../lib/api";
import { count, many, moment, now, number } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { has, readOnly } from "../lib/session";
import { shell } from "../lib/shell";
import { token } from "../run/query";
import { Age, Bones, Empty, Fault, Glyph, Icon, Menu, Mono, PageHead, Shell } from "../ui/basic";
import { askFor } from "../ui/form";
import { Meter } from "../ui/meter";
import { Card } from "../ui/part";
import { Table, type Column } from "../ui/table";

/** Yes, or what stands against it. */
function Safe({ of }: { of: { safe: boolean; reason: string | null } | undefined }) {
  if (!of) return <span class="w">unknown</span>;
  return of.safe ? (
    <>
      <span class="yes">
        <Glyph name="completed" />
        Yes
      </span>{" "}
      <span class="d pl">{of.reason ?? "nothing needs it"}</span>
    </>
  ) : (
    <>
      <span class="no">
        <Icon name="clock" />
        Not yet
      </span>{" "}
      <span class="d pl">{of.reason}</span>
    </>
  );
}

const named = (build: string | null) => build || "no build id";

function buildTurn(build: any, action: "drain" | "resume" | "promote") {
  const id: string | null = build.build_id || null;
  const queues: string[] = build.queues ?? [];
  const say = {
    drain: "Its workers get no new tasks of these queues, so that they can be stopped. What they have in hand goes on.",
    resume: "Its workers get tasks again.",
    promote: "New runs of these queues are for its workers alone, until another build is promoted.",
  }[action];
  askFor({
    title: `${action[0]!.toUpperCase() + action.slice(1)} ${named(id)}`,
    say: `${say} ${many(queues.length, "queue")}: ${queues.join(", ")}.`,
    go: action[0]!.toUpperCase() + action.slice(1),
    shell: () => queues.map((queue) => shell("build " + action, [id ?? ""], { queue })).join("\n"),
    send: async () => {
      for (const queue of queues) await post(url`/api/task-queues/${queue}/build-ids/` + action, { build_id: id });
      return `${named(id)}: ${action === "drain" ? "drained" : action === "resume" ? "resumed" : "promoted"}`;
    },
  });
}

const buildState = (build: any) => (build.drained_at ? "draining" : build.promoted_at ? "current" : build.active_workers ? "active" : "gone");

const BUILDS: Column<any>[] = [
  { head: "Build", look: "nw b", by: (build) => build.build_id ?? "", cell: (build) => (build.build_id ? <Mono>{build.build_id}</Mono> : <span class="d">no build id</span>) },
  { head: "State", look: "state", cell: (build) => <span class={buildState(build) === "current" ? "tag acc" : "tag"}>{buildState(build)}</span> },
  { head: "Queues", look: "d", cell: (build) => (build.queues ?? []).join(", ") },
  {
    head: "Workers",
    look: "num",
    by: (build) => build.active_workers ?? 0,
    cell: (build) => (
      <>
        {number(build.active_workers ?? 0)}
        {build.workers > build.active_workers && <span class="d"> of {number(build.workers)}</span>}
      </>
    ),
  },
  { head: "Open runs need it", look: "num", by: (build) => build.open_runs?.n ?? 0, cell: (build) => count(build.open_runs) },
  { head: "Can I shut it down?", look: "wide", cell: (build) => <Safe of={build.safe_to_stop} /> },
  {
    head: "What to do",
    quiet: true,
    look: "num",
    cell: (build) => (
      <Menu
        size="small"
        end
        text="Do"
        label={`Do something with ${named(build.build_id)}`}
        items={[
          build.drained_at ? { text: "Resume…", act: () => buildTurn(build, "resume"), why: readOnly.value } : { text: "Drain…", act: () => buildTurn(build, "drain"), why: readOnly.value },
          { text: "Promote…", act: () => buildTurn(build, "promote"), why: readOnly.value ?? (build.build_id ? null : "A worker without a build id cannot be promoted.") },
          { text: "Show its runs", to: href(["runs"], { q: build.build_id ? "is:open " + token("build", build.build_id) : "is:open" }) },
        ]}
      />
    ),
  },
];

/** How many tasks it takes at once: what it said when it registered. null: nothing. */
function slots(worker: any): number | null {
  const all = (worker.max_concurrent_workflow_tasks ?? 0) + (worker.max_concurrent_activity_tasks ?? 0);
  return all > 0 ? all : null;
}

/** What it says is in use; where it says nothing, what it holds. */
function inUse(worker: any): number {
  const free = worker.task_slots;
  const all = slots(worker);
  const said = typeof free?.workflow_available === "number" && typeof free?.activity_available === "number";
  return said && all !== null ? Math.max(0, all - free.workflow_available - free.activity_available) : (worker.leases ?? 0);
}

function Slots({ of: worker }: { of: any }) {
  const all = slots(worker);
  if (all === null) return <span class="w">not said</span>;
  const used = inUse(worker);
  return (
    <span class="progress" title={`${number(worker.max_concurrent_workflow_tasks ?? 0)} for turns, ${number(worker.max_concurrent_activity_tasks ?? 0)} for activities`}>
      <Meter run value={used / all} label={`${used} of ${all} slots in use`} />
      <span class="nw">
        {number(used)} of {number(all)}
      </span>
    </span>
  );
}

/** Programs of ours are called name@host-process-number; other SDKs say it in what they measure, or not at all. */
function whereItRuns(worker: any): { host: string | null; process: string | null } {
  const said = worker.process_metrics ?? {};
  const found = /@(.+)-(\d+)-[0-9a-f]+$/.exec(worker.worker_id);
  return { host: said.host ?? found?.[1] ?? null, process: said.process_id ?? found?.[2] ?? null };
}

/** `said`: some of them say how many tasks they take at once. */
const fleetColumns = (stale: number, said: boolean): Column<any>[] => {
  const lost = (worker: any) => now.value - (moment(worker.last_heartbeat_at) ?? 0) > stale * 1000;
  return [
    {
      head: "Worker",
      look: "nw",
      by: (worker) => worker.worker_id,
      cell: (worker) => (
        <>
          <Mono class="b">{worker.worker_id}</Mono> {lost(worker) && <span class="tag new">lost</span>}
        </>
      ),
    },
    { head: "Queues", look: "d nw", cell: (worker) => (worker.task_queues ?? [worker.task_queue]).join(", ") },
    { head: "Build", look: "nw", by: (worker) => worker.build_id ?? "", cell: (worker) => (worker.build_id ? <Mono>{worker.build_id}</Mono> : <span class="w">none</span>) },
    { head: "SDK", look: "d nw", cell: (worker) => `${worker.runtime} ${worker.sdk_version}` },
    {
      head: "Host",
      look: "nw d",
      by: (worker) => whereItRuns(worker).host,
      cell: (worker) => {
        const { host, process } = whereItRuns(worker);
        return host === null ? <span class="w">not said</span> : <>{host}{process !== null && <span class="w">, process {process}</span>}</>;
      },
    },
    ...(said ? [{ head: "Slots", by: slots, cell: (worker: any) => <Slots of={worker} /> }] : []),
    { head: "Tasks in hand", look: "num", by: (worker) => worker.leases ?? 0, cell: (worker) => (worker.leases === undefined ? "unknown" : number(worker.leases)) },
    { head: "Can I stop it?", look: "wide", cell: (worker) => <Safe of={worker.safe_to_stop} /> },
    { head: "Since", look: "num d", by: (worker) => worker.registered_at, cell: (worker) => <Age at={worker.registered_at} /> },
    {
      head: "Last heartbeat",
      look: "num",
      by: (worker) => worker.last_heartbeat_at,
      cell: (worker) => (
        <span class={lost(worker) ? "c-failed b" : "d"}>
          <Age at={worker.last_heartbeat_at} />
        </span>
      ),
    },
  ];
};

function Fleet({ workers, stale }: { workers: any[]; stale: number }) {
  const types = (worker: any) => [...(worker.supported_workflow_types ?? []), ...(worker.supported_activity_types ?? [])];
  return (
    <Card title="Fleet" say={`last heartbeat within ${stale}\u00a0s unless marked`} scroll>
      <Table label="Fleet" dense columns={fleetColumns(stale, workers.some((worker) => slots(worker) !== null))} rows={workers} id={(worker) => worker.worker_id} row={(worker) => ({ title: types(worker).length ? "has " + types(worker).join(", ") : undefined })} />
    </Card>
  );
}

export function Workers() {
  const topics = ["workers", "list"];
  const fleet = useData("workers", (stop) => get("workers", {}, stop), topics);
  const builds = useData(has("builds") ? "builds" : null, (stop) => get("builds", {}, stop), topics);
  const workers: any[] = fleet.data?.workers ?? [];
  const all: any[] = builds.data?.builds ?? [];
  const stale = fleet.data?.stale_after_seconds ?? 60;
  const here = workers.filter((worker) => now.value - (moment(worker.last_heartbeat_at) ?? 0) <= stale * 1000).length;
  return (
    <>
      <PageHead title="Workers and builds" say={fleet.data && `${here === workers.length ? many(workers.length, "worker") : `${number(here)} of ${many(workers.length, "worker")} here`}${builds.data ? ", " + many(all.length, "build") : ""}`} />
      {fleet.fault && <Fault of={fleet.fault} again={fleet.again} />}
      {!fleet.data && !fleet.fault && <Bones slow={fleet.slow} />}
      <div class="stack">
        {builds.fault && <Fault of={builds.fault} again={builds.again} what="The builds could not be read." />}
        {all.length > 0 && (
          <Card title="Builds" scroll>
            <Table label="Builds" columns={BUILDS} rows={all} id={(build) => build.build_id ?? ""} />
          </Card>
        )}
        {workers.length > 0 && <Fleet workers={workers} stale={stale} />}
        {fleet.data && workers.length === 0 && (
          <section class="card">
            <Empty title="No worker is here.">
              <p class="d">Runs wait until a program that has their code polls. It needs a token of the role worker.</p>
              <Shell text="holdfast token create --role worker --label billing" />
            </Empty>
          </section>
        )}
      </div>
    </>
  );
}
