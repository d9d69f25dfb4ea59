// Is all well, and if not, where?
import { get } from "../lib/api";
import { bytes, count, duration, many, measure, moment, now, number } from "../lib/format";
import { useData } from "../lib/live";
import { overview, type Overview as Seen } from "../lib/overview";
import { zone } from "../lib/prefs";
import { href, param } from "../lib/router";
import { stamp } from "../lib/format";
import { Bones, Choice, Fault, Glyph, Icon, PageHead, RunLink, Time } from "../ui/basic";
import { Plot, Spark } from "../ui/chart";
import { Card, Facts } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { token } from "../run/query";
import { attentionGlyph } from "./attention";
import { First, firstVisit } from "./first";

const RANGES: [string, string, number][] = [
  ["15m", "15 min", 15],
  ["1h", "1 h", 60],
  ["6h", "6 h", 360],
  ["24h", "24 h", 1440],
  ["7d", "7 d", 10080],
];
const BARS = 60;

interface Point {
  at: string;
  [name: string]: number | string;
}
const NAMES = ["started", "completed", "failed", "cancelled", "terminated", "continued", "failures", "attempts", "retries", "events"] as const;
type Name = (typeof NAMES)[number];

/** Points of minutes or hours as equal steps; what has no point is nothing. Each is the mean of a minute. */
function stepped(points: Point[], minutes: number, hours: boolean) {
  const unit = hours ? 3600000 : 60000;
  const width = Math.max(unit, Math.ceil((minutes * 60000) / BARS / unit) * unit);
  const end = Math.round(now.peek() / width) * width; // a step that has hardly begun is not shown yet
  const steps = Math.ceil((minutes * 60000) / width);
  const at = Array.from({ length: steps }, (_, i) => (end - (steps - i) * width) / 1000);
  const values = Object.fromEntries(NAMES.map((name) => [name, new Array<number>(steps).fill(0)])) as Record<Name, number[]>;
  const begun = Math.min(width, now.peek() - (end - width)) / 60000; // how much of the last step is over
  const share = (i: number) => (i === steps - 1 ? begun : width / 60000);
  for (const point of points) {
    const i = Math.floor(((moment(point.at) ?? 0) / 1000 - at[0]!) / (width / 1000));
    if (i < 0 || i >= steps) continue;
    for (const name of NAMES) values[name][i]! += Number(point[name] ?? 0) / share(i);
  }
  const closed = at.map((_, i) => values.completed[i]! + values.failed[i]! + values.cancelled[i]! + values.terminated[i]!);
  /** How many runs were open at the end of each step, counted back from now. */
  const open = (there: number) => {
    const line = new Array<number>(steps);
    for (let i = steps - 1; i >= 0; i--) {
      line[i] = Math.max(0, there);
      there -= (values.started[i]! - closed[i]!) * share(i);
    }
    return line;
  };
  return { at, values, closed, open };
}

function Tile({ title, value, unit, bad, sub, children }: { title: string; value: string; unit?: string; bad?: boolean; sub: string; children?: preact.ComponentChildren }) {
  return (
    <div class="tile">
      <h2 title={title}>{title}</h2>
      <div class={bad ? "v c-failed" : "v"}>
        {value}
        <small>{unit}</small>
      </div>
      {children}
      <div class="sub" title={sub}>
        {sub}
      </div>
    </div>
  );
}

const perMinute = (n: number | null | undefined) => (n === null || n === undefined ? "unknown" : measure(n));

