// What a person has chosen: kept on the server for whoever is logged in, and in this browser so that a page begins with it.
import { computed, effect, signal, untracked, type Signal } from "@preact/signals";
import { ask, get } from "./api";
import type { Zone } from "./format";
import { has, me } from "./session";

/** What goes with the person to another browser, by its name. */
const carried = new Map<string, { value: Signal<string>; allowed: readonly string[] }>();

function kept<T extends string>(name: string, otherwise: T, allowed: readonly T[], goes = true): Signal<T> {
  let first = otherwise;
  try {
    const there = localStorage.getItem("holdfast." + name) as T | null;
    if (there && allowed.includes(there)) first = there;
  } catch {
    // a browser that keeps nothing
  }
  const value = signal(first);
  effect(() => {
    try {
      localStorage.setItem("holdfast." + name, value.value);
    } catch {
      // as above
    }
  });
  if (goes) carried.set(name, { value: value as Signal<string>, allowed });
  return value;
}

export const theme = kept("theme", "system", ["system", "light", "dark"] as const);
export const zone = kept<Zone>("zone", "utc", ["utc", "local", "relative"] as const);
export const density = kept("density", "comfortable", ["comfortable", "dense"] as const);
export const keys = kept("keys", "on", ["on", "off"] as const);
export const live = kept("live", "on", ["on", "off"] as const, false);

const SURFACE = "me/preferences/console";
const SETTLE_MS = 300;
/** Whose choices are shown, and what the server has of them; null: it has not said yet. */
let whose: string | null = null;
let there: string | null = null;
const chosen = () => JSON.stringify(Object.fromEntries([...carried].map(([name, one]) => [name, one.value.value])));

/** What the server has goes before what this browser has; where it has nothing, nothing changes. */
async function load(id: string) {
  whose = id;
  there = null;
  try {
    const { value } = await get<{ value: Record<string, unknown> | null }>(SURFACE);
    if (whose !== id) return;
    for (const [name, one] of carried) {
      const said = value?.[name];
      if (typeof said === "string" && one.allowed.includes(said)) one.value.value = said;
    }
    there = chosen();
  } catch {
    // they stay those of this browser
  }
}

effect(() => {
  const id = me.value?.principal.id ?? null;
  if (id !== null && id !== whose && has("preferences")) void untracked(() => load(id));
});

let settling = 0;
effect(() => {
  const now = chosen();
  if (there === null || now === there) return;
  there = now;
  clearTimeout(settling);
  settling = window.setTimeout(() => void ask("PUT", SURFACE, {}, { value: JSON.parse(now) }).catch(() => undefined), SETTLE_MS);
});

const systemDark = matchMedia("(prefers-color-scheme: dark)");
const dark = signal(systemDark.matches);
systemDark.addEventListener("change", () => (dark.value = systemDark.matches));
/** Changes when all colours do: what is drawn is then drawn again. */
export const palette = computed(() => (theme.value === "system" ? (dark.value ? "dark" : "light") : theme.value));

effect(() => {
  const root = document.documentElement;
  if (theme.value === "system") delete root.dataset.theme;
  else root.dataset.theme = theme.value;
});
effect(() => {
  document.documentElement.dataset.density = density.value;
});
