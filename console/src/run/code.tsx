// What history recorded beside what the code asks for, step by step; where they differ, the first difference, and what ends it.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { at, get, question } from "../lib/api";
import { count, ended, many, measure, number } from "../lib/format";
import { useData } from "../lib/live";
import { href } from "../lib/router";
import { has } from "../lib/session";
import { Button, copy, Empty, Glyph, Mono, Shell, Time } from "../ui/basic";
import { Asked, CardHead, Facts } from "../ui/part";
import { askBatch, BATCHES } from "../screens/runs-batch";
import { askCopy, askPlain, refused } from "./actions";
import { token } from "./query";
import { usePart, type Place } from "./place";

interface Side {
  kind: string;
  name: string | null;
  source_line?: string | null;
  events?: [number, number] | null;
  outcome?: string | null;
}

interface AlignedRow {
  step: number;
  state: "same" | "different" | "not_reached" | "missing";
  recorded: Side | null;
  wanted: Side | null;
}

interface Who {
  here: boolean;
  workers: { worker_id: string; build_id: string | null; runtime: string; status: string }[];
  text?: string | null;
}

interface Compared {
  rows: AlignedRow[];
  rows_before: number;
  rows_after: number;
  guard: { change_id: string; line: string } | null;
}

interface Replay extends Compared {
  verdict: "ok" | "blocked" | "elsewhere" | "unreadable";
  events: number;
  ran: { kind: string; build: string | null; elapsed_ms: number } | null;
  step: number | null;
  source_line: string | null;
  text: string | null;
  who: Who;
  shell: string;
}

interface Blocked {
  blocked:
    | (Compared & {
        reason: string;
        since: string;
        step: number;
        text: string;
        source_line: string | null;
        build: string | null;
        worker: string | null;
        condition: { recorded_key: string | null; wanted_key: string | null; recorded_fingerprint: string | null; wanted_fingerprint: string | null } | null;
        others: { n: number; exact: boolean };
      })
    | null;
  who: Who;
  shell: string;
}

const SENTENCES: Record<string, string> = {
  history_shape_mismatch: "The code no longer matches what this run already did.",
  condition_wait_definition_mismatch: "The condition that the code waits for is not the one that was recorded.",
};

/** A run is blocked when its code and its history disagree: then this tab is what opens first. */
export function isBlocked(head: any): boolean {
  return (head.workflow_determinism_findings ?? []).some((one: any) => one.replay_blocked);
}

function Cell({ of, strong }: { of: Side; strong?: boolean }) {
  const what = (
    <>
      {of.kind.replace(/_/g, " ")} {of.name && <Mono>{of.name}</Mono>}
    </>
  );
  const [first, last] = of.events ?? [];
  return (
    <>
      {strong ? <b class="b">{what}</b> : what}
      <span class="meta">
        {[ended(of.outcome), first !== undefined && (last !== undefined && last !== first ? `events ${first} to ${last}` : `event ${first}`), !of.outcome && of.source_line].filter(Boolean).join(", ")}
      </span>
    </>
  );
}

function Row({ of }: { of: AlignedRow }) {
  const marked = of.state === "different" || of.state === "missing";
  return (
    <div class="arow" role="row">
      <div class={marked ? "seq dseq" : "seq"} role="cell">
        {of.step}
      </div>
      <div class={marked ? "was" : undefined} role="cell" data-head="history">
        {of.recorded ? <Cell of={of.recorded} strong={marked} /> : <span class="w">nothing: history ends before it</span>}
      </div>
      <div class={marked ? "cr asks" : of.state === "not_reached" ? "cr dim" : "cr"} role="cell" data-head="code">
        {of.state === "not_reached" ? "not reached" : of.wanted ? <Cell of={{ ...of.wanted, outcome: null }} strong={marked} /> : <span class="w">nothing: the code is at its end</span>}
      </div>
    </div>
  );
}

function Skipped({ n, children }: { n: number; children: ComponentChildren }) {
  if (!n) return null;
  return (
    <div class="arow" role="row">
      <div class="seq" role="cell" />
      <div class="dim" role="cell">
        {many(n, "step")} {children}
      </div>
      <div class="cr" role="cell" />
    </div>
  );
}

