// Types of workflows, machines and activities: what they take, who has their code, how their runs end; and starting one.
import { signal } from "@preact/signals";
import { at as url, get, post } from "../lib/api";
import { many, measure, number } from "../lib/format";
import { stringify, type Json } from "../lib/json";
import { useData } from "../lib/live";
import { go, href, path } from "../lib/router";
import { can, readOnly } from "../lib/session";
import { Age, Bones, Button, Empty, Fault, Mono, PageHead, RunLink, Shell, Status } from "../ui/basic";
import { askFor, quoted, shellArguments, type Parameter } from "../ui/form";

function List() {
  const { data, fault, slow, again } = useData("types", (stop) => get("types", {}, stop), ["list", "workers", "metrics"]);
  const runs = (one: any) => (one.open ?? 0) + (one.completed ?? 0) + (one.failed ?? 0);
  const all: any[] = [...(data?.types ?? [])].sort((a, b) => Number(runs(b) > 0) - Number(runs(a) > 0)); // those with runs first
  const groups: [string, any[]][] = [
    ["Workflows", all.filter((one) => one.kind === "workflow")],
    ["Step machines", all.filter((one) => one.kind === "machine")],
    ["Activities", all.filter((one) => one.kind === "activity")],
  ];
  return (
    <>
      <PageHead title="Types" say={data && groups.filter(([, of]) => of.length).map(([name, of]) => many(of.length, name.toLowerCase().replace(/ies$/, "y").replace(/s$/, ""), name.toLowerCase())).join(", ")} />
      {fault && <Fault of={fault} again={again} />}
      {!data && !fault && <Bones slow={slow} />}
      {data && all.length === 0 && (
        <section class="card">
          <Empty title="No type is known here.">
            <p class="d">Types come with the workers that have their code, and with the runs that were started of them.</p>
          </Empty>
        </section>
      )}
      <div class="stack">
        {groups.map(
          ([name, of]) =>
            of.length > 0 && (
              <section class="card scroll" aria-label={name} key={name}>
                <div class="ch">
                  <h2>{name}</h2>
                </div>
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Type</th>
                      <th scope="col">Code</th>
                      {name !== "Activities" && (
                        <>
                          <th scope="col" class="num">
                            Open
                          </th>
                          <th scope="col" class="num">
                            Completed
                          </th>
                          <th scope="col" class="num">
                            Failed
                          </th>
                        </>
                      )}
                      <th scope="col">Queues</th>
                      {name !== "Activities" && <th scope="col">Takes</th>}
                      <th scope="col" class="num">
                        Workers
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {of.map((one) => {
                      const workers = Array.isArray(one.workers) ? one.workers.length : (one.workers ?? 0);
                      const has = one.here || workers > 0;
                      const takes = [
                        [one.signals, "signal"],
                        [one.updates, "update"],
                        [one.queries, "query"],
                      ] as const;
                      const said = takes
                        .map(([of, word]) => [Array.isArray(of) ? of.length : (of ?? 0), word] as const)
                        .filter(([n]) => n > 0)
                        .map(([n, word]) => many(n, word, word === "query" ? "queries" : undefined));
                      return (
                        <tr key={one.type}>
                          <td class="b nw">
                            <a class="mono q" href={href(["types", one.type])}>
                              {one.type}
                            </a>
                          </td>
                          <td class="nw">{has ? <Status of="completed" word={one.here ? "in this server" : "with a worker"} /> : <Status of="blocked" word="nobody has it" />}</td>
                          {name !== "Activities" && (
                            <>
                              <td class="num">{number(one.open ?? 0)}</td>
                              <td class="num">{number(one.completed ?? 0)}</td>
                              <td class={one.failed ? "num c-failed" : "num"}>{number(one.failed ?? 0)}</td>
                            </>
                          )}
                          <td class="d">{(one.queues ?? []).join(", ") || <span class="w">none</span>}</td>
                          {name !== "Activities" && <td class="d">{said.join(", ") || <span class="w">nothing</span>}</td>}
                          <td class="num">{number(workers)}</td>
                        </tr>
                      );
                    })}
                  </tbody>
                </table>
              </section>
            ),
        )}
      </div>
    </>
  );
}