function Tiles({ seen, points }: { seen: Seen; points: ReturnType<typeof stepped> | null }) {
  const timers = seen.timers_next_hour ?? [];
  const due = timers.reduce((sum, n) => sum + n, 0);
  const most = timers.indexOf(Math.max(...timers));
  const line = (name: Name, token?: string) => points && <Spark values={points.values[name]} label={`${name}, over time`} token={token} />;
  const failed = seen.rates.failed_share;
  const age = seen.backlog.oldest_ready_at ? seen.backlog.oldest_ready_age_ms : 0;
  const late = age > 60000;
  const [ageNumber, ageUnit] = age ? duration(age).split("\u00a0") : ["0", ""];
  return (
    <div class="tiles">
      <Tile title="Open runs" value={number(seen.runs.open ?? 0)} sub={`${number(seen.runs.running ?? 0)} running, ${number(seen.runs.waiting ?? 0)} waiting`}>
        {points && <Spark values={points.open(seen.runs.open ?? 0)} label="open runs, over time" />}
      </Tile>
      <Tile title="Started" value={perMinute(seen.rates.started_per_minute)} unit="/min" sub={`mean of ${seen.rates.minutes} min`}>
        {line("started")}
      </Tile>
      <Tile title="Closed" value={perMinute(seen.rates.closed_per_minute)} unit="/min" sub={`${number(seen.runs.completed ?? 0)} completed in all`}>
        {points && <Spark values={points.closed} label="closed, over time" />}
      </Tile>
      <Tile title="Failure rate" value={failed === null ? "0" : measure(failed * 100)} unit="%" sub={`${number(seen.runs.failed ?? 0)} failed in all`}>
        {line("failed", failed ? "c3" : "c5")}
      </Tile>
      <Tile title="Oldest ready task" value={ageNumber!} unit={ageUnit} bad={late} sub={seen.backlog.ready ? many(seen.backlog.ready, "task") + " ready" : "nothing waits for a worker"}>
        <div class="sparkline" />
      </Tile>
      <Tile title="Activity retries" value={perMinute(seen.rates.retries_per_minute)} unit="/min" sub={`mean of ${seen.rates.minutes} min`}>
        {line("retries", seen.rates.retries_per_minute ? "c3" : "c5")}
      </Tile>
      <Tile title="Timers next hour" value={number(due)} sub={due ? `most in ${most} to ${most + 1} min` : "none is due"}>
        <Spark values={timers.length ? timers : [0]} label="timers by minute of the next hour" bars most={due ? most : -1} />
      </Tile>
    </div>
  );
}

function Strip({ seen }: { seen: Seen }) {
  const top = seen.attention.top ?? [];
  if (top.length === 0) return null;
  return (
    <div class="card strip">
      {top.map((one) => (
        <a key={one.signature} href={href(["attention"])}>
          <span class={"c-" + attentionGlyph(one.code)}>
            <Glyph name={attentionGlyph(one.code)} />
          </span>
          <span>
            <b class="b">{many(one.count, "run")}:</b> {one.text}
          </span>
          <span class="when">
            since <Time at={one.since} />
          </span>
          <Icon name="right" />
        </a>
      ))}
    </div>
  );
}

type TypeRow = Seen["types"][number];
const closed = (one: TypeRow) => one.completed + one.failed;

const TYPES: Column<TypeRow>[] = [
  {
    head: "Type",
    look: "b",
    by: (one) => one.workflow_type,
    cell: (one) => (
      <a class="q" href={href(["runs"], { q: token("type", one.workflow_type) })}>
        {one.workflow_type}
      </a>
    ),
  },
  { head: "Open", look: "num", by: (one) => one.open, cell: (one) => number(one.open) },
  { head: "Completed", look: "num", by: (one) => one.completed, cell: (one) => number(one.completed) },
  { head: "Failed", look: "num", by: (one) => one.failed, cell: (one) => <span class={one.failed ? "c-failed" : ""}>{number(one.failed)}</span> },
  { head: "Success", look: "num d", by: (one) => (closed(one) ? one.completed / closed(one) : null), cell: (one) => (closed(one) ? measure((one.completed / closed(one)) * 100) + "\u00a0%" : "none closed") },
];

const RECORDS: [string, string, (one: any) => string][] = [
  ["longest_open", "Longest open", (one) => duration(now.value - (moment(one.started_at) ?? now.value))],
  ["most_retries", "Most failures", (one) => many(one.failures ?? 0, "failure")],
  ["biggest_history", "Biggest history", (one) => many(one.events ?? 0, "event")],
];

