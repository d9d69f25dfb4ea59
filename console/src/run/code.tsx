// When code and history disagree: both side by side, the first difference marked, and what would end it.
import type { ComponentChildren } from "preact";
import { useData } from "../lib/live";
import { get } from "../lib/api";
import { count } from "../lib/format";
import { href } from "../lib/router";
import { Bones, Button, copy, Empty, Fault, Glyph, Mono, Shell } from "../ui/basic";
import { askBatch, BATCHES } from "../screens/runs-batch";
import { askCopy, askPlain, refused } from "./actions";
import { barName, usePart, type Bar, type Place, type Spans } from "./place";

interface Finding {
  replay_blocked_reason: string;
  replay_blocked_workflow_sequence: number;
  replay_blocked_expected_history_shape: string | null;
  replay_blocked_recorded_event_types: string | null;
  replay_blocked_recorded_condition_key: string | null;
  replay_blocked_current_condition_key: string | null;
  replay_blocked_recorded_condition_definition_fingerprint: string | null;
  replay_blocked_current_condition_definition_fingerprint: string | null;
  source_line: string | null;
  message: string | null;
}

const SENTENCES: Record<string, string> = {
  history_shape_mismatch: "The code no longer matches what this run already did.",
  condition_wait_definition_mismatch: "The condition that the code waits for is not the one that was recorded.",
};

export function findingOf(head: any): Finding | null {
  return (head.workflow_determinism_findings ?? []).find((one: any) => one.replay_blocked) ?? null;
}

