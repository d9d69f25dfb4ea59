// Rows of which one is chosen: by a click, by j and k. Which one is in the address.
import { useKey } from "../lib/keys";
import { set } from "../lib/router";

/** Attributes of a row by its id. `name` is that of the parameter in the address. */
export function useRows(ids: string[], chosen: string | undefined, name: string) {
  const step = (by: number) => {
    const at = ids.indexOf(chosen ?? "");
    const to = ids[Math.min(ids.length - 1, Math.max(0, at + by))];
    if (to !== undefined) set({ [name]: to }, true);
  };
  useKey("j", () => step(1), ids.length > 0);
  useKey("k", () => step(-1), ids.length > 0);
  return (id: string) => ({
    onClick: (event: MouseEvent) => {
      if (!(event.target as Element).closest("a, button, input, label")) set({ [name]: id });
    },
  });
}
