// Runs that start by themselves: when next, what happened before, and what can be told them.
import { signal } from "@preact/signals";
import { at as url, get, post } from "../lib/api";
import { many, number, rightNow, stamp } from "../lib/format";
import { useData } from "../lib/live";
import { zone } from "../lib/prefs";
import { href, param, path } from "../lib/router";
import { readOnly } from "../lib/session";
import { shell } from "../lib/shell";
import { Age, Bones, Button, Choice, Empty, Fault, Glyph, Mono, PageHead, RunLink, Shell, Status, Time } from "../ui/basic";
import { askFor } from "../ui/form";
import { ValueView } from "../ui/json";
import { Asked, Card, Facts } from "../ui/part";
import { Table, type Column } from "../ui/table";
import { changeSchedule, deleteSchedule, makeSchedule } from "./schedule-form";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const two = (n: string) => n.padStart(2, "0");

function iso(text: string): string {
  const found = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text);
  if (!found) return text;
  return ["d", "h", "min", "s"].map((unit, i) => (found[i + 1] ? `${found[i + 1]}\u00a0${unit}` : "")).filter(Boolean).join(" ") || text;
}

/** Cron text in words where the words are plain; else the text itself. */
function cron(text: string): string {
  const [minute, hour, day, month, week, ...more] = text.trim().split(/\s+/);
  if (!week || more.length) return text;
  const clock = /^\d+$/.test(minute!) && /^\d+$/.test(hour!) ? `at ${two(hour!)}:${two(minute!)}` : null;
  if (clock && /^\d+$/.test(day!) && month === "*" && week === "*") return `on day ${day} of each month ${clock}`;
  if (day !== "*" || month !== "*") return text;
  if (!clock) {
    if (week === "*" && hour === "*" && /^\d+$/.test(minute!)) return `every hour at minute ${minute}`;
    const every = /^\*\/(\d+)$/.exec(minute!);
    return week === "*" && hour === "*" && every ? `every ${every[1]}\u00a0min` : text;
  }
  if (week === "*") return `every day ${clock}`;
  if (week === "1-5") return `weekdays ${clock}`;
  if (/^[0-7]$/.test(week)) return `${DAYS[Number(week)]}s ${clock}`;
  return text;
}

export function inWords(spec: any): string {
  const parts = [
    ...(spec?.cron_expressions ?? []).map(cron),
    ...(spec?.intervals ?? []).map((one: any) => "every " + iso(typeof one === "string" ? one : (one.every ?? "")) + (one.offset ? ` from ${iso(one.offset)} on` : "")),
    ...(spec?.calendars?.length ? [many(spec.calendars.length, "calendar")] : []),
  ];
  const zoneName = spec?.timezone && spec.timezone !== "UTC" ? " " + spec.timezone : "";
  return (parts.join(" and ") || "never by itself") + zoneName;
}

const OUTCOMES: Record<string, [string, string]> = {
  triggered: ["completed", "started"],
  skipped: ["cancelled", "skipped"],
  buffered: ["waiting", "waits for the run before"],
  failed: ["failed", "could not start"],
  paused: ["paused", "paused"],
  resumed: ["running", "resumed"],
  created: ["completed", "made"],
  updated: ["completed", "changed"],
  deleted: ["terminated", "deleted"],
};

function Outcome({ of }: { of: string }) {
  const [glyph, word] = OUTCOMES[of] ?? ["waiting", of.replace(/_/g, " ")];
  return <Status of={glyph} word={word} />;
}

/** "ScheduleTriggerSkipped" in words. */
function Happened({ of }: { of: string }) {
  const word = of.replace(/^Schedule(Trigger(?=.))?/, "").replace(/(.)([A-Z])/g, "$1 $2").toLowerCase();
  return <Outcome of={word} />;
}

const REASONS: Record<string, string> = { overlap_policy_skip: "the one before was open" };

