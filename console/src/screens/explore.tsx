// Questions in SQL, reading only: the documented views at the side, rows below, bounds kept by the server.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, question, refusalOf, type Refusal } from "../lib/api";
import { bytes, duration, many, number } from "../lib/format";
import { useData } from "../lib/live";
import { param, set } from "../lib/router";
import { can } from "../lib/session";
import { quoted } from "../lib/shell";
import { Bones, Button, copy, Empty, Fault, Mono, PageHead, RunLink, Shell } from "../ui/basic";
import { Table } from "../ui/table";

/** Ready questions, each with what it costs a big store. */
const READY: [string, "cheap" | "careful" | "heavy", string][] = [
  ["Newest runs", "cheap", "select instance_id, status from v_runs limit 50"],
  ["Runs by state", "careful", "select status, count(*) as n from v_runs group by status order by n desc"],
  ["Failures", "careful", "select * from v_failures limit 50"],
  ["Open waits", "careful", "select * from v_waits limit 50"],
  ["Events of a store", "heavy", "select count(*) as events from v_events"],
];

interface Answer {
  columns: string[];
  rows: (string | null)[][];
  cut: boolean;
  elapsed_ms: number;
}

interface Line {
  cells: (string | null)[];
  y: number;
}

function Rows({ of }: { of: Answer }) {
  const id = of.columns.indexOf("instance_id");
  const asText = () => [of.columns, ...of.rows].map((row) => row.map((cell) => cell ?? "").join("\t")).join("\n");
  const numeric = of.columns.map((_, i) => of.rows.every((row) => row[i] === null || /^-?\d+(\.\d+)?$/.test(row[i]!)));
  return (
    <section class="card" aria-label="Result">
      <div class="ch">
        <h2>{many(of.rows.length, "row")}</h2>
        <span class="d sm">
          in {duration(of.elapsed_ms)}
          {of.cut && ", there are more: say a limit of your own, at most 1,000"}
        </span>
        <span class="grow" />
        <Button size="small" onClick={() => void copy(asText(), "Copied as text with tabs")}>
          Copy
        </Button>
      </div>
      <div class="scroll result" tabIndex={0} role="region" aria-label="Rows">
        <Table
          dense
          most={1000}
          rows={of.rows.map((cells, y) => ({ cells, y }))}
          id={(row) => row.y}
          columns={of.columns.map((name, i) => ({
            head: name,
            look: numeric[i] ? "num mono" : "mono cell",
            by: ({ cells }: Line) => (cells[i] === null ? null : numeric[i] ? Number(cells[i]) : cells[i]!),
            cell: ({ cells }: Line) => (cells[i] === null ? <span class="w">NULL</span> : i === id ? <RunLink id={cells[i]!} /> : cells[i]),
          }))}
        />
      </div>
    </section>
  );
}

export function Explore() {
  const text = useSignal(param("sql") || READY[0]![2]);
  const busy = useSignal(false);
  const answer = useSignal<Answer | null>(null);
  const fault = useSignal<Refusal | null>(null);
  const schema = useData(can.value.administer ? "sql schema" : null, (stop) => get("sql/schema", {}, stop));
  const limits = schema.data?.limits;
  const run = async () => {
    if (busy.value) return;
    busy.value = true;
    fault.value = null;
    set({ sql: text.value }, true);
    try {
      answer.value = await question<Answer>("sql", { sql: text.value });
    } catch (error) {
      fault.value = refusalOf(error);
    } finally {
      busy.value = false;
    }
  };
  useEffect(() => {
    if (param("sql") && can.peek().administer) void run();
  }, []);
  const said = fault.value?.fields.sql?.join(" ");
  return (
    <>
      <PageHead title="Explore" say="one SELECT over all namespaces, reading only" />
      {!can.value.administer && (
        <section class="card">
          <Empty title="This takes the role admin over all namespaces.">
            <p class="d">The views show the runs of every namespace, and what they were given.</p>
          </Empty>
        </section>
      )}
      {can.value.administer && (
        <div class="fgrid">
          <div class="stack">
            <section class="card">
              <form
                class="form"
                onSubmit={(event) => {
                  event.preventDefault();
                  void run();
                }}
              >
                <div class="field">
                  <label for="sql">
                    Statement <span class="w">Ctrl-Enter runs it</span>
                  </label>
                  <textarea
                    id="sql"
                    class={said ? "in mono bad" : "in mono"}
                    rows={5}
                    spellcheck={false}
                    value={text.value}
                    aria-invalid={said ? true : undefined}
                    aria-describedby="sql-fault"
                    onInput={(event) => (text.value = event.currentTarget.value)}
                    onKeyDown={(event) => {
                      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                        event.preventDefault();
                        void run();
                      }
                    }}
                  />
                  <span class="err" id="sql-fault" role="alert">
                    {said}
                  </span>
                </div>
                <div class="row">
                  <Button type="submit" kind="primary">
                    {busy.value ? "Asking" : "Run"}
                  </Button>
                  {limits && (
                    <span class="d sm">
                      at most {number(limits.rows)} rows, {bytes(limits.bytes)} and {duration(limits.timeout_ms)}
                    </span>
                  )}
                </div>
                <Shell text={`holdfast sql STORE ${quoted(text.value)}`} />
              </form>
            </section>
            {fault.value && !said && <Fault of={fault.value} again={() => void run()} what="It was not answered." />}
            {answer.value && <Rows of={answer.value} />}
          </div>
          <aside class="card insp" aria-label="What can be asked">
            <section>
              <h3>Ready questions</h3>
              <ul class="ready">
                {READY.map(([name, cost, sql]) => (
                  <li key={name}>
                    <button
                      type="button"
                      class="linkbtn"
                      onClick={() => {
                        text.value = sql;
                        void run();
                      }}
                    >
                      {name}
                    </button>{" "}
                    <span class={cost === "heavy" ? "tag warn" : "tag"}>{cost}</span>
                  </li>
                ))}
              </ul>
            </section>
            <section>
              <h3>Views</h3>
              {schema.fault && <p class="d sm">{schema.fault.message}</p>}
              {!schema.data && !schema.fault && <Bones slow={schema.slow} />}
              {(schema.data?.views ?? []).map((view: { name: string; columns: string[] }) => (
                <details key={view.name}>
                  <summary>
                    <Mono>{view.name}</Mono> <span class="w sm">{many(view.columns.length, "column")}</span>
                  </summary>
                  <p class="mono d sm brk">{view.columns.join(", ")}</p>
                </details>
              ))}
            </section>
          </aside>
        </div>
      )}
    </>
  );
}
