// The list: which runs are these, and why does each of them not move?
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { at, get, put, remove } from "../lib/api";
import { count, many, moment, number } from "../lib/format";
import { useKey } from "../lib/keys";
import { useData } from "../lib/live";
import { go, href, param, set } from "../lib/router";
import { notAdmin, readOnly } from "../lib/session";
import { filterWords, shell } from "../lib/shell";
import { askFor } from "../ui/form";
import { Bones, Button, Empty, Fault, Icon, Menu, RunLink, Status, Took } from "../ui/basic";
import { Table, type Column } from "../ui/table";
import { attempt } from "../ui/toasts";
import { words } from "../run/query";
import { chooseStart } from "../run/start";
import { askBatch, BATCHES, type BatchCommand } from "./runs-batch";
import { askExport, EXPORT_MAX, type Exported } from "./runs-export";
import { FACET_NAMES, Facets, look } from "./runs-facets";
import { QueryLine, type QueryError } from "./runs-query";
import { TimeStrip } from "./runs-strip";

const LIMIT = 50;
const BATCH_MAX = 10000; // as many as one batch takes

interface View {
  id: string;
  name: string;
  system: boolean;
  shared: boolean;
  yours: boolean;
  q: string | null;
  count: { n: number; exact: boolean } | null;
}

const COLUMNS: [string, string][] = [
  ["business_key", "Business key"],
  ["queue", "Queue"],
  ["compatibility", "Build"],
  ["history_event_count", "Events"],
  ["run_number", "Run"],
];

/** The rows that are shown stay where they are: what is new waits, what went away is marked. */
function useSteady(fresh: any[] | null, key: string, oldestFirst: boolean) {
  const held = useRef<{ key: string; ids: string[]; rows: Map<string, any> }>({ key: "", ids: [], rows: new Map() });
  const turn = useSignal(0);
  const self = held.current;
  turn.value;
  if (fresh && (self.key !== key || self.ids.length === 0)) {
    self.key = key;
    self.ids = fresh.map((row) => row.run_id);
    self.rows = new Map();
  }
  const by = new Map((fresh ?? []).map((row) => [row.run_id, row]));
  const last = fresh && fresh.length >= LIMIT ? moment(fresh.at(-1).started_at) : null;
  const before = (start: number) => last === null || (oldestFirst ? start < last : start > last); // it would be on the page
  const rows = self.ids.flatMap((id) => {
    const row = by.get(id);
    if (row) self.rows.set(id, row);
    const old = self.rows.get(id);
    if (!row && !old) return [];
    const gone = !row && fresh !== null && before(moment(old.started_at) ?? 0);
    return [{ ...(row ?? old), gone }];
  });
  const waiting = (fresh ?? []).filter((row) => !self.ids.includes(row.run_id)).length;
  const take = () => {
    self.ids = [];
    turn.value++;
  };
  return { rows, waiting, take };
}

function Views({ views, view, query }: { views: View[]; view: string; query: string }) {
  const none = !view && !query;
  return (
    <nav class="views" aria-label="Views">
      <a href={href(["runs"], look())} class={none ? "view on" : "view"} aria-current={none ? "page" : undefined}>
        All
      </a>
      {views.map((one) => {
        const on = one.id === view;
        return (
          <a key={one.id} href={href(["runs"], { ...look(), view: one.id })} class={on ? "view on" : "view"} aria-current={on ? "page" : undefined} title={one.q ?? undefined}>
            {!one.system && <Icon name="star" small />}
            {one.name}
            {!one.shared && <span class="off"> (for you alone)</span>} {one.count && (one.count.exact || one.count.n > 0) && <b>{count(one.count)}</b>}
          </a>
        );
      })}
    </nav>
  );
}