function reasonOf(payload: any): string {
  const text = payload?.reason ?? payload?.note ?? payload?.error ?? "";
  return REASONS[text] ?? (/^[a-z_]+$/.test(text) ? text.replace(/_/g, " ") : text);
}

/** The last times it fired, as marks; the table below the picture says the same. */
function Marks({ of }: { of: any[] }) {
  if (of.length === 0) return <span class="w">not yet</span>;
  return (
    <span class="marks" role="img" aria-label={`the last ${of.length}: ${of.map((one) => OUTCOMES[one.outcome]?.[1] ?? one.outcome).join(", ")}`}>
      {of.slice(-20).map((one, i) => (
        <span key={i} class={"c-" + (OUTCOMES[one.outcome]?.[0] ?? "waiting")} title={`${one.at}: ${one.outcome}`}>
          <Glyph name={OUTCOMES[one.outcome]?.[0] ?? "waiting"} small />
        </span>
      ))}
    </span>
  );
}

const LIST: Column<any>[] = [
  {
    head: "Schedule",
    look: "b nw",
    by: (one) => one.schedule_id,
    cell: (one) => (
      <a class="mono q" href={href(["schedules", one.schedule_id])}>
        {one.schedule_id}
      </a>
    ),
  },
  { head: "Starts", by: (one) => one.workflow_type, cell: (one) => <Mono>{one.workflow_type}</Mono> },
  {
    head: "When",
    look: "wide",
    cell: (one) => (
      <>
        {inWords(one.spec)} {one.note && <span class="w">({one.note})</span>}
      </>
    ),
  },
  { head: "If the one before is open", look: "d hide-s", cell: (one) => one.overlap_policy.replace(/_/g, " ") },
  { head: "Last times", cell: (one) => <Marks of={one.recent_actions ?? []} /> },
  { head: "Next", look: "num", by: (one) => (one.paused ? null : one.next_fire_at), cell: (one) => (one.paused ? <Status of="paused" /> : one.next_fire_at ? <Time at={one.next_fire_at} /> : <span class="w">never</span>) },
];

const EVENTS: Column<any>[] = [
  { head: "At", look: "nw d", cell: (event) => <Time at={event.recorded_at} /> },
  { head: "What", look: "nw state", cell: (event) => (event.payload?.outcome ? <Outcome of={event.payload.outcome} /> : <Happened of={event.event_type} />) },
  { head: "Run", look: "brk wide", cell: (event) => (event.workflow_instance_id ? <RunLink id={event.workflow_instance_id} run={event.workflow_run_id} /> : <span class="d">{reasonOf(event.payload)}</span>) },
  { head: "Who", look: "d num", cell: (event) => event.payload?.command_context?.principal?.label ?? "" },
];

function List() {
  const status = param("status");
  const asked = useData("schedules " + status, (stop) => get("/api/schedules", { page_size: 100, status }, stop), ["list", "metrics"]);
  const all: any[] = asked.data?.schedules ?? [];
  const paused = all.filter((one) => one.paused).length;
  return (
    <>
      <PageHead title="Schedules" say={asked.data && (all.length ? many(all.length, "schedule") + (paused && !status ? `, ${paused} paused` : "") : "none")}>
        <Choice
          label="Which"
          items={[
            ["", "All"],
            ["active", "Active"],
            ["paused", "Paused"],
          ]}
          on={status}
          to={(value) => href(["schedules"], { status: value })}
        />
        <Button kind="primary" why={readOnly.value} onClick={makeSchedule}>
          Make a schedule…
        </Button>
      </PageHead>
      <Asked of={asked}>
        {() =>
          all.length === 0 ? (
            <Card>
              <Empty title={status ? `No schedule is ${status}.` : "Nothing starts by itself here."}>
                <p class="d">A schedule starts a workflow at times that it names:</p>
                <Shell text={`holdfast schedule create nightly order cron="0 2 * * *" timezone=Europe/Berlin`} />
              </Empty>
            </Card>
          ) : (
            <Card label="Schedules" scroll>
              <Table label="Schedules" columns={LIST} rows={all} id={(one) => one.schedule_id} />
            </Card>
          )
        }
      </Asked>
    </>
  );
}

