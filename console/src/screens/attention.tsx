// What needs a person, what mends itself, and when.
import { useSignal } from "@preact/signals";
import { at as url, get, post, remove } from "../lib/api";
import { duration, many, number } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { can, readOnly } from "../lib/session";
import { Button, Empty, Glyph, PageHead, RunLink, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { Asked, Card } from "../ui/part";
import { attempt } from "../ui/toasts";
import { token } from "../run/query";
import { askBatch, BATCHES } from "./runs-batch";

/** So many of a group are named; the server looks at no more. */
const RUNS_MOST = 1000;
const CHIPS_MOST = 100;

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
  [/unreadable|wal_bound/, "Nothing happens by itself.", "It is the store that is in trouble: holdfast verify says more."],
  [/no_worker|no_compatible/, "It goes on by itself", "as soon as a worker of that queue polls."],
  [/unknown_|child_unknown|elsewhere/, "It goes on by itself", "as soon as a program that has the definition is there."],
  [/quarantined|task_timeout/, "Nothing happens by itself.", "Deploy code that does not end its process, then repair."],
  [/task_failing/, "It is tried again by itself,", "later and later, until a worker can do it."],
  [/task_missing|repair/, "It repairs itself", "in one of the next passes."],
  [/heartbeat|lease/, "It is tried again by itself", "when its lease has run out."],
  [/retrying/, "It is tried again by itself,", "as its retry policy says."],
  [/queued_behind/, "It goes on by itself", "as soon as a place is free."],
  [/deadline/, "It closes by itself", "as soon as an engine looks at it."],
  [/paused/, "Nothing happens by itself.", "Somebody paused it, and somebody resumes it."],
  [/unrecorded/, "It goes on by itself", "when the attempt reports, or its engine starts anew."],
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

const idOf = (run: any): string => run.workflow_id ?? run.instance_id;

/** Every run of the group, as far as the server looks. */
async function runsOf(group: any): Promise<any[]> {
  const { groups } = await get("attention", { signature: group.signature, samples: RUNS_MOST, notices: true, limit: 1 });
  return groups[0]?.runs ?? [];
}

/** One command for all of a group: who they are is asked now, and what becomes of each is shown. */
const forAll = (group: any, command: string) =>
  attempt(async () => {
    const runs = await runsOf(group);
    if (runs.length === 0) throw new Error("The group is not there any more.");
    askBatch(BATCHES.find((one) => one.name === command)!, runs.map(idOf), group.workflow_type ? [group.workflow_type] : [], group.count > runs.length);
  });

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

function Samples({ group }: { group: any }) {
  const all = useSignal<any[] | null>(null);
  const runs: any[] = all.value ?? (group.runs ?? []).slice(0, 3);
  const shown = runs.slice(0, CHIPS_MOST);
  return (
    <div class="samples">
      {shown.map((run) => (
        <RunLink key={run.run_id} id={idOf(run)} run={run.run_id} class="chip" />
      ))}
      {all.value === null && group.count > shown.length && (
        <button type="button" class="chip" onClick={() => void attempt(async () => void (all.value = await runsOf(group)))}>
          {number(group.count - shown.length)} more
        </button>
      )}
      {all.value !== null && runs.length > shown.length && <span class="w sm">and {number(runs.length - shown.length)} more</span>}
    </div>
  );
}

/** The command that moves a group, if one does. */
function moves(code: string): string | null {
  if (/^replay_blocked|quarantined|task_timeout|task_missing|repair|lease/.test(code)) return "repair";
  return code === "paused" ? "resume" : null;
}

function Group({ group, first, again }: { group: any; first: boolean; again: () => void }) {
  const glyph = attentionGlyph(group.code);
  const [, bold, rest] = BY_ITSELF.find(([pattern]) => pattern.test(group.code)) ?? [null, "Nothing happens by itself.", "Somebody has to look."];
  const command = moves(group.code);
  const state = group.severity === "notice" ? "is:open" : "is:attention";
  const all = href(["runs"], { q: [state, group.workflow_type && token("type", group.workflow_type), group.queue && token("queue", group.queue)].filter(Boolean).join(" ") });
  const run = group.runs?.[0];
  return (
    <div class="att">
      <span class={"c-" + glyph}>
        <Glyph name={glyph} />
      </span>
      <div>
        <h3 class="b">
          {many(group.count, "run")}
          {group.workflow_type && ` of ${group.workflow_type}`}
          {/no_worker|no_compatible/.test(group.code) && group.queue ? `: queue ${group.queue} has no worker` : ""}
        </h3>
        <p class="d">{group.text}</p>
        <Samples group={group} />
      </div>
      <div class="self">
        <b>{bold}</b>
        {rest}{" "}
        {group.since && (
          <span class="nw">
            Since <Time at={group.since} />.
          </span>
        )}
        {group.snoozed && (
          <div>
            Quiet until <Time at={group.snoozed.until} />: {group.snoozed.reason} <span class="w">({group.snoozed.by?.label ?? group.snoozed.by?.id})</span>
          </div>
        )}
      </div>
      <div class="acts">
        {command && (
          <Button kind={first ? "primary" : undefined} size="small" why={readOnly.value} onClick={() => void forAll(group, command)}>
            {command === "repair" ? "Repair" : "Resume"}
            {group.count > 1 ? ` ${number(group.count)}` : ""}…
          </Button>
        )}
        {group.queue && /worker/.test(group.code) && (
          <a class="btn sm" href={href(["queues"])}>
            Open queue
          </a>
        )}
        <a class={first && !command ? "btn sm p" : "btn sm"} href={group.count === 1 && run ? href(["runs", idOf(run)], { run_id: run.run_id }) : all}>
          {group.count === 1 ? "Open run" : "Open runs"}
        </a>
        <Button size="small" kind="ghost" why={readOnly.value} onClick={() => (group.snoozed ? void wake(group, again) : snooze(group, again))}>
          {group.snoozed ? "Wake" : "Snooze…"}
        </Button>
      </div>
    </div>
  );
}

const runsIn = (groups: any[]) => groups.reduce((sum, group) => sum + group.count, 0);

function Groups({ title, say, of, again, filled }: { title: string; say: string; of: any[]; again: () => void; filled?: boolean }) {
  if (of.length === 0) return null;
  return (
    <Card title={title} say={`${many(runsIn(of), "run")}: ${say}`}>
      {of.map((group, i) => (
        <Group key={group.signature} group={group} first={filled === true && i === 0} again={again} />
      ))}
    </Card>
  );
}

export function Attention() {
  const asked = useData("attention", (stop) => get("attention", { limit: 100, notices: true }, stop), ["attention", "list"]);
  const policy = useData("repair policy", (stop) => get("/api/system/repair", {}, stop));
  const groups: any[] = asked.data?.groups ?? [];
  const awake = groups.filter((group) => !group.snoozed);
  const urgent = awake.filter((group) => group.severity !== "notice");
  const notices = awake.filter((group) => group.severity === "notice");
  const quiet = groups.filter((group) => group.snoozed);
  const said = [urgent.length ? `${many(urgent.length, "group")}, worst first` : "nothing needs a person", notices.length && `${number(notices.length)} worth a look`, quiet.length && `${number(quiet.length)} snoozed`];
  return (
    <>
      <PageHead title="Attention" say={asked.data && said.filter(Boolean).join("; ")}>
        <Button why={can.value.administer ? null : "A repair pass takes the role admin."} onClick={repairPass}>
          Run a repair pass now…
        </Button>
      </PageHead>
      <Asked of={asked}>
        {(data) => (
          <>
            <Policy of={policy.data?.policy} />
            <div class="stack">
              {urgent.length === 0 && (
                <Card label="Needs a person">
                  <Empty title="No open run needs a person.">
                    <p class="d">Runs that stop at a difference in their code, lose their task, wait for a worker that is not there or spend their history come here.</p>
                  </Empty>
                </Card>
              )}
              <Groups title="Needs a person" say="what has waited longest comes first" of={urgent} again={asked.again} filled />
              <Groups title="Notice" say="it passes by itself, but is worth a look" of={notices} again={asked.again} />
              <Groups title="Snoozed" say="quiet, and not counted, until its time" of={quiet} again={asked.again} />
              {data.exact === false && <p class="d sm">{many(data.looked_at, "open run")} were looked at; there are more.</p>}
            </div>
          </>
        )}
      </Asked>
    </>
  );
}
