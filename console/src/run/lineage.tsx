// Where a run came from and what it started: parents at the left, children at the right, later runs of the instance below.
import { many } from "../lib/format";
import { href, param, set } from "../lib/router";
import { Asked } from "../ui/part";
import { Button, Empty, Glyph, glyphName, RunLink, Status, Took } from "../ui/basic";
import { Table, type Column } from "../ui/table";
import { readOnly } from "../lib/session";
import { askBatch, BATCHES } from "../screens/runs-batch";
import { usePart, type Place } from "./place";

interface Node {
  run_id: string;
  workflow_id: string;
  workflow_type: string;
  run_number: number;
  status: string | null;
  glyph: string | null;
  started_at: string;
  closed_at: string | null;
  relation: "self" | "parent" | "child" | "continued";
  depth: number;
  failing: boolean;
}

interface Edge {
  from: string;
  to: string;
  kind: "child" | "continued";
  step: number | null;
}

interface Lineage {
  nodes: Node[];
  edges: Edge[];
  cut: number | boolean;
}

const WIDE = 196;
const HIGH = 44;
const GAP_X = 56;
const GAP_Y = 14;
const FOLD = 12;

interface Put {
  node: Node;
  column: number;
  row: number;
}

/** Columns by generation; a child stands beside the run that started it, as far up as there is room. */
function layout(nodes: Node[], edges: Edge[]): { put: Map<string, Put>; columns: number; rows: number; folded: Map<string, number> } {
  const column = new Map<string, number>();
  const least = Math.min(0, ...nodes.filter((node) => node.relation === "parent").map((node) => -Math.abs(node.depth)));
  for (const node of nodes) column.set(node.run_id, (node.relation === "parent" ? -Math.abs(node.depth) : node.relation === "child" ? Math.abs(node.depth) : 0) - least);
  const put = new Map<string, Put>();
  const next: number[] = [];
  const folded = new Map<string, number>();
  const parent = new Map(edges.filter((edge) => edge.kind === "child").map((edge) => [edge.to, edge.from]));
  const shown = new Map<string, number>();
  const order = [...nodes].sort((a, b) => column.get(a.run_id)! - column.get(b.run_id)! || Number(b.failing) - Number(a.failing) || (a.started_at < b.started_at ? -1 : 1));
  for (const node of order) {
    const at = column.get(node.run_id)!;
    const from = parent.get(node.run_id);
    if (from && node.relation === "child") {
      const n = (shown.get(from) ?? 0) + 1;
      shown.set(from, n);
      if (n > FOLD) {
        folded.set(from, (folded.get(from) ?? 0) + 1);
        continue;
      }
    }
    const row = Math.max(next[at] ?? 0, from ? (put.get(from)?.row ?? 0) : 0);
    put.set(node.run_id, { node, column: at, row });
    next[at] = row + 1;
  }
  return { put, columns: Math.max(0, ...[...put.values()].map((one) => one.column)) + 1, rows: Math.max(1, ...next.filter(Boolean)), folded };
}

const x = (column: number) => 12 + column * (WIDE + GAP_X);
const y = (row: number) => 12 + row * (HIGH + GAP_Y);

function short(text: string, n: number): string {
  return text.length > n ? text.slice(0, n - 1) + "…" : text;
}

/** How a run stands; a file does not say it of others. */
const standing = (node: Node): string => node.glyph ?? node.status ?? "unknown";

/** What a node is called in the picture. */
const title = (node: Node) => short(node.workflow_id, 20) + (node.relation === "continued" ? ` #${node.run_number}` : "");
const TWIN: Column<Node>[] = [
  {
    head: "Run",
    look: "nw b",
    by: (node) => node.workflow_id,
    cell: (node) => (
      <>
        <RunLink id={node.workflow_id} run={node.run_id} /> <span class="w sm">#{node.run_number}</span>
      </>
    ),
  },
  { head: "Status", look: "state", by: (node) => standing(node), cell: (node) => <Status of={standing(node)} /> },
  { head: "Type", look: "nw d", by: (node) => node.workflow_type, cell: (node) => node.workflow_type },
  { head: "What it is", look: "d", cell: (node) => (node.relation === "self" ? "this run" : node.relation === "continued" ? "another run of the instance" : node.relation) },
  { head: "Took", look: "num", cell: (node) => node.started_at && <Took from={node.started_at} to={node.closed_at} /> },
];

export function LineageTab({ place }: { place: Place }) {
  const depth = Number(param("depth")) || 2;
  const asked = usePart<Lineage>(place, "lineage", { depth });
  return (
    <Asked of={asked} what="The lineage could not be read." bones={6}>
      {(data) => <Drawn place={place} data={data} depth={depth} />}
    </Asked>
  );
}

