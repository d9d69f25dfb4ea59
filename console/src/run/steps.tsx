// The timeline in words: a table for each kind of step, a row opening to its attempts; what failed; and the events behind them.
import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { duration, many, moment, number } from "../lib/format";
import { stringify, type Json } from "../lib/json";
import { save } from "../lib/file";
import { useKey } from "../lib/keys";
import { param, set } from "../lib/router";
import { Button, Choice, copy, Empty, Icon, Menu, Mono, RunLink, Status, Time, Took } from "../ui/basic";
import { Asked, CardHead } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { AttemptTable } from "./attempts";
import { howMany, Older } from "./older";
import { barName, barState, here, took, usePart, type Bar, type Place, type Spans } from "./place";

const KINDS: [string, RegExp, string][] = [
  ["activities", /^activity$/, "Activities"],
  ["waits", /wait/, "Waits"],
  ["timers", /^timer$/, "Timers"],
  ["children", /child/, "Children"],
  ["machine", /^machine step$/, "Machine steps"],
  ["others", /./, "Versions, side effects and others"],
];

/** A filter that may be a regular expression, and never is a mistake: then it is plain text. */
function matcher(text: string): (value: string) => boolean {
  if (!text) return () => true;
  const not = text.startsWith("!");
  const bare = not ? text.slice(1) : text;
  let test: (value: string) => boolean;
  try {
    const pattern = new RegExp(bare, "i");
    test = (value) => pattern.test(value);
  } catch {
    test = (value) => value.toLowerCase().includes(bare.toLowerCase());
  }
  return (value) => test(value) !== not;
}

function spentMs(bar: Bar, kind: string): number | null {
  const parts = bar.segments.filter((segment) => segment.kind === kind);
  return parts.length ? parts.reduce((sum, segment) => sum + (took(segment.from, segment.to ?? (bar.open ? null : bar.to)) ?? 0), 0) : null;
}

const spent = (head: string, kind: string, look: string): Column<Bar> => ({
  head,
  look,
  by: (bar) => spentMs(bar, kind),
  cell: (bar) => {
    const ms = spentMs(bar, kind);
    return ms === null ? "" : duration(ms);
  },
});

const TOOK: Column<Bar> = { head: "Took", look: "num", by: (bar) => took(bar.from, bar.to), cell: (bar) => <Took from={bar.from} to={bar.to} /> };
const until = (head: string): Column<Bar> => ({ head, look: "num d", by: (bar) => bar.deadline_at, cell: (bar) => bar.deadline_at && <Time at={bar.deadline_at} /> });
const LINE: Column<Bar> = { head: "Line", look: "d", cell: (bar) => bar.source_line && <Mono>{bar.source_line}</Mono> };

/** What is shown of each kind between the state and the line. */
const COLUMNS: Record<string, Column<Bar>[]> = {
  activities: [spent("Queued", "queued", "num d"), spent("Running", "running", "num"), { head: "Worker", look: "nw d hide-m", cell: (bar) => bar.attempts.at(-1)?.worker && <Mono>{bar.attempts.at(-1)!.worker}</Mono> }],
  waits: [until("Until"), TOOK],
  timers: [until("Fires"), TOOK],
  children: [{ head: "Run", cell: (bar) => bar.child_instance_id && <RunLink id={bar.child_instance_id} /> }, TOOK],
  machine: [spent("Queued", "queued", "num d"), spent("Running", "running", "num"), TOOK],
  others: [{ head: "At", look: "num d", by: (bar) => bar.from, cell: (bar) => <Time at={bar.from} fine /> }],
};

