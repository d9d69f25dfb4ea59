// Failures, in groups that differ in numbers only: what is new, and which runs it hit.
import { get } from "../lib/api";
import { many, moment, now, number } from "../lib/format";
import { useData } from "../lib/live";
import { href, param } from "../lib/router";
import { has } from "../lib/session";
import { Age, Bones, Choice, Empty, Fault, Mono, PageHead, RunLink, Shell, Status, Time } from "../ui/basic";
import { useRows } from "../ui/rows";

const SINCE: [string, string, number | null][] = [
  ["1h", "1 h", 3600000],
  ["24h", "24 h", 86400000],
  ["7d", "7 d", 604800000],
  ["all", "All", null],
];
const NEW_MS = 3600000;

function Detail({ group }: { group: any }) {
  const runs = useData(has("runs") ? "failure " + group.fingerprint : null, (stop) => get("runs", { q: "failure:" + group.fingerprint, limit: 5, total: true }, stop), ["list"]);
  const items: any[] = runs.data?.items ?? [];
  const all = href(["runs"], { q: "failure:" + group.fingerprint });
  const rows: [string, preact.ComponentChildren][] = [
    ["Failures", number(group.count)],
    ["Runs", number(group.runs)],
    ["Handled by code", number(group.handled ?? 0)],
    ["First seen", <Time at={group.first_seen_at} />],
    ["Last seen", <Time at={group.last_seen_at} />],
  ];
  return (
    <aside class="card insp" aria-label="The group">
      <section>
        <h2 class="mono">{group.failure_type}</h2>
        <p class="d sm">
          in {group.name} · fingerprint <Mono>{group.fingerprint.slice(0, 8)}</Mono>
        </p>
      </section>
      {group.message && (
        <section>
          <h3>What it says</h3>
          <pre tabIndex={0}>{group.message}</pre>
        </section>
      )}
      <section>
        <dl class="kv">
          {rows.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
        </dl>
      </section>
      {items.length > 0 && (
        <section>
          <h3>Runs it hit</h3>
          <table>
            <tbody>
              {items.map((run) => (
                <tr key={run.run_id}>
                  <td>
                    <RunLink id={run.workflow_id} run={run.run_id} />
                  </td>
                  <td>
                    <Status of={run.glyph} />
                  </td>
                  <td class="num d">
                    <Age at={run.started_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <section>
        <h3>Do</h3>
        <div class="row">
          <a class="btn p" href={all}>
            Open {many(group.runs, "run")}
          </a>
        </div>
        <p class="d sm mt">There they can be ticked and cancelled, repaired or sent a signal together.</p>
      </section>
      <section>
        <Shell text={`holdfast ls failure=${group.fingerprint}`} />
      </section>
    </aside>
  );
}

export function Failures() {
  const since = SINCE.find(([name]) => name === param("since")) ?? SINCE[1]!;
  const { data, fault, slow, again } = useData(
    "failures " + since[0],
    (stop) => get("failures", { limit: 100, since: since[2] ? new Date(now.peek() - since[2]).toISOString() : null }, stop),
    ["list", "metrics"],
  );
  const groups: any[] = data?.groups ?? [];
  const chosen = groups.find((group) => group.fingerprint === param("group")) ?? groups[0];
  const rows = useRows(groups.map((group) => group.fingerprint), chosen?.fingerprint, "group");
  const isNew = (group: any) => now.value - (moment(group.first_seen_at) ?? 0) < NEW_MS;
  const someOld = groups.some((group) => !isNew(group)); // where all are new, nothing is
  const all = groups.reduce((sum, group) => sum + group.count, 0);
  return (
    <>
      <PageHead title="Failures" say={data && (groups.length ? `${many(groups.length, "group")}, ${many(all, "failure")}${since[2] ? " in " + since[1] : ""}` : "none")}>
        <Choice label="Since" items={SINCE.map(([name, text]) => [name, text])} on={since[0]} to={(name) => href(["failures"], { since: name === "24h" ? null : name })} />
      </PageHead>
      {fault && <Fault of={fault} again={again} />}
      {!data && !fault && <Bones slow={slow} />}
      {data && groups.length === 0 && (
        <section class="card">
          <Empty title={since[2] ? `Nothing failed in the last ${since[1]}.` : "Nothing has failed."}>
            <p class="d">Failures of activities and workflows come here, grouped by what they say.</p>
            {since[2] !== null && (
              <a class="btn" href={href(["failures"], { since: "all" })}>
                Look at all
              </a>
            )}
          </Empty>
        </section>
      )}
      {chosen && (
        <div class="fgrid">
          <section class="card scroll" aria-label="Groups">
            <table>
              <thead>
                <tr>
                  <th scope="col">Failure</th>
                  <th scope="col" class="num">
                    Count
                  </th>
                  <th scope="col" class="num">
                    Runs
                  </th>
                  <th scope="col" class="num hide-s">
                    First seen
                  </th>
                  <th scope="col" class="num">
                    Last seen
                  </th>
                </tr>
              </thead>
              <tbody>
                {groups.map((group) => {
                  const fresh = someOld && isNew(group);
                  return (
                    <tr key={group.fingerprint} class={`vtop ${group === chosen ? "sel" : ""}`} {...rows(group.fingerprint)}>
                      <td>
                        <div class="row">
                          <a class="b mono q" href={href(["failures"], { since: since[0] === "24h" ? null : since[0], group: group.fingerprint })} aria-current={group === chosen ? "true" : undefined}>
                            {group.failure_type}
                          </a>
                          {fresh && <span class="tag new">new</span>}
                        </div>
                        <div class="d">in {group.name}</div>
                        <div class="w sm brk">{group.message}</div>
                      </td>
                      <td class="num">{number(group.count)}</td>
                      <td class="num">{number(group.runs)}</td>
                      <td class="num d hide-s">
                        <Age at={group.first_seen_at} />
                      </td>
                      <td class="num d">
                        <Age at={group.last_seen_at} />
                      </td>
                    </tr>
                  );
                })}
              </tbody>
            </table>
          </section>
          <Detail group={chosen} />
        </div>
      )}
    </>
  );
}
