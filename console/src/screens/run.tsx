// One run: what it does, why it does not move, and what would move it. The head and the actions are there before the history.
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { get, type Refusal } from "../lib/api";
import { bytes, count, many, moment, number } from "../lib/format";
import { useKey } from "../lib/keys";
import { useData } from "../lib/live";
import { href, param, path, set } from "../lib/router";
import { Bones, Button, copy, Empty, Fault, Glyph, Icon, Mono, RunLink, Shell, Status, Took } from "../ui/basic";
import { Card, Facts } from "../ui/part";
import { Actions } from "../run/actions";
import { CodeTab, isBlocked } from "../run/code";
import { Inspector } from "../run/inspector";
import { LineageTab } from "../run/lineage";
import { CommandsTab, WaitsTab } from "../run/outside";
import { here, usePart, usePlace, type Place } from "../run/place";
import { JsonTab, StateTab } from "../run/state";
import { token } from "../run/query";
import { StepsTab } from "../run/steps";
import { FoldSwitch, Timeline } from "../run/timeline";
import { Travel, TravelBanner } from "../run/travel";
import { Runs } from "./runs";

const SEVERITY: Record<string, string> = { blocked: "blocked", failed: "failed", timed_out: "failed", running: "running" };

/** The sentence with the name that it is about in the type of code. */
function Why({ why, glyph }: { why: any; glyph: string }) {
  const name: string | null = why.subject?.name ?? null;
  const at = name ? (why.text as string).indexOf(name) : -1;
  const text: ComponentChildren =
    at >= 0 && name ? (
      <>
        {why.text.slice(0, at)}
        <Mono>{name}</Mono>
        {why.text.slice(at + name.length)}
      </>
    ) : (
      why.text
    );
  return (
    <div class={`note ${SEVERITY[glyph] ?? (why.severity === "attention" ? "blocked" : "")} ${/completed|cancelled|terminated|continued|paused/.test(glyph) ? "quiet" : ""}`}>
      <Glyph name={glyph} />
      <div>
        <span class="b">{text}</span> {why.subject?.source_line && <Mono class="d sm">{why.subject.source_line}</Mono>}
      </div>
    </div>
  );
}

function Chain({ place, head }: { place: Place; head: any }) {
  const runs: any[] = [...(head.run_navigation?.runs ?? [])].sort((a, b) => a.run_number - b.run_number);
  const shown = runs.length > 9 ? [...runs.slice(0, 3), ...runs.slice(-5)] : runs;
  const share = Math.max((head.history_event_count ?? 0) / (head.history_event_threshold || 1), (head.history_size_bytes ?? 0) / (head.history_size_bytes_threshold || 1));
  return (
    <div class="chain">
      {runs.length > 1 && (
        <>
          <span class="hide-s">Runs of this instance</span>
          {shown.map((run, i) => (
            <>
              {i === 3 && runs.length > 9 && <span class="w">{runs.length - 8} more</span>}
              <a key={run.run_id} class={run.is_selected_run ? "chip on" : "chip"} aria-current={run.is_selected_run ? "true" : undefined} href={here(place, { run_id: run.is_current_run ? null : run.run_id, at: null, step: null, event: null })}>
                {!run.is_selected_run && <Glyph name={run.closed_reason === "continued" ? "continued" : run.status} small />}#{run.run_number}
                {run.is_current_run ? " current" : ""}
              </a>
            </>
          ))}
        </>
      )}
      {head.parent && (
        <span>
          parent <RunLink id={head.parent.workflow_id} run={head.parent.run_id} />
        </span>
      )}
      {head.counts?.children > 0 && (
        <a href={here(place, { tab: "lineage" })}>
          {many(head.counts.children, "child", "children")}
          {head.counts.children_open > 0 && `, ${number(head.counts.children_open)} open`}
        </a>
      )}
      <span>
        {many(head.history_event_count ?? head.counts?.events ?? 0, "event")}, {bytes(head.history_size_bytes)}, {share < 0.01 ? "under 1" : Math.round(share * 100)} % of the budget
      </span>
    </div>
  );
}

interface Tab {
  name: string;
  title: string;
  n?: number;
}

function tabsOf(head: any): Tab[] {
  const counts = head.counts ?? {};
  return [
    { name: "timeline", title: "Timeline" },
    { name: "steps", title: "Steps" },
    { name: "waits", title: "Waits", n: counts.waits_open },
    { name: "commands", title: "Commands", n: counts.commands },
    { name: "lineage", title: "Lineage" },
    { name: "state", title: "State" },
    { name: "code", title: "Code" },
    { name: "json", title: "JSON" },
  ];
}

function Tabs({ place, tabs, on, children }: { place: Place; tabs: Tab[]; on: string; children?: ComponentChildren }) {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where there is no room for all, the one that is open is among those in view.
    const show = () => {
      const [nav, tab] = [bar.current, bar.current?.querySelector<HTMLElement>("[aria-current]")];
      if (nav && tab) nav.scrollLeft += tab.getBoundingClientRect().left + tab.offsetWidth / 2 - nav.getBoundingClientRect().left - nav.clientWidth / 2;
    };
    show();
    addEventListener("resize", show);
    return () => removeEventListener("resize", show);
  }, [on]);
  const move = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("a")];
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (at < 0) return;
    all[(at + by + all.length) % all.length]?.focus();
    event.preventDefault();
  };
  return (
    <div class="tabbar">
      <nav ref={bar} class="tabs grow" aria-label="Parts of the run" onKeyDown={move}>
        {tabs.map((tab) => (
          <a key={tab.name} href={here(place, { tab: tab.name, find: null, view: null, after: null, before: null, sort: null, type: null, kinds: null })} class={tab.name === on ? "on" : ""} aria-current={tab.name === on ? "page" : undefined}>
            {tab.title} {tab.n ? <b>{count(tab.n)}</b> : null}
          </a>
        ))}
      </nav>
      {children}
    </div>
  );
}

