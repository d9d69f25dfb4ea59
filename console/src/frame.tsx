// What stands around every page: bar, rail, search, live dot, keys.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { get, offline } from "./lib/api";
import { count, type Count, stamp, now } from "./lib/format";
import { KEYS, useKey } from "./lib/keys";
import { lastChange, liveWord, useData } from "./lib/live";
import { overview, type Overview } from "./lib/overview";
import { keys, live, theme, zone } from "./lib/prefs";
import { go, href, path, query } from "./lib/router";
import { has, logout, me, readOnly } from "./lib/session";
import { token } from "./run/query";
import { chooseStart } from "./run/start";
import { Button, Glyph, Icon, Logo, Menu } from "./ui/basic";
import { closeDialog, Dialog, openDialog } from "./ui/dialog";
import { kept, Toasts, toast } from "./ui/toasts";

export interface Page {
  name: string;
  title: string;
  /** The feature of the server without which there is nothing to show. */
  needs?: string;
  count?: "runs" | "attention" | "schedules" | "workers" | "queues" | "approvals";
  bad?: boolean;
  group: number;
}

export const PAGES: Page[] = [
  { name: "overview", title: "Overview", needs: "overview", group: 0 },
  { name: "runs", title: "Runs", count: "runs", needs: "runs", group: 0 },
  { name: "attention", title: "Attention", count: "attention", bad: true, group: 0 },
  { name: "approvals", title: "Approvals", count: "approvals", needs: "approvals", group: 0 },
  { name: "failures", title: "Failures", group: 0 },
  { name: "schedules", title: "Schedules", count: "schedules", group: 1 },
  { name: "workers", title: "Workers", count: "workers", needs: "workers", group: 1 },
  { name: "queues", title: "Queues", count: "queues", needs: "queues", group: 1 },
  { name: "types", title: "Types", needs: "types", group: 1 },
  { name: "batches", title: "Batches", group: 2 },
  { name: "bundles", title: "Bundles", needs: "bundles", group: 2 },
  { name: "explore", title: "Explore", needs: "sql", group: 2 },
  { name: "settings", title: "Settings", group: 2 },
];

const pages = () => PAGES.filter((page) => !page.needs || has(page.needs));

