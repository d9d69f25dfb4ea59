// What was done, said once and kept in a drawer. Screen readers hear it politely.
import { signal } from "@preact/signals";
import { refusalOf } from "../lib/api";
import { rightNow } from "../lib/format";

interface Toast {
  id: number;
  text: string;
  failed: boolean;
  at: number;
}

const shown = signal<Toast[]>([]);
export const kept = signal<Toast[]>([]);
let next = 1;

export function toast(text: string, failed = false) {
  const one = { id: next++, text, failed, at: rightNow() };
  shown.value = [...shown.value, one].slice(-4);
  kept.value = [one, ...kept.value].slice(0, 50);
  setTimeout(() => (shown.value = shown.value.filter((other) => other !== one)), failed ? 12000 : 5000);
}

/** Does something of which nothing is shown but that it failed. */
export async function attempt(what: () => Promise<unknown>) {
  try {
    await what();
  } catch (fault) {
    toast(refusalOf(fault).message, true);
  }
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((one) => (
        <div key={one.id} class={one.failed ? "toast failed" : "toast"}>
          {one.text}
        </div>
      ))}
    </div>
  );
}