function Parameters({ of }: { of: Parameter[] | null | undefined }) {
  if (!of) return <p class="d sm">Nothing is declared: any value does.</p>;
  if (of.length === 0) return <p class="d sm">It takes nothing.</p>;
  return (
    <table class="dense">
      <tbody>
        {of.map((one) => (
          <tr key={one.name}>
            <td>
              <Mono class="b">{one.name}</Mono>
            </td>
            <td class="d">
              {one.type ?? "any"}
              {one.allows_null ? " or none" : ""}
            </td>
            <td class="num d">{one.default_available ? "default " + stringify(one.default ?? null) : one.required ? "needed" : "optional"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const startId = signal("");
const startQueue = signal("");
const startKey = signal("");

function StartFields() {
  const rows = [
    ["Workflow id", startId, "made up when it is empty"],
    ["Business key", startKey, "optional"],
    ["Queue", startQueue, "default"],
  ] as const;
  return (
    <>
      {rows.map(([name, value, hint]) => (
        <div class="field" key={name}>
          <label for={"start-" + name}>
            {name} <span class="w">{hint}</span>
          </label>
          <input id={"start-" + name} class="in mono" type="text" spellcheck={false} autocomplete="off" value={value.value} onInput={(event) => (value.value = event.currentTarget.value)} />
        </div>
      ))}
    </>
  );
}

/** Asks for what a start needs, and goes to the run. */
export function startOf(type: string, parameters: Parameter[] | null, queue = "", first?: Json) {
  startId.value = startKey.value = "";
  startQueue.value = queue === "default" ? "" : queue;
  askFor({
    title: `Start ${type}`,
    glyph: "running",
    parameters,
    first,
    more: <StartFields />,
    go: "Start",
    shell: (value) => `holdfast start ${quoted(type)}${shellArguments(value)}${startId.value ? " --id " + quoted(startId.value) : ""}`,
    send: async (value) => {
      const said = await post("/api/workflows", {
        workflow_type: type,
        ...(value === undefined ? {} : { input: value }),
        ...(startId.value ? { workflow_id: startId.value } : {}),
        ...(startKey.value ? { business_key: startKey.value } : {}),
        ...(startQueue.value ? { task_queue: startQueue.value } : {}),
      });
      go(href(["runs", said.workflow_id]));
      return `Started ${said.workflow_id}`;
    },
  });
}

function Targets({ title, of }: { title: string; of: any[] | undefined }) {
  if (!of?.length) return null;
  return (
    <section class="card">
      <div class="ch">
        <h2>{title}</h2>
      </div>
      {of.map((one) => (
        <div class="target" key={one.name}>
          <Mono class="b">{one.name}</Mono>
          <Parameters of={one.parameters} />
        </div>
      ))}
    </section>
  );
}

function One({ type }: { type: string }) {
  const { data: one, fault, slow, again } = useData("type " + type, (stop) => get(url`types/${type}`, {}, stop), ["list", "workers"]);
  const contract = one?.contract;
  const statistics = one?.statistics ?? {};
  const ended = (statistics.completed ?? 0) + (statistics.failed ?? 0);
  const startable = one && one.kind !== "activity";
  const parameters: Parameter[] | null = contract?.parameters ?? null;
  return (
    <>
      <PageHead title={type} say={one && one.kind}>
        {startable && (
          <Button kind="primary" why={readOnly.value} onClick={() => startOf(type, parameters, one.queues?.[0])}>
            Start…
          </Button>
        )}
      </PageHead>
      <p class="crumb sm">
        <a href={href(["types"])}>Types</a>
      </p>
      {fault && <Fault of={fault} again={again} what="This type could not be read." />}
      {!one && !fault && <Bones slow={slow} />}
      {one && (
        <div class="fgrid">
          <div class="stack">
            <section class="card">
              <div class="ch">
                <h2>Input</h2>
                <span class="d sm">{one.contract_source && `as the ${String(one.contract_source).replace(/_/g, " ")} says`}</span>
              </div>
              <div class="target">
                <Parameters of={parameters} />
              </div>
            </section>
            <Targets title="Signals" of={contract?.signals} />
            <Targets title="Updates" of={contract?.updates} />
            <Targets title="Queries" of={contract?.queries} />
            {one.recent?.length > 0 && (
              <section class="card">
                <div class="ch">
                  <h2>Newest runs</h2>
                  <span class="grow" />
                  <a class="sm" href={href(["runs"], { q: "type:" + type })}>
                    all of them
                  </a>
                </div>
                <table class="stackable">
                  <tbody>
                    {one.recent.map((run: any) => (
                      <tr key={run.run_id}>
                        <td class="b nw">
                          <RunLink id={run.workflow_id} run={run.run_id} class="q" />
                        </td>
                        <td>
                          <Status of={run.glyph ?? run.status} />
                        </td>
                        <td class="cut d">{run.why?.text ?? ""}</td>
                        <td class="num d">
                          <Age at={run.started_at} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </section>
            )}
          </div>
          <aside class="card insp" aria-label="The type">
            {startable && (
              <section>
                <dl class="kv">
                  {["open", "completed", "failed", "cancelled", "terminated"].map((name) => (
                    <>
                      <dt>{name}</dt>
                      <dd>{number(statistics[name] ?? 0)}</dd>
                    </>
                  ))}
                  <dt>success</dt>
                  <dd>{ended ? measure(((statistics.completed ?? 0) / ended) * 100) + "\u00a0%" : "none closed"}</dd>
                </dl>
              </section>
            )}
            <section>
              <h3>Who has its code</h3>
              {(one.workers ?? []).length === 0 ? (
                <p class="d sm">{one.here ? "This server itself." : "Nobody is here now."}</p>
              ) : (
                <ul>
                  {one.workers.map((worker: any) => (
                    <li key={worker.worker_id ?? worker} class="brk">
                      <Mono>{worker.worker_id ?? worker}</Mono> {worker.build_id && <span class="d">build {worker.build_id}</span>}
                    </li>
                  ))}
                </ul>
              )}
            </section>
            {startable && can.value.read && (
              <section>
                <Shell text={`holdfast start ${quoted(type)}${(parameters ?? []).filter((p) => p.required).map((p) => ` ${p.name}${p.type === "string" ? "=…" : ":=…"}`).join("")}`} />
              </section>
            )}
          </aside>
        </div>
      )}
    </>
  );
}

export function Types() {
  const type = path.value[1];
  return type === undefined ? <List /> : <One key={type} type={type} />;
}
