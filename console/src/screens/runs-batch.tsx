// One command for many runs: what would become of each is asked first, then it is done, and how far it is can be seen.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { at, get, post, refusalOf, type Refusal } from "../lib/api";
import { many, number } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { me, readOnly } from "../lib/session";
import { inputWords, shell } from "../lib/shell";
import { Bones, Button, Fault, Glyph, RunLink, Shell } from "../ui/basic";
import { closeDialog, Dialog, openDialog } from "../ui/dialog";
import { ContractForm, FieldFault, FormState, useForm, type Parameter } from "../ui/form";

export interface BatchCommand {
  name: string;
  verb: string;
  keep: string;
  say: string;
  danger?: boolean;
}

export const BATCHES: BatchCommand[] = [
  { name: "signal", verb: "Signal", keep: "Send nothing", say: "Each of them gets the signal." },
  { name: "repair", verb: "Repair", keep: "Leave them", say: "Open work that is missing is made again from history." },
  { name: "pause", verb: "Pause", keep: "Leave them", say: "Their work is not handed out until they are resumed." },
  { name: "resume", verb: "Resume", keep: "Leave them", say: "Their work is handed out again." },
  { name: "archive", verb: "Archive", keep: "Leave them", say: "Closed runs are marked as archived." },
  { name: "cancel", verb: "Cancel", keep: "Keep running", say: "They are asked to stop, and their compensation runs.", danger: true },
  { name: "terminate", verb: "Terminate", keep: "Keep running", say: "They end at once. No compensation runs, and this cannot be undone.", danger: true },
];

interface Item {
  workflow_id: string;
  status: string;
  outcome: string | null;
  rejection_reason: string | null;
  message: string | null;
}

interface Batch {
  batch_id: string;
  status: string;
  done: number;
  total: number;
  accepted: number;
  rejected: number;
  not_found: number;
  failed: number;
  would_apply: number;
  items: Item[];
}

const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function follow(id: string, saw: (batch: Batch) => void, stop: () => boolean) {
  for (let wait = 60; !stop(); wait = Math.min(1500, wait * 1.6)) {
    const batch = await get<Batch>(at`/api/batches/${id}`);
    saw(batch);
    if (batch.status !== "running" && batch.status !== "paused") return;
    await sleep(wait);
  }
}

function Reasons({ items, ok }: { items: Item[]; ok: string }) {
  const groups = new Map<string, Item[]>();
  for (const item of items)
    if (item.status !== "accepted" && item.status !== "would_apply") {
      const why = item.message ?? item.rejection_reason ?? item.status.replace(/_/g, " ");
      groups.set(why, [...(groups.get(why) ?? []), item]);
    }
  const good = items.filter((item) => item.status === "accepted" || item.status === "would_apply").length;
  return (
    <ul class="bullets">
      {good > 0 && (
        <li>
          <span class="c-completed">
            <Glyph name="completed" small />
          </span>
          {number(good)} {ok}
        </li>
      )}
      {[...groups].map(([why, of]) => (
        <li key={why}>
          <span class="c-cancelled">
            <Glyph name="cancelled" small />
          </span>
          {number(of.length)}: {why} <span class="w sm mono">{of.slice(0, 3).map((item) => item.workflow_id).join(" ")}</span>
          {of.length > 3 && <span class="w sm"> and {of.length - 3} more</span>}
        </li>
      ))}
    </ul>
  );
}

