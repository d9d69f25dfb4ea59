// One group of failures: what it says, the newest runs that had it, each with its trace and what was tried before, and since when.
import { at as url, get } from "../lib/api";
import { many, number } from "../lib/format";
import { useData } from "../lib/live";
import { href, param, set } from "../lib/router";
import { AttemptTable } from "../run/attempts";
import { token } from "../run/query";
import { Bones, Empty, Fault, Mono, PageHead, RunLink, Shell, Status, Time } from "../ui/basic";
import { AnyPayload } from "../run/inspector";
import { Card, Facts, Section } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { Decide, Stands } from "./failures";

interface Sample {
  workflow_id: string;
  run_id: string;
  workflow_type: string;
  step: number | null;
  at: string;
  failure_type: string;
  message: string | null;
  handled: boolean;
  build: string | null;
}

const idOf = (sample: Sample) => `${sample.run_id}-${sample.step ?? 0}-${sample.at}`;

/** Where it came from in one run: the trace, what it was given, and the attempts that led to it. */
function Inside({ of }: { of: Sample }) {
  const asked = useData<any>(`sample ${idOf(of)}`, (stop) => get(of.step ? url`runs/${of.workflow_id}/steps/${of.step}` : url`runs/${of.workflow_id}/failures`, { run_id: of.run_id }, stop));
  if (asked.fault) return <Fault of={asked.fault} again={asked.again} what="This run could not be read." />;
  if (!asked.data) return <Bones rows={2} slow={asked.slow} />;
  const { bar, activity, failures } = asked.data;
  const all: any[] = failures ?? [];
  return (
    <div class="stack">
      {all.map((one, i) => (
        <div key={i}>
          <p>
            {one.sequence && !of.step ? `step ${one.sequence}: ` : ""}
            <span class="mono c-failed">{one.exception_type ?? one.failure_category ?? "failed"}</span> {one.message} {one.source_line && <Mono class="w">{one.source_line}</Mono>}
          </p>
          {one.exception?.text && <pre tabIndex={0}>{one.exception.text}</pre>}
        </div>
      ))}
      {!all.some((one) => one.exception?.text) && <p class="d sm">The worker sent no trace with it.</p>}
      {activity && (
        <div>
          <h3>What it was given</h3>
          <AnyPayload of={activity.arguments} label="the input" />
        </div>
      )}
      {bar?.attempts.length > 0 && <AttemptTable of={bar.attempts} />}
    </div>
  );
}

const SAMPLES: Column<Sample>[] = [
  { head: "Run", look: "b nw cname", cell: (one) => <RunLink id={one.workflow_id} run={one.run_id} class="q" /> },
  { head: "Type", look: "d", by: (one) => one.workflow_type, cell: (one) => one.workflow_type },
  {
    head: "Step",
    look: "num",
    cell: (one) =>
      one.step ? (
        <a class="q" href={href(["runs", one.workflow_id], { run_id: one.run_id, step: String(one.step) })}>
          {one.step}
        </a>
      ) : (
        <span class="d">the run</span>
      ),
  },
  { head: "What it says", look: "wide brk", cell: (one) => one.message },
  { head: "What it did", look: "nw d", cell: (one) => (one.handled ? "the code lived with it" : "was not handled") },
  { head: "Build", look: "mono d", by: (one) => one.build, cell: (one) => one.build ?? "none" },
  { head: "At", look: "num d", by: (one) => one.at, cell: (one) => <Time at={one.at} /> },
];

function Side({ data, again }: { data: any; again: () => void }) {
  const { group } = data;
  const types = new Map<string, number>();
  for (const sample of data.samples as Sample[]) types.set(sample.workflow_type, (types.get(sample.workflow_type) ?? 0) + 1);
  const runs = (more = "") => href(["runs"], { q: `failure:${group.fingerprint}${more}` });
  return (
    <aside class="card insp" aria-label="The group">
      <section>
        <Stands of={group.state} />
        <Facts
          of={[
            ["Failures", number(group.count)],
            ["Runs", number(group.runs)],
            ["Handled by code", number(group.handled ?? 0)],
            ["First seen", <Time at={group.first_seen_at} />],
            ["Last seen", <Time at={group.last_seen_at} />],
            ["Fingerprint", <Mono class="wrap">{group.fingerprint}</Mono>],
          ]}
        />
      </section>
      <Section title="Types">
        <Facts
          of={[...types].map(([type, n]) => [
            <a class="q" href={runs(" " + token("type", type))}>
              {type}
            </a>,
            <span class="d">{many(n, "sample")}</span>,
          ])}
        />
      </Section>
      <Section title="Builds">
        <Facts
          of={(data.builds as (string | null)[]).map((build) => [
            build === null ? "none" : <Mono>{build}</Mono>,
            build === null ? (
              <span class="d">runs that any build does</span>
            ) : (
              <a class="q" href={runs(" " + token("build", build))}>
                its runs
              </a>
            ),
          ])}
        />
      </Section>
      <section>
        <h3>Do</h3>
        <div class="row">
          <a class="btn p" href={runs()}>
            Open {many(group.runs, "run")}
          </a>
          <Decide group={group} again={again} />
        </div>
      </section>
      <section>
        <Shell text={`holdfast ls failure=${group.fingerprint}`} />
      </section>
    </aside>
  );
}

export function FailurePage({ fingerprint }: { fingerprint: string }) {
  const { data, fault, slow, again } = useData<any>("failure group " + fingerprint, (stop) => get(url`failures/${fingerprint}`, {}, stop), ["list"]);
  const samples: Sample[] = data?.samples ?? [];
  const open = param("sample") || (samples[0] && idOf(samples[0]));
  return (
    <>
      <PageHead title={data ? data.group.failure_type : "Failure"} say={data && `in ${data.group.name}: ${many(data.group.count, "failure")} of ${many(data.group.runs, "run")}`} />
      <p class="crumb sm">
        <a href={href(["failures"])}>Failures</a> <Mono class="w">{fingerprint.slice(0, 8)}</Mono>
      </p>
      {fault && <Fault of={fault} again={again} what="This group could not be read." />}
      {!data && !fault && <Bones slow={slow} />}
      {data && (
        <div class="fgrid">
          <div class="stack">
            {data.group.message && (
              <Card title="What it says" end={<Status of={/open|reopened/.test(data.group.state.status) ? "failed" : "paused"} word={data.group.state.status} />}>
                <div class="pad">
                  <pre tabIndex={0}>{data.group.message}</pre>
                </div>
              </Card>
            )}
            <Card title="Samples" say={`the newest ${number(samples.length)} of ${number(data.group.count)}`} scroll>
              {samples.length === 0 && <Empty title="No run that had it is left." />}
              <Table
                label="Samples"
                columns={SAMPLES}
                rows={samples}
                id={idOf}
                row={(one) => ({
                  class: idOf(one) === open ? "sel" : "",
                  "aria-selected": idOf(one) === open,
                  onClick: (event: MouseEvent) => !(event.target as Element).closest("a, button") && set({ sample: idOf(one) }, true),
                })}
                detail={(one) => idOf(one) === open && <Inside of={one} />}
              />
            </Card>
          </div>
          <Side data={data} again={again} />
        </div>
      )}
    </>
  );
}