function Body({ place, head, tab, select }: { place: Place; head: any; tab: string; select: (step: number | null) => void }) {
  const step = param("step");
  switch (tab) {
    case "steps":
      return <StepsTab place={place} head={head} step={step} select={select} />;
    case "waits":
      return <WaitsTab place={place} head={head} select={select} />;
    case "commands":
      return <CommandsTab place={place} head={head} />;
    case "lineage":
      return <LineageTab place={place} />;
    case "state":
      return <StateTab place={place} head={head} />;
    case "code":
      return <CodeTab place={place} head={head} />;
    case "json":
      return <JsonTab place={place} head={head} />;
    default:
      return <Timeline place={place} id={head.workflow_id} type={head.workflow_type} step={step} select={select} />;
  }
}

/** The page has no head: there is no such run, or its history cannot be read. What the list knows of it is shown all the same. */
function NoHead({ place, fault, again }: { place: Place; fault: Refusal; again: () => void }) {
  const row = useData(fault.status === 404 || place.bundle ? null : "row " + place.id, (stop) => get("runs", { q: token("id", place.id), limit: 5 }, stop)).data?.items.find((one: any) => one.workflow_id === place.id);
  return (
    <>
      <div class="head">
        <h1 class="id">{place.id || "Bundle"}</h1>
        {row && <Status of={row.glyph} pill />}
        {row && (
          <span class="d facts">
            {row.workflow_type} · queue {row.queue} · <Took from={row.started_at} to={row.closed_at} />
          </span>
        )}
      </div>
      {fault.status === 404 ? (
        <Card>
          <Empty title={`There is no run ${place.id} in this namespace.`}>
            <p class="d">{fault.message}</p>
            <a class="btn" href={href(["runs"], { q: place.id })}>
              Look for it in the list
            </a>
          </Empty>
        </Card>
      ) : (
        <Fault of={fault} again={again} what="The run could not be read." />
      )}
      {row && (
        <Card title="What the list knows of it">
          <div class="pad stack">
            <Facts
              left
              of={[
                ["run", <Mono class="brk">{row.run_id}</Mono>],
                ["why", row.why?.text],
                ["business key", row.business_key],
                ["events", row.history_event_count && `${number(row.history_event_count)}, ${bytes(row.history_size_bytes)}`],
              ]}
            />
            <p class="d sm">Other runs are not concerned. This says what is wrong with its history:</p>
            <Shell text={`holdfast verify STORE`} />
          </div>
        </Card>
      )}
    </>
  );
}

/** One run, of the store or of a file that was opened. */
export function RunPage({ strip, acts }: { strip?: ComponentChildren; acts?: ComponentChildren }) {
  const place = usePlace();
  const { data: head, fault, slow, again } = usePart(place, "");
  const id: string = place.id || (head?.workflow_id ?? "");
  useEffect(() => {
    if (id) document.title = id + " · Holdfast";
  }, [id]);
  const select = (step: number | null) => set({ step, event: null }, true);
  useKey("Escape", () => (param("step") || param("event") ? select(null) : false));
  useKey("a", () => document.querySelector<HTMLElement>(".acts button")?.focus());
  if (fault && !head) return <NoHead place={place} fault={fault} again={again} />;
  if (!head || (head.workflow_id ?? head.instance_id) !== id) return <Bones slow={slow} rows={8} />;
  head.workflow_id ??= head.instance_id;
  const tabs = tabsOf(head);
  const asked = param("tab");
  const tab = tabs.some((one) => one.name === asked) ? asked : isBlocked(head) && place.at === "" ? "code" : "timeline";
  const glyph = head.glyph ?? head.status;
  const age = moment(head.started_at) !== null;
  return (
    <>
      <div class="head">
        <h1 class="id">{id}</h1>
        <Button kind="ghost" square class="hide-s" label="Copy id" onClick={() => void copy(id)}>
          <Icon name="copy" />
        </Button>
        <Status of={glyph} pill />
        <span class="d facts">
          {head.workflow_type}
          {head.compatibility && ` · build ${head.compatibility}`} · queue {head.queue}
          {head.business_key && ` · ${head.business_key}`}
          {age && (
            <>
              {" · "}
              <Took from={head.started_at} to={head.closed_at} />
            </>
          )}
        </span>
        <span class="grow hide-s" />
        {acts ?? <Actions head={head} />}
      </div>
      {strip}
      <TravelBanner place={place} />
      {fault && <Fault of={fault} again={again} what="The newest state could not be read; this is what was there before." />}
      {head.why && <Why why={head.why} glyph={glyph} />}
      <Chain place={place} head={head} />
      <div class="split">
        <section class="card" aria-label="The run">
          <Tabs place={place} tabs={tabs} on={tab}>
            {tab === "timeline" && <FoldSwitch />}
          </Tabs>
          <Body place={place} head={head} tab={tab} select={select} />
          <Travel place={place} head={head} />
        </section>
        <Inspector place={place} head={head} />
      </div>
    </>
  );
}

/** The list, or the run that the address names. */
export function RunPages() {
  return path.value.length > 1 ? <RunPage key={path.value[1]} /> : <Runs />;
}
