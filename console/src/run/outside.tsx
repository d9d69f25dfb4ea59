// What a run waits for from outside, and what came: waits and commands.
import { duration, many, moment } from "../lib/format";
import { param, set } from "../lib/router";
import { Button, Choice, Mono, RunLink, Status, Time } from "../ui/basic";
import { Asked, Facts } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { askUpdate, refused } from "./actions";
import { SendAwaited, WaitName } from "./awaited";
import { AnyPayload } from "./inspector";
import { howMany, Older } from "./older";
import { here, usePart, type Place } from "./place";
import { AllFields, Tasks } from "./record";

const WAIT_GLYPH: Record<string, string> = { open: "waiting", resolved: "completed", cancelled: "cancelled" };

/** The commands that came while a condition was waited for, and did not make it true. */
function Tried({ place, wait }: { place: Place; wait: any }) {
  const asked = usePart(place, "commands");
  const opened = moment(wait.opened_at) ?? 0;
  const closed = moment(wait.resolved_at) ?? Infinity;
  return (
    <Asked of={asked} bones={1}>
      {(data: any) => {
        const came = (data.commands as any[]).filter((one) => /signal|update/.test(one.type) && (moment(one.applied_at) ?? 0) > opened && (moment(one.applied_at) ?? 0) < closed);
        return came.length ? (
          <ul class="evs">
            {came.map((one) => (
              <li key={one.id}>
                {one.type} <Mono class="b">{one.target_name}</Mono> at <Time at={one.applied_at} /> <span class="d">did not satisfy it</span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="d sm">No command has come since it was opened.</p>
        );
      }}
    </Asked>
  );
}

function WaitDetail({ place, wait }: { place: Place; wait: any }) {
  return (
    <div class="stack">
      <Facts
        left
        of={[
          ["what ends it", wait.resume_source_kind?.replace(/_/g, " ")],
          ["condition", wait.condition_key && <Mono>{wait.condition_key}</Mono>],
          ["its fingerprint", wait.condition_definition_fingerprint && <Mono class="brk">{wait.condition_definition_fingerprint}</Mono>],
          ["task", wait.task_backed && `${wait.task_type?.replace(/_/g, " ")}, ${wait.task_status}`],
          ["barrier", wait.parallel_group_path?.length > 0 && wait.parallel_group_path.map((one: any) => `all [${one.parallel_group_size}] at step ${one.parallel_group_base_sequence}`).join(", in it ")],
          ["line", wait.source_line && <Mono>{wait.source_line}</Mono>],
          ["command", wait.command_id && <Mono class="brk">{wait.command_id}</Mono>],
        ]}
      />
      {wait.kind === "condition" && <Tried place={place} wait={wait} />}
    </div>
  );
}

export function WaitsTab({ place, head, select }: { place: Place; head: any; select: (step: number | null) => void }) {
  const asked = usePart<{ waits: any[]; left_out: number }>(place, "waits", { limit: howMany() });
  const kind = param("type");
  const open = param("wait");
  const columns: Column<any>[] = [
    {
      head: "Step",
      look: "num w cstep",
      by: (wait) => wait.sequence,
      cell: (wait) => (
        <button type="button" class="linkbtn" aria-label={`Step ${wait.sequence}`} onClick={() => select(wait.sequence)}>
          {wait.sequence}
        </button>
      ),
    },
    { head: "State", look: "state", by: (wait) => wait.status, cell: (wait) => <Status of={WAIT_GLYPH[wait.status] ?? "waiting"} word={wait.status} /> },
    {
      head: "What for",
      look: "cname brk",
      by: (wait) => wait.kind,
      cell: (wait) => (
        <>
          <button type="button" class="linkbtn" aria-expanded={wait.id === open} onClick={() => set({ wait: wait.id === open ? null : wait.id }, true)}>
            {wait.kind.replace(/_/g, " ")} <WaitName of={wait} class="b" />
          </button>{" "}
          {wait.kind === "child" && wait.target_name ? <RunLink id={wait.target_name} class="sm" /> : <span class="d sm">{/^Wait(ed|ing) for/.test(wait.summary ?? "") ? "" : wait.summary}</span>}
        </>
      ),
    },
    { head: "Opened", look: "num d", by: (wait) => wait.opened_at, cell: (wait) => <Time at={wait.opened_at} /> },
    {
      head: "Ended, or ends",
      look: "num d",
      by: (wait) => wait.resolved_at ?? wait.deadline_at,
      cell: (wait) =>
        wait.resolved_at ? (
          <Time at={wait.resolved_at} />
        ) : wait.deadline_at ? (
          <>
            until <Time at={wait.deadline_at} />
          </>
        ) : (
          wait.status === "open" && "no deadline"
        ),
    },
    {
      head: "Action",
      quiet: true,
      look: "num",
      cell: (wait) =>
        wait.status === "open" &&
        (wait.kind === "signal" && wait.target_name ? (
          <SendAwaited head={head} wait={wait} />
        ) : (
          wait.kind === "condition" &&
          head.declared_updates?.[0] && (
            <Button size="small" why={refused(head, "update")} label={`Update ${head.declared_updates[0]}`} onClick={() => askUpdate(head, head.declared_updates[0])}>
              Update…
            </Button>
          )
        )),
    },
  ];
  return (
    <Asked of={asked} what="The waits could not be read." bones={6}>
      {({ waits, left_out }) => {
        const kinds = [...new Set(waits.map((wait) => wait.kind as string))];
        return (
          <>
            <Older place={place} shown={waits.length} left={left_out} what="waits" />
            {kinds.length > 1 && <Types label="Kind of wait" place={place} on={kind} of={kinds} />}
            <div class="scroll">
              <Table
                label="Waits"
                empty="It has not waited for anything yet."
                columns={columns}
                rows={waits.filter((wait) => !kinds.includes(kind) || wait.kind === kind)}
                id={(wait) => wait.id}
                row={(wait) => ({ class: wait.id === open ? "sel" : "" })}
                detail={(wait) => wait.id === open && <WaitDetail place={place} wait={wait} />}
              />
            </div>
            <Tasks place={place} />
          </>
        );
      }}
    </Asked>
  );
}

function Types({ label, place, on, of }: { label: string; place: Place; on: string; of: string[] }) {
  return (
    <div class="ch">
      <Choice label={label} on={of.includes(on) ? on : ""} items={[["", "All"], ...of.map((one) => [one, one.replace(/_/g, " ")] as [string, string])]} to={(value) => here(place, { type: value || null })} />
    </div>
  );
}

function outcome(command: any): { glyph: string; word: string } {
  if (command.rejection_reason || command.status === "rejected") return { glyph: "failed", word: `rejected: ${String(command.rejection_reason ?? "").replace(/_/g, " ")}` };
  if (command.update_status) return { glyph: command.update_status === "completed" ? "completed" : command.update_status === "failed" ? "failed" : "waiting", word: command.update_status };
  if (command.signal_status) return { glyph: command.signal_status === "applied" ? "completed" : "waiting", word: command.signal_status };
  return { glyph: command.applied_at || command.closed_at ? "completed" : "waiting", word: command.applied_at || command.closed_at ? "applied" : command.status };
}

/** What came with a command: signals and updates have it in rows of their own, a start in the head. */
function payloadOf(command: any, data: any, head: any): unknown {
  const own = [...(data.signals ?? []), ...(data.updates ?? [])].find((one: any) => one.command_id === command.id);
  return command.payload ?? own?.arguments ?? (command.type === "start" ? head.arguments : null);
}

function who(command: any): string {
  const context = command.context ?? {};
  return context.principal?.label ?? context.principal?.id ?? context.caller?.label ?? command.source ?? "unknown";
}

const taken = (command: any) => command.accepted_at ?? command.rejected_at;

function late(command: any): number | null {
  const [accepted, applied] = [moment(taken(command)), moment(command.applied_at)];
  return accepted !== null && applied !== null ? applied - accepted : null;
}

function CommandDetail({ command, payload }: { command: any; payload: unknown }) {
  const from = command.context ?? {};
  return (
    <div class="stack">
      {command.validation_errors && (
        <ul>
          {Object.entries(command.validation_errors as Record<string, string[]>).map(([field, of]) => (
            <li key={field} class="c-failed">
              <Mono>{field}</Mono> {of.join(" ")}
            </li>
          ))}
        </ul>
      )}
      <AnyPayload of={payload} label="the payload" />
      <Facts
        left
        of={[
          ["outcome", command.outcome?.replace(/_/g, " ")],
          ["message", command.message_sequence],
          ["meant for", command.target_scope],
          ["came through", command.source?.replace(/_/g, " ")],
          ["from", [from.request?.ip, from.request?.user_agent].filter(Boolean).join(", ")],
          ["as", from.principal?.id && `${from.principal.type ?? ""} ${from.principal.id}`],
          ["request", from.request?.request_id],
          ["id", <Mono class="brk">{command.id}</Mono>],
        ]}
      />
      <AllFields of={command} but={["payload"]} />
    </div>
  );
}

export function CommandsTab({ place, head }: { place: Place; head: any }) {
  const asked = usePart<{ commands: any[] }>(place, "commands");
  const type = param("type");
  const open = param("command");
  const columns: Column<any>[] = [
    { head: "#", look: "num w cstep", by: (command) => command.sequence, cell: (command) => command.sequence },
    {
      head: "Command",
      look: "cname",
      by: (command) => command.type,
      cell: (command) => (
        <button type="button" class="linkbtn" aria-expanded={command.id === open} onClick={() => set({ command: command.id === open ? null : command.id }, true)}>
          {command.type.replace(/_/g, " ")} <Mono class="b">{command.target_name ?? ""}</Mono>
        </button>
      ),
    },
    { head: "State", look: "state", cell: (command) => <Status of={outcome(command).glyph} word={outcome(command).word} /> },
    { head: "Who", by: who, cell: who },
    { head: "Reason", look: "brk d", cell: (command) => command.reason },
    { head: "Accepted", look: "num d", by: taken, cell: (command) => <Time at={taken(command)} /> },
    { head: "Applied after", look: "num d", by: late, cell: (command) => late(command) !== null && duration(late(command)) },
  ];
  return (
    <Asked of={asked} what="The commands could not be read." bones={6}>
      {(data) => {
        const { commands } = data;
        const types = [...new Set(commands.map((command) => command.type as string))];
        const waiting = (command: any) => Number(outcome(command).glyph !== "waiting");
        const shown = commands.filter((command) => !types.includes(type) || command.type === type).sort((a, b) => waiting(a) - waiting(b) || (a.sequence ?? 0) - (b.sequence ?? 0));
        return (
          <>
            {types.length > 1 && <Types label="Type of command" place={place} on={type} of={types} />}
            <div class="scroll">
              <Table
                label="Commands"
                empty="No command has come yet."
                columns={columns}
                rows={shown}
                id={(command) => command.id}
                row={(command) => ({ class: command.id === open ? "sel" : "" })}
                detail={(command) => command.id === open && <CommandDetail command={command} payload={payloadOf(command, data, head)} />}
              />
            </div>
            {shown.length > 5 && <p class="d sm pad1">{many(shown.length, "command")}</p>}
          </>
        );
      }}
    </Asked>
  );
}