/** The line is kept as it stands: its ages count from when the view is looked at. */
function saveView(query: string, again: () => void) {
  askFor({
    title: "Save this list",
    say: (
      <>
        It is kept under a name, for everybody of the namespace or for you alone: <span class="mono">{query}</span>
      </>
    ),
    parameters: [
      { name: "name", type: "string", required: true },
      { name: "shared", type: "bool", default: true, default_available: true, doc: "With everybody who sees the namespace." },
    ],
    go: "Save",
    keep: "Do not save",
    send: async (value) => {
      const { name, shared } = value as { name: string; shared?: boolean };
      const view = await put("views", { name, q: query, shared: shared ?? true });
      again();
      set({ view: view.id, q: null });
      return `Saved ${name}`;
    },
  });
}

const dropView = (view: View, again: () => void) =>
  attempt(async () => {
    set({ view: null }); // before it is gone: what is shown is asked again
    try {
      await remove(at`views/${view.id}`);
    } catch (fault) {
      set({ view: view.id }, true);
      throw fault;
    }
    again();
  });

type Ask = (cursor: string | null) => Promise<{ items: any[]; cursor: string | null }>;

/** Looks at all that match, page after page, until one is not taken; whether that came. */
async function walk(ask: Ask, take: (row: any) => boolean): Promise<boolean> {
  let cursor: string | null = null;
  do {
    const page: { items: any[]; cursor: string | null } = await ask(cursor);
    if (!page.items.every(take)) return true;
    cursor = page.cursor;
  } while (cursor);
  return false;
}

/** The ids and types of all that match, as many as one batch takes. */
async function allIds(ask: Ask): Promise<{ ids: string[]; types: string[]; cut: boolean }> {
  const ids = new Set<string>();
  const types = new Set<string>();
  const cut = await walk(ask, (row) => {
    if (ids.size >= BATCH_MAX && !ids.has(row.workflow_id)) return false;
    ids.add(row.workflow_id);
    types.add(row.workflow_type);
    return true;
  });
  return { ids: [...ids], types: [...types], cut };
}