function BatchDialog({ command, ids, types, cut }: { command: BatchCommand; ids: string[]; types: string[]; cut: boolean }) {
  const free = useForm(null);
  const own = useSignal<FormState | null>(null);
  const form = own.value ?? free;
  const signal = useSignal("");
  const reason = useSignal("");
  const typed = useSignal("");
  const rate = useSignal("");
  const missing = useSignal<Record<string, string>>({});
  const preview = useSignal<Batch | null>(null);
  const running = useSignal<Batch | null>(null);
  const fault = useSignal<Refusal | null>(null);
  const name = command.name === "signal";
  // Runs of one type have one contract: its signals are offered, each with its form.
  const contract = useData(name && types.length === 1 ? "type " + types[0] : null, (stop) => get(at`types/${types[0]!}`, {}, stop)).data?.contract;
  const declared: { name: string; parameters: Parameter[] | null }[] = contract?.signals ?? [];
  const choose = (word: string) => {
    signal.value = word;
    const found = declared.find((one) => one.name === word);
    own.value = found?.parameters ? new FormState(found.parameters) : null;
  };
  const gone = useSignal(false);
  const body = (dry: boolean) => ({
    command: command.name,
    workflow_ids: ids,
    dry_run: dry,
    ...(rate.value && !dry ? { rate: Number(rate.value) } : {}),
    request: { ...(reason.value.trim() ? { reason: reason.value.trim() } : {}), ...(name ? { name: signal.value.trim(), input: form.read() ?? {} } : {}) },
  });
  const failed = (error: unknown) => (fault.value = refusalOf(error));
  const look = async () => {
    fault.value = null;
    preview.value = null;
    try {
      const batch = await post<Batch>("/api/batches", body(true));
      await follow(batch.batch_id, (seen) => (preview.value = seen), () => gone.value);
    } catch (error) {
      failed(error);
    }
  };
  useEffect(() => {
    if (!name) void look();
    return () => void (gone.value = true);
  }, []);
  const apply = async () => {
    const wrong: Record<string, string> = {};
    if (!reason.value.trim()) wrong.reason = "Say why: it is recorded with every command.";
    if (name && !signal.value.trim()) wrong.signal = "Which signal?";
    if (ids.length > 100 && typed.value.trim() !== String(ids.length)) wrong.typed = `Type ${ids.length} to say that this is meant.`;
    if (rate.value && !/^\d{1,6}$/.test(rate.value)) wrong.rate = "This is a whole number.";
    missing.value = wrong;
    if (Object.keys(wrong).length || (name && form.read() === undefined)) return;
    fault.value = null;
    try {
      running.value = await post<Batch>("/api/batches", body(false));
      await follow(running.value.batch_id, (seen) => (running.value = seen), () => gone.value);
    } catch (error) {
      failed(error);
    }
  };
  const turn = async (what: string) => {
    try {
      running.value = await post<Batch>(at`/api/batches/${running.value!.batch_id}/${what}`);
    } catch (error) {
      failed(error);
    }
  };
  // A batch of the shell has no arguments: signals are sent one by one.
  const line = () => {
    const why = reason.value.trim() || "WHY";
    if (!name) return shell("batch start", [command.name, ...ids], { rate: rate.value, reason: why, yes: true });
    const words = [signal.value.trim() || "NAME", ...inputWords(form.read(true))];
    return ids.map((id) => shell("signal", [id, ...words], { reason: why })).join("\n");
  };
  const told = many(ids.length, "run");
  const now = running.value;
  const busy = now !== null && (now.status === "running" || now.status === "paused");
  const field = (key: string, label: string, value: { value: string }, hint?: string, kind = "text") => (
    <div class="field">
      <label for={"batch-" + key}>
        {label} {hint && <span class="req">{hint}</span>}
      </label>
      <input id={"batch-" + key} class={missing.value[key] ? "in bad" : "in"} type="text" inputMode={kind === "number" ? "numeric" : "text"} value={value.value} aria-invalid={missing.value[key] ? true : undefined} aria-describedby={`batch-${key}-e`} onInput={(event) => (value.value = event.currentTarget.value)} />
      <FieldFault id={`batch-${key}-e`} of={missing.value[key] ? [missing.value[key]!] : undefined} />
    </div>
  );
  return (
    <Dialog
      title={`${command.verb} ${told}`}
      onSubmit={() => void (now ? undefined : apply())}
      foot={
        <>
          <span class="d sm">
            as {me.value?.principal.label || me.value?.principal.id}, role {me.value?.principal.role}
          </span>
          <span class="grow" />
          {busy && (
            <>
              <Button onClick={() => void turn(now.status === "paused" ? "resume" : "pause")}>{now.status === "paused" ? "Go on" : "Pause"}</Button>
              <Button onClick={() => void turn("abort")}>Abort</Button>
            </>
          )}
          <Button onClick={closeDialog}>{now ? "Close" : command.keep}</Button>
          {!now && (
            <Button type="submit" kind={command.danger ? "danger" : "primary"} why={readOnly.value ?? null}>
              {command.verb} {told}
            </Button>
          )}
        </>
      }
    >
      {fault.value && <Fault of={fault.value} what="The batch was not taken." />}
      {now ? (
        <div class="stack" role="status">
          <p>
            {number(now.done)} of {number(now.total)} done{now.status !== "running" && `, ${now.status}`}
          </p>
          <div class="meter run">
            <i style={{ "--v": `${now.total ? (now.done / now.total) * 100 : 0}%` }} />
          </div>
          <Reasons items={now.items} ok="took it" />
          <p class="d sm">
            It goes on when this dialog is closed. <a href={href(["batches", now.batch_id])}>What became of each</a>; in the shell: {shell("batch show", [now.batch_id])}
          </p>
        </div>
      ) : (
        <>
          <p class="d">
            {command.say} {cut && `Only the first ${number(ids.length)} that match are taken: that is as many as one batch has.`}
          </p>
          <p class="sm samples row">
            {ids.slice(0, 10).map((id) => (
              <RunLink key={id} id={id} />
            ))}
            {ids.length > 10 && <span class="w">and {number(ids.length - 10)} more</span>}
          </p>
          {name ? (
            <>
              {field("signal", "Signal", signal, declared.length > 0 ? `${types[0]} takes ${declared.map((one) => one.name).join(", ")}` : undefined)}
              {declared.length > 0 && (
                <div class="row">
                  {declared.map((one) => (
                    <Button key={one.name} size="small" class="mono" onClick={() => choose(one.name)}>
                      {one.name}
                    </Button>
                  ))}
                </div>
              )}
              <ContractForm key={own.value ? signal.value : ""} form={form} none="Each run checks the arguments against its own contract." />
              <div class="row">
                <Button onClick={() => void (signal.value.trim() && look())}>Look what would happen</Button>
              </div>
              {preview.value && <Reasons items={preview.value.items} ok="would take it" />}
            </>
          ) : preview.value ? (
            <Reasons items={preview.value.items} ok="would take it" />
          ) : (
            !fault.value && <Bones rows={2} slow />
          )}
          {field("reason", "Reason", reason, "needed, kept with your name")}
          {ids.length > 20 && field("rate", "A second, at most", rate, "as fast as it goes, unless a number is given", "number")}
          {ids.length > 100 && field("typed", `Type ${ids.length} to go on`, typed, undefined, "number")}
          <div class="field">
            <span class="lab">The same from the shell</span>
            <Shell text={line()} />
          </div>
        </>
      )}
    </Dialog>
  );
}

export function askBatch(command: BatchCommand, ids: string[], types: string[] = [], cut = false) {
  openDialog(() => <BatchDialog command={command} ids={ids} types={types} cut={cut} />);
}
