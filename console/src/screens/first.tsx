// Nothing has run yet: three things to type, each of which is ticked off when the server sees it happen.
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, namespace, address } from "../lib/api";
import type { Count } from "../lib/format";
import { useData } from "../lib/live";
import { overview, type Overview } from "../lib/overview";
import { has } from "../lib/session";
import { Button, Copy, Glyph, RunLink, Status, Time } from "../ui/basic";

/** The namespace whose page stays here although runs arrive, until the person goes on. */
const here = signal<string | null>(null);

const n = (count: Count | number | undefined) => (typeof count === "number" ? count : (count?.n ?? 0));

export function firstVisit(seen: Overview): boolean {
  if (n(seen.counts.runs) === 0) return true;
  return here.value === namespace();
}

function Card({ at, title, say, shell, done, now, seen }: { at: number; title: string; say: string; shell: string; done: boolean; now: boolean; seen: string }) {
  return (
    <section class={`card step3 ${done ? "done" : now ? "now" : ""}`}>
      <div class="row">
        <span class="k">{done ? <Glyph name="completed" /> : at}</span>
        <h2 class="grow">{title}</h2>
        <Copy text={shell} label={`Copy: ${title}`} />
      </div>
      <p>{say}</p>
      <pre tabIndex={0}>{shell}</pre>
      <div class={done ? "seen c-completed" : "seen"} role="status">
        {done ? <Glyph name="completed" small /> : <span class="wait" />}
        {seen}
      </div>
    </section>
  );
}

export function First() {
  const seen = overview.value.data;
  const space = namespace();
  const runs = useData(has("runs") ? "first runs" : null, (stop) => get("runs", { limit: 8 }, stop), ["list"]);
  useEffect(() => {
    document.title = "First visit · Holdfast";
    here.value = space;
  }, [space]);
  if (!seen) return null;
  const workers = seen.workers.active;
  const started = n(seen.counts.runs);
  const completed = seen.runs.completed ?? 0;
  const done = [workers > 0, started > 0, completed > 0];
  const next = done.indexOf(false);
  const extra = space === "default" ? "" : ` \\\n -H X-Namespace:${space}`;
  const items: any[] = runs.data?.items ?? [];
  return (
    <div class="first">
      <h1>{started ? "Your first runs" : "Nothing of yours has run yet"}</h1>
      <p class="d">Do these and watch them arrive here. Each card ticks itself off when the server sees it happen.</p>
      <div class="steps3">
        <Card
          at={1}
          title="Run a worker"
          say="examples/shop.c is one: orders, charged and shipped. It needs a token of the role worker."
          shell={`cc shop.c -o shop -lholdfast\nHF_TOKEN=$TOKEN ./shop worker \\\n  --store ${address("/").replace(/\/$/, "")}`}
          done={done[0]!}
          now={next === 0}
          seen={done[0] ? `seen: ${workers === 1 ? "one worker is here" : workers + " workers are here"}` : "waiting for a worker"}
        />
        <Card
          at={2}
          title="Send the first start"
          say="From any language, over HTTP. The id is yours: what was started once is not started twice."
          shell={`curl -H "Authorization: Bearer $TOKEN" \\\n -H X-Durable-Workflow-Control-Plane-Version:2 \\\n -H Content-Type:application/json${extra} -d '{\n  "workflow_type": "order",\n  "workflow_id": "order-1",\n  "input": {"sku": "TEA-1", "amount": 90}}' \\\n ${address("/api/workflows")}`}
          done={done[1]!}
          now={next === 1}
          seen={done[1] ? `seen: ${started === 1 ? "one run" : started + " runs"}` : "waiting for a start"}
        />
        <Card
          at={3}
          title="See it end"
          say="Ask what it waits for, kill the worker in the middle, start it again: it goes on where it was."
          shell={`holdfast why order-1\nholdfast history order-1\nholdfast result order-1`}
          done={done[2]!}
          now={next === 2}
          seen={done[2] ? `seen: ${completed === 1 ? "one run" : completed + " runs"} completed` : "waiting for a run to complete"}
        />
      </div>
      {started > 0 && (
        <section class="card">
          <div class="ch">
            <h2>Arriving now</h2>
            <span class="grow" />
            <Button onClick={() => (here.value = null)} kind={next === -1 ? "primary" : undefined}>
              Go to the overview
            </Button>
          </div>
          {items.length > 0 && (
            <table class="stackable">
              <tbody>
                {items.map((run) => (
                  <tr key={run.run_id}>
                    <td class="b nw">
                      <RunLink id={run.workflow_id} class="q" />
                    </td>
                    <td>
                      <Status of={run.glyph} />
                    </td>
                    <td class="cut d">{run.why?.text}</td>
                    <td class="num d">
                      <Time at={run.started_at} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </section>
      )}
    </div>
  );
}