export function Runs() {
  const query = param("q");
  const view = param("view");
  const cursor = param("cursor");
  const columns = param("columns").split(",").filter(Boolean);
  const order = param("order") === "oldest" ? "oldest" : "";
  const key = JSON.stringify([query, view, order, cursor]);
  const ask = (values: Record<string, string | number | boolean | null>, stop?: AbortSignal) => get("runs", { q: query, view, order, ...values }, stop);
  const list = useData("runs " + key, (stop) => ask({ cursor, limit: LIMIT, facets: FACET_NAMES, total: true, hist: true }, stop), ["list"]);
  const kept = useData<{ views: View[] }>("views", (stop) => get("views", {}, stop), ["list"]);
  const { rows, waiting, take } = useSteady(list.data && !list.stale ? list.data.items : null, key, order !== "");
  const picked = useSignal<ReadonlySet<string>>(new Set());
  const every = useSignal(false);
  const current = useSignal(-1);
  const views: View[] = kept.data?.views ?? [];
  const chosenView = views.find((one) => one.id === view);
  const own = chosenView && !chosenView.system ? chosenView : null;
  const line = [chosenView?.q, query].filter(Boolean).join(" "); // what is shown, in words
  const errors: QueryError[] = list.data?.query?.errors ?? [];
  const sound = words(line).filter((word) => !errors.some((error) => error.text === word)).join(" ");
  const total = list.data?.total;

  useEffect(() => {
    document.title = "Runs · Holdfast";
  }, []);
  useEffect(() => {
    picked.value = new Set();
    every.value = false;
    current.value = -1;
  }, [key]);

  const change = (q: string) => set({ q, cursor: null });
  const pick = (id: string) => {
    const next = new Set(picked.value);
    if (!next.delete(id)) next.add(id);
    picked.value = next;
    every.value = false;
  };
  const move = (by: number) => {
    if (!rows.length) return;
    current.value = Math.max(0, Math.min(rows.length - 1, current.value + by));
    const element = document.querySelector<HTMLElement>(`[data-run="${rows[current.value].run_id}"]`);
    element?.scrollIntoView({ block: "nearest" });
    element?.querySelector<HTMLElement>("a")?.focus({ preventScroll: true });
  };
  useKey("j", () => move(1));
  useKey("k", () => move(-1));
  useKey("x", () => {
    const row = rows[current.value];
    if (row) pick(row.run_id);
  });
  useKey("Enter", (event) => {
    const row = rows[current.value];
    if (!row || (event.target as HTMLElement).closest("a, button, input")) return false;
    go(href(["runs", row.workflow_id], { run_id: row.is_current_run ? null : row.run_id }));
    return;
  });
  const chosen = rows.filter((row) => picked.value.has(row.run_id));
  useKey("a", () => document.querySelector<HTMLElement>(".selbar button")?.focus());

  const pages: Ask = (next) => ask({ cursor: next, limit: 200 });
  const batch = async (command: BatchCommand) => {
    if (!every.value) {
      askBatch(command, [...new Set(chosen.map((row) => row.workflow_id as string))], [...new Set(chosen.map((row) => row.workflow_type as string))]);
      return;
    }
    await attempt(async () => {
      const { ids, types, cut } = await allIds(pages);
      askBatch(command, ids, types, cut);
    });
  };
  const exportRuns = () =>
    attempt(async () => {
      const runs: Exported[] = [];
      const take = ({ workflow_id, run_id, is_current_run }: Exported) => runs.length < EXPORT_MAX && runs.push({ workflow_id, run_id, is_current_run }) > 0;
      const cut = every.value ? await walk(pages, take) : !chosen.every(take);
      askExport(runs, cut);
    });
  const n = every.value ? total : { n: chosen.length, exact: true };
  const allHere = rows.length > 0 && rows.every((row) => picked.value.has(row.run_id));
  const isPicked = (row: any) => every.value || picked.value.has(row.run_id);
  const shown: Column<any>[] = [
    {
      head: "Select",
      look: "hide-s",
      title: (
        <input
          type="checkbox"
          aria-label="Select all that are shown"
          checked={allHere}
          onChange={() => {
            picked.value = allHere ? new Set() : new Set(rows.map((row) => row.run_id));
            every.value = false;
          }}
        />
      ),
      cell: (row) => <input type="checkbox" checked={isPicked(row)} aria-label={`Select ${row.workflow_id}`} onChange={() => pick(row.run_id)} />,
    },
    {
      head: "Run",
      look: "b idcol",
      cell: (row) => (
        <>
          <RunLink id={row.workflow_id} run={row.is_current_run ? null : row.run_id} class="q" />
          {!row.is_current_run && <span class="w sm"> #{row.run_number}</span>}
        </>
      ),
    },
    { head: "Status", look: "state", cell: (row) => <Status of={row.glyph ?? row.status} /> },
    {
      head: "Why, result or error",
      look: "cut",
      cell: (row) => (
        <span title={row.why?.text}>
          {row.gone ? <span class="w">Does not match any more. </span> : null}
          {row.why?.text}
        </span>
      ),
    },
    { head: "Type", look: "nw d", cell: (row) => row.workflow_type },
    ...COLUMNS.filter(([name]) => columns.includes(name)).map(([name, head]): Column<any> => ({
      head,
      look: "d hide-s nw",
      cell: (row) => (name === "run_number" ? "#" + row[name] : typeof row[name] === "number" ? number(row[name]) : (row[name] ?? "")),
    })),
    { head: "Age", look: "num", served: { down: order !== "", turn: () => set({ order: order ? null : "oldest", cursor: null }) }, cell: (row) => <Took from={row.started_at} to={row.closed_at} /> },
  ];

  return (
    <>
      <div class="head">
        <h1>Runs</h1>
        <Views views={views} view={view} query={query} />
        <span class="grow hide-s" />
        {own ? (
          <Button class="hide-s" why={readOnly.value ?? (own.yours ? null : "It belongs to somebody else, who alone forgets it; and an admin does.")} onClick={() => void dropView(own, kept.again)}>
            Forget this view
          </Button>
        ) : (
          <Button class="hide-s" why={readOnly.value ?? (query ? null : "The list of all runs has its place already.")} onClick={() => saveView(line, kept.again)}>
            Save view…
          </Button>
        )}
        <Button kind="primary" class="hide-s" why={readOnly.value ?? null} onClick={() => void chooseStart()}>
          Start…
        </Button>
      </div>
      <QueryLine
        query={query}
        errors={errors}
        set={change}
        end={
          <>
            {list.data && (
              <span class="d sm nw hide-s" role="status">
                {total ? `${count(total)} match` : ""}
              </span>
            )}
            <span class="hide-s">
              <Menu
                kind="ghost"
                size="small"
                end
                label="Columns"
                text={
                  <>
                    <Icon name="columns" /> Columns
                  </>
                }
                items={COLUMNS.map(([name, title]) => ({
                  text: title,
                  on: columns.includes(name),
                  act: () => set({ columns: (columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name]).join(",") }, true),
                }))}
              />
            </span>
          </>
        }
      />
      {list.fault && <Fault of={list.fault} again={list.again} what="The list could not be read." />}
      <div class="runs">
        {list.data?.facets ? <Facets facets={list.data.facets} query={query} /> : <aside class="card facets hide-s">{<Bones slow={list.slow} rows={8} />}</aside>}
        <div class="stack">
          {list.data?.hist && <TimeStrip of={list.data.hist} query={query} />}
          <section class="card" aria-label="Found runs">
            {waiting > 0 && (
              <div class="ch">
                <button type="button" class="chip new" onClick={take}>
                  {many(waiting, "new run")}, show
                </button>
              </div>
            )}
            {!list.data && !list.fault && <Bones slow={list.slow} rows={12} />}
            {list.data && rows.length === 0 && (
              <Empty title={query || view ? "No run matches this." : "There are no runs yet."}>
                {words(query).length > 0 && (
                  <div class="row">
                    {words(query).map((word) => (
                      <Button key={word} size="small" onClick={() => change(words(query).filter((one) => one !== word).join(" "))}>
                        without {word}
                      </Button>
                    ))}
                  </div>
                )}
                {!query && !view && <p class="d">A run begins with Start, with the command line or with the API.</p>}
              </Empty>
            )}
            {rows.length > 0 && (
              <Table label="Runs" columns={shown} rows={rows} id={(row) => row.run_id} row={(row) => ({ class: [isPicked(row) && "sel", row === rows[current.value] && "on", row.gone && "gone"].filter(Boolean).join(" "), "aria-selected": isPicked(row), "data-run": row.run_id })} />
            )}
            {rows.length > 0 && (chosen.length > 0 || every.value) && (
              <div class="selbar float hide-s" role="region" aria-label="Selection">
                <b class="b">{count(n)} selected</b>
                {!every.value && total && total.n > chosen.length && (
                  <button type="button" class="linkbtn" onClick={() => (every.value = true)}>
                    select all {count(total)} that match
                  </button>
                )}
                <button
                  type="button"
                  class="linkbtn"
                  onClick={() => {
                    picked.value = new Set();
                    every.value = false;
                  }}
                >
                  select none
                </button>
                <span class="grow" />
                {BATCHES.map((command) => (
                  <Button key={command.name} size="small" why={readOnly.value ?? null} onClick={() => void batch(command)}>
                    {command.verb}…
                  </Button>
                ))}
                <Button size="small" why={notAdmin.value} onClick={() => void exportRuns()}>
                  Export…
                </Button>
              </div>
            )}
            {(list.data?.cursor || cursor) && (
              <div class="selbar">
                {cursor && <Button onClick={() => set({ cursor: null })}>{order ? "Oldest" : "Newest"}</Button>}
                <span class="grow" />
                {list.data?.cursor && <Button onClick={() => set({ cursor: list.data!.cursor })}>{order ? "Newer" : "Older"}</Button>}
              </div>
            )}
          </section>
        </div>
      </div>
      <p class="d sm fine hide-s">
        In the shell: <span class="mono">{shell("ls", filterWords(list.data?.query?.filters ?? {}, sound), { order })}</span>
      </p>
    </>
  );
}
