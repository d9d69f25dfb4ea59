// One command for many workflows: how far each batch is, and what became of each of them.
import { at as url, get, post } from "../lib/api";
import { many, number } from "../lib/format";
import { useData } from "../lib/live";
import { href, path } from "../lib/router";
import { readOnly } from "../lib/session";
import { Bones, Button, Empty, Fault, Mono, PageHead, RunLink, Shell, Status, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { Meter } from "../ui/meter";

const GLYPHS: Record<string, string> = { running: "running", pausing: "paused", paused: "paused", completed: "completed", aborting: "cancelled", aborted: "cancelled", failed: "failed" };

function Progress({ of }: { of: any }) {
  return (
    <span class="progress">
      <Meter value={of.total ? of.done / of.total : 0} label={`${of.done} of ${of.total}`} />
      <span class="nw">
        {number(of.done)} of {number(of.total)}
      </span>
    </span>
  );
}

function List() {
  const { data, fault, slow, again } = useData("batches", (stop) => get("/api/batches", { limit: 50 }, stop), ["list"]);
  const all: any[] = data?.batches ?? [];
  const open = all.filter((one) => !one.closed_at).length;
  return (
    <>
      <PageHead title="Batches" say={data && (all.length ? `${many(all.length, "batch", "batches")}, ${open ? `${open} under way` : "none under way"}` : "none")} />
      {fault && <Fault of={fault} again={again} />}
      {!data && !fault && <Bones slow={slow} />}
      {data && all.length === 0 && (
        <section class="card">
          <Empty title="No command was sent to many runs yet.">
            <p class="d">Tick runs in the list of runs, or begin one in the shell. A batch survives a restart of the server.</p>
            <Shell text={`holdfast batch start cancel --query "type=order status=running" --rate 50 --reason recall --yes`} />
          </Empty>
        </section>
      )}
      {all.length > 0 && (
        <section class="card scroll" aria-label="Batches">
          <table class="stackable">
            <thead>
              <tr>
                <th scope="col">Batch</th>
                <th scope="col">Command</th>
                <th scope="col">State</th>
                <th scope="col">Progress</th>
                <th scope="col" class="num">
                  Begun
                </th>
              </tr>
            </thead>
            <tbody>
              {all.map((one) => (
                <tr key={one.batch_id}>
                  <td class="nw">
                    <a class="mono q" href={href(["batches", one.batch_id])}>
                      {one.batch_id}
                    </a>
                  </td>
                  <td class="b">
                    {one.command} {one.dry_run && <span class="tag">dry run</span>}
                  </td>
                  <td>
                    <Status of={GLYPHS[one.status] ?? "waiting"} word={one.status} />
                  </td>
                  <td>
                    <Progress of={one} />
                  </td>
                  <td class="num d">
                    <Time at={one.created_at} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </>
  );
}

const TURNS: Record<string, [string, string]> = {
  pause: ["Pause…", "It stops where it is. What was sent stays sent."],
  resume: ["Resume…", "It goes on where it stopped."],
  abort: ["Abort…", "It stops for good. What was sent stays sent; the rest is left alone."],
};

function turn(id: string, action: keyof typeof TURNS & string) {
  askFor({
    title: `${action[0]!.toUpperCase() + action.slice(1)} the batch`,
    say: TURNS[action]![1],
    go: action[0]!.toUpperCase() + action.slice(1),
    danger: action === "abort",
    keep: action === "abort" ? "Let it go on" : undefined,
    shell: () => `holdfast batch ${action} ${id}`,
    send: async () => {
      await post(url`/api/batches/${id}/` + action);
      return `Told to ${action}`;
    },
  });
}

function One({ id }: { id: string }) {
  const { data: one, fault, slow, again } = useData("batch " + id, (stop) => get(url`/api/batches/${id}`, {}, stop), ["list", "batch:" + id]);
  const items: any[] = one?.items ?? [];
  const open = one && !/completed|aborted|failed/.test(one.status);
  const actions = !open ? [] : one.status === "paused" ? ["resume", "abort"] : ["pause", "abort"];
  return (
    <>
      <PageHead title={one ? `Batch: ${one.command}` : "Batch"} say={one && `${number(one.accepted)} accepted, ${number(one.rejected)} refused, ${number(one.not_found)} not found, ${number(one.failed)} failed`}>
        {actions.map((action) => (
          <Button key={action} why={readOnly.value} onClick={() => turn(id, action)}>
            {TURNS[action]![0]}
          </Button>
        ))}
      </PageHead>
      <p class="crumb sm">
        <a href={href(["batches"])}>Batches</a> <Mono class="w">{id}</Mono>
      </p>
      {fault && <Fault of={fault} again={again} what="This batch could not be read." />}
      {!one && !fault && <Bones slow={slow} />}
      {one && (
        <section class="card scroll">
          <div class="ch">
            <Status of={GLYPHS[one.status] ?? "waiting"} word={one.status} />
            <span class="grow" />
            <Progress of={one} />
          </div>
          <table class="stackable">
            <tbody>
              {items.map((item) => (
                <tr key={item.workflow_id}>
                  <td class="b nw">
                    <RunLink id={item.workflow_id} class="q" />
                  </td>
                  <td>
                    <Status of={item.status === "accepted" ? "completed" : item.status === "rejected" ? "cancelled" : "failed"} word={item.status.replace(/_/g, " ")} />
                  </td>
                  <td class="cut d">{item.message ?? item.rejection_reason?.replace(/_/g, " ") ?? item.outcome?.replace(/_/g, " ") ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {one.total > items.length && (
            <div class="selbar d sm">
              {number(items.length)} of {number(one.total)} are shown.
            </div>
          )}
        </section>
      )}
    </>
  );
}

export function Batches() {
  const id = path.value[1];
  return id === undefined ? <List /> : <One key={id} id={id} />;
}