function StepTable({ title, kind, bars, step, select }: { title: string; kind: string; bars: Bar[]; step: string; select: (step: number) => void }) {
  const open = useSignal<ReadonlySet<number>>(new Set());
  const turn = (n: number) => {
    const next = new Set(open.value);
    if (!next.delete(n)) next.add(n);
    open.value = next;
  };
  const attempts: Column<Bar> = {
    head: "Attempts",
    look: "nw",
    by: (bar) => bar.attempts.length,
    cell: (bar) =>
      bar.attempts.length > 0 && (
        <button type="button" class="linkbtn fold" aria-expanded={open.value.has(bar.step)} onClick={() => turn(bar.step)}>
          <Icon name={open.value.has(bar.step) ? "down" : "right"} small />
          {number(bar.attempts.length)}
          {bar.attempts.findLast((each) => each.failure_type) && <span class="c-failed"> {bar.attempts.findLast((each) => each.failure_type)!.failure_type}</span>}
          <span class="off">attempts of step {bar.step}</span>
        </button>
      ),
  };
  const columns: Column<Bar>[] = [
    { head: "Step", look: "num w cstep", by: (bar) => bar.step, cell: (bar) => bar.step },
    {
      head: "Name",
      look: "cname nw",
      by: barName,
      cell: (bar) => (
        <>
          <button type="button" class="linkbtn mono" onClick={() => select(bar.step)}>
            {barName(bar)}
          </button>{" "}
          {bar.summary && <span class="d">{bar.summary}</span>}
        </>
      ),
    },
    { head: "State", look: "state cstate", by: barState, cell: (bar) => <Status of={barState(bar)} /> },
    ...(kind === "activities" ? [attempts] : []),
    ...COLUMNS[kind]!,
    LINE,
  ];
  return (
    <>
      <CardHead title={title} say={number(bars.length)} />
      <div class="scroll">
        <Table
          label={title}
          dense
          columns={columns}
          rows={bars}
          id={(bar) => bar.step}
          row={(bar) => ({ class: String(bar.step) === step ? "sel" : "", "aria-selected": String(bar.step) === step })}
          detail={(bar) => open.value.has(bar.step) && <AttemptTable of={bar.attempts} />}
        />
      </div>
    </>
  );
}

/** What failed, and whether the code lived with it: from the cause to what it did. */
function Failures({ place, select }: { place: Place; select: (step: number) => void }) {
  const asked = usePart<{ failures: any[] }>(place, "failures");
  return (
    <Asked of={asked} what="The failures could not be read." bones={2}>
      {({ failures }) =>
        failures.length > 0 && (
          <>
            <CardHead title="Failures" say={number(failures.length)} />
            <div class="scroll">
              <Table
                label="Failures"
                dense
                rows={failures}
                id={(one) => one.id}
                columns={[
                  {
                    head: "Step",
                    look: "num w cstep",
                    by: (one) => one.sequence,
                    cell: (one) =>
                      one.sequence && (
                        <button type="button" class="linkbtn" onClick={() => select(one.sequence)}>
                          {one.sequence}
                        </button>
                      ),
                  },
                  { head: "Failure", look: "cname", by: (one) => one.exception_type, cell: (one) => <span class="mono c-failed">{one.exception_type ?? one.failure_category ?? "failed"}</span> },
                  { head: "What it says", look: "wide brk", cell: (one) => one.message },
                  { head: "What it did", look: "nw d", cell: (one) => (one.source_kind === "workflow_run" ? "ended the run" : one.handled ? "the code lived with it" : one.non_retryable ? "no more attempts" : "went on to the code") },
                  { head: "At", look: "num d", by: (one) => one.created_at, cell: (one) => <Time at={one.created_at} fine /> },
                  { head: "Line", look: "d", cell: (one) => one.source_line && <Mono>{one.source_line}</Mono> },
                ]}
                detail={(one) => one.exception?.text && <pre tabIndex={0}>{one.exception.text}</pre>}
              />
            </div>
          </>
        )
      }
    </Asked>
  );
}

