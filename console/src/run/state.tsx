// What the code says of itself: notes, labels, the machine's step, and the queries that it answers; and the whole as JSON.
import { useSignal } from "@preact/signals";
import { bytes, many } from "../lib/format";
import { stringify } from "../lib/json";
import { Bones, Button, Empty, Fault, Mono, RunLink, Status, Time } from "../ui/basic";
import { quoted } from "../ui/form";
import { JsonView, ValueView } from "../ui/json";
import { askQuery, askSignal, refused, save } from "./actions";
import { readPart, usePart, type Place } from "./place";

function Machine({ of, head }: { of: any; head: any }) {
  return (
    <>
      <div class="ch">
        <h2>Step machine</h2>
        <span class="d">
          in step <Mono class="b">{of.step ?? "unknown"}</Mono>
        </span>
      </div>
      <div class="pad stack">
        <ValueView value={of.state ?? null} label="the state" />
        {(head.declared_signals ?? []).length > 0 && (
          <div class="row">
            <span class="d">may receive</span>
            {head.declared_signals.map((name: string) => (
              <Button key={name} size="small" why={refused(head, "signal")} onClick={() => askSignal(head, name)}>
                Send {name}…
              </Button>
            ))}
          </div>
        )}
        {of.inbox?.length > 0 && (
          <>
            <h3>Inbox, {many(of.inbox.length, "message")}</h3>
            <ValueView value={of.inbox} label="the inbox" />
          </>
        )}
        {of.children?.length > 0 && (
          <ul class="evs">
            {of.children.map((child: any) => (
              <li key={child.run_id ?? child.workflow_id}>
                <RunLink id={child.workflow_id ?? child.instance_id} /> {child.status && <Status of={child.glyph ?? child.status} />}
              </li>
            ))}
          </ul>
        )}
      </div>
    </>
  );
}

export function StateTab({ place, head }: { place: Place; head: any }) {
  const { data, fault, slow, again } = usePart(place, "state");
  if (fault && !data) return <Fault of={fault} again={again} what="The state could not be read." />;
  if (!data) return <Bones slow={slow} rows={6} />;
  const queries: string[] = (data.queries ?? []).map((one: any) => (typeof one === "string" ? one : one.name));
  const notes: any[] = data.notes ?? [];
  const memo = data.memo ?? {};
  const attributes = { ...(data.search_attributes ?? {}) };
  const nothing = !data.machine && !queries.length && !notes.length && !Object.keys(memo).length && !Object.keys(attributes).length;
  return (
    <>
      {nothing && <Empty title="The code says nothing of itself: it has no queries, no notes, no memo and no labels." />}
      {data.machine && <Machine of={data.machine} head={head} />}
      {queries.length > 0 && (
        <>
          <div class="ch">
            <h2>Ask the code</h2>
            {place.at && <span class="d sm">Queries answer of now, also while an earlier moment is shown.</span>}
          </div>
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
          <div class="ch">
            <h2>Notes</h2>
          </div>
          <table class="dense">
            <tbody>
              {notes.map((note, i) => (
                <tr key={i}>
                  <td class="nw d">
                    <Time at={note.recorded_at ?? note.at} fine />
                  </td>
                  <td class="wrap">{note.text ?? note.message ?? note.note ?? stringify(note)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {Object.keys(attributes).length > 0 && (
        <>
          <div class="ch">
            <h2>Search attributes</h2>
          </div>
          <div class="pad">
            <ValueView value={attributes} label="the search attributes" />
          </div>
        </>
      )}
      {Object.keys(memo).length > 0 && (
        <>
          <div class="ch">
            <h2>Memo</h2>
          </div>
          <div class="pad">
            <ValueView value={memo} label="the memo" />
          </div>
        </>
      )}
    </>
  );
}

/** The head as it came, and the history to take away. */
export function JsonTab({ place, head }: { place: Place; head: any }) {
  const find = useSignal("");
  const text = stringify(head);
  const history = async () => {
    const lines: string[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const page: any = await readPart(place, "events", { after, limit: 1000 });
      for (const event of page.events) lines.push(stringify(event));
      after = page.next_after ?? null;
    }
    save(`${head.workflow_id}.events.jsonl`, lines.join("\n") + "\n");
  };
  return (
    <>
      <div class="ch">
        <h2>Head</h2>
        <span class="d sm">{bytes(text.length)}</span>
        <span class="grow" />
        <input class="in filter" type="search" aria-label="Find in the JSON" placeholder="find" value={find.value} onInput={(event) => (find.value = event.currentTarget.value)} />
        <Button size="small" onClick={() => save(`${head.workflow_id}.json`, stringify(head, 1))}>
          Download
        </Button>
        <Button size="small" onClick={() => void history()}>
          Events as JSONL
        </Button>
      </div>
      <div class="pad">
        <JsonView text={text} label="the head" found={find.value} />
        <p class="d sm fine">
          In the shell: <Mono>holdfast show {quoted(place.id)} --json</Mono>
        </p>
      </div>
    </>
  );
}