// ---- one schedule

const from = signal("");
const until = signal("");

function backfill(id: string) {
  const now = rightNow();
  from.value = new Date(now - 86400000).toISOString().slice(0, 19) + "Z";
  until.value = new Date(now).toISOString().slice(0, 19) + "Z";
  const preview = signal<string[] | null>(null);
  const look = async () => {
    const said = await get(url`/api/schedules/${id}/times`, { start_time: from.value, end_time: until.value, limit: 100 });
    preview.value = said.times.map((one: { at: string }) => one.at);
  };
  askFor({
    title: `Backfill ${id}`,
    say: "Fires for every time between two moments, as if it had been there then.",
    more: <Moments preview={preview} look={look} />,
    go: "Backfill",
    shell: () => shell("schedule backfill", [id], { from: from.value, to: until.value, yes: true }),
    send: async () => {
      const said = await post(url`/api/schedules/${id}/backfill`, { start_time: from.value, end_time: until.value });
      return `Backfilled: ${many(said.fires_attempted ?? said.results?.length ?? 0, "time")}`;
    },
  });
}

function Moments({ preview, look }: { preview: { value: string[] | null }; look: () => Promise<void> }) {
  const times = preview.value;
  return (
    <>
      {(
        [
          ["From", from],
          ["To", until],
        ] as const
      ).map(([name, value]) => (
        <div class="field" key={name}>
          <label for={"moment-" + name}>
            {name} <span class="w">moment, UTC</span>
          </label>
          <input id={"moment-" + name} class="in mono" type="text" value={value.value} onInput={(event) => ((value.value = event.currentTarget.value), (preview.value = null))} />
        </div>
      ))}
      <div class="row">
        <Button onClick={() => void look()}>Show the times</Button>
        {times && <span class="d">{times.length ? `${many(times.length, "time")}: ${times.slice(0, 3).map((time) => stamp(Date.parse(time), "utc")).join(", ")}${times.length > 3 ? " …" : ""}` : "none between these moments"}</span>}
      </div>
    </>
  );
}

function turn(one: any) {
  const id = one.schedule_id;
  const action = one.paused ? "resume" : "pause";
  askFor({
    title: `${one.paused ? "Resume" : "Pause"} ${id}`,
    glyph: one.paused ? undefined : "paused",
    say: one.paused ? "It fires again at its times. Times that passed meanwhile are not made up for; a backfill does that." : "It does not fire until it is resumed. Runs that it has started go on.",
    reason: "wanted",
    go: one.paused ? "Resume" : "Pause",
    shell: (_value, reason) => shell("schedule " + action, [id], { reason }),
    send: async (_value, reason) => {
      await post(url`/api/schedules/${id}/` + action, reason ? { note: reason } : {});
      return `${id} is ${one.paused ? "active" : "paused"}`;
    },
  });
}

function trigger(one: any) {
  askFor({
    title: `Trigger ${one.schedule_id} now`,
    say: (
      <>
        Starts one run of <Mono>{one.workflow_type}</Mono> now, beside its times. If the one before is open: {one.overlap_policy.replace(/_/g, " ")}.
      </>
    ),
    go: "Trigger",
    shell: () => shell("schedule trigger", [one.schedule_id]),
    send: async () => {
      const said = await post(url`/api/schedules/${one.schedule_id}/trigger`);
      return said.workflow_id ? `Started ${said.workflow_id}` : `It did not start: ${said.reason ?? said.outcome}`;
    },
  });
}