export function showKeys() {
  openDialog(() => (
    <Dialog
      title="Keys"
      foot={
        <>
          <Button onClick={() => (keys.value = keys.value === "on" ? "off" : "on")}>{keys.value === "on" ? "Turn keys off" : "Turn keys on"}</Button>
          <span class="grow" />
          <Button kind="primary" onClick={closeDialog}>
            Close
          </Button>
        </>
      }
    >
      <p class="d">They never count while a field has the focus.{keys.value === "off" && " All of them are off now."}</p>
      <dl class="keys">
        {KEYS.map(([key, what]) => (
          <>
            <dt>
              {key.split(" ").map((one) => (
                <kbd>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  ));
}

function showMessages() {
  openDialog(() => (
    <Dialog
      title="Messages"
      foot={
        <>
          <span class="grow" />
          <Button kind="primary" onClick={closeDialog}>
            Close
          </Button>
        </>
      }
    >
      {kept.value.length === 0 && <p class="d">Nothing was said since this page was opened.</p>}
      <ul class="stack">
        {kept.value.map((one) => (
          <li key={one.id}>
            <span class="d">{stamp(one.at, zone.value)}</span> {one.text}
          </li>
        ))}
      </ul>
    </Dialog>
  ));
}

function toggleLive() {
  live.value = live.value === "on" ? "off" : "on";
  toast(live.value === "on" ? "Live again" : "Paused: nothing is asked by itself");
}

function LiveDot() {
  const word = liveWord.value;
  const change = lastChange.value;
  const title = change ? `last change ${change.id}, ${Math.max(0, Math.round((now.value - change.at) / 1000))} s ago` : "no change since this page was opened";
  return (
    <button type="button" class={`live ${word === "paused" ? "paused" : offline.value ? "waiting" : ""}`} title={`${title}; click or r to ${live.value === "on" ? "pause" : "go on"}`} onClick={toggleLive}>
      <span class={word === "live" ? "hide-s" : ""}>{word}</span>
    </button>
  );
}

// ---- search: ids, types and pages; > for what can be done

interface Hit {
  text: string;
  hint: string;
  to?: string;
  act?: () => void;
}

const actions = (): Hit[] => [
  { text: "> start a run…", hint: readOnly.value ?? "asks which type", act: () => void (readOnly.value ? toast(readOnly.value, true) : chooseStart()) },
  ...(has("bundles") ? [{ text: "> open an exported file…", hint: "bundles", to: href(["bundles"]) }] : []),
  ...(has("diff") ? [{ text: "> compare two runs…", hint: "side by side", to: href(["diff"]) }] : []),
  { text: "> what failed today", hint: "runs", to: href(["runs"], { q: "is:failed closed<1d" }) },
  { text: "> what needs a person", hint: "attention", to: href(["attention"]) },
  { text: "> theme light", hint: "look", act: () => (theme.value = "light") },
  { text: "> theme dark", hint: "look", act: () => (theme.value = "dark") },
  { text: "> theme as the system", hint: "look", act: () => (theme.value = "system") },
  { text: "> live on or off", hint: "r", act: toggleLive },
  { text: "> keys", hint: "?", act: showKeys },
  { text: "> messages", hint: "what was said", act: showMessages },
  { text: "> log out", hint: "", act: () => void logout() },
];

function Omnibox() {
  const text = useSignal("");
  const open = useSignal(false);
  const at = useSignal(0);
  const field = useRef<HTMLInputElement>(null);
  const word = text.value.trim();
  const plain = word && !word.startsWith(">");
  const types = useData(plain && open.value && has("types") ? "types" : null, (stop) => get("types", {}, stop));
  const keyed = useData(plain && open.value && has("runs") ? "omni key " + word : null, (stop) => get("runs", { q: token("key", `*${word}*`), limit: 3 }, stop));
  const found = useData(plain && open.value && has("runs") ? "omni " + word : null, (stop) => get("runs", { q: word, limit: 6 }, stop));
  const show = () => {
    open.value = true;
    field.current?.focus(); // at once, so that the next key is typed there; where there is little room it is not drawn yet
    requestAnimationFrame(() => field.current?.focus());
  };
  useKey("/", show);

  const hits: Hit[] = [];
  if (word.startsWith(">")) hits.push(...actions().filter((action) => action.text.includes(word.slice(1).trim())));
  else {
    const runs = new Map<string, any>();
    if (plain) for (const { data } of [found, keyed]) for (const run of data?.query?.errors?.length ? [] : (data?.items ?? [])) runs.set(run.run_id, run);
    for (const run of runs.values()) hits.push({ text: run.workflow_id, hint: [run.workflow_type, run.glyph ?? run.status, run.business_key].filter(Boolean).join(", "), to: href(["runs", run.workflow_id], { run_id: run.is_current_run ? null : run.run_id }) });
    if (plain) for (const one of types.data?.types ?? []) if (one.type.toLowerCase().includes(word.toLowerCase())) hits.push({ text: one.type, hint: one.kind + " type", to: href(["types", one.type]) });
    for (const page of pages()) if (!word || page.title.toLowerCase().includes(word.toLowerCase())) hits.push({ text: page.title, hint: "page", to: href([page.name]) });
    if (plain) hits.push({ text: word, hint: "show all runs that match", to: href(["runs"], { q: word }) });
    hits.sort((a, b) => Number(b.text === word && b.hint !== "show all runs that match") - Number(a.text === word && a.hint !== "show all runs that match"));
  }
  const choose = (hit: Hit | undefined) => {
    if (!hit) return;
    open.value = false;
    text.value = "";
    field.current?.blur();
    if (hit.to) go(hit.to);
    hit.act?.();
  };
  return (
    <>
    <button type="button" class="btn ghost sq only-s" aria-label="Search" onClick={show}>
      <Icon name="search" />
    </button>
    <div class={open.value ? "omniwrap wide shown" : "omniwrap wide"} role="search" aria-label="Everything">
      <div class="omni">
        <Icon name="search" />
        <input
          ref={field}
          class="grow"
          type="text"
          role="combobox"
          aria-label="Find a run, type, business key or label"
          aria-expanded={open.value}
          aria-controls="omni-list"
          aria-autocomplete="list"
          aria-activedescendant={open.value && hits.length ? "omni-" + Math.min(at.value, hits.length - 1) : undefined}
          placeholder="Find a run, type, business key or label"
          autocomplete="off"
          spellcheck={false}
          value={text.value}
          onFocus={() => (open.value = true)}
          onBlur={() => setTimeout(() => (open.value = false), 150)}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            at.value = 0;
            open.value = true;
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") at.value = (at.value + 1) % Math.max(1, hits.length);
            else if (event.key === "ArrowUp") at.value = (at.value + hits.length - 1) % Math.max(1, hits.length);
            else if (event.key === "Enter") choose(hits[at.value]);
            else if (event.key === "Escape") field.current?.blur();
            else return;
            event.preventDefault();
          }}
        />
        <kbd>/</kbd>
      </div>
      {open.value && hits.length > 0 && (
        <ul class="menu omnilist" id="omni-list" role="listbox" aria-label="Found">
          {hits.slice(0, 12).map((hit, i) => (
            <li key={i} id={"omni-" + i} role="option" aria-selected={i === at.value} onMouseDown={(event) => (event.preventDefault(), choose(hit))}>
              <span class="grow">{hit.text}</span>
              <span class="w sm">{hit.hint}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
    </>
  );
}

// ---- the frame

function Rail({ at, counts }: { at: string; counts: Record<string, Count | number> }) {
  let group = 0;
  return (
    <nav class="rail" aria-label="Main">
      {pages().map((page) => {
        const n = page.count ? counts[page.count] : undefined;
        const some = n !== undefined && (typeof n === "number" ? n : n.n) > 0;
        const line = page.group !== group;
        group = page.group;
        return (
          <>
            {line && <span class="sep" />}
            <a href={href([page.name])} class={page.name === at ? "on" : ""} aria-current={page.name === at ? "page" : undefined}>
              <Icon name={page.name} />
              {page.title}
              {some && <span class={page.bad ? "n bad" : "n"}>{count(n)}</span>}
            </a>
          </>
        );
      })}
    </nav>
  );
}

function BottomBar({ at, counts }: { at: string; counts: Record<string, Count | number> }) {
  const attention = counts.attention;
  const more = () =>
    openDialog(() => (
      <Dialog
        title="Pages"
        foot={
          <>
            <Button onClick={toggleLive}>{live.value === "on" ? "Pause" : "Go live"}</Button>
            <Button onClick={() => void logout().then(closeDialog)}>Log out</Button>
            <span class="grow" />
            <Button onClick={closeDialog}>Close</Button>
          </>
        }
      >
        <nav class="pages" aria-label="All pages">
          {pages().map((page) => (
            <a key={page.name} class="btn" href={href([page.name])} onClick={closeDialog}>
              <Icon name={page.name} />
              {page.title}
            </a>
          ))}
        </nav>
      </Dialog>
    ));
  return (
    <nav class="botnav" aria-label="Main, short">
      {["overview", "runs", "attention", has("approvals") ? "approvals" : "failures"].map((name) => {
        const page = PAGES.find((one) => one.name === name)!;
        const bad = name === "attention" && !!attention;
        return (
          <a key={name} href={href([name])} class={name === at ? "on" : bad ? "bad" : ""} aria-current={name === at ? "page" : undefined}>
            <Icon name={name} />
            {page.title}
            {bad ? " " + count(attention) : ""}
          </a>
        );
      })}
      <button type="button" onClick={more}>
        <Icon name="menu" />
        More
      </button>
    </nav>
  );
}

const myName = () => me.value?.principal.label || me.value?.principal.role || "you";

declare const BUILT_VERSION: string;

/** The server was replaced while the page was open: parts of it may ask what is not answered any more. */
function OtherVersion() {
  const there = me.value?.server.version;
  if (!there || there === BUILT_VERSION) return null;
  return (
    <div class="note blocked" role="alert">
      <Glyph name="blocked" />
      <div class="grow">
        <b class="b">
          This page is of holdfast {BUILT_VERSION}, and its server is {there}.
        </b>{" "}
        Parts of it may not work until it is loaded again.
      </div>
      <Button size="small" onClick={() => location.reload()}>
        Load it again
      </Button>
    </div>
  );
}

export function Frame({ children }: { children: ComponentChildren }) {
  const at = path.value[0] ?? "overview";
  const asked = useData<Overview>(has("overview") ? "overview" : null, (stop) => get("overview", {}, stop), ["metrics", "list", "attention", "workers"]);
  useEffect(() => {
    overview.value = { data: asked.data, fault: asked.fault, at: asked.at, slow: asked.slow };
  }, [asked.data, asked.fault, asked.at, asked.slow]);
  const counts = asked.data?.counts ?? {};
  const space = query.value.get("namespace") ?? me.value?.namespace ?? "default";
  const spaces = me.value?.namespaces ?? [space];
  const environment = me.value?.environment;
  useKey("r", toggleLive);
  useKey("?", showKeys);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="logo" href={href(["overview"])}>
          <Logo />
          holdfast
        </a>
        {environment && <span class={"env " + environment.color}>{environment.name}</span>}
        <Menu
          kind="ghost"
          label={`Namespace ${space}`}
          text={space}
          items={spaces.map((name) => ({ text: name, to: href([path.value[0] ?? "overview"], { namespace: name === "default" ? null : name }), on: name === space }))}
        />
        <Omnibox />
        <span class="grow" />
        <LiveDot />
        <span class="wide">
          <Menu
            kind="ghost"
            end
            label={`${{ utc: "UTC", local: "Local", relative: "Relative" }[zone.value]} times`}
            text={{ utc: "UTC", local: "Local", relative: "Relative" }[zone.value]}
            items={[
              { text: "UTC", act: () => (zone.value = "utc"), on: zone.value === "utc" },
              { text: "Local time", act: () => (zone.value = "local"), on: zone.value === "local" },
              { text: "Relative", act: () => (zone.value = "relative"), on: zone.value === "relative" },
            ]}
          />
        </span>
        <span class="wide">
          <Menu
            kind="ghost"
            end
            label={`${myName()}, you`}
            text={myName()}
            items={[
              { text: `${me.value?.principal.role ?? ""}, ${me.value?.principal.id ?? ""}`, why: " " },
              { text: "Messages", act: showMessages },
              { text: theme.value === "dark" ? "Light theme" : "Dark theme", act: () => (theme.value = theme.value === "dark" ? "light" : "dark") },
              { text: "Settings", to: href(["settings"]) },
              { text: "Log out", act: () => void logout() },
            ]}
          />
        </span>
        <button type="button" class="kbd wide" aria-label="Keys" onClick={showKeys}>
          <kbd>?</kbd>
        </button>
      </header>
      <Rail at={at} counts={counts} />
      <main id="main" tabIndex={-1}>
        <OtherVersion />
        {children}
      </main>
      <BottomBar at={at} counts={counts} />
      <Toasts />
    </>
  );
}
