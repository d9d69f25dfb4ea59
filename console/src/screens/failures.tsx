// Failures, in groups that differ in numbers only: what is new, and which runs it hit.
import { at as url, get, post } from "../lib/api";
import { many, moment, now, number } from "../lib/format";
import { useData } from "../lib/live";
import { href, param, path } from "../lib/router";
import { has, readOnly } from "../lib/session";
import { shell } from "../lib/shell";
import { Age, Button, Choice, Empty, Mono, PageHead, Shell, Status, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { Asked, Card, Facts, Section } from "../ui/part";
import { RunRows, useReveal, useRows } from "../ui/rows";
import { Table, type Column } from "../ui/table";
import { FailurePage } from "./failure";

const SINCE: [string, string, number | null][] = [
  ["1h", "1 h", 3600000],
  ["24h", "24 h", 86400000],
  ["7d", "7 d", 604800000],
  ["all", "All", null],
];
const NEW_MS = 3600000;

const STANDS: Record<string, string> = { resolved: "completed", ignored: "paused", reopened: "failed", open: "failed" };

export function decide(group: any, action: "resolve" | "ignore" | "reopen", again: () => void) {
  const say = {
    resolve: "It is out of the way until it is seen again; with a build, until a run of that build or of one that is not known yet has it.",
    ignore: "It is out of the way for that long, or until somebody opens it again.",
    reopen: "It counts again.",
  }[action];
  askFor({
    title: `${action[0]!.toUpperCase() + action.slice(1)} ${group.failure_type}`,
    say,
    parameters: action === "resolve" ? [{ name: "build", type: "string", doc: "The build that mends it, if there is one." }] : action === "ignore" ? [{ name: "for", type: "duration", allows_null: true, doc: "None: until it is opened again." }] : undefined,
    first: action === "ignore" ? { for: 86400000 } : undefined,
    reason: action === "ignore" ? "needed" : action === "resolve" ? "wanted" : undefined,
    go: action[0]!.toUpperCase() + action.slice(1),
    keep: "Leave it",
    send: async (value, reason) => {
      const of = (value ?? {}) as { build?: string; for?: number | null };
      await post(url`failures/${group.fingerprint}/${action}`, { ...(of.build ? { build: of.build } : {}), ...(of.for ? { seconds: Math.round(of.for / 1000) } : {}), ...(reason ? { reason } : {}) });
      again();
      return `${group.failure_type}: ${{ resolve: "resolved", ignore: "ignored", reopen: "open again" }[action]}`;
    },
  });
}

/** What people said of a group. */
export function Stands({ of }: { of: any }) {
  if (!of || of.status === "open") return null;
  return (
    <p class="sm">
      <Status of={STANDS[of.status] ?? "waiting"} word={of.status} />{" "}
      <span class="d">
        {of.build && `by build ${of.build} `}
        {of.until && (
          <>
            until <Time at={of.until} />{" "}
          </>
        )}
        {of.by && `by ${of.by.label ?? of.by.id}`}
        {of.reason && `: ${of.reason}`}
      </span>
    </p>
  );
}

/** What can be said of a group now. */
export function Decide({ group, again }: { group: any; again: () => void }) {
  if (!group.state) return null;
  const actions = /resolved|ignored/.test(group.state.status) ? (["reopen"] as const) : (["resolve", "ignore"] as const);
  return (
    <>
      {actions.map((action) => (
        <Button key={action} why={readOnly.value} onClick={() => decide(group, action, again)}>
          {action[0]!.toUpperCase() + action.slice(1)}…
        </Button>
      ))}
    </>
  );
}

function Detail({ group, again }: { group: any; again: () => void }) {
  const runs = useData(has("runs") ? "failure " + group.fingerprint : null, (stop) => get("runs", { q: "failure:" + group.fingerprint, limit: 5, total: true }, stop), ["list"]);
  const items: any[] = runs.data?.items ?? [];
  const box = useReveal(param("group"));
  const all = href(["runs"], { q: "failure:" + group.fingerprint });
  return (
    <aside class="card insp" aria-label="The group" ref={box}>
      <section>
        <h2 class="mono">{group.failure_type}</h2>
        <p class="d sm">
          in {group.name} · fingerprint <Mono>{group.fingerprint.slice(0, 8)}</Mono>
        </p>
        <Stands of={group.state} />
        {!group.workflow_task && (
          <p class="sm">
            <a href={href(["failures", group.fingerprint])}>Samples, traces and builds</a>
          </p>
        )}
      </section>
      {group.message && (
        <section>
          <h3>What it says</h3>
          <pre tabIndex={0}>{group.message}</pre>
        </section>
      )}
      <section>
        <Facts
          of={[
            ["Failures", number(group.count)],
            ["Runs", number(group.runs)],
            ["Handled by code", number(group.handled ?? 0)],
            ["First seen", <Time at={group.first_seen_at} />],
            ["Last seen", <Time at={group.last_seen_at} />],
          ]}
        />
      </section>
      {items.length > 0 && (
        <Section title="Runs it hit">
          <RunRows of={items} />
        </Section>
      )}
      <section>
        <h3>Do</h3>
        <div class="row">
          <a class="btn p" href={all}>
            Open {many(group.runs, "run")}
          </a>
          <Decide group={group} again={again} />
        </div>
        <p class="d sm mt">There they can be ticked and cancelled, repaired or sent a signal together.</p>
      </section>
      <section>
        <Shell text={shell("ls", ["failure=" + group.fingerprint])} />
      </section>
    </aside>
  );
}

function List() {
  const since = SINCE.find(([name]) => name === param("since")) ?? SINCE[1]!;
  const asked = useData(
    "failures " + since[0],
    (stop) => get("failures", { limit: 100, since: since[2] ? new Date(now.peek() - since[2]).toISOString() : null }, stop),
    ["list", "metrics"],
  );
  const data = asked.data;
  const groups: any[] = data?.groups ?? [];
  const chosen = groups.find((group) => group.fingerprint === param("group")) ?? groups[0];
  const rows = useRows(groups.map((group) => group.fingerprint), chosen?.fingerprint, "group");
  const isNew = (group: any) => now.value - (moment(group.first_seen_at) ?? 0) < NEW_MS;
  const someOld = groups.some((group) => !isNew(group)); // where all are new, nothing is
  const columns: Column<any>[] = [
    {
      head: "Failure",
      look: "wide",
      cell: (group) => (
        <>
          <div class="row">
            <a class="b mono q" href={href(["failures"], { since: since[0] === "24h" ? null : since[0], group: group.fingerprint })} aria-current={group === chosen ? "true" : undefined}>
              {group.failure_type}
            </a>
            {someOld && isNew(group) && <span class="tag new">new</span>}
            {group.state && group.state.status !== "open" && <span class={group.state.status === "reopened" ? "tag new" : "tag"}>{group.state.status}</span>}
          </div>
          <div class="d">in {group.name}</div>
          <div class="w sm brk">{group.message}</div>
        </>
      ),
    },
    { head: "Count", look: "num", by: (group) => group.count, cell: (group) => number(group.count) },
    { head: "Runs", look: "num", by: (group) => group.runs, cell: (group) => number(group.runs) },
    { head: "First seen", look: "num d", by: (group) => group.first_seen_at, cell: (group) => <Age at={group.first_seen_at} /> },
    { head: "Last seen", look: "num d", by: (group) => group.last_seen_at, cell: (group) => <Age at={group.last_seen_at} /> },
  ];
  const all = groups.reduce((sum, group) => sum + group.count, 0);
  return (
    <>
      <PageHead title="Failures" say={data && (groups.length ? `${many(groups.length, "group")}, ${many(all, "failure")}${since[2] ? " in " + since[1] : ""}` : "none")}>
        <Choice label="Since" items={SINCE.map(([name, text]) => [name, text])} on={since[0]} to={(name) => href(["failures"], { since: name === "24h" ? null : name })} />
      </PageHead>
      <Asked of={asked}>
        {() =>
          groups.length === 0 && (
            <Card>
              <Empty title={since[2] ? `Nothing failed in the last ${since[1]}.` : "Nothing has failed."}>
                <p class="d">Failures of activities and workflows come here, grouped by what they say.</p>
                {since[2] !== null && (
                  <a class="btn" href={href(["failures"], { since: "all" })}>
                    Look at all
                  </a>
                )}
              </Empty>
            </Card>
          )
        }
      </Asked>
      {chosen && (
        <div class="fgrid">
          <Card label="Groups" scroll>
            <Table label="Groups" columns={columns} rows={groups} id={(group) => group.fingerprint} row={(group) => ({ class: `vtop ${group === chosen ? "sel" : ""}`, ...rows(group.fingerprint) })} />
          </Card>
          <Detail group={chosen} again={asked.again} />
        </div>
      )}
    </>
  );
}

export function Failures() {
  const fingerprint = path.value[1];
  return fingerprint === undefined ? <List /> : <FailurePage key={fingerprint} fingerprint={fingerprint} />;
}