function One({ id }: { id: string }) {
  const topics = ["list", "metrics"];
  const { data: one, fault, slow, again } = useData("schedule " + id, (stop) => get(url`/api/schedules/${id}`, {}, stop), topics);
  const year = () => ({ start_time: new Date(rightNow()).toISOString(), end_time: new Date(rightNow() + 366 * 86400000).toISOString(), limit: 20 });
  const times = useData("times " + id, (stop) => get(url`/api/schedules/${id}/times`, year(), stop), topics);
  const history = useData("schedule history " + id, (stop) => get(url`/api/schedules/${id}/history`, { limit: 200 }, stop), topics);
  const why = readOnly.value;
  const events: any[] = [...(history.data?.events ?? [])].reverse();
  return (
    <>
      <PageHead title={id} say={one && inWords(one.spec)}>
        {one && (
          <div class="acts row">
            <Button kind="primary" why={why} onClick={() => trigger(one)}>
              Trigger now…
            </Button>
            <Button why={why} onClick={() => turn(one)}>
              {one.paused ? "Resume…" : "Pause…"}
            </Button>
            <Button why={why} onClick={() => backfill(id)}>
              Backfill…
            </Button>
            <Button why={why} onClick={() => changeSchedule(one, again)}>
              Change…
            </Button>
            <Button why={why} onClick={() => deleteSchedule(one)}>
              Delete…
            </Button>
          </div>
        )}
      </PageHead>
      <p class="crumb sm">
        <a href={href(["schedules"])}>Schedules</a>
      </p>
      {fault && <Fault of={fault} again={again} what="This schedule could not be read." />}
      {!one && !fault && <Bones slow={slow} />}
      {one?.paused && (
        <div class="note">
          <Glyph name="paused" />
          <div>
            <b class="b">Paused</b> since <Age at={one.paused_at} />. {one.note}
          </div>
        </div>
      )}
      {one && (
        <div class="fgrid">
          <div class="stack">
            <Card title="What happened" say={`${many(one.fires_count, "start")}, ${number(one.skipped_trigger_count)} skipped, ${number(one.failures_count)} failed`}>
              {history.fault && <Fault of={history.fault} again={history.again} />}
              <Table bare label="What happened" columns={EVENTS} rows={events} id={(event) => event.sequence} />
            </Card>
          </div>
          <aside class="card insp" aria-label="The schedule">
            <section>
              <Facts
                of={[
                  [
                    "Starts",
                    <a class="mono" href={href(["types", one.workflow_type])}>
                      {one.workflow_type}
                    </a>,
                  ],
                  ["If the one before is open", one.overlap_policy.replace(/_/g, " ")],
                  ["Jitter", one.jitter_seconds ? `up to ${one.jitter_seconds}\u00a0s` : "none"],
                  ["Starts left", one.remaining_actions === null ? "no limit" : number(one.remaining_actions)],
                  ["Last fired", one.last_fired_at ? <Time at={one.last_fired_at} /> : "never"],
                ]}
              />
            </section>
            <section>
              <h3>Next times{zone.value === "utc" ? ", UTC" : ""}</h3>
              {times.fault && <p class="d sm">{times.fault.message}</p>}
              {one.paused && <p class="d sm">They pass unused while it is paused.</p>}
              <ol class="times">
                {(times.data?.times ?? []).map(({ at: time }: { at: string }) => (
                  <li key={time}>
                    <Time at={time} /> <span class="w sm">
                      <Age at={time} />
                    </span>
                  </li>
                ))}
              </ol>
            </section>
            <section>
              <h3>Input</h3>
              {one.action?.input === undefined || one.action?.input === null ? <p class="d sm">none</p> : <ValueView value={one.action.input} label="the input" />}
            </section>
            <section>
              <Shell text={shell("schedule show", [id])} />
            </section>
          </aside>
        </div>
      )}
    </>
  );
}

export function Schedules() {
  const id = path.value[1];
  return id === undefined ? <List /> : <One key={id} id={id} />;
}
