// What needs a person, what mends itself, and when.
import { at as url, get, post, remove } from "../lib/api";
import { duration, many } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { can, readOnly } from "../lib/session";
import { shell } from "../lib/shell";
import { Button, Empty, Glyph, PageHead, RunLink, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { Asked, Card } from "../ui/part";
import { attempt } from "../ui/toasts";

const GLYPHS: [RegExp, string][] = [
  [/^replay_blocked|unknown_|child_unknown|elsewhere|no_compatible|undeclared/, "blocked"],
  [/no_worker|lease|quarantined|closed_failed/, "failed"],
  [/retry|task_missing|repair/, "retrying"],
  [/timeout|deadline/, "timedout"],
  [/paused/, "paused"],
];

export function attentionGlyph(code: string): string {
  return GLYPHS.find(([pattern]) => pattern.test(code))?.[1] ?? "waiting";
}

/** What happens by itself: in bold, and how. */
const BY_ITSELF: [RegExp, string, string][] = [
  [/^replay_blocked/, "Nothing happens by itself.", "The runs wait until a build that fits their history is there, or somebody repairs them."],
  [/no_worker|no_compatible/, "It goes on by itself", "as soon as a worker of that queue polls."],
  [/unknown_|child_unknown|elsewhere/, "It goes on by itself", "as soon as a program that has the definition is there."],
  [/quarantined|task_timeout/, "Nothing happens by itself.", "Deploy code that does not end its process, then repair."],
  [/task_missing|repair/, "It repairs itself", "in one of the next passes."],
  [/heartbeat|lease/, "It is tried again by itself", "when its lease has run out."],
  [/history/, "It goes on until its budget is spent.", "The code should continue as new before that."],
  [/undeclared/, "Nothing happens by itself.", "No such signal can come: reset the runs, or end them."],
];

function Policy({ of }: { of: any }) {
  if (!of) return null;
  const rows: [string, string | null][] = [
    ["looks again after", of.redispatch_after_seconds != null ? duration(of.redispatch_after_seconds * 1000) : null],
    ["a pass takes up to", of.scan_limit != null ? many(of.scan_limit, "run") : null],
    ["passes are apart", of.loop_throttle_seconds != null ? duration(of.loop_throttle_seconds * 1000) : null],
    ["backs off to", of.failure_backoff_max_seconds != null ? duration(of.failure_backoff_max_seconds * 1000) : null],
  ];
  return (
    <div class="card policy sm d">
      <span>The engine by itself:</span>
      {rows.map(
        ([what, value]) =>
          value && (
            <span key={what}>
              {what} <b class="b">{value}</b>
            </span>
          ),
      )}
    </div>
  );
}

function repairAll(group: any) {
  askFor({
    title: group.count === 1 ? `Repair ${group.runs[0].workflow_id ?? group.runs[0].instance_id}` : `Repair ${many(group.runs.length, "run")}`,
    glyph: "retrying",
    say: "Open work that is missing is made again from history, and a run whose code did not fit is tried again. Nothing that was recorded changes.",
    go: "Repair",
    keep: "Leave as it is",
    reason: "wanted",
    shell: (_value, reason) => shell("repair", group.runs.map((run: any) => run.workflow_id ?? run.instance_id), { reason }),
    send: async (_value, reason) => {
      for (const run of group.runs) await post(url`/api/workflows/${run.workflow_id ?? run.instance_id}/repair`, reason ? { reason } : {});
      return many(group.runs.length, "run") + " repaired";
    },
  });
}

function snooze(group: any, again: () => void) {
  askFor({
    title: "Be quiet about this group",
    glyph: "paused",
    say: "It goes to the end of the list and does not count, for everybody, until then. The runs are left alone.",
    parameters: [{ name: "for", type: "duration", required: true, doc: "At most 30 d." }],
    first: { for: 3600000 },
    reason: "needed",
    go: "Snooze",
    keep: "Leave it",
    send: async (value, reason) => {
      await post(url`attention/${group.signature}/snooze`, { seconds: Math.round((value as { for: number }).for / 1000), reason });
      again();
      return "It is quiet until then";
    },
  });
}

const wake = (group: any, again: () => void) =>
  attempt(async () => {
    await remove(url`attention/${group.signature}/snooze`);
    again();
  });

function repairPass() {
  askFor({
    title: "Run a repair pass now",
    say: "Looks at the open runs of this namespace whose work is missing, and makes it again from history.",
    go: "Run it",
    send: async () => {
      const said = await post("/api/system/repair/pass");
      return `The pass is over: ${many(said.repaired_existing_tasks + said.repaired_missing_tasks, "task")} made again`;
    },
  });
}

function Group({ group, first, again }: { group: any; first: boolean; again: () => void }) {
  const glyph = attentionGlyph(group.code);
  const runs: any[] = group.runs ?? [];
  const shown = runs.slice(0, 3);
  const [, bold, rest] = BY_ITSELF.find(([pattern]) => pattern.test(group.code)) ?? [null, "Nothing happens by itself.", "Somebody has to look."];
  const fixable = /^replay_blocked|quarantined|task_timeout|task_missing|repair/.test(group.code);
  const all = href(["runs"], { q: ["is:attention", group.workflow_type && `type:${group.workflow_type}`, group.queue && `queue:${group.queue}`].filter(Boolean).join(" ") });
  const one = runs[0] && href(["runs", runs[0].workflow_id ?? runs[0].instance_id], { run_id: runs[0].run_id });
  return (
    <div class="att">
      <span class={"c-" + glyph}>
        <Glyph name={glyph} />
      </span>
      <div>
        <h2 class="b">
          {many(group.count, "run")}
          {group.workflow_type && ` of ${group.workflow_type}`}
          {/no_worker|no_compatible/.test(group.code) && group.queue ? `: queue ${group.queue} has no worker` : ""}
        </h2>
        <p class="d">{group.text}</p>
        <div class="samples">
          {shown.map((run) => (
            <RunLink key={run.run_id} id={run.workflow_id ?? run.instance_id} run={run.run_id} class="chip" />
          ))}
          {group.count > shown.length && (
            <a class="chip" href={all}>
              {group.count - shown.length} more
            </a>
          )}
        </div>
      </div>
      <div class="self">
        <b>{bold}</b>
        {rest} <span class="nw">Since <Time at={group.since} />.</span>
        {group.snoozed && (
          <div>
            Quiet until <Time at={group.snoozed.until} />: {group.snoozed.reason} <span class="w">({group.snoozed.by?.label ?? group.snoozed.by?.id})</span>
          </div>
        )}
      </div>
      <div class="acts">
        {fixable && (
          <Button kind={first ? "primary" : undefined} size="small" why={readOnly.value} onClick={() => repairAll(group)}>
            Repair{group.count > 1 ? ` ${runs.length}` : ""}…
          </Button>
        )}
        {group.queue && /worker/.test(group.code) && (
          <a class="btn sm" href={href(["queues"])}>
            Open queue
          </a>
        )}
        <a class={first && !fixable ? "btn sm p" : "btn sm"} href={group.count === 1 ? one : all}>
          {group.count === 1 ? "Open run" : "Open runs"}
        </a>
        {group.snoozed !== undefined && (
          <Button size="small" kind="ghost" why={readOnly.value} onClick={() => (group.snoozed ? void wake(group, again) : snooze(group, again))}>
            {group.snoozed ? "Wake" : "Snooze…"}
          </Button>
        )}
      </div>
    </div>
  );
}

export function Attention() {
  const asked = useData("attention", (stop) => get("attention", { limit: 100 }, stop), ["attention", "list"]);
  const groups: any[] = asked.data?.groups ?? [];
  return (
    <>
      <PageHead title="Attention" say={asked.data && (groups.length ? `${many(groups.length, "group")}, worst first` : "nothing needs a person")}>
        <Button why={can.value.administer ? null : "A repair pass takes the role admin."} onClick={repairPass}>
          Run a repair pass now…
        </Button>
      </PageHead>
      <Asked of={asked}>
        {(data) => (
          <>
            <Policy of={data.repair_policy} />
            <Card label="Groups">
              {groups.length === 0 && (
                <Empty title="No open run needs a person.">
                  <p class="d">Runs that stop at a difference in their code, lose their task, wait for a worker that is not there or spend their history come here.</p>
                </Empty>
              )}
              {groups.map((group, i) => (
                <Group key={group.signature} group={group} first={i === 0} again={asked.again} />
              ))}
              {data.exact === false && <div class="selbar d sm">{many(data.looked_at, "open run")} were looked at; there are more.</div>}
            </Card>
          </>
        )}
      </Asked>
    </>
  );
}
