// What a person has chosen for this browser.
import { computed, effect, signal, type Signal } from "@preact/signals";
import type { Zone } from "./format";

function kept<T extends string>(name: string, otherwise: T, allowed: readonly T[]): Signal<T> {
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
  return value;
}

export const theme = kept("theme", "system", ["system", "light", "dark"] as const);
export const zone = kept<Zone>("zone", "utc", ["utc", "local", "relative"] as const);
export const density = kept("density", "comfortable", ["comfortable", "dense"] as const);
export const keys = kept("keys", "on", ["on", "off"] as const);
export const live = kept("live", "on", ["on", "off"] as const);

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
