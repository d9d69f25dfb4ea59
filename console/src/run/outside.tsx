// What a run waits for from outside, and what came: waits and commands.
import { duration, many, moment } from "../lib/format";
import { param, set } from "../lib/router";
import { Bones, Button, Choice, Empty, Fault, Mono, Status, Time } from "../ui/basic";
import { askSignal, askUpdate, refused } from "./actions";
import { AnyPayload } from "./inspector";
import { here, usePart, type Place } from "./place";

const WAIT_GLYPH: Record<string, string> = { open: "waiting", resolved: "completed", cancelled: "cancelled" };

export function WaitsTab({ place, head, select }: { place: Place; head: any; select: (step: number | null) => void }) {
  const { data, fault, slow, again } = usePart(place, "waits");
  if (fault && !data) return <Fault of={fault} again={again} what="The waits could not be read." />;
  if (!data) return <Bones slow={slow} rows={6} />;
  const waits: any[] = data.waits;
  if (!waits.length) return <Empty title="It has not waited for anything yet." />;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col" class="num">
              Step
            </th>
            <th scope="col">State</th>
            <th scope="col">What for</th>
            <th scope="col">Opened</th>
            <th scope="col">Ended, or ends</th>
            <th scope="col">
              <span class="off">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {waits.map((wait) => (
            <tr key={wait.id}>
              <td class="num w">{wait.sequence}</td>
              <td>
                <Status of={WAIT_GLYPH[wait.status] ?? "waiting"} word={wait.status} />
              </td>
              <td class="wrap">
                <button type="button" class="linkbtn" onClick={() => select(wait.sequence)}>
                  {wait.kind} <Mono class="b">{wait.target_name ?? wait.condition_key ?? ""}</Mono>
                </button>
                <div class="d sm">{wait.summary}</div>
              </td>
              <td class="nw d">
                <Time at={wait.opened_at} />
              </td>
              <td class="nw d">{wait.resolved_at ? <Time at={wait.resolved_at} /> : wait.deadline_at ? <>until <Time at={wait.deadline_at} /></> : wait.status === "open" ? "no deadline" : ""}</td>
              <td class="num">
                {wait.status === "open" && wait.kind === "signal" && wait.target_name && (
                  <Button size="small" why={refused(head, "signal")} label={`Send ${wait.target_name}`} onClick={() => askSignal(head, wait.target_name)}>
                    Send…
                  </Button>
                )}
                {wait.status === "open" && wait.kind === "condition" && head.declared_updates?.[0] && (
                  <Button size="small" why={refused(head, "update")} label={`Update ${head.declared_updates[0]}`} onClick={() => askUpdate(head, head.declared_updates[0])}>
                    Update…
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function outcome(command: any): { glyph: string; word: string } {
  if (command.rejection_reason || command.status === "rejected") return { glyph: "failed", word: `rejected: ${String(command.rejection_reason ?? "").replace(/_/g, " ")}` };
  if (command.update_status) return { glyph: command.update_status === "completed" ? "completed" : command.update_status === "failed" ? "failed" : "waiting", word: command.update_status };
  if (command.signal_status) return { glyph: command.signal_status === "applied" ? "completed" : "waiting", word: command.signal_status };
  return { glyph: command.applied_at || command.closed_at ? "completed" : "waiting", word: command.applied_at || command.closed_at ? "applied" : command.status };
}

/** What came with a command: of signals and updates their own rows have it. */
function payloadOf(command: any, data: any): unknown {
  const own = [...(data.signals ?? []), ...(data.updates ?? [])].find((one: any) => one.command_id === command.id);
  return command.payload ?? own?.arguments;
}

function who(command: any): string {
  const context = command.context ?? {};
  return context.principal?.label ?? context.principal?.id ?? context.caller?.label ?? command.source ?? "unknown";
}

export function CommandsTab({ place }: { place: Place }) {
  const { data, fault, slow, again } = usePart(place, "commands");
  const type = param("type");
  const open = param("command");
  if (fault && !data) return <Fault of={fault} again={again} what="The commands could not be read." />;
  if (!data) return <Bones slow={slow} rows={6} />;
  const all: any[] = data.commands;
  const types = [...new Set(all.map((command) => command.type as string))];
  const shown = all.filter((command) => !type || command.type === type);
  const waiting = (command: any) => Number(outcome(command).glyph !== "waiting");
  shown.sort((a, b) => waiting(a) - waiting(b) || (a.sequence ?? 0) - (b.sequence ?? 0));
  return (
    <>
      {types.length > 1 && (
        <div class="ch">
          <Choice label="Type of command" on={type} items={[["", "All"], ...types.map((one) => [one, one.replace(/_/g, " ")] as [string, string])]} to={(value) => here(place, { type: value || null })} />
          <span class="grow" />
          <span class="d sm">{many(shown.length, "command")}</span>
        </div>
      )}
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col" class="num">
                #
              </th>
              <th scope="col">Command</th>
              <th scope="col">State</th>
              <th scope="col">Who</th>
              <th scope="col">Reason</th>
              <th scope="col" class="num">
                Accepted
              </th>
              <th scope="col" class="num">
                Applied after
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((command) => {
              const state = outcome(command);
              const accepted = moment(command.accepted_at ?? command.rejected_at);
              const applied = moment(command.applied_at);
              const on = command.id === open;
              return (
                <>
                  <tr key={command.id} class={on ? "sel" : ""}>
                    <td class="num w">{command.sequence}</td>
                    <td class="nw">
                      <button type="button" class="linkbtn" aria-expanded={on} onClick={() => set({ command: on ? null : command.id }, true)}>
                        {command.type.replace(/_/g, " ")} <Mono class="b">{command.target_name ?? ""}</Mono>
                      </button>
                    </td>
                    <td class="wrap">
                      <Status of={state.glyph} word={state.word} />
                    </td>
                    <td>{who(command)}</td>
                    <td class="wrap d">{command.reason}</td>
                    <td class="num d">
                      <Time at={command.accepted_at ?? command.rejected_at} />
                    </td>
                    <td class="num d">{accepted !== null && applied !== null ? duration(applied - accepted) : ""}</td>
                  </tr>
                  {on && (
                    <tr key={command.id + "+"}>
                      <td colSpan={7} class="wrap">
                        {command.validation_errors && (
                          <ul>
                            {Object.entries(command.validation_errors as Record<string, string[]>).map(([field, of]) => (
                              <li key={field} class="c-failed">
                                <Mono>{field}</Mono> {of.join(" ")}
                              </li>
                            ))}
                          </ul>
                        )}
                        <AnyPayload of={payloadOf(command, data)} label="the payload" />
                        <p class="d sm">
                          {command.context?.request?.ip} {command.context?.request?.user_agent} <Mono>{command.id}</Mono>
                        </p>
                      </td>
                    </tr>
                  )}
                </>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
