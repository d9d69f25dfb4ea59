// Two runs side by side, step by step: yesterday's good one against today's bad one, in the store or from files.
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import { get } from "../lib/api";
import { duration, ended, many, measure, number } from "../lib/format";
import { parse, stringify } from "../lib/json";
import { useData } from "../lib/live";
import { go, href, param, set } from "../lib/router";
import { has } from "../lib/session";
import { shell } from "../lib/shell";
import { Button, Empty, Mono, PageHead, Shell, Status, Time } from "../ui/basic";
import { Diff } from "../ui/diff";
import type { Payload } from "../ui/json";
import { Asked, Card, Facts } from "../ui/part";
import { Table, type Column } from "../ui/table";
import type { Bundle } from "./bundles";

interface Side {
  workflow_id: string;
  run_id: string;
  workflow_type: string;
  bundle: string | null;
  events: number;
  steps: number;
  started_at: string;
  closed_at: string | null;
  closed_by: string | null;
  duration_ms: number | null;
}

interface StepSide {
  kind: string;
  name: string | null;
  event: number;
  outcome: string | null;
  source_line: string | null;
  attempts: number;
  queued_ms: number | null;
  duration_ms: number | null;
  input: Payload | null;
  output: Payload | null;
  failure: string | null;
}

interface StepPair {
  step: number;
  state: string;
  first: boolean;
  left: StepSide | null;
  right: StepSide | null;
}

interface Answer {
  equal: boolean;
  different: number;
  first_difference: number | null;
  input: string;
  output: string;
  type: string;
  left: Side;
  right: Side;
  steps: StepPair[];
  next_after: number | null;
}

const SIDES = ["left", "right"] as const;
type SideName = (typeof SIDES)[number];

const STATES: Record<string, [string, string]> = {
  same: ["completed", "same"],
  different_step: ["blocked", "another step"],
  different_input: ["waiting", "other input"],
  different_output: ["failed", "other result"],
  only_left: ["cancelled", "only left"],
  only_right: ["cancelled", "only right"],
};

/** What the address says of a side. */
const named = (side: SideName) => param(`${side}_bundle`) || param(side);

function Step({ of }: { of: StepSide | null }) {
  if (!of) return <span class="w">not there</span>;
  return (
    <>
      {of.kind.replace(/_/g, " ")} {of.name && <Mono class="b">{of.name}</Mono>}{" "}
      <span class="d sm">{[ended(of.outcome), of.attempts > 1 && many(of.attempts, "attempt"), of.failure].filter(Boolean).join(", ") || "open"}</span>
    </>
  );
}

/** How much longer the right one took, when it did so by half and by more than what a busy machine does. */
function Slower({ of }: { of: StepPair }) {
  const [a, b] = [of.left?.duration_ms, of.right?.duration_ms];
  if (a === null || a === undefined || b === null || b === undefined) return <span class="d">{duration(a ?? b)}</span>;
  const factor = a > 0 ? b / a : Infinity;
  const strong = Math.abs(b - a) > 100 && (factor > 1.5 || factor < 0.67);
  return (
    <>
      <span class="d">
        {duration(a)} → {duration(b)}
      </span>
      {strong && Number.isFinite(factor) && factor > 0 && <b class={factor > 1 ? "b c-waiting" : "b d"}> {measure(factor)}&nbsp;×</b>}
    </>
  );
}

const pretty = (of: Payload | null) => {
  if (!of) return "nothing";
  if (of.text === null) return `${number(of.bytes)} bytes, on the page of the step`;
  try {
    return stringify(parse(of.text), 2);
  } catch {
    return of.text;
  }
};