function Steps({ place, head, step, select }: { place: Place; head: any; step: string; select: (step: number | null) => void }) {
  const asked = usePart<{ spans: Spans }>(place, "spans", { limit: howMany() });
  return (
    <Asked of={asked} what="The steps could not be read." bones={8}>
      {({ spans }) => {
        const fits = matcher(param("find"));
        const bars = spans.bars.filter((bar) => fits([bar.kind, bar.name, bar.summary, bar.source_line, bar.outcome, ...bar.attempts.map((each) => `${each.failure_type ?? ""} ${each.worker ?? ""}`)].filter(Boolean).join(" ")));
        const left = new Set(bars);
        return (
          <>
            <Older place={place} shown={spans.bars.length} left={spans.left_out} what="steps" />
            {spans.bars.length > bars.length && (
              <p class="d sm pad1" role="status">
                {many(spans.bars.length - bars.length, "step")} left out by the filter
              </p>
            )}
            {KINDS.map(([kind, pattern, title]) => {
              const of = [...left].filter((bar) => pattern.test(bar.kind));
              of.forEach((bar) => left.delete(bar));
              return of.length ? <StepTable key={kind} title={title} kind={kind} bars={of} step={step} select={select} /> : null;
            })}
            {bars.length === 0 && <Empty title={spans.bars.length ? "No step is like this." : "No step was begun yet."} />}
            {!param("find") && head.counts?.failures > 0 && <Failures place={place} select={select} />}
          </>
        );
      }}
    </Asked>
  );
}

// ---- events

const EVENT_LIMIT = 100;
const EVENT_KINDS: [string, string][] = [
  ["", "All"],
  ["activity", "Activities"],
  ["timer", "Timers"],
  ["signal", "Signals"],
  ["update", "Updates"],
  ["child", "Children"],
  ["workflow", "The run"],
];

/** The summary without the type, which stands beside it. */
const said = (event: any): string => ((event.summary ?? "") as string).slice(event.summary?.startsWith(event.type) ? event.type.length : 0).trim();

const asText = (event: any): string[] => [String(event.sequence), event.recorded_at, event.type, event.summary ?? "", String(event.workflow_sequence ?? "")];
const csv = (cells: string[]) => cells.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell)).join(",");
const NAMES = ["event", "at", "type", "summary", "step"];

/** Events of one step side by side: what began it, and what became of it. */
function byStep(events: any[]): any[] {
  const first = new Map<number, number>();
  events.forEach((event, i) => event.workflow_sequence != null && !first.has(event.workflow_sequence) && first.set(event.workflow_sequence, i));
  const place = (event: any, i: number) => (event.workflow_sequence != null ? first.get(event.workflow_sequence)! : i);
  return events.map((event, i) => ({ event, i, at: place(event, i) })).sort((a, b) => a.at - b.at || a.i - b.i).map(({ event }) => event);
}