function Side({ seen }: { seen: Seen }) {
  const { storage, projections, health } = seen;
  const wrong: any[] = (health.checks ?? []).filter((check: any) => check.status !== "ok" && check.name !== "attention"); // that has the strip
  const drift = projections.missing + projections.stale + projections.orphaned;
  const records = RECORDS.filter(([name]) => seen.records?.[name]?.workflow_id);
  return (
    <div class="stack">
      <Card title="Storage" end={<span class={wrong.length ? "tag warn" : "tag ok"}>{wrong.length ? "look at it" : "healthy"}</span>}>
        <div class="pad">
          <Facts
            of={[
              [storage.backend === "sqlite" ? "SQLite file" : "PostgreSQL", bytes(storage.bytes)],
              ["WAL", storage.backend === "sqlite" && bytes(storage.wal_bytes)],
              ...wrong.map((check: any): [preact.ComponentChildren, string] => [<span class="c-waiting">{check.name}</span>, check.text]),
              ["Projection drift", drift ? `${number(projections.missing)} missing, ${number(projections.stale)} stale, ${number(projections.orphaned)} orphaned` : "none"],
              [
                "Schedules",
                <>
                  {many(seen.schedules.active, "active", "active")}
                  {seen.schedules.paused > 0 && <span class="d">, {number(seen.schedules.paused)} paused</span>}
                </>,
              ],
              ["Workers", seen.workers.active ? number(seen.workers.active) : <span class="c-failed b">none</span>],
            ]}
          />
        </div>
      </Card>
      {records.length > 0 && (
        <Card title="Record holders">
          <div class="pad">
            <Facts
              of={records.map(([name, title, say]) => [
                title,
                <>
                  <RunLink id={seen.records[name].workflow_id} run={seen.records[name].run_id} /> <span class="d">{say(seen.records[name])}</span>
                </>,
              ])}
            />
          </div>
        </Card>
      )}
    </div>
  );
}

export function Overview() {
  const { data: seen, fault, at, slow } = overview.value;
  const range = RANGES.find(([name]) => name === param("range")) ?? RANGES[1]!;
  const [, , minutes] = range;
  const hours = minutes > 1440;
  const series = useData(`series ${range[0]}`, (stop) => get("metrics/series", { step: hours ? "hour" : "minute", from: new Date(now.peek() - minutes * 60000).toISOString() }, stop), ["metrics"]);
  const points = series.data ? stepped(series.data.points, minutes, hours) : null;
  if (seen && firstVisit(seen)) return <First />;
  const v = points?.values;
  return (
    <>
      <PageHead title="Overview" say={at !== null && `as of ${stamp(at, zone.value === "relative" ? "utc" : zone.value)}`}>
        <Choice label="Range" items={RANGES.map(([name, text]) => [name, text])} on={range[0]} to={(name) => href(["overview"], { range: name === "1h" ? null : name })} />
      </PageHead>
      {fault && <Fault of={fault} what="The numbers of this namespace could not be read." />}
      {!seen && !fault && <Bones slow={slow} />}
      {seen && (
        <>
          <Strip seen={seen} />
          <Tiles seen={seen} points={points} />
        </>
      )}
      {series.fault && <Fault of={series.fault} again={series.again} what="The charts could not be read." />}
      {points && v && (
        <div class="g3">
          <Plot
            title="Closed"
            at={points.at}
            stacked
            series={[
              { name: "completed", token: "c2", values: v.completed },
              { name: "cancelled", token: "c5", values: v.cancelled.map((n, i) => n + v.terminated[i]!) },
              { name: "failed", token: "cfail", values: v.failed },
            ]}
          />
          <Plot
            title="Started and closed"
            at={points.at}
            series={[
              { name: "started", token: "c1", values: v.started },
              { name: "closed", token: "c2", values: points.closed },
            ]}
          />
          <Plot
            title="Activities"
            at={points.at}
            series={[
              { name: "attempts", token: "c1", values: v.attempts },
              { name: "retries", token: "c3", values: v.retries },
              { name: "failures", token: "cfail", values: v.failures },
            ]}
          />
        </div>
      )}
      {seen && (
        <div class="g2">
          {seen.types?.length ? (
            <Card label="Types" scroll>
              <Table label="Types" columns={TYPES} rows={seen.types} id={(one) => one.workflow_type} most={12} />
            </Card>
          ) : (
            <span />
          )}
          <Side seen={seen} />
        </div>
      )}
      {seen && <p class="off">{count(seen.counts.runs)} runs in all</p>}
    </>
  );
}