function Drawn({ place, data, depth }: { place: Place; data: Lineage; depth: number }) {
  const { nodes, edges } = data;
  const { put, columns, rows, folded } = layout(nodes, edges);
  const leaf = nodes.find((node) => node.failing && !edges.some((edge) => edge.from === node.run_id && nodes.find((other) => other.run_id === edge.to)?.failing));
  const open = [...new Set(nodes.filter((node) => node.relation === "child" && !node.closed_at).map((node) => node.workflow_id))];
  const self = nodes.find((node) => node.relation === "self");
  return (
    <>
      <div class="ch">
        <span class="d sm">
          {many(nodes.length, "run")}
          {data.cut ? `, ${Number(data.cut)} more are not shown` : ""}
        </span>
        {leaf && leaf !== self && (
          <span class="c-failed sm">
            root cause: <RunLink id={leaf.workflow_id} run={leaf.run_id} />
          </span>
        )}
        <span class="grow" />
        {open.length > 0 && !place.bundle && !place.at && (
          <Button size="small" why={readOnly.value} onClick={() => askBatch(BATCHES.find((one) => one.name === "cancel")!, open)}>
            Cancel {open.length === 1 ? "the open child" : many(open.length, "open child", "open children")}…
          </Button>
        )}
        <Button size="small" why={depth >= 5 ? "Five generations are as many as are drawn." : null} onClick={() => set({ depth: depth + 1 }, true)}>
          One more generation
        </Button>
      </div>
      {nodes.length <= 1 ? (
        <Empty title="It has no parent, no children and no other run." />
      ) : (
        <div class="scroll lin" tabIndex={0} role="group" aria-label="Lineage, drawn">
          <svg width={x(columns)} height={y(rows) + 8} viewBox={`0 0 ${x(columns)} ${y(rows) + 8}`} role="group" aria-label={`Lineage of ${nodes.length} runs; the table below has the same.`}>
            {edges.map((edge) => {
              const a = put.get(edge.from);
              const b = put.get(edge.to);
              if (!a || !b) return null;
              const bad = a.node.failing && b.node.failing;
              const path =
                edge.kind === "continued"
                  ? `M${x(a.column) + 20} ${y(a.row) + HIGH}V${y(b.row)}`
                  : `M${x(a.column) + WIDE} ${y(a.row) + HIGH / 2}C${x(a.column) + WIDE + 28} ${y(a.row) + HIGH / 2} ${x(b.column) - 28} ${y(b.row) + HIGH / 2} ${x(b.column)} ${y(b.row) + HIGH / 2}`;
              return <path key={edge.from + edge.to} d={path} class={[bad ? "bad" : "", edge.kind].join(" ")} />;
            })}
            {[...put.values()].map(({ node, column, row }) => (
              <a key={node.run_id} href={href(["runs", node.workflow_id], { run_id: node.run_id, tab: "lineage" })} aria-label={`${title(node)} ${short(node.workflow_type, 24)}, ${standing(node)}`}>
                <rect x={x(column)} y={y(row)} width={WIDE} height={HIGH} rx="6" class={[node.relation === "self" ? "self" : "", node.failing ? "bad" : ""].join(" ")} />
                <g class={"c-" + glyphName(standing(node))}>
                  <svg x={x(column) + 10} y={y(row) + 8} width="16" height="16" viewBox="0 0 16 16">
                    <Glyph name={standing(node)} />
                  </svg>
                </g>
                <text x={x(column) + 32} y={y(row) + 20} class="t1">
                  {title(node)}
                </text>{" "}
                <text x={x(column) + 32} y={y(row) + 36} class="t2">
                  {short(node.workflow_type, 24)}
                </text>
              </a>
            ))}
            {[...folded].map(([from, n]) => {
              const one = put.get(from);
              const children = edges.filter((edge) => edge.from === from && put.has(edge.to)).map((edge) => put.get(edge.to)!);
              const last = children.sort((a, b) => b.row - a.row)[0];
              return one && last ? (
                <text key={from} x={x(last.column) + 10} y={y(last.row + 1) + 6} class="t2">
                  {n} more children, in the table
                </text>
              ) : null;
            })}
          </svg>
        </div>
      )}
      <div class="scroll">
        <Table label="Lineage" dense columns={TWIN} rows={nodes} id={(node) => node.run_id} row={(node) => ({ class: node.relation === "self" ? "sel" : "" })} />
      </div>
    </>
  );
}
