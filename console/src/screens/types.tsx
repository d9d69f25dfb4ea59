// Types of workflows, machines and activities: what they take, who has their code, how their runs end; and starting one.
import { signal } from "@preact/signals";
import { at as url, get, post } from "../lib/api";
import { many, measure, number } from "../lib/format";
import { stringify, type Json } from "../lib/json";
import { useData } from "../lib/live";
import { go, href, path } from "../lib/router";
import { can, readOnly } from "../lib/session";
import { inputWords, shell } from "../lib/shell";
import { token } from "../run/query";
import { Bones, Button, Empty, Fault, Mono, PageHead, Shell, Status } from "../ui/basic";
import { askFor, type Parameter } from "../ui/form";
import { Asked, Card, Facts, Section } from "../ui/part";
import { RunRows } from "../ui/rows";
import { Table, type Column } from "../ui/table";

const runsOf = (one: any) => (one.open ?? 0) + (one.completed ?? 0) + (one.failed ?? 0);
const howMany = (of: any): number => (Array.isArray(of) ? of.length : (of ?? 0));

/** What it can be sent: "2 signals, one query". */
function takes(one: any): string {
  return (
    [
      ["signals", "signal", undefined],
      ["updates", "update", undefined],
      ["queries", "query", "queries"],
    ] as const
  )
    .filter(([list]) => howMany(one[list]) > 0)
    .map(([list, word, more]) => many(howMany(one[list]), word, more))
    .join(", ");
}

const LIST: Column<any>[] = [
  {
    head: "Type",
    look: "b nw",
    by: (one) => one.type,
    cell: (one) => (
      <a class="mono q" href={href(["types", one.type])}>
        {one.type}
      </a>
    ),
  },
  { head: "Code", look: "nw state", cell: (one) => (one.here || howMany(one.workers) ? <Status of="completed" word={one.here ? "in this server" : "with a worker"} /> : <Status of="blocked" word="nobody has it" />) },
  { head: "Open", look: "num", by: (one) => one.open ?? 0, cell: (one) => number(one.open ?? 0) },
  { head: "Completed", look: "num", by: (one) => one.completed ?? 0, cell: (one) => number(one.completed ?? 0) },
  { head: "Failed", look: "num", by: (one) => one.failed ?? 0, cell: (one) => <span class={one.failed ? "c-failed" : ""}>{number(one.failed ?? 0)}</span> },
  { head: "Queues", look: "d", cell: (one) => (one.queues ?? []).join(", ") || <span class="w">none</span> },
  { head: "Takes", look: "d", cell: (one) => takes(one) || <span class="w">nothing</span> },
  { head: "Workers", look: "num", by: (one) => howMany(one.workers), cell: (one) => number(howMany(one.workers)) },
];
const OF_RUNS = new Set(["Open", "Completed", "Failed", "Takes"]);

function List() {
  const asked = useData("types", (stop) => get("types", {}, stop), ["list", "workers", "metrics"]);
  const all: any[] = [...(asked.data?.types ?? [])].sort((a, b) => Number(runsOf(b) > 0) - Number(runsOf(a) > 0)); // those with runs first
  const groups: [string, string, any[]][] = [
    ["Workflows", "workflow", all.filter((one) => one.kind === "workflow")],
    ["Step machines", "step machine", all.filter((one) => one.kind === "machine")],
    ["Activities", "activity", all.filter((one) => one.kind === "activity")],
  ];
  const here = groups.filter(([, , of]) => of.length);
  return (
    <>
      <PageHead title="Types" say={asked.data && here.map(([name, one, of]) => many(of.length, one, name.toLowerCase())).join(", ")} />
      <Asked of={asked}>
        {() => (
          <div class="stack">
            {here.length === 0 && (
              <Card>
                <Empty title="No type is known here.">
                  <p class="d">Types come with the workers that have their code, and with the runs that were started of them.</p>
                </Empty>
              </Card>
            )}
            {here.map(([name, , of]) => (
              <Card title={name} key={name} scroll>
                <Table label={name} columns={name === "Activities" ? LIST.filter((one) => !OF_RUNS.has(one.head)) : LIST} rows={of} id={(one) => one.type} />
              </Card>
            ))}
          </div>
        )}
      </Asked>
    </>
  );
}

function Parameters({ of }: { of: Parameter[] | null | undefined }) {
  if (!of) return <p class="d sm">Nothing is declared: any value does.</p>;
  if (of.length === 0) return <p class="d sm">It takes nothing.</p>;
  return (
    <Table
      bare
      dense
      narrow
      rows={of}
      id={(one) => one.name}
      columns={[
        { head: "Name", cell: (one) => <Mono class="b">{one.name}</Mono> },
        { head: "Type", look: "d", cell: (one) => `${one.type ?? "any"}${one.allows_null ? " or none" : ""}` },
        { head: "Needed", look: "num d", cell: (one) => (one.default_available ? "default " + stringify(one.default ?? null) : one.required ? "needed" : "optional") },
      ]}
    />
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
    recent: [type, "start"],
    more: <StartFields />,
    go: "Start",
    shell: (value) => shell("start", [type, ...inputWords(value)], { id: startId.value, "business-key": startKey.value, queue: startQueue.value }),
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
    <Card title={title}>
      {of.map((one) => (
        <div class="target" key={one.name}>
          <Mono class="b">{one.name}</Mono>
          <Parameters of={one.parameters} />
        </div>
      ))}
    </Card>
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
            <Card title="Input" say={one.contract_source && `as the ${String(one.contract_source).replace(/_/g, " ")} says`}>
              <div class="target">
                <Parameters of={parameters} />
              </div>
            </Card>
            <Targets title="Signals" of={contract?.signals} />
            <Targets title="Updates" of={contract?.updates} />
            <Targets title="Queries" of={contract?.queries} />
            {one.recent?.length > 0 && (
              <Card
                title="Newest runs"
                end={
                  <a class="sm" href={href(["runs"], { q: token("type", type) })}>
                    all of them
                  </a>
                }
              >
                <RunRows of={one.recent} why />
              </Card>
            )}
          </div>
          <aside class="card insp" aria-label="The type">
            {startable && (
              <section>
                <Facts
                  of={[
                    ...["open", "completed", "failed", "cancelled", "terminated"].map((name): [string, string] => [name, number(statistics[name] ?? 0)]),
                    ["success", ended ? measure(((statistics.completed ?? 0) / ended) * 100) + "\u00a0%" : "none closed"],
                  ]}
                />
              </section>
            )}
            <Section title="Who has its code">
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
            </Section>
            {startable && can.value.read && (
              <section>
                <Shell text={shell("start", [type, ...(parameters ?? []).filter((p) => p.required).map((p) => `${p.name}${p.type === "string" ? "" : ":"}=VALUE`)])} />
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
