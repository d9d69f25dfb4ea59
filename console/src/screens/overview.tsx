// Is all well, and if not, where?
import { get } from "../lib/api";
import { bytes, count, duration, many, measure, moment, now, number } from "../lib/format";
import { useData } from "../lib/live";
import { overview, type Overview as Seen } from "../lib/overview";
import { zone } from "../lib/prefs";
import { href, param } from "../lib/router";
import { has } from "../lib/session";
import { stamp } from "../lib/format";
import { Bones, Choice, Fault, Glyph, Icon, PageHead, RunLink, Time } from "../ui/basic";
import { Plot, Spark, type Mark } from "../ui/chart";
import { Card, Facts } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { token } from "../run/query";
import { attentionGlyph } from "./attention";
import { Backlog } from "./backlog";
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

/** The equal steps of a range, in milliseconds; the last one is under way. */
function stretch(minutes: number, hours: boolean, ends = Math.round) {
  const unit = hours ? 3600000 : 60000;
  const width = Math.max(unit, Math.ceil((minutes * 60000) / BARS / unit) * unit);
  const end = ends(now.peek() / width) * width; // rounded: a step that has hardly begun is not shown yet
  const steps = Math.ceil((minutes * 60000) / width);
  return { width, steps, from: end - steps * width, end };
}

