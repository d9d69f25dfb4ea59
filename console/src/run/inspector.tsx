// What is selected on the page, at its right: a step with its attempts and where its time went, an event, or the run itself.
import { useSignal } from "@preact/signals";
import { save } from "../lib/file";
import { bytes, duration, number } from "../lib/format";
import { param, set } from "../lib/router";
import { shell } from "../lib/shell";
import { Age, Bones, Button, Fault, Mono, RunLink, Shell, Status, Time } from "../ui/basic";
import { Facts, Section } from "../ui/part";
import { Table } from "../ui/table";
import { attempt } from "../ui/toasts";
import { PayloadView, ValueView, type Payload } from "../ui/json";
import { SendAwaited, WaitName } from "./awaited";
import { AttemptList } from "./attempts";
import { AllFields } from "./record";
import { barName, barState, readPart, took, usePart, type Attempt, type Bar, type Place } from "./place";

/** Of a run of the store; a file is not there for the shell. */
function InShell({ place, text }: { place: Place; text: string }) {
  if (place.bundle) return null;
  return (
    <Section title="The same from the shell">
      <Shell text={text} />
    </Section>
  );
}

const PARTS: [string, string, string][] = [
  ["queued", "queued", "kq"],
  ["running", "running", "kr"],
  ["backoff", "back-off", "kb"],
  ["lost", "worker lost", "kl"],
  ["waiting", "waiting", "k3"],
  ["timer", "timer", "k5"],
];

function TimeSplit({ bar }: { bar: Bar }) {
  const sums = new Map<string, number>();
  for (const segment of bar.segments) sums.set(segment.kind, (sums.get(segment.kind) ?? 0) + (took(segment.from, segment.to ?? (bar.open ? null : bar.to)) ?? 0));
  const all = [...sums.values()].reduce((sum, one) => sum + one, 0);
  const shown = PARTS.filter(([kind]) => sums.has(kind));
  return (
    <Section title="Where the time went">
      <div class="timebar" aria-hidden="true">
        {shown.map(([kind, , colour]) => (
          <i key={kind} class={colour} style={{ "--v": `${all ? Math.max(1, (sums.get(kind)! / all) * 100) : 100}%` }} />
        ))}
      </div>
      <Table
        bare
        dense
        narrow
        rows={shown}
        id={([kind]) => kind}
        columns={[
          {
            head: "What",
            cell: ([, text, colour]) => (
              <span class="legend">
                <span>
                  <i class={colour} />
                  {text}
                </span>
              </span>
            ),
          },
          { head: "How long", look: "num", cell: ([kind]) => duration(sums.get(kind)!) },
          { head: "Part", look: "num d", cell: ([kind]) => (all ? `${Math.round((sums.get(kind)! / all) * 100)}\u00a0%` : "") },
        ]}
      />
    </Section>
  );
}

function Progress({ of }: { of: Attempt }) {
  const progress = of.progress;
  if (!progress) return null;
  const part = progress.total ? Math.min(1, (progress.current ?? 0) / progress.total) : null;
  return (
    <section>
      <div class="row">
        <h3>Progress</h3>
        <span class="grow" />
        <span class="sm">
          {number(progress.current ?? 0)}
          {progress.total ? ` of ${number(progress.total)}` : ""} {progress.unit ?? ""}
        </span>
      </div>
      {part !== null && (
        <div class="meter run">
          <i style={{ "--v": `${part * 100}%` }} />
        </div>
      )}
      <p class="d sm">
        {progress.message && `${progress.message}; `}heartbeat <Age at={of.last_heartbeat_at} />
      </p>
    </section>
  );
}

/** A payload, however the part that it is of writes it. */
export function AnyPayload({ of, label }: { of: unknown; label: string }) {
  if (of === null || of === undefined) return <p class="d sm">nothing</p>;
  const payload = of as Payload;
  return typeof of === "object" && "text" in (of as object) && "bytes" in (of as object) ? <PayloadView of={payload} label={label} /> : <ValueView value={of as any} label={label} />;
}

