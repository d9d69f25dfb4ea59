// Task queues: how much work there is, who takes it, and whether it is handed out.
import { at as url, get, post } from "../lib/api";
import { duration, many, number } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { readOnly } from "../lib/session";
import { Age, Bones, Button, Empty, Fault, PageHead, Status } from "../ui/basic";
import { askFor, quoted } from "../ui/form";
import { Meter } from "../ui/meter";

function turn(queue: any) {
  const action = queue.paused_at ? "resume" : "pause";
  askFor({
    title: `${queue.paused_at ? "Resume" : "Pause"} queue ${queue.name}`,
    glyph: queue.paused_at ? undefined : "paused",
    say: queue.paused_at ? "Its tasks are handed out again." : "No task of it is handed out, whoever asks. What was handed out goes on, and nothing is lost: the tasks wait.",
    go: queue.paused_at ? "Resume" : "Pause",
    keep: queue.paused_at ? "Leave it paused" : "Let it run",
    shell: () => `holdfast queue ${action} ${quoted(queue.name)}`,
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

export function Queues() {
  const { data, fault, slow, again } = useData("queues", (stop) => get("queues", {}, stop), ["metrics", "workers", "list"]);
  const queues: any[] = data?.queues ?? [];
  const most = Math.max(1, ...queues.map((queue) => queue.demand));
  const idle = queues.filter((queue) => queue.backlog > 0 && !queue.workers && !queue.pollers).length;
  return (
    <>
      <PageHead title="Queues" say={data && (queues.length ? many(queues.length, "queue") + (idle ? `, ${idle} with work and no worker` : "") : "none")} />
      {fault && <Fault of={fault} again={again} />}
      {!data && !fault && <Bones slow={slow} />}
      {data && queues.length === 0 && (
        <section class="card">
          <Empty title="No queue has had work or workers.">
            <p class="d">A queue is there as soon as a run or a worker names it.</p>
          </Empty>
        </section>
      )}
      {queues.length > 0 && (
        <section class="card scroll" aria-label="Queues">
          <table>
            <thead>
              <tr>
                <th scope="col">Queue</th>
                <th scope="col">State</th>
                <th scope="col">Demand</th>
                <th scope="col" class="num">
                  Waiting
                </th>
                <th scope="col" class="num">
                  In hand
                </th>
                <th scope="col" class="num">
                  Oldest
                </th>
                <th scope="col" class="num">
                  Workers
                </th>
                <th scope="col" class="num">
                  Polls
                </th>
                <th scope="col">
                  <span class="off">What to do</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {queues.map((queue) => {
                const alone = queue.backlog > 0 && !queue.workers && !queue.pollers;
                const ready = KINDS.filter(([kind]) => queue.ready?.[kind]).map(([kind, word]) => `${number(queue.ready[kind])} ${word}`);
                return (
                  <tr key={queue.name}>
                    <td class="b nw">
                      <a class="mono q" href={href(["runs"], { q: "is:open queue:" + queue.name })}>
                        {queue.name}
                      </a>
                    </td>
                    <td class="nw">
                      {queue.paused_at ? (
                        <>
                          <Status of="paused" />{" "}
                          <span class="w sm">
                            <Age at={queue.paused_at} />
                          </span>
                        </>
                      ) : alone ? (
                        <Status of="failed" word="no worker" />
                      ) : queue.backlog ? (
                        <Status of="waiting" word="working it off" />
                      ) : (
                        <Status of="completed" word="all taken" />
                      )}
                    </td>
                    <td>
                      <span class="progress">
                        <Meter run value={queue.demand / most} label={`demand ${queue.demand}`} />
                        <span class="nw">{number(queue.demand)}</span>
                      </span>
                    </td>
                    <td class="num" title={ready.join(", ")}>
                      {number(queue.backlog)}
                    </td>
                    <td class="num">{number(queue.in_flight)}</td>
                    <td class={alone ? "num c-failed b" : "num d"}>{queue.oldest_age_ms ? duration(queue.oldest_age_ms) : "none"}</td>
                    <td class="num">{number(queue.workers)}</td>
                    <td class="num d">{number(queue.pollers)}</td>
                    <td class="num">
                      <Button size="small" why={readOnly.value} label={`${queue.paused_at ? "Resume" : "Pause"} ${queue.name}`} onClick={() => turn(queue)}>
                        {queue.paused_at ? "Resume…" : "Pause…"}
                      </Button>
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
          <div class="selbar d sm">Demand is what waits and what is in hand: the number that an autoscaler needs.</div>
        </section>
      )}
    </>
  );
}
