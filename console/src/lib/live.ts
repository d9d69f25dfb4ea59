// What is shown, kept true. One stream a tab says which topics may have changed; what is shown of them is asked again. A proxy
// that swallows streams is noticed, and the same is asked for in long polls; a server without either is asked now and then.
import { computed, effect, signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { address, get, headers, loggedOut, namespace, Refusal, refusalOf, refused, streamLost, unreachable, written } from "./api";
import { now, rightNow } from "./format";
import { live } from "./prefs";
import { query } from "./router";
import { has, me } from "./session";

type State = "live" | "connecting" | "waiting" | "paused" | "polling";

const state = signal<State>("connecting");
const retryAt = signal(0);
export const lastChange = signal<{ id: number; at: number } | null>(null);

const hidden = signal(document.hidden);
document.addEventListener("visibilitychange", () => (hidden.value = document.hidden));

/** The words beside the dot. */
export const liveWord = computed(() => {
  if (live.value === "off") return "paused";
  if (unreachable.value || state.value === "waiting") {
    const seconds = Math.max(0, Math.ceil((retryAt.value - now.value) / 1000));
    return seconds ? `reconnecting in ${seconds}\u00a0s` : "reconnecting";
  }
  return state.value === "connecting" ? "connecting" : "live";
});
effect(() => {
  streamLost.value = state.value === "waiting";
});

// ---- who listens

interface Listener {
  topics: string[];
  changed: (message: any) => void;
  since?: number | null; // the newest change that was known when it asked, until a stream tells it of all since; null: none was
}
const listeners = new Set<Listener>();
const wanted = signal("");
let regather = 0;

function gather() {
  clearTimeout(regather);
  regather = window.setTimeout(() => {
    wanted.value = [...new Set([...listeners].flatMap((l) => l.topics))].sort().join(",");
  }, 30);
}

function tell(topics: string[], message: any) {
  for (const listener of [...listeners])
    if (listener.topics.some((topic) => topics.includes(topic) || topics.includes(topic.split("/")[0]!))) listener.changed(message);
}

const everything = () => wanted.peek().split(",");

/** From which change on a stream has to tell, also if it is cut before it does: what came between a question and it is not lost. */
function after() {
  for (const { since } of listeners) if (typeof since === "number" && lastId !== null) lastId = Math.min(lastId, since);
  return lastId;
}

/** The topics are followed from now on. Who asked before any change had a number was told of none, and asks again. */
function begun(topics: string, told = false) {
  const all = topics.split(",");
  for (const listener of [...listeners]) {
    if (listener.since === undefined || !listener.topics.every((topic) => all.includes(topic))) continue;
    if (listener.since === null && !told) listener.changed({});
    listener.since = undefined;
  }
}

// ---- the connection

const SILENT_MS = 6000; // a stream that has not said hello by then is swallowed somewhere
const BEAT_MS = 40000; // and one that says nothing for so long is dead: a comment comes every 15 s
const SLOW_MS = 10000;
let swallowed = false;
let lastId: number | null = null;

const pause = (ms: number, stop: AbortSignal) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    stop.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });

function arrived(topics: string, event: string, data: any, id: number | null) {
  if (id !== null) lastId = id;
  if (event === "hello") {
    if (typeof data.id === "number") lastId ??= data.id;
    begun(topics);
    state.value = "live";
  } else if (event === "change") {
    lastChange.value = { id: id ?? 0, at: rightNow() };
    tell(data.topics ?? [], data);
  } else if (event === "error") {
    if (data.reason === "unauthenticated") loggedOut.value = data.message;
    throw new Refusal(0, data.reason ?? "stream", data.message ?? "The stream ended.");
  }
}

async function stream(topics: string, stop: AbortSignal) {
  const inner = new AbortController();
  const end = () => inner.abort();
  let timer = window.setTimeout(() => ((swallowed = true), end()), SILENT_MS);
  stop.addEventListener("abort", end, { once: true });
  try {
    const response = await fetch(address("stream", { topics, after: after() }), {
      headers: { ...headers(), Accept: "text/event-stream" },
      signal: inner.signal,
    });
    if (!response.ok) refused(response, await response.text());
    if (!response.body) throw new Refusal(response.status, "stream", "no stream");
    unreachable.value = false;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = window.setTimeout(end, BEAT_MS);
      rest += value;
      const messages = rest.split(/\r?\n\r?\n/);
      rest = messages.pop()!;
      for (const message of messages) {
        let event = "message";
        let data = "";
        let id: number | null = null;
        for (const line of message.split(/\r?\n/)) {
          if (line.startsWith("event:")) event = line.slice(6).trim();
          else if (line.startsWith("data:")) data += line.slice(5).trim();
          else if (line.startsWith("id:")) id = Number(line.slice(3).trim());
        }
        if (data) arrived(topics, event, JSON.parse(data), id);
      }
    }
  } finally {
    clearTimeout(timer);
    stop.removeEventListener("abort", end);
    inner.abort();
  }
}

async function longPoll(topics: string, stop: AbortSignal) {
  const answer = await get("changes", { topics, after: after(), wait_timeout_seconds: 20 }, stop); // at once, if no change is known
  begun(topics, true);
  state.value = "live";
  if (answer.changed?.length) arrived(topics, "change", { ...answer, topics: answer.changed }, answer.id);
  lastId = answer.id;
}