function StepInspector({ place, head, step }: { place: Place; head: any; step: string }) {
  const { data, fault, slow, again } = usePart(place, "steps/" + step);
  if (fault) return <Fault of={fault} again={again} what={`Step ${step} could not be read.`} />;
  if (!data) return <Bones slow={slow} />;
  const bar: Bar | null = data.bar;
  const activity = data.activity;
  const wait = data.wait;
  const child = data.child;
  const running = bar?.attempts.find((each) => !each.closed_at);
  const line = bar?.source_line;
  return (
    <>
      <section>
        <div class="row">
          <h2 class="mono">{bar ? barName(bar) : `step ${step}`}</h2>
          <span class="d">step {step}</span>
          <span class="grow" />
          {bar && <Status of={barState(bar)} pill />}
        </div>
        <p class="d sm">
          {[bar?.kind.replace(/_/g, " "), activity?.attempt_count && `attempt ${activity.attempt_count}${activity.retry_policy?.max_attempts ? ` of ${activity.retry_policy.max_attempts}` : ""}`].filter(Boolean).join(" · ")}
          {line && (
            <>
              {" · "}
              <Mono>{line}</Mono>
            </>
          )}
        </p>
      </section>
      {running && <Progress of={running} />}
      {wait && wait.status === "open" && /signal|condition|update/.test(wait.kind) && (
        <Section title="Waits for">
          <Facts
            of={[
              [wait.kind, <WaitName of={wait} />],
              ["since", <Age at={wait.opened_at} />],
              ["until", wait.deadline_at && <Time at={wait.deadline_at} />],
            ]}
          />
          {wait.kind === "signal" && (
            <div class="row gap">
              <SendAwaited head={head} wait={wait} />
            </div>
          )}
        </Section>
      )}
      {child && (
        <Section title="Child">
          <Facts of={[["run", <RunLink id={child.workflow_id ?? child.child_workflow_instance_id ?? child.instance_id ?? bar?.child_instance_id ?? ""} />], ["status", child.status && <Status of={child.glyph ?? child.status} />], ["type", <Mono>{child.workflow_type ?? ""}</Mono>]]} />
        </Section>
      )}
      {!child && bar?.child_instance_id && (
        <Section title="Child">
          <RunLink id={bar.child_instance_id} />
        </Section>
      )}
      {bar && bar.attempts.length > 0 && (
        <Section title="Attempts">
          <AttemptList of={bar.attempts} />
        </Section>
      )}
      {bar && bar.segments.length > 0 && <TimeSplit bar={bar} />}
      {(data.failures ?? []).map((failure: any, i: number) => (
        <Section key={i} title="Failure">
          <p>
            <Status of="failed" word={failure.failure_type ?? failure.exception_type ?? failure.type ?? "failed"} />
          </p>
          <p class="d sm">{failure.message}</p>
          {failure.trace && <pre tabIndex={0}>{typeof failure.trace === "string" ? failure.trace : JSON.stringify(failure.trace, null, 1)}</pre>}
        </Section>
      ))}
      {activity && (
        <>
          <Section title="Input">
            <AnyPayload of={activity.arguments} label="the input" />
          </Section>
          {(activity.result ?? activity.output) && (
            <Section title="Output">
              <AnyPayload of={activity.result ?? activity.output} label="the output" />
            </Section>
          )}
          {activity.idempotency_key && (
            <Section title="Idempotency key">
              <Mono class="wrap">{activity.idempotency_key}</Mono>
            </Section>
          )}
          {activity.retry_policy && (
            <details class="insp-more">
              <summary>Policy</summary>
              <ValueView value={activity.retry_policy} label="the policy" />
            </details>
          )}
        </>
      )}
      {data.timer && (
        <Section title="Timer">
          <Facts of={[["fires", data.timer.fire_at && <Time at={data.timer.fire_at} fine />], ["status", data.timer.status]]} />
        </Section>
      )}
      {(data.events ?? []).length > 0 && (
        <Section title="Events">
          <ul class="evs">
            {data.events.map((event: any) => (
              <li key={event.sequence}>
                <span class="w">{event.sequence}</span>{" "}
                <button type="button" class="linkbtn" onClick={() => set({ event: event.sequence }, true)}>
                  {event.type}
                </button>{" "}
                <span class="d sm">
                  <Time at={event.recorded_at} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {[activity, wait, data.timer, child].map((one, i) => one && <AllFields key={i} of={one} but={["arguments", "result", "output"]} />)}
      <InShell place={place} text={shell("show", [place.id], { run: place.run, step })} />
    </>
  );
}

const PIECE = 1 << 20;

/** Values of which only the beginning is shown, to be saved as a whole, piece by piece. */
function Whole({ place, event }: { place: Place; event: any }) {
  const busy = useSignal<string | null>(null);
  const cut = Object.entries((event.payload ?? {}) as Record<string, Payload | null>).filter(([, one]) => one && typeof one === "object" && one.cut);
  const take = (key: string) =>
    attempt(async () => {
      const pieces: string[] = [];
      for (let from = 0, size = 1; from < size; ) {
        const piece: any = await readPart(place, "payloads", { event: event.sequence, key, from, limit: PIECE });
        pieces.push(piece.text);
        [from, size] = [piece.to, piece.size];
        busy.value = `${bytes(from)} of ${bytes(size)}`;
      }
      save(`${event.sequence}.${key}.json`, pieces.join(""));
    }).finally(() => (busy.value = null));
  return (
    <>
      {cut.map(([key, one]) => (
        <div class="row gap" key={key}>
          <Button size="small" why={busy.value} onClick={() => void take(key)}>
            Save the whole {key}, {bytes(one!.bytes)}
          </Button>
          {busy.value && (
            <span class="d sm" role="status">
              {busy.value}
            </span>
          )}
        </div>
      ))}
    </>
  );
}

function EventInspector({ place, sequence }: { place: Place; sequence: string }) {
  const { data, fault, slow, again } = usePart(place, "events", { after: Math.max(0, Number(sequence) - 1), limit: 1 });
  if (fault) return <Fault of={fault} again={again} what={`Event ${sequence} could not be read.`} />;
  if (!data) return <Bones slow={slow} />;
  const event = data.events[0];
  if (!event) return null;
  return (
    <>
      <section>
        <div class="row">
          <h2>{event.type}</h2>
          <span class="d">event {event.sequence}</span>
        </div>
        <p class="d sm">
          <Time at={event.recorded_at} fine />
          {event.workflow_sequence ? ` · step ${event.workflow_sequence}` : ""} {event.source_line && <Mono>{event.source_line}</Mono>}
        </p>
      </section>
      {event.summary && (
        <section>
          <p>{event.summary}</p>
        </section>
      )}
      <Section title="Payload">
        <AnyPayload of={event.payload} label="the payload" />
        <Whole place={place} event={event} />
      </Section>
      <InShell place={place} text={shell("show", [place.id], { run: place.run, at: sequence })} />
    </>
  );
}

function RunInspector({ place, head }: { place: Place; head: any }) {
  const who = head.started_by?.principal;
  const labels = Object.entries({ ...(head.search_attributes ?? {}), ...(Array.isArray(head.visibility_labels) ? {} : (head.visibility_labels ?? {})) });
  const seconds = (value: number | null) => (value === null || value === undefined ? null : duration(value * 1000));
  return (
    <>
      <section>
        <div class="row">
          <h2 class="mono">{head.workflow_type}</h2>
          <span class="d">run {head.run_number}</span>
          <span class="grow" />
          <Status of={head.glyph ?? head.status} pill />
        </div>
        <p class="d sm">
          <Mono class="wrap">{head.run_id}</Mono>
        </p>
      </section>
      <Section title="Input">
        <AnyPayload of={head.arguments} label="the input" />
      </Section>
      {head.output && (
        <Section title="Result">
          <AnyPayload of={head.output} label="the result" />
        </Section>
      )}
      <Section title="When">
        <Facts
          of={[
            ["started", <Time at={head.started_at} />],
            ["closed", head.closed_at && <Time at={head.closed_at} />],
            ["last progress", head.last_progress_at && <Age at={head.last_progress_at} />],
            ["waits until", head.wait_deadline_at && <Time at={head.wait_deadline_at} />],
            ["run deadline", head.run_deadline_at && <Time at={head.run_deadline_at} />],
            ["execution deadline", head.execution_deadline_at && <Time at={head.execution_deadline_at} />],
            ["run timeout", seconds(head.run_timeout_seconds)],
            ["execution timeout", seconds(head.execution_timeout_seconds)],
            ["archived", head.archived_at && <Time at={head.archived_at} />],
          ]}
        />
      </Section>
      {who && (
        <Section title="Started by">
          <Facts of={[["who", who.label ?? who.id], ["from", head.started_by.ip], ["with", head.started_by.user_agent]]} />
        </Section>
      )}
      {labels.length > 0 && (
        <Section title="Labels">
          <Facts of={labels.map(([name, value]) => [name, String(value)])} />
        </Section>
      )}
      {head.memo && Object.keys(head.memo).length > 0 && (
        <Section title="Memo">
          <ValueView value={head.memo} label="the memo" />
        </Section>
      )}
      <Section title="History">
        <Facts
          of={[
            ["events", `${number(head.history_event_count ?? 0)} of ${number(head.history_event_threshold ?? 0)}`],
            ["size", `${bytes(head.history_size_bytes)} of ${bytes(head.history_size_bytes_threshold)}`],
            ["pressure", head.history_budget_pressure?.replace(/_/g, " ")],
          ]}
        />
      </Section>
      <AllFields of={head} but={["arguments", "output", "shell", "why", "run_navigation", "declared_query_contracts", "declared_signal_contracts", "declared_update_contracts", "declared_query_targets", "declared_signal_targets", "declared_update_targets"]} />
      <InShell place={place} text={shell("show", [place.id], { run: place.run, at: place.at })} />
    </>
  );
}

export function Inspector({ place, head }: { place: Place; head: any }) {
  const step = param("step");
  const event = param("event");
  return (
    <aside class="card insp" aria-label="Inspector">
      {event ? <EventInspector key={event} place={place} sequence={event} /> : step ? <StepInspector key={step} place={place} head={head} step={step} /> : <RunInspector place={place} head={head} />}
    </aside>
  );
}
