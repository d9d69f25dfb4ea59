// What can be done to a run, each with its form, its reason and its shell line; what cannot be done says why.
import { signal } from "@preact/signals";
import { at, get, post, question } from "../lib/api";
import { save } from "../lib/file";
import { bytes, duration } from "../lib/format";
import { parse, stringify, type Json } from "../lib/json";
import { go, href } from "../lib/router";
import { away, has, notAdmin, readOnly } from "../lib/session";
import { inputWords, shell } from "../lib/shell";
import { Button, Menu, copy, type MenuItem } from "../ui/basic";
import { askFor, type Parameter } from "../ui/form";
import { ValueView } from "../ui/json";
import { attempt, toast } from "../ui/toasts";
import { askStart } from "./start";

interface Target {
  name: string;
  has_contract?: boolean;
  parameters?: Parameter[];
}

const path = (head: any, ...rest: string[]) => {
  const run = head.is_current_run ? "" : at`/runs/${head.run_id}`;
  return at`/api/workflows/${head.workflow_id}` + run + rest.map((part) => "/" + encodeURIComponent(part)).join("");
};

/** The flag for a run that is not the newest of its workflow. */
const older = (head: any): string | null => (head.is_current_run ? null : head.run_id);

/** Why an action is not for now: the server's sentence, or the role's. */
export function refused(head: any, action: string): string | null {
  const one = head.actions?.[action];
  const why = action === "query" ? away.value : readOnly.value;
  if (why) return why;
  return one && !one.allowed ? (one.text ?? one.reason ?? "It is not allowed now.") : null;
}

const contractOf = (list: Target[] | undefined, name: string): Parameter[] | null => {
  const target = list?.find((one) => one.name === name);
  return target?.has_contract ? (target.parameters ?? []) : null;
};

export function askSignal(head: any, name: string) {
  const id = head.workflow_id;
  askFor({
    title: `Signal ${name}`,
    glyph: "waiting",
    say: (
      <>
        <span class="mono">{id}</span> gets the signal <span class="mono">{name}</span>. It is recorded, and a wait for it ends.
      </>
    ),
    parameters: contractOf(head.declared_signal_targets, name),
    recent: [head.workflow_type, "signal:" + name],
    reason: "wanted",
    go: `Signal ${name}`,
    keep: "Send nothing",
    why: () => refused(head, "signal"),
    shell: (value, reason) => shell("signal", [id, name, ...inputWords(value)], { run: older(head), reason }),
    send: async (input, reason) => {
      await post(path(head, "signal", name), { input, ...(reason ? { reason } : {}) });
      return `${name} was sent to ${id}`;
    },
  });
}

export function askUpdate(head: any, name: string) {
  const id = head.workflow_id;
  askFor({
    title: `Update ${name}`,
    say: "The code takes it and answers. A validator may refuse it.",
    parameters: contractOf(head.declared_update_targets, name),
    recent: [head.workflow_type, "update:" + name],
    reason: "wanted",
    go: `Update ${name}`,
    keep: "Send nothing",
    why: () => refused(head, "update"),
    shell: (value, reason) => shell("update", [id, name, ...inputWords(value)], { run: older(head), reason }),
    send: async (input, reason) => {
      const began = Date.now();
      const answer = await post(path(head, "update", name), { input, wait_for: "completed", wait_timeout_seconds: 10, ...(reason ? { reason } : {}) });
      return (
        <>
          <p>
            {String(answer.update_status ?? answer.outcome).replace(/_/g, " ")} <span class="d">after {duration(Date.now() - began)}</span>
            {answer.failure_message && <span class="c-failed"> {answer.failure_message}</span>}
          </p>
          {answer.result !== undefined && answer.result !== null && <ValueView value={answer.result} label="the result" />}
          {answer.update_status === "accepted" && <p class="d sm">It is not applied yet. The Commands tab shows when it is.</p>}
        </>
      );
    },
  });
}