/** Points of minutes or hours as those steps; what has no point is nothing. Each is the mean of a minute. `ago`: so much earlier. */
function stepped(points: Point[], minutes: number, hours: boolean, ago = 0) {
  const { width, steps, from, end } = stretch(minutes, hours);
  const at = Array.from({ length: steps }, (_, i) => (from + i * width) / 1000);
  const values = Object.fromEntries(NAMES.map((name) => [name, new Array<number>(steps).fill(0)])) as Record<Name, number[]>;
  const begun = (ago ? width : Math.min(width, now.peek() - (end - width))) / 60000; // how much of the last step is over
  const share = (i: number) => (i === steps - 1 ? begun : width / 60000);
  for (const point of points) {
    const i = Math.floor((((moment(point.at) ?? 0) + ago) / 1000 - at[0]!) / (width / 1000));
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

/** What somebody ended, one way or the other. */
const ended = (values: Record<Name, number[]>) => values.cancelled.map((n, i) => n + values.terminated[i]!);

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

/** How long runs were open that closed in the range: what the server says, and the steps that it was asked for. */
interface Durations {
  points: { at: string; closed: number; p50_ms: number; p95_ms: number; p99_ms: number }[];
  types: TypeTimes[];
  looked_at: number;
  exact: boolean;
  asked: ReturnType<typeof stretch>;
}

async function durations(minutes: number, hours: boolean, stop: AbortSignal): Promise<Durations> {
  const asked = stretch(minutes, hours, Math.ceil); // also what closed just now
  const said = await get("metrics/durations", { from: new Date(asked.from).toISOString(), to: new Date(asked.end).toISOString(), points: asked.steps }, stop);
  return { ...said, asked };
}

const UNITS: [string, number][] = [
  ["days", 86400000],
  ["hours", 3600000],
  ["minutes", 60000],
  ["seconds", 1000],
  ["ms", 1],
];
const PERCENTILES = [
  ["p50", "p50_ms", "c5"],
  ["p95", "p95_ms", "c1"],
  ["p99", "p99_ms", "c3"],
] as const;

/** How long runs took, in the largest unit in which that is still a few. */
function RunTime({ of, range, marks }: { of: Durations; range: string; marks: Mark[] }) {
  const { from, width, steps } = of.asked;
  const longest = Math.max(0, ...of.points.map((point) => point.p99_ms));
  const [unit, ms] = UNITS.find(([, size]) => longest >= 3 * size) ?? UNITS[UNITS.length - 1]!;
  const step = (point: { at: string }) => Math.round(((moment(point.at) ?? 0) - from) / width);
  const series = PERCENTILES.map(([name, key, token]) => {
    const values = new Array<number | null>(steps).fill(null);
    for (const point of of.points) values[step(point)] = point[key] / ms;
    return { name, token, values };
  });
  const runs = of.points.reduce((sum, point) => sum + point.closed, 0);
  const said = `of ${many(runs, "run")} that closed in the last ${range}${runs ? `; the slowest step had a p99 of ${duration(longest)}` : ""}`;
  return <Plot title="Run time" unit={unit} at={Array.from({ length: steps }, (_, i) => (from + i * width) / 1000)} series={series} say={said} marks={marks} />;
}

const WEEK = 7 * 86400000;
const MARKS = 12; // that are drawn

interface Deploy {
  at: string;
  kind: "seen" | "promoted";
  build_id: string | null;
  task_queue: string;
}

/** What became of builds, one mark for what happened at several queues in a minute; in the order of time. */
function marksOf(deploys: Deploy[]): Mark[] {
  const same = new Map<string, Mark & { queues: string[] }>();
  for (const one of deploys) {
    const at = (moment(one.at) ?? 0) / 1000;
    const key = `${one.kind} ${one.build_id} ${Math.floor(at / 60)}`;
    const mark = same.get(key) ?? { at, name: one.build_id ?? "no build", said: "", queues: [] };
    mark.queues.push(one.task_queue);
    const what = one.kind === "seen" ? `${one.build_id} first seen` : one.build_id === null ? "no build promoted any more" : `${one.build_id} promoted`;
    mark.said = `${what} at ${stamp(mark.at * 1000, zone.peek() === "relative" ? "utc" : zone.peek())} (${mark.queues.join(", ")})`;
    same.set(key, mark);
  }
  return [...same.values()].sort((a, b) => a.at - b.at);
}

/** The marks of the charts in words. */
function Deploys({ of }: { of: Mark[] }) {
  if (!of.length) return null;
  return (
    <p class="d sm marks">
      Builds: {of.slice(-MARKS).map((mark) => mark.said).join("; ")}
      {of.length > MARKS && `; ${many(of.length - MARKS, "earlier one")} not shown`}. <a class="q" href={href(["workers"])}>Workers and builds</a>
    </p>
  );
}

interface TypeTimes {
  workflow_type: string;
  closed: number;
  completed: number;
  failed: number;
  p50_ms: number;
  p95_ms: number;
}
type TypeRow = Partial<TypeTimes> & { workflow_type: string; open: number };

/** What is open of each type now, and how those ended that closed in the range. */
function typeRows(open: Seen["types"], times: TypeTimes[]): TypeRow[] {
  const rows = new Map<string, TypeRow>(open.map((one) => [one.workflow_type, { workflow_type: one.workflow_type, open: one.open }]));
  for (const one of times) rows.set(one.workflow_type, { open: 0, ...rows.get(one.workflow_type), ...one });
  return [...rows.values()];
}

/** Of those that completed or failed; what somebody cancelled is neither. */
const success = (one: TypeRow) => (one.completed || one.failed ? one.completed! / (one.completed! + one.failed!) : null);
const took = (ms: number | undefined) => (ms === undefined ? <span class="w">none closed</span> : duration(ms));

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
  { head: "Closed", look: "num", by: (one) => one.closed ?? 0, cell: (one) => number(one.closed ?? 0) },
  { head: "Success", look: "num", by: success, cell: (one) => (success(one) === null ? <span class="w">none ended</span> : measure(success(one)! * 100) + "\u00a0%") },
  { head: "Median", look: "num d", by: (one) => one.p50_ms, cell: (one) => took(one.p50_ms) },
  { head: "p95", look: "num d", by: (one) => one.p95_ms, cell: (one) => took(one.p95_ms) },
  { head: "Failed", look: "num", by: (one) => one.failed ?? 0, cell: (one) => <span class={one.failed ? "c-failed" : ""}>{number(one.failed ?? 0)}</span> },
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
  const times = useData(has("durations") ? `durations ${range[0]}` : null, (stop) => durations(minutes, hours, stop), ["metrics"]);
  const week = param("compare") === "week";
  const earlier = useData(
    week ? `series ${range[0]} a week before` : null,
    (stop) => get("metrics/series", { step: hours ? "hour" : "minute", from: new Date(now.peek() - WEEK - minutes * 60000).toISOString(), to: new Date(now.peek() - WEEK).toISOString() }, stop),
    ["metrics"],
  );
  const deploys = useData<{ deploys: Deploy[] }>(has("deploys") ? `deploys ${range[0]}` : null, (stop) => get("metrics/deploys", { from: new Date(now.peek() - minutes * 60000).toISOString() }, stop), ["metrics", "workers"]);
  const points = series.data ? stepped(series.data.points, minutes, hours) : null;
  const was = week && earlier.data?.points.length ? stepped(earlier.data.points, minutes, hours, WEEK) : null;
  const marks = marksOf(deploys.data?.deploys ?? []);
  const drawn = marks.slice(-MARKS);
  const plot = { before: "last week", marks: drawn };
  if (seen && firstVisit(seen)) return <First />;
  const v = points?.values;
  return (
    <>
      <PageHead title="Overview" say={at !== null && `as of ${stamp(at, zone.value === "relative" ? "utc" : zone.value)}`}>
        <Choice
          label="Compare"
          items={[
            ["", "Alone"],
            ["week", "With last week"],
          ]}
          on={week ? "week" : ""}
          to={(name) => href(["overview"], { range: param("range"), compare: name })}
        />
        <Choice label="Range" items={RANGES.map(([name, text]) => [name, text])} on={range[0]} to={(name) => href(["overview"], { range: name === "1h" ? null : name, compare: param("compare") })} />
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
      {earlier.fault && <Fault of={earlier.fault} again={earlier.again} what="The numbers of last week could not be read." />}
      {deploys.fault && <Fault of={deploys.fault} again={deploys.again} what="When builds came could not be read." />}
      {week && earlier.data && !was && <p class="d sm">Nothing is known of the same time last week.</p>}
      {points && v && <Deploys of={marks} />}
      {points && v && (
        <div class="charts">
          <Plot
            {...plot}
            title="Closed"
            at={points.at}
            stacked
            series={[
              { name: "completed", token: "c2", values: v.completed, before: was?.values.completed },
              { name: "cancelled", token: "c5", values: ended(points.values), before: was ? ended(was.values) : undefined },
              { name: "failed", token: "cfail", values: v.failed, before: was?.values.failed },
            ]}
          />
          <Plot
            {...plot}
            title="Started and closed"
            at={points.at}
            series={[
              { name: "started", token: "c1", values: v.started, before: was?.values.started },
              { name: "closed", token: "c2", values: points.closed, before: was?.closed },
            ]}
          />
          <Plot
            {...plot}
            title="Activities"
            at={points.at}
            series={[
              { name: "attempts", token: "c1", values: v.attempts, before: was?.values.attempts },
              { name: "retries", token: "c3", values: v.retries, before: was?.values.retries },
              { name: "failures", token: "cfail", values: v.failures, before: was?.values.failures },
            ]}
          />
          {times.data && <RunTime of={times.data} range={range[1]} marks={drawn} />}
        </div>
      )}
      {times.fault && <Fault of={times.fault} again={times.again} what="How long runs took could not be read." />}
      {seen && (
        <div class="g2">
          <div class="stack">
            {(seen.types?.length > 0 || (times.data?.types.length ?? 0) > 0) && (
              <Card title="Types" say={`open now; closed, success and times of the last ${range[1]}${times.data && !times.data.exact ? `, of the ${number(times.data.looked_at)} newest runs` : ""}`} scroll>
                <Table label="Types" columns={TYPES} rows={typeRows(seen.types ?? [], times.data?.types ?? [])} id={(one) => one.workflow_type} most={12} />
              </Card>
            )}
            <Backlog />
          </div>
          <Side seen={seen} />
        </div>
      )}
      {seen && <p class="off">{count(seen.counts.runs)} runs in all</p>}
    </>
  );
}