function Aligned({ of, code }: { of: Compared; code?: ComponentChildren }) {
  if (!of.rows.length) return <Empty title="No step was begun yet." />;
  // What was left out lies before the first row; where that is the first step of all, in the widest gap.
  const jumps = of.rows.map((row, i) => (i ? row.step - of.rows[i - 1]!.step : 0));
  const gap = of.rows[0]!.step > 1 ? 0 : jumps.indexOf(Math.max(...jumps));
  return (
    <div class="align" role="table" aria-label="History and code, step by step">
      <div class="arow" role="row">
        <div class="h seq" role="columnheader">
          step
        </div>
        <div class="h" role="columnheader">
          What history recorded
        </div>
        <div class="h cr" role="columnheader">
          What the code asks for {code && <span class="meta">{code}</span>}
        </div>
      </div>
      {of.rows.map((row, i) => (
        <>
          {i === gap && <Skipped n={of.rows_before}>{gap ? "between" : "before"}, the same on both sides</Skipped>}
          <Row key={row.step} of={row} />
        </>
      ))}
      <Skipped n={of.rows_after}>after</Skipped>
    </div>
  );
}

function Fixes({ of }: { of: { title: string; say: ComponentChildren; act?: ComponentChildren }[] }) {
  return (
    <>
      {of.map((fix, i) => (
        <div class="fix" key={fix.title}>
          <span class="k">{i + 1}</span>
          <div>
            <b class="b">{fix.title}</b> {fix.say}
          </div>
          {fix.act ?? <span />}
        </div>
      ))}
    </>
  );
}

function Guard({ of, step, line }: { of: { line: string }; step: number | null; line: string | null }) {
  return {
    title: "Guard the new call",
    say: (
      <>
        and deploy. Runs that passed step {step} stay as they were, new ones take version 1.
        {line && (
          <span class="d">
            {" "}
            The line is <Mono>{line}</Mono>.
          </span>
        )}
        <pre tabIndex={0}>{of.line}</pre>
      </>
    ),
    act: <Button onClick={() => void copy(of.line, "Copied the guard")}>Copy guard</Button>,
  };
}

function Workers({ of }: { of: Who }) {
  return of.workers.length ? (
    <>
      {of.workers.map((one) => (
        <span key={one.worker_id} class="sp">
          <Mono>{one.worker_id}</Mono> {one.build_id ? `on build ${one.build_id}` : "without a build id"}
        </span>
      ))}
    </>
  ) : (
    <>{of.here ? "This server has it itself." : "Nobody who is here has it."}</>
  );
}

/** Asked when the tab is opened, and again by the button: code may have been deployed meanwhile. */
function Dry({ place, head }: { place: Place; head: any }) {
  const turn = useSignal(0);
  const where = place.bundle ? at`bundles/${place.bundle}/replay` : at`runs/${place.id}/replay`;
  const asked = useData<Replay>(`replay ${JSON.stringify(place)} ${turn.value}`, () => question<Replay>(where, {}, { run_id: place.run || null }));
  return (
    <Asked of={asked} what="The history could not be replayed." bones={8}>
      {(said) => (
        <>
          <div class="ch">
            <Status of={said} />
            <span class="grow" />
            {said.ran && (
              <span class="d sm">
                dry replay, {many(said.events, "event")}, {measure(said.ran.elapsed_ms)}&nbsp;ms, nothing was run
              </span>
            )}
            <Button size="small" onClick={() => turn.value++}>
              Replay again
            </Button>
          </div>
          {said.verdict === "elsewhere" && (
            <div class="pad stack">
              <p>{said.who.text ?? "This server has not the code of this type, so it cannot say what the code would ask for."}</p>
              <Facts left of={[["who has it", <Workers of={said.who} />]]} />
              <Shell text={said.shell} />
            </div>
          )}
          {said.verdict === "unreadable" && <p class="pad">{said.text}</p>}
          {said.ran && <Aligned of={said} code={said.ran.build ? `build ${said.ran.build}` : undefined} />}
          {said.verdict === "blocked" && said.guard && <Fixes of={[Guard({ of: said.guard, step: said.step, line: said.source_line })]} />}
          {said.verdict !== "elsewhere" && said.shell && (
            <div class="pad">
              <Shell text={said.shell} />
            </div>
          )}
          {head.workflow_definition_fingerprint && (
            <p class="d sm pad1">
              began with the definition <Mono class="brk">{head.workflow_definition_fingerprint}</Mono>
            </p>
          )}
        </>
      )}
    </Asked>
  );
}

function Status({ of }: { of: Replay }) {
  const [glyph, word] = {
    ok: ["completed", `Replays cleanly${of.ran?.build ? ` on ${of.ran.build}` : ""}`],
    blocked: ["blocked", of.text ?? "It would be blocked"],
    elsewhere: ["waiting", "Its code is elsewhere"],
    unreadable: ["failed", "Its history contradicts itself"],
  }[of.verdict];
  return (
    <span class="row nowrap">
      <span class={"c-" + glyph}>
        <Glyph name={glyph!} />
      </span>
      <b class="b">{word}</b>
    </span>
  );
}