export function askQuery(head: any, name: string) {
  const id = head.workflow_id;
  askFor({
    title: `Query ${name}`,
    say: "The code is asked. Nothing is recorded and nothing changes.",
    parameters: contractOf(head.declared_query_targets, name),
    go: "Ask",
    keep: "Close",
    reads: true,
    why: () => refused(head, "query"),
    shell: (value) => shell("query", [older(head) ? `${id}#${older(head)}` : id, name, ...inputWords(value)]),
    send: async (input) => <ValueView value={(await question(path(head, "query", name), { input })).result} label="the answer" />,
  });
}

interface Plain {
  action: string;
  verb: string;
  say: string;
  keep: string;
  danger?: boolean;
  reason: "needed" | "wanted";
}

const PLAIN: Plain[] = [
  { action: "pause", verb: "Pause", say: "Its work is not handed out until it is resumed. What runs goes on to its end.", keep: "Leave it", reason: "wanted" },
  { action: "resume", verb: "Resume", say: "Its work is handed out again.", keep: "Leave it", reason: "wanted" },
  { action: "repair", verb: "Repair", say: "Open work that is missing is made again from history, and a blocked run is tried again.", keep: "Leave it", reason: "wanted" },
  { action: "cancel", verb: "Cancel", say: "It is asked to stop, and its compensation runs.", keep: "Keep running", danger: true, reason: "needed" },
  { action: "terminate", verb: "Terminate", say: "It ends at once. No compensation runs, and this cannot be undone.", keep: "Keep running", danger: true, reason: "needed" },
  { action: "archive", verb: "Archive", say: "It is marked as archived and leaves the ordinary lists.", keep: "Leave it", reason: "wanted" },
];

export function askPlain(head: any, action: string) {
  const plain = PLAIN.find((one) => one.action === action);
  if (!plain) return;
  const id = head.workflow_id;
  askFor({
    title: `${plain.verb} ${id}`,
    glyph: head.glyph,
    say: plain.say,
    reason: plain.reason,
    danger: plain.danger,
    go: plain.verb,
    keep: plain.keep,
    why: () => refused(head, action),
    shell: (_value, reason) => shell(action, [id], { run: older(head), reason }),
    send: async (_value, reason) => {
      await post(path(head, action), reason ? { reason } : {});
      return `${plain.verb}: ${id} took it`;
    },
  });
}

/** A new workflow, or the next run of this one, that begins with the first steps. */
export function askCopy(head: any, action: "fork" | "reset", step?: number | null) {
  const id = head.workflow_id;
  const parameters: Parameter[] = [
    { name: "step", type: "int", default_available: true, default: null, allows_null: true, doc: "The last step that is kept; none: all that are settled." },
    ...(action === "fork" ? [{ name: "new_workflow_id", type: "string", default_available: true, default: null, allows_null: true, doc: "One is made when none is given." } as Parameter] : []),
    { name: "signals", type: "string", default_available: true, default: null, allows_null: true, doc: "Those that came later and come again: names with commas between them, * for all." },
  ];
  askFor({
    title: action === "fork" ? `Fork ${id}` : `Reset ${id}`,
    glyph: "continued",
    say: action === "fork" ? "A new workflow begins with the first steps of this one and goes on from there. This one is not touched." : "The run ends, and the next one begins with its first steps.",
    parameters,
    first: step ? { step } : undefined,
    reason: "needed",
    danger: action === "reset",
    go: action === "fork" ? "Fork" : "Reset",
    keep: "Leave it",
    why: () => refused(head, action),
    shell: (value, reason) => {
      const of = (value ?? {}) as Record<string, Json>;
      return shell(action, [id], { run: action === "fork" ? older(head) : null, step: of.step as number, id: of.new_workflow_id as string, signals: of.signals as string, reason });
    },
    send: async (value, reason) => {
      const of = Object.fromEntries(Object.entries((value ?? {}) as Record<string, Json>).filter(([, one]) => one !== null));
      const answer = await post(action === "fork" ? path(head, "fork") : at`/api/workflows/${id}/reset`, { ...of, reason });
      go(href(["runs", answer.workflow_id ?? id]));
      return action === "fork" ? `Forked as ${answer.workflow_id}` : `${id} was reset`;
    },
  });
}

/** The history of the run as a bundle, in a file. */
export const exportBundle = (head: any) =>
  attempt(async () => {
    const bundle = await get(at`/api/workflows/${head.workflow_id}/runs/${head.run_id}/history/export`);
    save(`${head.workflow_id}.bundle.json`, stringify(bundle as Json, 1));
  });

