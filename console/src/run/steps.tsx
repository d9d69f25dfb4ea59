// The timeline in words: a table for each kind of step, with attempts, times and failures; and the events behind them.
import type { ComponentChildren } from "preact";
import { useSignal } from "@preact/signals";
import { duration, many, now, number } from "../lib/format";
import { useKey } from "../lib/keys";
import { param, set } from "../lib/router";
import { Bones, Button, Choice, Empty, Fault, Mono, RunLink, Status, Time, Took } from "../ui/basic";
import { barName, barState, here, took, usePart, type Bar, type Place, type Spans } from "./place";

const KINDS: [string, RegExp, string][] = [
  ["activities", /^activity$/, "Activities"],
  ["waits", /wait/, "Waits"],
  ["timers", /^timer$/, "Timers"],
  ["children", /child/, "Children"],
  ["others", /./, "Others"],
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

function spent(bar: Bar, kind: string): string {
  const parts = bar.segments.filter((segment) => segment.kind === kind);
  if (!parts.length) return "";
  return duration(parts.reduce((sum, segment) => sum + (took(segment.from, segment.to ?? (bar.open ? null : bar.to), now.value) ?? 0), 0));
}

/** Whose kind has what; the first in the list is what the row is opened with. */
const COLUMNS: Record<string, [string, (bar: Bar) => ComponentChildren, string?][]> = {
  activities: [
    ["Attempts", (bar) => [bar.attempts.length ? number(bar.attempts.length) : "", bar.attempts.findLast((each) => each.failure_type)?.failure_type].filter(Boolean).join(", "), "nw"],
    ["Queued", (bar) => spent(bar, "queued"), "num d"],
    ["Running", (bar) => spent(bar, "running"), "num"],
    ["Worker", (bar) => <Mono>{bar.attempts.at(-1)?.worker ?? ""}</Mono>, "nw d"],
  ],
  waits: [
    ["Until", (bar) => bar.deadline_at && <Time at={bar.deadline_at} />, "num d"],
    ["Took", (bar) => <Took from={bar.from} to={bar.to} />, "num"],
  ],
  timers: [
    ["Fires", (bar) => bar.deadline_at && <Time at={bar.deadline_at} />, "num d"],
    ["Took", (bar) => <Took from={bar.from} to={bar.to} />, "num"],
  ],
  children: [
    ["Run", (bar) => bar.child_instance_id && <RunLink id={bar.child_instance_id} />],
    ["Took", (bar) => <Took from={bar.from} to={bar.to} />, "num"],
  ],
  others: [["At", (bar) => <Time at={bar.from} fine />, "num d"]],
};

function Filter({ name, label }: { name: string; label: string }) {
  return (
    <input
      class="in filter"
      type="search"
      aria-label={label}
      placeholder="filter; !text leaves out"
      value={param(name)}
      onInput={(event) => set({ [name]: event.currentTarget.value }, true)}
    />
  );
}

function StepTable({ title, kind, bars, step, select }: { title: string; kind: string; bars: Bar[]; step: string; select: (step: number) => void }) {
  const all = useSignal(false);
  const shown = all.value ? bars : bars.slice(0, 200);
  return (
    <>
      <div class="ch nb">
        <h2>{title}</h2>
        <span class="d sm">{number(bars.length)}</span>
      </div>
      <div class="scroll">
        <table class="dense">
          <thead>
            <tr>
              <th scope="col" class="num cstep">
                Step
              </th>
              <th scope="col" class="cname">
                Name
              </th>
              <th scope="col" class="cstate">
                State
              </th>
              {COLUMNS[kind]!.map(([head, , style]) => (
                <th key={head} scope="col" class={style?.includes("num") ? "num" : ""}>
                  {head}
                </th>
              ))}
              <th scope="col">Line</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((bar) => (
              <tr key={bar.step} class={String(bar.step) === step ? "sel" : ""} aria-selected={String(bar.step) === step}>
                <td class="num w">{bar.step}</td>
                <td class="nw">
                  <button type="button" class="linkbtn mono" onClick={() => select(bar.step)}>
                    {barName(bar)}
                  </button>{" "}
                  {bar.summary && <span class="d">{bar.summary}</span>}
                </td>
                <td>
                  <Status of={barState(bar)} />
                </td>
                {COLUMNS[kind]!.map(([head, cell, style]) => (
                  <td key={head} class={style ?? "nw"}>
                    {cell(bar)}
                  </td>
                ))}
                <td class="nw d">
                  <Mono>{bar.source_line ?? ""}</Mono>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {bars.length > shown.length && (
        <div class="selbar">
          <span class="d">{number(bars.length - shown.length)} more</span>
          <Button size="small" onClick={() => (all.value = true)}>
            Show all
          </Button>
        </div>
      )}
    </>
  );
}

function Steps({ place, step, select }: { place: Place; step: string; select: (step: number | null) => void }) {
  const { data, fault, slow, again } = usePart<{ spans: Spans }>(place, "spans", { limit: 2000 });
  if (fault && !data) return <Fault of={fault} again={again} what="The steps could not be read." />;
  if (!data) return <Bones slow={slow} rows={8} />;
  const fits = matcher(param("find"));
  const bars = data.spans.bars.filter((bar) => fits([bar.kind, bar.name, bar.summary, bar.source_line, bar.outcome, ...bar.attempts.map((each) => `${each.failure_type ?? ""} ${each.worker ?? ""}`)].filter(Boolean).join(" ")));
  const left = new Set(bars);
  return (
    <>
      {data.spans.bars.length > bars.length && (
        <p class="d sm pad1" role="status">
          {many(data.spans.bars.length - bars.length, "step")} left out by the filter
        </p>
      )}
      {KINDS.map(([kind, pattern, title]) => {
        const of = [...left].filter((bar) => pattern.test(bar.kind));
        of.forEach((bar) => left.delete(bar));
        return of.length ? <StepTable key={kind} title={title} kind={kind} bars={of} step={step} select={select} /> : null;
      })}
      {bars.length === 0 && <Empty title="No step." />}
    </>
  );
}

const EVENT_LIMIT = 100;

function Events({ place }: { place: Place }) {
  const descending = param("order") === "desc";
  const after = param("after");
  const before = param("before");
  const find = param("find");
  const { data, fault, slow, again } = usePart(place, "events", { limit: EVENT_LIMIT, order: descending ? "desc" : null, after: after || null, before: before || null, q: find || null });
  const chosen = param("event");
  const move = (by: number) => {
    const list: any[] = data?.events ?? [];
    const at = list.findIndex((event) => String(event.sequence) === chosen);
    const next = list[at < 0 ? 0 : at + by];
    if (next) set({ event: next.sequence, step: null }, true);
  };
  useKey("j", () => move(1));
  useKey("k", () => move(-1));
  if (fault && !data) return <Fault of={fault} again={again} what="The events could not be read." />;
  if (!data) return <Bones slow={slow} rows={10} />;
  const events: any[] = data.events;
  const more = descending ? data.previous_before : data.next_after;
  const moved = descending ? before : after;
  return (
    <>
      <div class="scroll">
        <table class="dense">
          <thead>
            <tr>
              <th scope="col" class="num" aria-sort={descending ? "descending" : "ascending"}>
                <button type="button" onClick={() => set({ order: descending ? null : "desc", after: null, before: null })}>
                  Event {descending ? "↓" : "↑"}
                </button>
              </th>
              <th scope="col">Type</th>
              <th scope="col">What happened</th>
              <th scope="col" class="num">
                Step
              </th>
              <th scope="col" class="num">
                At
              </th>
            </tr>
          </thead>
          <tbody>
            {events.map((event) => (
              <tr key={event.sequence} class={String(event.sequence) === chosen ? "sel" : ""} aria-selected={String(event.sequence) === chosen}>
                <td class="num w">{event.sequence}</td>
                <td class="nw">
                  <button type="button" class="linkbtn" onClick={() => set({ event: event.sequence, step: null }, true)}>
                    {event.type}
                  </button>
                </td>
                <td class="cut d" title={event.summary}>
                  {event.summary}
                </td>
                <td class="num d">{event.workflow_sequence ?? ""}</td>
                <td class="num d">
                  <Time at={event.recorded_at} fine />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {events.length === 0 && <Empty title={find ? "No event has this." : "No events."}>{data.scanned_to && find && <p class="d">It was looked for up to event {number(data.scanned_to)}.</p>}</Empty>}
      <div class="selbar">
        <span class="d sm">
          {many(events.length, "event")} of {number(data.last_sequence)}
        </span>
        <span class="grow" />
        {moved && <Button size="small" onClick={() => set({ after: null, before: null })}>{descending ? "Newest" : "From the start"}</Button>}
        {more !== null && more !== undefined && (
          <Button size="small" onClick={() => set(descending ? { before: more } : { after: more })}>
            {descending ? "Older" : "Later"}
          </Button>
        )}
      </div>
    </>
  );
}

export function StepsTab({ place, step, select }: { place: Place; step: string; select: (step: number | null) => void }) {
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
          to={(value) => here(place, { view: value === "events" ? "events" : null, find: null, after: null, before: null })}
        />
        <span class="grow" />
        <Filter name="find" label={events ? "Search in events and payloads" : "Filter steps"} />
      </div>
      {events ? <Events place={place} /> : <Steps place={place} step={step} select={select} />}
    </>
  );
}
