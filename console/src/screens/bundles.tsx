// Exported files, opened to look at without becoming part of the store: the list of those that are open, and dropping another.
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { at as url, get, post, Refusal, refusalOf, remove, sendFile } from "../lib/api";
import { bytes, duration, many, number } from "../lib/format";
import { useData } from "../lib/live";
import { go, href, path } from "../lib/router";
import { has, readOnly } from "../lib/session";
import { shell } from "../lib/shell";
import { Age, Button, Empty, Fault, Glyph, Mono, PageHead, Shell, Status, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { Asked, Card } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { attempt, toast } from "../ui/toasts";
import { RunPage } from "./run";

export interface Bundle {
  id: string;
  name: string | null;
  workflow_id: string;
  run_id: string;
  workflow_type: string;
  events: number;
  bytes: number;
  complete: boolean;
  exported_at: string | null;
  ours: boolean;
  verification: { status: string; checksum: string; signature: string; findings: { severity: string; rule: string; path: string; message: string }[] };
  redacted: { policy: string | null; paths: number } | null;
  opened_at: string;
  expires_at: string;
}

interface Opened {
  bundles: Bundle[];
  limits: { bundles: number; bytes: number; memory_bytes: number; idle_seconds: number };
}

const SIGNATURES: Record<string, string> = { none: "not signed", ed25519: "signature fits the key in it", not_verified: "signature not verified" };

/** What is known of a file that came from somewhere: "checksum ok, not signed". */
export function provenance(of: Bundle): string {
  return [
    of.verification.checksum === "ok" ? "checksum ok" : "checksum " + of.verification.checksum,
    SIGNATURES[of.verification.signature] ?? of.verification.signature.replace(/_/g, " "),
    of.redacted && `${many(of.redacted.paths, "value")} redacted${of.redacted.policy ? " by " + of.redacted.policy : ""}`,
    !of.complete && "the run was open",
    !of.ours && "not written by Holdfast",
  ]
    .filter(Boolean)
    .join(", ");
}

const closeBundle = (id: string, then: () => void) =>
  attempt(async () => {
    await remove(url`bundles/${id}`);
    toast("Closed");
    then();
  });

export function keepBundle(of: Bundle) {
  askFor({
    title: `Keep ${of.workflow_id} in the store`,
    say: "It is kept as evidence, as it is: no engine works on it, and no list of runs shows it. The shell and the export find it.",
    go: "Keep it",
    keep: "Leave it a file",
    shell: () => shell("bundle import", [of.name ?? of.workflow_id + ".bundle.json"], { store: "STORE" }),
    send: async () => {
      const said = await post(url`bundles/${of.id}/import`);
      return said.imported ? `${of.workflow_id} is kept, ${many(said.events, "event")}` : `${of.workflow_id} was there already`;
    },
  });
}

/** `again`: the list is asked anew, since no stream tells of files. */
const columns = (again: () => void): Column<Bundle>[] => [
  {
    head: "Run",
    look: "b idcol",
    by: (one) => one.workflow_id,
    cell: (one) => (
      <>
        <a class="mono q" href={href(["bundles", one.id])}>
          {one.workflow_id}
        </a>
        {one.name && <div class="w sm brk">{one.name}</div>}
      </>
    ),
  },
  { head: "State", look: "state", cell: (one) => (one.verification.status === "ok" ? <Status of="completed" word="sound" /> : <Status of="waiting" word={many(one.verification.findings.length, "warning")} />) },
  { head: "Type", look: "d", by: (one) => one.workflow_type, cell: (one) => one.workflow_type },
  { head: "What is known of it", look: "wide d", cell: provenance },
  { head: "Events", look: "num", by: (one) => one.events, cell: (one) => number(one.events) },
  { head: "Size", look: "num d", by: (one) => one.bytes, cell: (one) => bytes(one.bytes) },
  { head: "Exported", look: "num d", by: (one) => one.exported_at, cell: (one) => one.exported_at && <Time at={one.exported_at} /> },
  { head: "Closes by itself", look: "num d", by: (one) => one.expires_at, cell: (one) => <Age at={one.expires_at} /> },
  {
    head: "What to do",
    quiet: true,
    look: "num",
    cell: (one) => (
      <Button size="small" label={`Close ${one.workflow_id}`} onClick={() => void closeBundle(one.id, again)}>
        Close
      </Button>
    ),
  },
];

/** Takes files by a button or dropped; each may have several bundles, one a line. */
function Drop({ limits, opened }: { limits: Opened["limits"] | undefined; opened: () => void }) {
  const over = useSignal(false);
  const busy = useSignal<string | null>(null);
  const faults = useSignal<[string, Refusal][]>([]);
  const field = useRef<HTMLInputElement>(null);
  const open = async (files: File[]) => {
    faults.value = [];
    let first = "";
    let many = 0;
    for (const file of files) {
      busy.value = file.name;
      try {
        if (limits && file.size > limits.memory_bytes) throw new Refusal(413, "payload_too_large", `It has ${bytes(file.size)}; one bundle is at most ${bytes(limits.bytes)}, all that are open together ${bytes(limits.memory_bytes)}.`);
        const text = (await file.text()).trim();
        const lines = text.split("\n");
        const several = lines.length > 1 && lines.every((line) => line.startsWith("{") && line.trimEnd().endsWith("}"));
        for (const one of several ? lines : [text]) {
          const said = await sendFile<{ bundle: Bundle }>("bundles", one, { name: file.name });
          first ||= said.bundle.id;
          many++;
        }
      } catch (fault) {
        faults.value = [...faults.value, [file.name, refusalOf(fault)]];
      }
    }
    busy.value = null;
    if (field.current) field.current.value = "";
    if (many === 1 && faults.value.length === 0) go(href(["bundles", first]));
    else opened();
  };
  return (
    <>
      <div
        class={over.value ? "drop over" : "drop"}
        onDragOver={(event) => {
          event.preventDefault();
          over.value = true;
        }}
        onDragLeave={() => (over.value = false)}
        onDrop={(event) => {
          event.preventDefault();
          over.value = false;
          void open([...(event.dataTransfer?.files ?? [])]);
        }}
      >
        <b class="b">{busy.value ? `Reading ${busy.value}` : "Drop an exported run here"}</b>
        <p class="d sm">
          Nothing is written: the file is looked at and forgotten{limits && ` ${duration(limits.idle_seconds * 1000)} after it was looked at last`}.
        </p>
        <label class="btn p">
          Open a file…
          <input ref={field} class="off" type="file" multiple accept=".json,.jsonl,application/json" aria-label="Open an exported file" onChange={(event) => void open([...(event.currentTarget.files ?? [])])} />
        </label>
      </div>
      {faults.value.map(([name, fault]) => (
        <div class="note failed" role="alert" key={name}>
          <Glyph name="failed" />
          <div>
            <b class="b">{name} was not opened.</b> {Object.values(fault.fields).flat().join(" ") || fault.message} {fault.remediation && <span class="d">{fault.remediation}</span>} <span class="w sm">{fault.reason}</span>
          </div>
        </div>
      ))}
    </>
  );
}

function List() {
  const asked = useData<Opened>("bundles", (stop) => get("bundles", {}, stop));
  const all = asked.data?.bundles ?? [];
  return (
    <>
      <PageHead title="Bundles" say={asked.data && (all.length ? `${many(all.length, "file")} open, for you alone` : "none is open")}>
        {has("diff") && (
          <a class="btn" href={href(["diff"])}>
            Compare two runs…
          </a>
        )}
      </PageHead>
      <div class="stack">
        <Card label="Open a file">
          <Drop limits={asked.data?.limits} opened={asked.again} />
        </Card>
        <Asked of={asked} what="The list of open files could not be read.">
          {() =>
            all.length > 0 ? (
              <Card label="Open files" scroll>
                <Table label="Open files" columns={columns(asked.again)} rows={all} id={(one) => one.id} />
              </Card>
            ) : (
              <Card label="Open files">
                <Empty title="No file is open.">
                  <p class="d">A run is exported on its page, below More, or in the shell. It has everything that its page shows.</p>
                  <Shell text={shell("bundle export", ["order-42"], { store: "STORE", out: "order-42.json" })} />
                </Empty>
              </Card>
            )
          }
        </Asked>
      </div>
    </>
  );
}

/** Above a run that comes from a file: where from, and how far it can be trusted. */
export function FileStrip({ of }: { of: Bundle }) {
  return (
    <div class="note quiet" role="status">
      <Glyph name="completed" />
      <div class="grow">
        <b class="b">From a file{of.name && <> <Mono>{of.name}</Mono></>}</b>
        {of.exported_at && (
          <>
            , exported <Time at={of.exported_at} />
          </>
        )}
        . <span class="d">{provenance(of)}. Nothing can be done to it.</span>
        {of.verification.findings.map((one) => (
          <div key={one.rule + one.path} class="sm d">
            {one.severity}: {one.message} <Mono class="w">{one.rule}</Mono>
          </div>
        ))}
      </div>
    </div>
  );
}

function One({ id }: { id: string }) {
  const asked = useData<{ bundle: Bundle }>("bundle " + id, (stop) => get(url`bundles/${id}`, {}, stop));
  if (asked.fault && !asked.data)
    return (
      <>
        <PageHead title="Bundle" />
        {asked.fault.status === 404 ? (
          <Card>
            <Empty title="This file is not open any more.">
              <p class="d">Files are forgotten when they were not looked at for a while, and when the server ends. Open it again.</p>
              <a class="btn" href={href(["bundles"])}>
                To the bundles
              </a>
            </Empty>
          </Card>
        ) : (
          <Fault of={asked.fault} again={asked.again} />
        )}
      </>
    );
  const bundle = asked.data?.bundle;
  if (!bundle) return null;
  return (
    <RunPage
      strip={<FileStrip of={bundle} />}
      acts={
        <span class="acts row">
          {has("diff") && (
            <a class="btn" href={href(["diff"], { left_bundle: id })}>
              Compare…
            </a>
          )}
          <Button why={readOnly.value} onClick={() => keepBundle(bundle)}>
            Keep in the store…
          </Button>
          <Button onClick={() => void closeBundle(id, () => go(href(["bundles"])))}>Close</Button>
        </span>
      }
    />
  );
}

export function Bundles() {
  const id = path.value[1];
  return id === undefined ? <List /> : <One key={id} id={id} />;
}