function Stopped({ place, head }: { place: Place; head: any }) {
  const asked = usePart<Blocked>(place, "blocked");
  const same = useData(`blocked ${head.workflow_type}`, (stop) => get("runs", { q: "is:blocked " + token("type", head.workflow_type), limit: 200 }, stop), ["list"]);
  const dry = useSignal(false);
  const ids = [...new Set((same.data?.items ?? []).map((row: any) => row.workflow_id as string))] as string[];
  const repair = BATCHES.find((one) => one.name === "repair")!;
  if (dry.value) return <Dry place={place} head={head} />;
  return (
    <Asked of={asked} what="What blocks it could not be read." bones={8}>
      {({ blocked, shell, who }) => {
        if (!blocked) return <Dry place={place} head={head} />;
        const others = blocked.others.n;
        return (
          <>
            <div class="pad d">
              <b class="b ink">{SENTENCES[blocked.reason] ?? "Code and history disagree."}</b> It stopped at step {blocked.step} at <Time at={blocked.since} />
              {blocked.build && ` with build ${blocked.build}`}
              {blocked.worker && (
                <>
                  {" "}
                  on <Mono>{blocked.worker}</Mono>
                </>
              )}
              .{" "}
              {others > 0 && (
                <>
                  <a href={href(["runs"], { q: "is:blocked " + token("type", head.workflow_type) })}>
                    {count(blocked.others)} other {others === 1 ? "run" : "runs"}
                  </a>{" "}
                  stopped in the same way.{" "}
                </>
              )}
              The run is open and nothing was lost.
            </div>
            <Aligned of={blocked} code={blocked.build && `build ${blocked.build}`} />
            {blocked.condition && (
              <div class="pad">
                <Facts
                  left
                  of={[
                    ["condition, recorded", <><Mono>{blocked.condition.recorded_key ?? "none"}</Mono> <span class="w sm mono brk">{blocked.condition.recorded_fingerprint}</span></>],
                    ["condition, in the code", <><Mono>{blocked.condition.wanted_key ?? "none"}</Mono> <span class="w sm mono brk">{blocked.condition.wanted_fingerprint}</span></>],
                  ]}
                />
              </div>
            )}
            <CardHead title="What would fix it" say={others > 0 ? `for this run and ${number(others)} with the same difference` : undefined} end={has("replay") && <Button size="small" onClick={() => (dry.value = true)}>Replay with the code of now</Button>} />
            <Fixes
              of={[
                ...(blocked.guard ? [Guard({ of: blocked.guard, step: blocked.step, line: blocked.source_line })] : []),
                {
                  title: "Have a build that fits, then try again.",
                  say: (
                    <>
                      The run goes on where it stopped. <span class="d">Its code is with:</span> <Workers of={who} />
                    </>
                  ),
                  act: (
                    <span class="row">
                      <Button why={refused(head, "repair")} onClick={() => askPlain(head, "repair")}>
                        Try again…
                      </Button>
                      {ids.length > 1 && (
                        <Button why={refused(head, "repair")} onClick={() => askBatch(repair, ids)}>
                          Try {ids.length} again…
                        </Button>
                      )}
                    </span>
                  ),
                },
                {
                  title: blocked.step > 1 ? `Fork from step ${blocked.step - 1} with the new code.` : "Fork from the start with the new code.",
                  say: "What was done before it is kept and not repeated; the rest is dropped.",
                  act: (
                    <Button why={refused(head, "fork")} onClick={() => askCopy(head, "fork", blocked.step - 1)}>
                      Fork…
                    </Button>
                  ),
                },
                {
                  title: "End it on purpose.",
                  say: "No compensation runs; this cannot be undone.",
                  act: (
                    <Button why={refused(head, "terminate")} onClick={() => askPlain(head, "terminate")}>
                      Terminate…
                    </Button>
                  ),
                },
              ]}
            />
            <div class="pad">
              <p class="d sm">Before the next deploy, this says whether the code fits the runs that are blocked:</p>
              <Shell text={shell} />
            </div>
          </>
        );
      }}
    </Asked>
  );
}

export function CodeTab({ place, head }: { place: Place; head: any }) {
  if (!has("replay")) return <Empty title="This server replays nothing from the page." />;
  return isBlocked(head) && !place.bundle ? <Stopped place={place} head={head} /> : <Dry place={place} head={head} />;
}