async function run(topics: string, stop: AbortSignal) {
  let failures = 0;
  while (!stop.aborted) {
    const began = Date.now();
    try {
      if (!has("stream")) {
        state.value = unreachable.peek() ? "waiting" : "live";
        retryAt.value = rightNow() + SLOW_MS;
        await pause(SLOW_MS, stop);
        if (!stop.aborted) tell(everything(), {});
        continue;
      }
      if (swallowed) await longPoll(topics, stop);
      else await stream(topics, stop);
    } catch (fault) {
      if (stop.aborted) return;
      if (swallowed && !(fault instanceof Refusal)) continue; // tried the other way at once
      failures++;
    }
    if (stop.aborted || loggedOut.peek() !== null) return;
    if (swallowed && failures === 0) continue;
    if (Date.now() - began > 30000) failures = 1;
    const wait = Math.min(30000, 500 * 2 ** Math.min(failures, 6));
    state.value = "waiting";
    retryAt.value = rightNow() + wait;
    await pause(wait, stop);
  }
}

effect(() => {
  const topics = wanted.value;
  const on = topics !== "" && live.value === "on" && !hidden.value && me.value !== null;
  query.value.get("namespace");
  if (!on) {
    if (state.peek() === "waiting") state.value = "connecting"; // nobody looks for it: it is not known to be lost
    return;
  }
  const stop = new AbortController();
  void run(topics, stop.signal);
  return () => stop.abort();
});

/** Hears of changes of topics as long as the component is there. */
export function useTopics(topics: string[], changed: (message: any) => void) {
  const hear = useRef(changed);
  hear.current = changed;
  const key = topics.join(",");
  useEffect(() => {
    const listener: Listener = { topics, changed: (message) => hear.current(message), since: lastId };
    listeners.add(listener);
    gather();
    return () => {
      listeners.delete(listener);
      gather();
    };
  }, [key]);
}

export interface Data<T> {
  data: T | null; // the newest there is; old while new is on its way
  stale: boolean; // the data answer the question before this one
  fault: Refusal | null; // why the last question was not answered
  loading: boolean; // nothing is there yet
  slow: boolean; // and that has taken so long that bones are shown
  at: number | null; // when `data` came
  again: () => void;
}

const REST_MS = 300;
const REST = 9; // times as long as an answer took: one tenth of the time is spent on a question
const REST_MS_MAX = 10000;

/** Asks, and asks again when one of the topics changed. `key` names what is asked: another key is another thing; null: nothing. */
export function useData<T>(key: string | null, fetch: (stop: AbortSignal) => Promise<T>, topics: string[] = []): Data<T> {
  const space = namespace();
  const whole = key === null ? null : space + " " + key;
  const [shown, show] = useState<{ key: string | null; data: T | null; fault: Refusal | null; at: number | null }>({
    key: null,
    data: null,
    fault: null,
    at: null,
  });
  const [slow, setSlow] = useState(false);
  const asking = useRef({ busy: false, again: false, changed: false, timer: 0, rest: 0, fetch, key: whole });
  asking.current.fetch = fetch;
  asking.current.key = whole;

  const again = useMemo(
    () => async () => {
      const self = asking.current;
      if (self.key === null) return;
      if (self.busy) {
        self.again = true;
        return;
      }
      self.busy = true;
      clearTimeout(self.timer);
      self.timer = 0;
      do {
        self.again = self.changed = false;
        const asked: string | null = self.key;
        if (asked === null) break;
        const began = performance.now();
        try {
          const data = await self.fetch(new AbortController().signal);
          if (self.key === asked) show({ key: asked, data, fault: null, at: rightNow() });
        } catch (fault) {
          const refusal = refusalOf(fault);
          if (self.key === asked) show((was) => ({ key: asked, data: was.key === asked ? was.data : null, fault: refusal, at: was.at }));
        }
        const end = performance.now();
        self.rest = end + Math.min(REST_MS_MAX, Math.max(REST_MS, REST * (end - began)));
        if (self.key !== asked) self.again = self.key !== null;
      } while (self.again);
      self.busy = false;
      if (self.changed) later();
    },
    [],
  );
  /** What changed is asked for when the question has rested, so that a burst is one question and a page is no burden to the server. */
  const later = useMemo(
    () => () => {
      const self = asking.current;
      if (self.busy) self.changed = true;
      else self.timer ||= window.setTimeout(() => void again(), Math.max(0, self.rest - performance.now()));
    },
    [],
  );

  useEffect(() => () => void (asking.current.key = null), []); // nobody asks any more
  useEffect(() => {
    setSlow(false);
    if (whole === null) return;
    const timer = setTimeout(() => setSlow(true), 200);
    void again();
    return () => clearTimeout(timer);
  }, [whole]);
  useTopics(whole === null ? [] : topics, (message) => (message.written ? void again() : later()));
  const fresh = shown.key === whole;
  return {
    data: shown.data,
    stale: shown.data !== null && !fresh,
    fault: fresh ? shown.fault : null,
    loading: !shown.data && !(fresh && shown.fault),
    slow: slow && !shown.data && !shown.fault,
    at: shown.at,
    again,
  };
}

addEventListener("focus", () => {
  if (!has("stream") && live.peek() === "on" && wanted.peek()) tell(everything(), {});
});

effect(() => {
  if (written.value) setTimeout(() => tell(everything(), { written: true })); // somebody looks at what it did, and whoever left by it is gone
});
