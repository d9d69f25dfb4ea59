// What the code says of itself: notes, labels, the machine's step, and the queries that it answers; and the whole as JSON.
import { useSignal } from "@preact/signals";
import { save } from "../lib/file";
import { many, number } from "../lib/format";
import { stringify, type Json } from "../lib/json";
import { param, set } from "../lib/router";
import { notAdmin } from "../lib/session";
import { shell } from "../lib/shell";
import { Button, Choice, Empty, Menu, Mono, RunLink, Status, Time } from "../ui/basic";
import { Diff } from "../ui/diff";
import { JsonView, PayloadView, ValueView } from "../ui/json";
import { Asked, CardHead } from "../ui/part";
import { Table } from "../ui/table";
import { attempt } from "../ui/toasts";
import { askQuery, askSignal, awaited, exportBundle, refused } from "./actions";
import { here, readPart, usePart, type Place } from "./place";

/** Where a step machine stands: its next step, what it waits for, its state, what came too early, and its children. */
function Machine({ of, head }: { of: any; head: any }) {
  const awaits = awaited(of.awaits);
  const others: string[] = (head.declared_signals ?? []).filter((name: string) => !awaits.includes(name));
  const send = (say: string, names: string[]) =>
    names.length > 0 && (
      <div class="row">
        <span class="d">{say}</span>
        {names.map((name) => (
          <Button key={name} size="small" why={refused(head, "signal")} onClick={() => askSignal(head, name)}>
            Send {name}…
          </Button>
        ))}
      </div>
    );
  return (
    <>
      <CardHead
        title="Step machine"
        say={
          <>
            {of.step ? (
              <>
                next is <Mono class="b">{of.step}</Mono>
              </>
            ) : (
              "it is over"
            )}
            {of.last_step && (
              <>
                ; <Mono>{of.last_step}</Mono> ended with {String(of.outcome).replace(/_/g, " ")}
              </>
            )}
          </>
        }
      />
      <div class="pad stack">
        {send("waits for", awaits)}
        {send(awaits.length ? "may receive besides" : "may receive", others)}
        {of.state && <PayloadView of={of.state} label="the state" />}
        {of.inbox?.length > 0 && (
          <>
            <h3>Inbox, {many(of.inbox.length, "message")}</h3>
            {of.inbox.map((one: any) => (
              <div key={one.id} class="field">
                <span class="lab">
                  <Mono>{one.name}</Mono> <span class="w">came at</span> <Time at={one.received_at} />
                </span>
                <PayloadView of={one.payload} label={`what came with ${one.name}`} />
              </div>
            ))}
          </>
        )}
        {of.children?.length > 0 && (
          <>
            <h3>{many(of.children.length, "child", "children")}</h3>
            <ul class="evs" aria-label="Children">
              {of.children.map((child: any) => (
                <li key={child.workflow_run_id}>
                  <RunLink id={child.workflow_instance_id} run={child.workflow_run_id} /> <span class="d">{child.workflow_type}</span> <Status of={child.status} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </>
  );
}

/** What is compared of a state: all that it has, but no numbers of this answer. */
function comparable(data: any): string {
  const { memo, search_attributes, machine, notes } = data;
  return stringify({ ...(machine ? { machine } : {}), search_attributes: search_attributes ?? {}, memo: memo ?? {}, notes: (notes ?? []).map((one: any) => one.text) } as Json, 2);
}

/** The state beside that of another moment. */
function Compare({ place, head, data }: { place: Place; head: any; data: any }) {
  const other = param("compare");
  const last: number = head.counts?.events ?? head.history_event_count ?? 1;
  const here = place.at ? `event ${place.at}` : "now";
  const asked = usePart({ ...place, at: other }, other ? "state" : null);
  return (
    <>
      <CardHead
        title="What changed"
        end={
          <label class="row nowrap sm d">
            since event
            <input
              class="in short"
              type="number"
              min={1}
              max={last}
              value={other}
              placeholder="none"
              aria-label="Compare with the state after event"
              onChange={(event) => set({ compare: event.currentTarget.value }, true)}
            />
          </label>
        }
      />
      <div class="pad">
        {!other && (
          <p class="d sm">
            Say an event, and what differs between it and {here} is shown.{" "}
            <button type="button" class="linkbtn" onClick={() => set({ compare: Math.max(1, (Number(place.at) || last) - 1) }, true)}>
              The one before
            </button>
          </p>
        )}
        {other && (
          <Asked of={asked} what={`The state after event ${other} could not be read.`} bones={3}>
            {(before: any) => <Diff a={comparable(before)} b={comparable(data)} label={`What changed between event ${other} and ${here}`} equal={`Nothing differs between event ${other} and ${here}.`} />}
          </Asked>
        )}
      </div>
    </>
  );
}

export function StateTab({ place, head }: { place: Place; head: any }) {
  const asked = usePart(place, "state");
  return (
    <Asked of={asked} what="The state could not be read." bones={6}>
      {(data: any) => {
        const queries: string[] = (data.queries ?? []).map((one: any) => (typeof one === "string" ? one : one.name));
        const notes: any[] = data.notes ?? [];
        const values: [string, string, any][] = [
          ["Search attributes", "the search attributes", data.search_attributes ?? {}],
          ["Labels", "the labels", data.visibility_labels ?? {}],
          ["Memo", "the memo", data.memo ?? {}],
        ];
        const nothing = !data.machine && !queries.length && !notes.length && values.every(([, , value]) => !Object.keys(value).length);
        return (
          <>
            {nothing && <Empty title="The code says nothing of itself: it has no queries, no notes, no memo and no labels." />}
            {data.machine && <Machine of={data.machine} head={head} />}
            {queries.length > 0 && (
              <>
                <CardHead title="Ask the code" say={place.at && "Queries answer of now, also while an earlier moment is shown."} />
                <div class="pad row">
                  {queries.map((name) => (
                    <Button key={name} why={refused(head, "query")} onClick={() => askQuery(head, name)}>
                      {name}…
                    </Button>
                  ))}
                </div>
              </>
            )}
            {notes.length > 0 && (
              <>
                <CardHead title="Notes" say={number(notes.length)} />
                <Table
                  bare
                  dense
                  narrow
                  label="Notes"
                  rows={notes}
                  id={(note) => note.sequence}
                  columns={[
                    { head: "At", look: "nw d", cell: (note) => <Time at={note.at} fine /> },
                    { head: "Note", look: "wrap", cell: (note) => note.text },
                    { head: "Step", look: "num d", cell: (note) => note.step !== null && `step ${note.step}` },
                  ]}
                />
              </>
            )}
            {values.map(
              ([title, label, value]) =>
                Object.keys(value).length > 0 && (
                  <>
                    <CardHead title={title} />
                    <div class="pad">
                      <ValueView value={value} label={label} />
                    </div>
                  </>
                ),
            )}
            {!nothing && <Compare place={place} head={head} data={data} />}
          </>
        );
      }}
    </Asked>
  );
}

const PAGE = 1000;

/** The head as it came, and the history to take away. */
export function JsonTab({ place, head }: { place: Place; head: any }) {
  const what = param("of") === "history" ? "history" : "head";
  const after = Number(param("after")) || 0;
  const window = usePart(place, what === "history" ? "events" : null, { after, limit: 50 });
  const busy = useSignal(false);
  const name = head.workflow_id;
  const history = async (join: (lines: string[]) => string, file: string) => {
    if (busy.value) return;
    busy.value = true;
    await attempt(async () => {
      const lines: string[] = [];
      for (let from: number | null = 0; from !== null; ) {
        const page: any = await readPart(place, "events", { after: from, limit: PAGE });
        for (const event of page.events) lines.push(stringify(event));
        from = page.next_after ?? null;
      }
      save(`${name}.events.${file}`, join(lines));
    });
    busy.value = false;
  };
  const exported = head.run_id && !place.bundle;
  return (
    <>
      <div class="ch">
        <Choice
          label="JSON of"
          on={what}
          items={[
            ["head", "Head"],
            ["history", "History"],
          ]}
          to={(value) => here(place, { of: value === "history" ? value : null, after: null })}
        />
        <span class="grow" />
        <Menu
          size="small"
          end
          text={busy.value ? "Reading" : "Download"}
          items={[
            { text: "The head as JSON", act: () => save(`${name}.json`, stringify(head, 1)) },
            { text: "All events as JSON", act: () => void history((lines) => "[\n" + lines.join(",\n") + "\n]\n", "json") },
            { text: "All events as JSONL", act: () => void history((lines) => lines.join("\n") + "\n", "jsonl") },
            { text: "A bundle, to open elsewhere", why: exported ? notAdmin.value : "It is one already.", act: () => void exportBundle(head) },
          ]}
        />
      </div>
      <div class="pad">
        {what === "head" ? (
          <JsonView text={stringify(head)} label="the head" search />
        ) : (
          <Asked of={window} what="The history could not be read." bones={8}>
            {(data: any) => (
              <>
                <JsonView text={stringify(data.events)} label="the events" search />
                <div class="row gap">
                  <span class="d sm">
                    {many(data.events.length, "event")} of {number(data.last_sequence)}
                  </span>
                  <span class="grow" />
                  {after > 0 && (
                    <Button size="small" onClick={() => set({ after: null })}>
                      From the start
                    </Button>
                  )}
                  {data.next_after !== null && (
                    <Button size="small" onClick={() => set({ after: data.next_after })}>
                      Later
                    </Button>
                  )}
                </div>
              </>
            )}
          </Asked>
        )}
        {!place.bundle && (
          <p class="d sm fine">
            In the shell: <Mono>{shell("show", [place.id], { run: place.run, at: place.at, json: true })}</Mono>
          </p>
        )}
      </div>
    </>
  );
}