function Detail({ of, answer }: { of: StepPair; answer: Answer }) {
  const page = (side: SideName) => {
    const { bundle, workflow_id, run_id } = answer[side];
    return href(bundle ? ["bundles", bundle] : ["runs", workflow_id], { run_id: bundle ? null : run_id, tab: "steps", step: of.step });
  };
  return (
    <div class="stack">
      {(["input", "output"] as const).map((what) => (
        <div key={what}>
          <h3>{what === "input" ? "Input" : "Result"}</h3>
          <Diff a={pretty(of.left?.[what] ?? null)} b={pretty(of.right?.[what] ?? null)} label={`${what} of step ${of.step}`} equal={pretty(of.left?.[what] ?? null) === "nothing" ? "none on both sides" : "the same on both sides"} />
        </div>
      ))}
      <p class="sm">
        {of.left && <a href={page("left")}>the step at the left</a>} {of.right && <a href={page("right")}>the step at the right</a>}
      </p>
    </div>
  );
}

function RunFacts({ side, of }: { side: SideName; of: Side }) {
  return (
    <Card
      title={
        <a class="mono q" href={href(of.bundle ? ["bundles", of.bundle] : ["runs", of.workflow_id], { run_id: of.bundle ? null : of.run_id })}>
          {of.workflow_id}
        </a>
      }
      say={`${side}${of.bundle ? ", from a file" : ""}`}
    >
      <div class="pad">
        <Facts
          of={[
            ["type", of.workflow_type],
            ["run", <Mono class="brk">{of.run_id}</Mono>],
            ["began", <Time at={of.started_at} />],
            ["ended", of.closed_at ? <Time at={of.closed_at} /> : "it is open"],
            ["as", ended(of.closed_by)],
            ["took", of.duration_ms !== null && duration(of.duration_ms)],
            ["steps, events", `${number(of.steps)}, ${number(of.events)}`],
          ]}
        />
      </div>
    </Card>
  );
}

function Compared({ values }: { values: Record<string, string> }) {
  const only = param("only") === "different";
  const after = param("after");
  const open = param("step");
  const asked = useData<Answer>(`diff ${JSON.stringify(values)} ${only} ${after}`, (stop) => get("diff", { ...values, only: only ? "different" : null, after: after || null, limit: 200 }, stop));
  const columns: Column<StepPair>[] = [
    { head: "Step", look: "num w cstep", cell: (one) => one.step },
    {
      head: "State",
      look: "state",
      cell: (one) => (
        <button type="button" class="linkbtn fold" aria-expanded={String(one.step) === open} onClick={() => set({ step: String(one.step) === open ? null : one.step }, true)}>
          <Status of={STATES[one.state]?.[0] ?? "waiting"} word={STATES[one.state]?.[1] ?? one.state} />
          <span class="off">, step {one.step}</span>
        </button>
      ),
    },
    { head: "Left", look: "wide", cell: (one) => <Step of={one.left} /> },
    { head: "Right", look: "wide", cell: (one) => <Step of={one.right} /> },
    { head: "Took", look: "num", cell: (one) => <Slower of={one} /> },
  ];
  return (
    <Asked of={asked} what="They could not be compared." bones={8}>
      {(said) => (
        <div class="stack">
          <div class={said.equal ? "note quiet" : "note"}>
            <Status of={said.equal ? "completed" : "waiting"} word="" />
            <div>
              <b class="b">{said.equal ? "They did the same." : said.first_difference !== null ? `They part at step ${said.first_difference}.` : "They differ."}</b>{" "}
              <span class="d">
                {many(said.different, "step")} of {number(Math.max(said.left.steps, said.right.steps))} differ; input {said.input}, result {said.output}
                {said.type !== "same" && ", of another type"}.
              </span>
            </div>
          </div>
          <div class="cols2">
            {SIDES.map((side) => (
              <RunFacts key={side} side={side} of={said[side]} />
            ))}
          </div>
          <Card
            title="Steps"
            end={
              <label class="check sm d">
                <input type="checkbox" checked={only} onChange={(event) => set({ only: event.currentTarget.checked ? "different" : null, after: null }, true)} /> only what differs
              </label>
            }
          >
            <div class="scroll">
              <Table
                label="Steps"
                empty={only ? "No step differs." : "Neither began a step."}
                most={1000}
                columns={columns}
                rows={said.steps}
                id={(one) => one.step}
                row={(one) => ({ class: one.first ? "first1" : "" })}
                detail={(one) => String(one.step) === open && <Detail of={one} answer={said} />}
              />
            </div>
            {(after || said.next_after !== null) && (
              <div class="selbar">
                {after && <Button onClick={() => set({ after: null })}>From the start</Button>}
                <span class="grow" />
                {said.next_after !== null && <Button onClick={() => set({ after: said.next_after })}>Later steps</Button>}
              </div>
            )}
          </Card>
          {!said.left.bundle && !said.right.bundle && <Shell text={shell("bundle diff", [said.left.run_id, said.right.run_id], { store: "STORE" })} />}
        </div>
      )}
    </Asked>
  );
}