/** "activity:fraud-check" as kind and name. */
function shapeOf(text: string): [string, string] {
  const at = text.indexOf(":");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function guardOf(shape: string): string | null {
  const [kind, name] = shapeOf(shape);
  const change = (name || kind).replace(/[^A-Za-z0-9_.-]/g, "-");
  const call = kind === "activity" ? `hf_activity(w, "${name}", in);` : kind.startsWith("child") ? `hf_child(w, "${name}", in);` : kind === "timer" ? "hf_sleep(w, ...);" : null;
  return call ? `if (hf_version(w, "${change}", HF_VERSION_DEFAULT, 1) >= 1)\n    ${call}` : null;
}

function Recorded({ bar }: { bar: Bar }) {
  return (
    <>
      {bar.kind.replace(/_/g, " ")} {bar.name && <Mono>{barName(bar)}</Mono>}
      <span class="meta">{bar.open ? "open" : (bar.outcome ?? "")}</span>
    </>
  );
}

function Aligned({ step, left, right, quiet, marked }: { step: ComponentChildren; left: ComponentChildren; right: ComponentChildren; quiet?: boolean; marked?: boolean }) {
  return (
    <div class="arow" role="row">
      <div class={marked ? "seq dseq" : "seq"} role="cell">
        {step}
      </div>
      <div class={marked ? "was" : ""} role="cell">
        {left}
      </div>
      <div class={marked ? "cr asks" : quiet ? "cr dim" : "cr"} role="cell">
        {right}
      </div>
    </div>
  );
}

function Fix({ n, title, children, act }: { n: number; title: string; children: ComponentChildren; act?: ComponentChildren }) {
  return (
    <div class="fix">
      <span class="k">{n}</span>
      <div>
        <b class="b">{title}</b> {children}
      </div>
      {act ?? <span />}
    </div>
  );
}

function Blocked({ place, head, finding }: { place: Place; head: any; finding: Finding }) {
  const spans = usePart<{ spans: Spans }>(place, "spans", { limit: 2000 });
  const others = useData("blocked " + head.workflow_type, (stop) => get("runs", { q: `is:blocked type:"${head.workflow_type}"`, limit: 200, total: true }, stop), ["list"]);
  const at = finding.replay_blocked_workflow_sequence;
  const bars = spans.data?.spans.bars ?? [];
  const near = bars.filter((bar) => Math.abs(bar.step - at) <= 10);
  const before = bars.filter((bar) => bar.step < at - 10).length;
  const shape = finding.replay_blocked_expected_history_shape;
  const [kind, name] = shapeOf(shape ?? "");
  const guard = shape ? guardOf(shape) : null;
  const ids: string[] = (others.data?.items ?? []).map((row: any) => row.workflow_id);
  const total = others.data?.total;
  const key = finding.replay_blocked_current_condition_key ?? finding.replay_blocked_recorded_condition_key;
  const print = finding.replay_blocked_recorded_condition_definition_fingerprint;
  const repair = BATCHES.find((one) => one.name === "repair")!;
  const differs = (bar: Bar | null) => (
    <Aligned
      key="differs"
      step={at}
      marked
      left={
        <>
          <b>
            {bar ? bar.kind.replace(/_/g, " ") : "nothing"} {bar?.name && <Mono>{bar.name}</Mono>}
          </b>
          <span class="meta">{finding.replay_blocked_recorded_event_types ?? bar?.outcome}</span>
        </>
      }
      right={
        <>
          <b>
            {kind || finding.message} {name && <Mono>{name}</Mono>}
          </b>
          <span class="meta">{finding.source_line}</span>
        </>
      }
    />
  );
  return (
    <>
      <div class="pad d">
        <b class="b ink">{SENTENCES[finding.replay_blocked_reason] ?? "Code and history disagree."}</b> The run is open and nothing was lost.
        {total && total.n > 1 && (
          <>
            {" "}
            <a href={href(["runs"], { q: `is:blocked type:${head.workflow_type}` })}>
              {count(total)} runs of {head.workflow_type} are blocked
            </a>
            .
          </>
        )}
      </div>
      {spans.loading && <Bones slow={spans.slow} />}
      <div class="align" role="table" aria-label="History and code, step by step">
        <div class="arow" role="row">
          <div class="h seq" role="columnheader">
            step
          </div>
          <div class="h" role="columnheader">
            What history recorded
          </div>
          <div class="h cr" role="columnheader">
            What the code asks for
          </div>
        </div>
        {before > 0 && <Aligned step="" left={`${before} steps before`} right="the same" quiet />}
        {near.map((bar) =>
          bar.step === at ? (
            differs(bar)
          ) : (
            <Aligned
              key={bar.step}
              step={bar.step}
              left={<Recorded bar={bar} />}
              quiet={bar.step > at}
              right={
                bar.step > at ? (
                  "not reached"
                ) : (
                  <>
                    {bar.kind.replace(/_/g, " ")} {bar.name && <Mono>{bar.name}</Mono>}
                    <span class="meta">{bar.source_line}</span>
                  </>
                )
              }
            />
          ),
        )}
        {bars.length > 0 && !near.some((bar) => bar.step === at) && differs(null)}
      </div>
      {(key || print) && (
        <div class="pad">
          <dl class="kv">
            <dt>condition, recorded</dt>
            <dd>
              <Mono>{finding.replay_blocked_recorded_condition_key ?? "none"}</Mono> <span class="w sm mono">{print}</span>
            </dd>
            <dt>condition, in the code</dt>
            <dd>
              <Mono>{finding.replay_blocked_current_condition_key ?? "none"}</Mono> <span class="w sm mono">{finding.replay_blocked_current_condition_definition_fingerprint}</span>
            </dd>
          </dl>
        </div>
      )}
      <div class="ch nb">
        <h2>What would fix it</h2>
        {total && total.n > 1 && <span class="d sm">for this run and others with the same difference</span>}
      </div>
      {guard && (
        <Fix
          n={1}
          title="Guard the new call"
          act={
            <Button onClick={() => void copy(guard, "Copied the guard")}>
              Copy guard
            </Button>
          }
        >
          and deploy. Runs that passed step {at} stay as they were, new ones take version 1.
          {finding.source_line && (
            <span class="d">
              {" "}
              The line is <Mono>{finding.source_line}</Mono>.
            </span>
          )}
          <pre tabIndex={0}>{guard}</pre>
        </Fix>
      )}
      <Fix
        n={guard ? 2 : 1}
        title="Deploy a build that fits, then try again."
        act={
          <span class="row">
            <Button why={refused(head, "repair")} onClick={() => askPlain(head, "repair")}>
              Try again…
            </Button>
            {ids.length > 1 && (
              <Button why={refused(head, "repair")} onClick={() => askBatch(repair, [...new Set(ids)])}>
                Try {ids.length} again…
              </Button>
            )}
          </span>
        }
      >
        The run goes on where it stopped.
      </Fix>
      <Fix
        n={guard ? 3 : 2}
        title={`Fork from step ${Math.max(0, at - 1)} with the new code.`}
        act={
          <Button why={refused(head, "fork")} onClick={() => askCopy(head, "fork", at - 1)}>
            Fork…
          </Button>
        }
      >
        What was done before it is kept and not repeated; the rest is dropped.
      </Fix>
      <Fix
        n={guard ? 4 : 3}
        title="End it on purpose."
        act={
          <Button why={refused(head, "terminate")} onClick={() => askPlain(head, "terminate")}>
            Terminate…
          </Button>
        }
      >
        No compensation runs; this cannot be undone.
      </Fix>
      <div class="pad">
        <p class="d sm">Before the next deploy, this says whether the code fits the runs that are open:</p>
        <Shell text="holdfast replay check --app PROGRAM --blocked" />
      </div>
    </>
  );
}

export function CodeTab({ place, head }: { place: Place; head: any }) {
  const finding = findingOf(head);
  const spans = usePart<{ spans: Spans }>(place, finding ? null : "spans", { limit: 2000 });
  if (finding) return <Blocked place={place} head={head} finding={finding} />;
  if (spans.fault && !spans.data) return <Fault of={spans.fault} again={spans.again} />;
  if (!spans.data) return <Bones slow={spans.slow} />;
  const bars = spans.data.spans.bars;
  return (
    <>
      <div class="pad d">
        <span class="c-completed">
          <Glyph name="completed" small />
        </span>{" "}
        No difference between code and history was seen. {head.workflow_definition_fingerprint && <Mono class="wrap sm">{head.workflow_definition_fingerprint}</Mono>}
      </div>
      {bars.length === 0 ? (
        <Empty title="No step was begun yet." />
      ) : (
        <div class="scroll">
          <table class="dense">
            <thead>
              <tr>
                <th scope="col" class="num cstep">
                  Step
                </th>
                <th scope="col">What history recorded</th>
                <th scope="col">Line in the code</th>
              </tr>
            </thead>
            <tbody>
              {bars.map((bar) => (
                <tr key={bar.step}>
                  <td class="num w">{bar.step}</td>
                  <td class="nw">
                    <Recorded bar={bar} />
                  </td>
                  <td class="nw d">
                    <Mono>{bar.source_line ?? "unknown"}</Mono>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}
