// One command for many workflows: how far each batch is, and what became of each of them.
import { at as url, get, post } from "../lib/api";
import { many, number } from "../lib/format";
import { useData } from "../lib/live";
import { href, path } from "../lib/router";
import { readOnly } from "../lib/session";
import { shell } from "../lib/shell";
import { Bones, Button, Empty, Fault, Mono, PageHead, RunLink, Shell, Status, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { Meter } from "../ui/meter";
import { Asked, Card } from "../ui/part";
import { Table, type Column } from "../ui/table";

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

const LIST: Column<any>[] = [
  {
    head: "Batch",
    look: "nw",
    cell: (one) => (
      <a class="mono q" href={href(["batches", one.batch_id])}>
        {one.batch_id}
      </a>
    ),
  },
  {
    head: "Command",
    look: "b",
    by: (one) => one.command,
    cell: (one) => (
      <>
        {one.command} {one.dry_run && <span class="tag">dry run</span>}
      </>
    ),
  },
  { head: "State", look: "state", by: (one) => one.status, cell: (one) => <Status of={GLYPHS[one.status] ?? "waiting"} word={one.status} /> },
  { head: "Progress", cell: (one) => <Progress of={one} /> },
  { head: "Begun", look: "num d", by: (one) => one.created_at, cell: (one) => <Time at={one.created_at} /> },
];

const ITEMS: Column<any>[] = [
  { head: "Run", look: "b nw", cell: (item) => <RunLink id={item.workflow_id} class="q" /> },
  { head: "State", look: "state", cell: (item) => <Status of={item.status === "accepted" ? "completed" : item.status === "rejected" ? "cancelled" : "failed"} word={item.status.replace(/_/g, " ")} /> },
  { head: "Why", look: "cut d", cell: (item) => item.message ?? item.rejection_reason?.replace(/_/g, " ") ?? item.outcome?.replace(/_/g, " ") ?? "" },
];

function List() {
  const asked = useData("batches", (stop) => get("/api/batches", { limit: 50 }, stop), ["list"]);
  const all: any[] = asked.data?.batches ?? [];
  const open = all.filter((one) => !one.closed_at).length;
  return (
    <>
      <PageHead title="Batches" say={asked.data && (all.length ? `${many(all.length, "batch", "batches")}, ${open ? `${open} under way` : "none under way"}` : "none")} />
      <Asked of={asked}>
        {() =>
          all.length === 0 ? (
            <Card>
              <Empty title="No command was sent to many runs yet.">
                <p class="d">Tick runs in the list of runs, or begin one in the shell. A batch survives a restart of the server.</p>
                <Shell text={`holdfast batch start cancel --query "type=order status=running" --rate 50 --reason recall --yes`} />
              </Empty>
            </Card>
          ) : (
            <Card label="Batches" scroll>
              <Table label="Batches" columns={LIST} rows={all} id={(one) => one.batch_id} />
            </Card>
          )
        }
      </Asked>
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
    shell: () => shell("batch " + action, [id]),
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
          <Table bare label="What became of each" columns={ITEMS} rows={items} id={(item) => item.workflow_id} />
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
