// Time travel: every tab as it was after an event. Nothing can be done to an earlier moment but fork from it.
import { useEffect, useRef } from "preact/hooks";
import { moment, number, shownMoment } from "../lib/format";
import { useKey } from "../lib/keys";
import { set } from "../lib/router";
import { Button, Icon, Time } from "../ui/basic";
import { askCopy, refused } from "./actions";
import { usePart, type Place } from "./place";

export function Travel({ place, head }: { place: Place; head: any }) {
  const window = usePart({ ...place, at: "" }, "events", { limit: 1, order: "desc" });
  const last: number = window.data?.last_sequence ?? head.counts?.events ?? head.last_history_sequence ?? 1;
  const at = place.at ? Math.min(last, Number(place.at)) : last;
  const timer = useRef(0);
  const to = (sequence: number) => set({ at: sequence >= last ? null : Math.max(1, sequence) }, true);
  useKey("[", () => to(at - 1));
  useKey("]", () => to(at + 1));
  useKey("t", () => to(place.at ? last : last - 1));
  const shown = usePart(place, place.at ? "events" : null, { after: at - 1, limit: 1 });
  const event = place.at ? shown.data?.events?.[0] : null;
  const end = window.data?.events?.[0];
  const frozen = place.at ? moment(event?.recorded_at) : place.bundle ? moment(end?.recorded_at) : null;
  useEffect(() => {
    shownMoment.value = frozen;
    return () => void (shownMoment.value = null);
  }, [frozen]);
  return (
    <div class="scrub" role="group" aria-label="Time travel">
      <span class="row nowrap">
        <Button square size="small" class="hide-s" label="First event" why={at <= 1 ? "This is the first event." : null} onClick={() => to(1)}>
          <Icon name="first" />
        </Button>
        <Button square size="small" label="Previous event" why={at <= 1 ? "This is the first event." : null} onClick={() => to(at - 1)}>
          <Icon name="prev" />
        </Button>
        <Button square size="small" label="Next event" why={at >= last ? "This is the newest event." : null} onClick={() => to(at + 1)}>
          <Icon name="next" />
        </Button>
        <Button square size="small" class="hide-s" label="Newest event" why={at >= last ? "This is the newest event." : null} onClick={() => to(last)}>
          <Icon name="last" />
        </Button>
      </span>
      <span class="nw sm">
        event {number(at)} of {number(last)}
      </span>
      <input
        class="slider"
        type="range"
        min={1}
        max={last}
        value={at}
        aria-label="Event"
        aria-valuetext={place.at ? `event ${at} of ${last}${event ? ", " + event.type : ""}` : "now"}
        onInput={(input) => {
          const value = Number(input.currentTarget.value);
          clearTimeout(timer.current);
          timer.current = globalThis.setTimeout(() => to(value), 120) as unknown as number;
        }}
      />
      <span class="d sm nw long">{place.at ? event ? <>{event.type}, <Time at={event.recorded_at} /></> : "" : place.bundle ? "the end of the file" : head.closed_at ? "the end" : "now, live"}</span>
      {!place.bundle && <Button size="small" class="hide-s" why={refused({ ...head, actions: place.at ? {} : head.actions }, "fork")} onClick={() => askCopy(head, "fork", event?.workflow_sequence ?? null)}>
        <Icon name="fork" /> Fork from here…
      </Button>}
    </div>
  );
}

export function TravelBanner({ place }: { place: Place }) {
  if (!place.at) return null;
  return (
    <div class="note running" role="status">
      <Icon name="clock" />
      <div class="grow">
        <b class="b">As of event {place.at}, not now.</b> <span class="d">Nothing can be done to an earlier moment.</span>
      </div>
      <Button size="small" onClick={() => set({ at: null }, true)}>
        {place.bundle ? "To the end" : "Back to now"}
      </Button>
    </div>
  );
}
