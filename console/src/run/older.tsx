// Long lists: the newest are shown first, how many older ones there are is said, and they come when somebody wants them.
import { number } from "../lib/format";
import { param, set } from "../lib/router";
import { Button } from "../ui/basic";
import { here, type Place } from "./place";

const FIRST = 2000;
const MOST = 10000; // as many as the server gives at once

/** How many are asked for; in the address, so that all tabs of a run show as much. */
export const howMany = () => (param("most") ? MOST : FIRST);

export function Older({ place, shown, left, what }: { place: Place; shown: number; left: number; what: string }) {
  if (!left) return null;
  return (
    <div class="selbar" role="status">
      <span class="d">
        The newest {number(shown)} of {number(shown + left)} {what} are shown.
      </span>
      {howMany() < MOST ? (
        <Button size="small" onClick={() => set({ most: MOST }, true)}>
          Show {left <= MOST - shown ? "all" : number(MOST)}
        </Button>
      ) : (
        <a href={here(place, { tab: "steps", view: "events" })}>The events have all of them</a>
      )}
    </div>
  );
}