/** The signals that a wait is for: a step machine waits for one of several. */
export const awaited = (name: string | null | undefined): string[] => (name ?? "").split("|").filter(Boolean);

/** The one that would move this run now. */
export function primaryOf(head: any): { text: string; act: () => void; why: string | null } | null {
  const next = (head.why?.next ?? []).find((one: any) => one.primary) ?? head.why?.next?.[0];
  if (!next || !head.is_now) return null;
  const { action, target } = next;
  if (action === "signal" && target) {
    const name = awaited(target)[0]!; // the others are in the menu
    return { text: `Signal ${name}…`, act: () => askSignal(head, name), why: refused(head, action) };
  }
  if (action === "update") {
    const name = target ?? head.declared_updates?.[0];
    return name ? { text: `Update ${name}…`, act: () => askUpdate(head, name), why: refused(head, action) } : null;
  }
  if (action === "open_child" && target) return { text: "Open the child", act: () => go(href(["runs", target])), why: null };
  if (action === "reset" || action === "fork") return { text: action === "reset" ? "Reset…" : "Fork…", act: () => askCopy(head, action), why: refused(head, action) };
  if (action === "repair" && head.glyph === "blocked") return { text: "Try again…", act: () => askPlain(head, "repair"), why: refused(head, "repair") };
  const plain = PLAIN.find((one) => one.action === action);
  return plain && !plain.danger ? { text: `${plain.verb}…`, act: () => askPlain(head, action), why: refused(head, action) } : null;
}

async function startAlike(head: any) {
  const { text, cut, bytes: size } = head.arguments ?? {};
  if (cut) toast(`Its input of ${bytes(size)} is too big for a form, which begins empty.`, true);
  await askStart(head.workflow_type, text && !cut ? parse(text) : undefined, head.queue ?? "");
}

const small = matchMedia("(max-width: 720px)");
const narrow = signal(small.matches);
small.addEventListener("change", () => (narrow.value = small.matches));

export function Actions({ head }: { head: any }) {
  const primary = primaryOf(head);
  const names = (list: string[] | undefined, what: string, act: (head: any, name: string) => void): MenuItem[] =>
    (list ?? []).map((name) => ({
      text: (
        <>
          {narrow.value && what[0]!.toUpperCase() + what.slice(1) + " "}
          <span class="mono">{name}</span>
        </>
      ), why: refused(head, what),
      act: () => act(head, name),
    }));
  const signals = names(head.declared_signals, "signal", askSignal);
  const updates = names(head.declared_updates, "update", askUpdate);
  const queries = names(head.declared_queries, "query", askQuery);
  const more: MenuItem[] = [
    ...(narrow.value ? [...signals, ...updates, ...queries] : []),
    ...PLAIN.map((plain) => ({ text: `${plain.verb}…`, why: refused(head, plain.action), act: () => askPlain(head, plain.action) })),
    { text: "Fork…", why: refused(head, "fork"), act: () => askCopy(head, "fork") },
    { text: "Reset…", why: refused(head, "reset"), act: () => askCopy(head, "reset") },
    { text: "Start like this one…", why: readOnly.value ?? null, act: () => void startAlike(head) },
    { text: "Compare with another run…", why: has("diff") ? null : "This server compares no runs.", to: href(["diff"], { left: head.workflow_id, left_run_id: head.run_id }) },
    { text: "Export as a bundle", why: notAdmin.value, act: () => void exportBundle(head) },
    { text: "Copy shell line", act: () => void copy(shell("show", [head.workflow_id], { run: older(head) })) },
  ];
  return (
    <span class="acts row">
      {primary && (
        <Button kind="primary" why={primary.why} onClick={primary.act}>
          {primary.text}
        </Button>
      )}
      {!narrow.value && signals.length > 0 && <Menu end text="Signal" items={signals} />}
      {!narrow.value && updates.length > 0 && <Menu end text="Update" items={updates} />}
      {!narrow.value && queries.length > 0 && <Menu end text="Query" items={queries} />}
      <Menu end text="More" items={more} />
    </span>
  );
}
