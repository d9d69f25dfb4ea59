// Asking the server. The browser's session is a cookie that scripts cannot read; what changes something carries a header that
// other sites cannot send. Errors are the published ones.
import { computed, signal } from "@preact/signals";
import { rightNow, skew } from "./format";
import { parse, stringify, type Json } from "./json";
import { base, query, root, type Query } from "./router";

export type Fields = Record<string, string[]>;

export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    readonly remediation: string | null = null,
    readonly fields: Fields = {},
  ) {
    super(message);
  }
}

/** Whatever was thrown, as what can be said to people. What is no answer of the server is a mistake of the page, and is logged. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  console.error(error);
  return new Refusal(0, "page", String(error));
}

/** Nobody is logged in, or not any more; the sentence says why. null: somebody is. */
export const loggedOut = signal<string | null>(null);
/** The server could not be reached when it was asked last. */
export const unreachable = signal(false);

/** The stream that says what changes is lost, and looked for again. */
export const streamLost = signal(false);
/** What is shown may be old, and what is sent may not arrive. */
export const offline = computed(() => unreachable.value || streamLost.value);

/** How often this page has changed something: what is shown is asked again at once. */
export const written = signal(0);

/** The namespace that the address names. */
export function namespace(): string {
  return query.peek().get("namespace") ?? "default";
}

/** An address below /console/api/ ("runs/a-1") or, with a slash in front, of the published API ("/api/workflows"). */
export function address(where: string, values: Query = {}): string {
  const url = where.startsWith("/") ? new URL(where.slice(1), root) : new URL("api/" + where, base);
  for (const [name, value] of Object.entries(values))
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, String(value));
  return url.href;
}

/** Parts of an address, encoded: at`runs/${id}/spans`. */
export function at(strings: TemplateStringsArray, ...ids: (string | number)[]): string {
  return strings.reduce((text, part, i) => text + encodeURIComponent(String(ids[i - 1])) + part);
}

export function headers(): Record<string, string> {
  return { "X-Namespace": namespace(), "X-Durable-Workflow-Control-Plane-Version": "2", "X-Holdfast-Console": "1" };
}

function read(text: string): Json {
  try {
    return text ? parse(text) : null;
  } catch {
    return null;
  }
}

function answer(response: Response, text: string): Json {
  return response.ok ? read(text) : refused(response, text);
}

/** Throws what the server said; who is not known any more is shown the login. */
export function refused(response: Response, text: string): never {
  const said = (read(text) ?? {}) as Record<string, Json>;
  const refusal = new Refusal(
    response.status,
    String(said.reason ?? "http_" + response.status),
    String(said.message ?? `The server answered ${response.status}.`),
    said.remediation ? String(said.remediation) : null,
    (said.validation_errors ?? {}) as Fields,
  );
  if (response.status === 401) loggedOut.value ??= refusal.message;
  throw refusal;
}

export function ask<T = any>(method: string, where: string, values: Query = {}, body?: unknown, signal?: AbortSignal): Promise<T> {
  return send<T>(method, where, values, body === undefined ? undefined : stringify(body as Json), signal);
}

async function send<T>(method: string, where: string, values: Query, body?: string, signal?: AbortSignal): Promise<T> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(address(where, values), {
      method,
      headers: body === undefined ? headers() : { ...headers(), "Content-Type": "application/json" },
      body,
      credentials: "same-origin",
      signal,
    });
    text = await response.text();
  } catch (fault) {
    if (signal?.aborted) throw fault;
    unreachable.value = true;
    throw new Refusal(0, "unreachable", "The server cannot be reached.");
  }
  unreachable.value = false;
  timed(response);
  return answer(response, text) as T;
}

const ASTRAY_MS = 5000; // an answer says whole seconds, and took some time

/** A clock that somebody sets, or that sleeps with its machine, goes wrong while a page is open: every answer says what time it is. */
function timed(response: Response) {
  const there = Date.parse(response.headers.get("Date") ?? "");
  if (Math.abs(there - rightNow()) > ASTRAY_MS) skew.value = there - Date.now();
}

/** Changes something: what is shown is asked again. */
async function change<T>(method: string, where: string, values: Query, body: unknown): Promise<T> {
  const said = await ask<T>(method, where, values, body);
  written.value++;
  return said;
}

export const get = <T = any>(where: string, values: Query = {}, signal?: AbortSignal) => ask<T>("GET", where, values, undefined, signal);
export const post = <T = any>(where: string, body: unknown = {}, values: Query = {}) => change<T>("POST", where, values, body);
export const put = <T = any>(where: string, body: unknown = {}) => change<T>("PUT", where, {}, body);
export const remove = <T = any>(where: string, values: Query = {}) => change<T>("DELETE", where, values, undefined);
/** A question that is too long for an address: it changes nothing. */
export const question = <T = any>(where: string, body: unknown = {}, values: Query = {}) => ask<T>("POST", where, values, body);
/** A text of JSON as it is. Nothing that is stored changes. */
export const sendFile = <T = any>(where: string, text: string, values: Query = {}) => send<T>("POST", where, values, text);
