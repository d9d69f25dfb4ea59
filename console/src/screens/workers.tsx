// Who works, who is gone, and can this be shut down?
import { at as url, get, post } from "../lib/api";
import { count, many, moment, now, number } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { has, readOnly } from "../lib/session";
import { Age, Bones, Empty, Fault, Glyph, Icon, Menu, Mono, PageHead, Shell } from "../ui/basic";
import { askFor, quoted } from "../ui/form";

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
    shell: () => queues.map((queue) => `holdfast build ${action} ${quoted(id ?? "")} --queue ${quoted(queue)}`).join("\n"),
    send: async () => {
      for (const queue of queues) await post(url`/api/task-queues/${queue}/build-ids/` + action, { build_id: id });
      return `${named(id)}: ${action === "drain" ? "drained" : action === "resume" ? "resumed" : "promoted"}`;
    },
  });
}

function Builds({ builds }: { builds: any[] }) {
  return (
    <section class="card scroll" aria-label="Builds">
      <div class="ch">
        <h2>Builds</h2>
        <span class="d">over all queues</span>
      </div>
      <table>
        <thead>
          <tr>
            <th scope="col">Build</th>
            <th scope="col">State</th>
            <th scope="col">Queues</th>
            <th scope="col" class="num">
              Workers
            </th>
            <th scope="col" class="num">
              Open runs need it
            </th>
            <th scope="col">Can I shut it down?</th>
            <th scope="col">
              <span class="off">What to do</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {builds.map((build) => {
            const state = build.drained_at ? "draining" : build.promoted_at ? "current" : build.active_workers ? "active" : "gone";
            return (
              <tr key={build.build_id ?? ""}>
                <td class="nw b">{build.build_id ? <Mono>{build.build_id}</Mono> : <span class="d">no build id</span>}</td>
                <td>
                  <span class={state === "current" ? "tag acc" : "tag"}>{state}</span>
                </td>
                <td class="d">{(build.queues ?? []).join(", ")}</td>
                <td class="num">
                  {number(build.active_workers ?? 0)}
                  {build.workers > build.active_workers && <span class="d"> of {number(build.workers)}</span>}
                </td>
                <td class="num">{count(build.open_runs)}</td>
                <td>
                  <Safe of={build.safe_to_stop} />
                </td>
                <td class="num">
                  <Menu
                    size="small"
                    end
                    text="Do"
                    label={`Do something with ${named(build.build_id)}`}
                    items={[
                      build.drained_at ? { text: "Resume…", act: () => buildTurn(build, "resume"), why: readOnly.value } : { text: "Drain…", act: () => buildTurn(build, "drain"), why: readOnly.value },
                      { text: "Promote…", act: () => buildTurn(build, "promote"), why: readOnly.value ?? (build.build_id ? null : "A worker without a build id cannot be promoted.") },
                      { text: "Show its runs", to: build.build_id ? href(["runs"], { q: "is:open build:" + build.build_id }) : href(["runs"], { q: "is:open" }) },
                    ]}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function Fleet({ workers, stale }: { workers: any[]; stale: number }) {
  return (
    <section class="card scroll" aria-label="Fleet">
      <div class="ch">
        <h2>Fleet</h2>
        <span class="d">last heartbeat within {stale}&nbsp;s unless marked</span>
      </div>
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">Worker</th>
            <th scope="col">Queues</th>
            <th scope="col">Build</th>
            <th scope="col">SDK</th>
            <th scope="col" class="num">
              Tasks in hand
            </th>
            <th scope="col">Can I stop it?</th>
            <th scope="col" class="num">
              Since
            </th>
            <th scope="col" class="num">
              Last heartbeat
            </th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => {
            const lost = now.value - (moment(worker.last_heartbeat_at) ?? 0) > stale * 1000;
            const types = [...(worker.supported_workflow_types ?? []), ...(worker.supported_activity_types ?? [])];
            return (
              <tr key={worker.worker_id} title={types.length ? "has " + types.join(", ") : undefined}>
                <td class="nw">
                  <Mono class="b">{worker.worker_id}</Mono> {lost && <span class="tag new">lost</span>}
                </td>
                <td class="d nw">{(worker.task_queues ?? [worker.task_queue]).join(", ")}</td>
                <td class="nw">{worker.build_id ? <Mono>{worker.build_id}</Mono> : <span class="w">none</span>}</td>
                <td class="d nw">
                  {worker.runtime} {worker.sdk_version}
                </td>
                <td class="num">{worker.leases === undefined ? "unknown" : number(worker.leases)}</td>
                <td class="nw">
                  <Safe of={worker.safe_to_stop} />
                </td>
                <td class="num d">
                  <Age at={worker.registered_at} />
                </td>
                <td class={lost ? "num c-failed b" : "num d"}>
                  <Age at={worker.last_heartbeat_at} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
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
        {all.length > 0 && <Builds builds={all} />}
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
