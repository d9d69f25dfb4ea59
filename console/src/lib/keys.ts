// The ten keys. None of them counts while somebody types, and all of them can be turned off.
import { useEffect } from "preact/hooks";
import { keys } from "./prefs";

export const KEYS: [string, string][] = [
  ["/", "search"],
  ["j k", "next and previous row"],
  ["Enter", "open the row"],
  ["x", "select the row"],
  ["a", "actions"],
  ["[ ]", "previous and next event"],
  ["z", "fold idle time"],
  ["t", "time travel"],
  ["r", "live on and off"],
  ["?", "this list"],
];

type Handler = (event: KeyboardEvent) => void | boolean;
const handlers: Record<string, Handler[]> = {};

function typing(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  if (keys.value === "off" || document.querySelector("dialog[open]")) return;
  const list = handlers[event.key];
  const handler = list?.[list.length - 1];
  if (handler && handler(event) !== false) event.preventDefault();
});

/** What a key does while the component is there; the newest comes first. Returning false leaves the key to the browser. */
export function useKey(key: string, handler: Handler, on = true) {
  useEffect(() => {
    if (!on) return;
    (handlers[key] ??= []).push(handler);
    return () => {
      handlers[key] = handlers[key]!.filter((other) => other !== handler);
    };
  });
}