function Choose() {
  const files = useData<{ bundles: Bundle[] }>(has("bundles") ? "bundles" : null, (stop) => get("bundles", {}, stop));
  const id = useId();
  const wrong = useSignal<SideName | null>(null);
  const values = { left: useSignal(param("left_bundle") ? "file:" + param("left_bundle") : param("left")), right: useSignal(param("right_bundle") ? "file:" + param("right_bundle") : param("right")) };
  const send = () => {
    wrong.value = SIDES.find((side) => !values[side].value.trim()) ?? null;
    if (wrong.value) return;
    const asked: Record<string, string | null> = {};
    for (const side of SIDES) {
      const said = values[side].value.trim();
      const file = said.startsWith("file:") ? said.slice(5) : null;
      asked[side] = file === null ? said : null;
      asked[side + "_bundle"] = file;
      asked[side + "_run_id"] = file === null && said === param(side) ? param(side + "_run_id") : null;
    }
    go(href(["diff"], asked));
  };
  return (
    <Card label="Which two">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <div class="cols2">
          {SIDES.map((side) => (
            <div class="field" key={side}>
              <label for={id + side}>
                {side === "left" ? "Left" : "Right"} <span class="w">a workflow id, or an open file</span>
              </label>
              <input id={id + side} class={wrong.value === side ? "in mono bad" : "in mono"} type="text" list={id} spellcheck={false} autocomplete="off" aria-invalid={wrong.value === side || undefined} value={values[side].value} onInput={(event) => (values[side].value = event.currentTarget.value)} />
              <span class="err" role="alert">
                {wrong.value === side && "Say which run."}
              </span>
            </div>
          ))}
        </div>
        <datalist id={id}>
          {(files.data?.bundles ?? []).map((one) => (
            <option key={one.id} value={"file:" + one.id}>
              {one.workflow_id} {one.name}
            </option>
          ))}
        </datalist>
        <div class="row">
          <Button type="submit" kind="primary">
            Compare
          </Button>
        </div>
      </form>
    </Card>
  );
}

export function DiffPage() {
  const both = SIDES.every(named);
  const values = Object.fromEntries(SIDES.flatMap((side) => [side, side + "_bundle", side + "_run_id"]).flatMap((name) => (param(name) ? [[name, param(name)]] : [])));
  return (
    <>
      <PageHead title="Two runs" say={both ? undefined : "side by side, step by step"}>
        {both && (
          <>
            <Button onClick={() => set({ left: param("right"), left_bundle: param("right_bundle"), left_run_id: param("right_run_id"), right: param("left"), right_bundle: param("left_bundle"), right_run_id: param("left_run_id") })}>Swap</Button>
            <Button onClick={() => set({ right: null, right_bundle: null, right_run_id: null, only: null, step: null })}>Others…</Button>
          </>
        )}
      </PageHead>
      {both ? <Compared values={values} /> : <Choose />}
      {!both && !named("left") && !named("right") && (
        <Empty title="Nothing is compared yet.">
          <p class="d">Yesterday's good run against today's bad one; before and after a deploy. Runs of the store and opened files go together.</p>
        </Empty>
      )}
    </>
  );
}