function Events({ place }: { place: Place }) {
  const descending = param("order") === "desc";
  const [after, before, find, kinds] = [param("after"), param("before"), param("find"), param("kinds")];
  const grouped = param("group") === "step";
  const gaps = param("times") === "gaps";
  const asked = usePart(place, "events", { limit: EVENT_LIMIT, order: descending ? "desc" : null, after: after || null, before: before || null, q: find || null, kinds: kinds || null });
  const chosen = param("event");
  const move = (by: number) => {
    const list: any[] = asked.data?.events ?? [];
    const at = list.findIndex((event) => String(event.sequence) === chosen);
    const next = list[at < 0 ? 0 : at + by];
    if (next) set({ event: next.sequence, step: null }, true);
  };
  useKey("j", () => move(1));
  useKey("k", () => move(-1));
  return (
    <Asked of={asked} what="The events could not be read." bones={10}>
      {(data: any) => {
        const events: any[] = grouped ? byStep(data.events) : data.events;
        const more = descending ? data.previous_before : data.next_after;
        const before = new Map<number, number | null>();
        let last: number | null = null;
        for (const event of descending ? [...data.events].reverse() : data.events) {
          before.set(event.sequence, last);
          last = moment(event.recorded_at);
        }
        const columns: Column<any>[] = [
          {
            head: "Event",
            look: "num w",
            title: (
              <button type="button" onClick={() => set({ order: descending ? null : "desc", after: null, before: null })}>
                Event {descending ? "↓" : "↑"}
              </button>
            ),
            cell: (event) => event.sequence,
          },
          {
            head: "Type",
            look: "cname nw",
            cell: (event) => (
              <button type="button" class="linkbtn" onClick={() => set({ event: event.sequence, step: null }, true)}>
                {event.type}
              </button>
            ),
          },
          { head: "What happened", look: "cut d", cell: (event) => <span title={event.summary}>{said(event)}</span> },
          { head: "Step", look: "num d", cell: (event) => event.workflow_sequence ?? "" },
          {
            head: "At",
            look: "num d",
            cell: (event) => {
              const since = before.get(event.sequence);
              return gaps && since != null ? "+" + duration((moment(event.recorded_at) ?? since) - since) : <Time at={event.recorded_at} fine />;
            },
          },
        ];
        return (
          <>
            <div class="scroll">
              <Table
                label="Events"
                dense
                most={1000}
                columns={columns}
                rows={events}
                id={(event) => event.sequence}
                row={(event) => ({ class: String(event.sequence) === chosen ? "sel" : "", "aria-selected": String(event.sequence) === chosen })}
              />
            </div>
            {events.length === 0 && <Empty title={find || kinds ? "No event is like this." : "No events."}>{data.scanned_to && find && <p class="d">It was looked for up to event {number(data.scanned_to)}.</p>}</Empty>}
            <div class="selbar">
              <span class="d sm">
                {many(events.length, "event")} of {number(data.last_sequence)}
              </span>
              <Menu
                size="small"
                text="Take away"
                items={[
                  { text: "Copy as a table", act: () => void copy([NAMES, ...events.map(asText)].map((row) => row.join("\t")).join("\n"), "Copied as text with tabs") },
                  { text: "Save as CSV", act: () => save(`${place.id}.events.csv`, [NAMES, ...events.map(asText)].map(csv).join("\n") + "\n") },
                  { text: "Save as JSONL", act: () => save(`${place.id}.events.jsonl`, events.map((event) => stringify(event as Json)).join("\n") + "\n") },
                ]}
              />
              <span class="grow" />
              {(descending ? param("before") : after) && <Button size="small" onClick={() => set({ after: null, before: null })}>{descending ? "Newest" : "From the start"}</Button>}
              {more !== null && more !== undefined && (
                <Button size="small" onClick={() => set(descending ? { before: more } : { after: more })}>
                  {descending ? "Older" : "Later"}
                </Button>
              )}
            </div>
          </>
        );
      }}
    </Asked>
  );
}

function Check({ name, value, children }: { name: string; value: string; children: ComponentChildren }) {
  return (
    <label class="check sm d">
      <input type="checkbox" checked={param(name) === value} onChange={(event) => set({ [name]: event.currentTarget.checked ? value : null }, true)} /> {children}
    </label>
  );
}

export function StepsTab({ place, head, step, select }: { place: Place; head: any; step: string; select: (step: number | null) => void }) {
  const events = param("view") === "events";
  return (
    <>
      <div class="ch">
        <Choice
          label="Show"
          on={events ? "events" : "steps"}
          items={[
            ["steps", "Steps"],
            ["events", "Events"],
          ]}
          to={(value) => here(place, { view: value === "events" ? "events" : null, find: null, after: null, before: null, kinds: null })}
        />
        <span class="grow" />
        <input
          class="in filter"
          type="search"
          aria-label={events ? "Search in events and payloads" : "Filter steps"}
          placeholder={events ? "search, in payloads too" : "filter; !text leaves out"}
          value={param("find")}
          onInput={(event) => set({ find: event.currentTarget.value }, true)}
        />
      </div>
      {events && (
        <div class="ch nb">
          <Choice label="Kind of event" on={param("kinds")} items={EVENT_KINDS} to={(kinds) => here(place, { kinds, after: null, before: null })} />
          <span class="grow" />
          <Check name="group" value="step">
            by step
          </Check>
          <Check name="times" value="gaps">
            time since the one before
          </Check>
        </div>
      )}
      {events ? <Events place={place} /> : <Steps place={place} head={head} step={step} select={select} />}
    </>
  );
}
