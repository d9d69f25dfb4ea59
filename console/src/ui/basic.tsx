// The small parts that every screen is made of.
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import type { Refusal } from "../lib/api";
import { allForms, ago, duration, moment, stamp, untilNow } from "../lib/format";
import { zone } from "../lib/prefs";
import { href } from "../lib/router";
import { toast } from "./toasts";

// ---- pictures: their paths are in tokens.css, for the page and for canvases

const paths = new Map<string, string>();

/** "stroke|fill" of a glyph, or the stroke of an icon. */
export function drawing(name: string): string {
  let path = paths.get(name);
  if (path === undefined) {
    path = getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim().slice(1, -1);
    paths.set(name, path);
  }
  return path;
}

export function Icon({ name, small }: { name: string; small?: boolean }) {
  return (
    <svg class={small ? "i s" : "i"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={drawing("icon-" + name)} />
    </svg>
  );
}

/** What the server calls a status, as the name of a glyph. */
export function glyphName(status: string): string {
  return status === "timed_out" ? "timedout" : status === "pending" ? "running" : status;
}

export function Glyph({ name, small }: { name: string; small?: boolean }) {
  const [stroke, fill] = drawing("glyph-" + glyphName(name)).split("|"); // a name without a picture has none
  return (
    <svg class={small ? "g s" : "g"} viewBox="0 0 16 16" aria-hidden="true">
      {stroke && <path d={stroke} />}
      {fill && <path class="f" d={fill} />}
    </svg>
  );
}

/** Glyph, word and colour together. */
export function Status({ of, word, pill }: { of: string; word?: string; pill?: boolean }) {
  return (
    <span class={`${pill ? "pill" : "st"} c-${glyphName(of)}`}>
      <Glyph name={of} />
      {word ?? of.replace(/_/g, " ")}
    </span>
  );
}

export function Logo() {
  return (
    <svg class="l" viewBox="0 0 20 20" aria-hidden="true">
      <path
        d="M10 1.8v7.4M10 9.2c0 4-2.2 4.6-2.2 8.6M10 9.2c0 4 2.2 4.6 2.2 8.6M10 8.4c-.4 4.2-5.6 3.6-6.6 8.6M10 8.4c.4 4.2 5.6 3.6 6.6 8.6M5.6 4.4h8.8"
        fill="none"
        stroke="currentColor"
        stroke-width="1.7"
        stroke-linecap="round"
      />
    </svg>
  );
}

// ---- controls

interface ButtonProps {
  children: ComponentChildren;
  onClick?: (event: MouseEvent) => void;
  kind?: "primary" | "danger" | "ghost";
  size?: "small";
  square?: boolean;
  /** Why it cannot be used now: it stays where it is and says so. */
  why?: string | null;
  label?: string;
  type?: "button" | "submit";
  expanded?: boolean;
  haspopup?: boolean;
  class?: string;
  id?: string;
}

export function Button({ children, onClick, kind, size, square, why, label, type = "button", expanded, haspopup, class: more, id }: ButtonProps) {
  const classes = ["btn", kind === "primary" && "p", kind === "danger" && "danger", kind === "ghost" && "ghost", size && "sm", square && "sq", more];
  return (
    <button
      id={id}
      type={type}
      class={classes.filter(Boolean).join(" ")}
      aria-label={label ? (why ? `${label}: ${why}` : label) : undefined}
      aria-disabled={why ? true : undefined}
      aria-description={why && !label ? why : undefined}
      aria-expanded={expanded}
      aria-haspopup={haspopup ? "menu" : undefined}
      title={why ?? label}
      onClick={(event) => (why ? event.preventDefault() : onClick?.(event))}
    >
      {children}
    </button>
  );
}

/** One of a few. Each is an address, so that it can be sent on. */
export function Choice({ label, items, on, to }: { label: string; items: [string, ComponentChildren][]; on: string; to: (value: string) => string }) {
  return (
    <nav class="seg" aria-label={label}>
      {items.map(([value, text]) => (
        <a key={value} href={to(value)} class={value === on ? "on" : ""} aria-current={value === on ? "true" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

/** One of a few that is no address: a radio group. */
export function Radios<T extends string>({ label, items, value, set }: { label: string; items: [T, string][]; value: T; set: (value: T) => void }) {
  const name = useId();
  return (
    <div class="radio" role="radiogroup" aria-label={label}>
      {items.map(([each, text]) => (
        <label key={each} class={each === value ? "on" : ""}>
          <input type="radio" name={name} value={each} checked={each === value} onChange={() => set(each)} />
          {text}
        </label>
      ))}
    </div>
  );
}

export interface MenuItem {
  text: ComponentChildren;
  act?: () => void;
  to?: string;
  why?: string | null;
  on?: boolean;
}

/** A button with a list of things to do below it; arrow keys go through them. */
export function Menu({ text, items, label, kind, size, end }: { text: ComponentChildren; items: MenuItem[]; label?: string; kind?: ButtonProps["kind"]; size?: "small"; end?: boolean }) {
  const open = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const close = (back: boolean) => {
    open.value = false;
    if (back) box.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (!open.value) return;
    const away = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) open.value = false;
    };
    addEventListener("pointerdown", away);
    addEventListener("focusin", away);
    (box.current?.querySelector("[role=menu] [aria-current], [role^=menuitem]") as HTMLElement | null)?.focus();
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("focusin", away);
    };
  }, [open.value]);
  const move = (event: KeyboardEvent) => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape") close(true);
    else if (to === undefined) return;
    else all[to % all.length]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="menuwrap" ref={box} onKeyDown={(event) => open.value && move(event)}>
      <Button kind={kind} size={size} label={label} expanded={open.value} haspopup onClick={() => (open.value = !open.value)}>
        {text}
        <Icon name="down" />
      </Button>
      {open.value && (
        <div class={end ? "menu end" : "menu"} role="menu">
          {items.map((item, i) =>
            item.to && !item.why ? (
              <a key={i} role="menuitem" href={item.to} aria-current={item.on ? "true" : undefined} onClick={() => close(false)}>
                {item.text}
              </a>
            ) : (
              <button
                key={i}
                type="button"
                role="menuitem"
                aria-disabled={item.why ? true : undefined}
                aria-current={item.on ? "true" : undefined}
                onClick={() => {
                  if (item.why) return;
                  close(true);
                  item.act?.();
                }}
              >
                <span>{item.text}</span>
                {item.why && <small>{item.why}</small>}
              </button>
            ),
          )}
        </div>
      )}
    </div>
  );
}

// ---- text

export async function copy(text: string, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // plain HTTP on a private network has no clipboard of its own
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off";
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(what);
}

export function Copy({ text, label = "Copy" }: { text: string; label?: string }) {
  return (
    <button type="button" class="copy" aria-label={label} title={label} onClick={() => void copy(text)}>
      <Icon name="copy" />
    </button>
  );
}

export const LINE_MAX = 100000; // what Linux takes as one argument is not much more

/** What the same would be in a shell; it wraps and is never cut. */
export function Shell({ text }: { text: string | null }) {
  if (text === null || text.length > LINE_MAX) return <p class="d sm">This value is too long for a line of a shell.</p>;
  return (
    <div class="code">
      <Icon name="terminal" />
      <span>{text.split(/(\s+)/).map((part, i) => (i % 2 ? part : <span key={i}>{part}</span>))}</span>
      <Copy text={text} label="Copy shell line" />
    </div>
  );
}

export function Mono({ children, class: more }: { children: ComponentChildren; class?: string }) {
  return <span class={more ? "mono " + more : "mono"}>{children}</span>;
}

/** A moment; the other forms when pointed at, and ISO when clicked. */
export function Time({ at: text, fine }: { at: string | number | null | undefined; fine?: boolean }) {
  const at = typeof text === "number" ? text : moment(text);
  if (at === null) return <span class="w">unknown</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={allForms(at)}>
      {stamp(at, zone.value, fine)}
    </time>
  );
}

/** How long ago, growing. */
export function Age({ at: text }: { at: string | null | undefined }) {
  const at = moment(text);
  if (at === null) return <span class="w">unknown</span>;
  return (
    <time dateTime={new Date(at).toISOString()} title={allForms(at)}>
      {ago(at)}
    </time>
  );
}

/** How long it has been going on, or went on. */
export function Took({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const begin = moment(from);
  if (begin === null) return <span class="w">unknown</span>;
  const end = moment(to) ?? untilNow();
  return <span title={`${allForms(begin)}${to ? "" : "\nstill open"}`}>{duration(Math.max(0, end - begin))}</span>;
}

export function RunLink({ id, run, children, class: more }: { id: string; run?: string | null; children?: ComponentChildren; class?: string }) {
  return (
    <a class={more ? "mono " + more : "mono"} href={href(["runs", id], { run_id: run })}>
      {children ?? id}
    </a>
  );
}

// ---- data

/** Nothing for 200 ms, then grey bones where the rows will be. */
export function Bones({ rows = 5, slow }: { rows?: number; slow: boolean }) {
  return (
    <div class="bones" aria-busy="true">
      <span class="off">Loading</span>
      {slow && Array.from({ length: rows }, (_, i) => <span key={i} class="bone" style={{ "--v": `${[62, 78, 54, 70, 47][i % 5]}%` } as JSX.CSSProperties} />)}
    </div>
  );
}

/** Only the part that failed says so. */
export function Fault({ of, again, what }: { of: Refusal; again?: () => void; what?: string }) {
  return (
    <div class="note failed" role="alert">
      <Glyph name="failed" />
      <div class="grow">
        <b class="b">{what ?? "This part could not be read."}</b> {of.message}
        {of.remediation && <span class="d"> {of.remediation}</span>}
        <span class="w sm"> {of.reason}</span>
      </div>
      {again && (
        <Button size="small" onClick={again}>
          Try again
        </Button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <b class="b">{title}</b>
      {children}
    </div>
  );
}

export function PageHead({ title, say, children }: { title: string; say?: ComponentChildren; children?: ComponentChildren }) {
  useEffect(() => {
    document.title = title + " · Holdfast";
  }, [title]);
  return (
    <div class="head">
      <h1>{title}</h1>
      {say && <span class="d">{say}</span>}
      <span class="grow" />
      {children}
    </div>
  );
}
