// Who is here, and what they may do.
import { computed, signal } from "@preact/signals";
import { get, loggedOut, offline, post, Refusal } from "./api";
import { moment, now, skew } from "./format";
import { query, set } from "./router";

export interface Me {
  principal: { id: string; label: string; role: string; method: string };
  can: { read: boolean; operate: boolean; administer: boolean };
  namespaces: string[];
  namespace: string;
  server: { version: string; started_at: string; time: string; store: string; auth: string };
  environment: { name: string; color: string } | null;
  features: string[];
}

export const me = signal<Me | null>(null);
/** The first answer is in: show the page, or the login. */
export const known = signal(false);
export const can = computed(() => me.value?.can ?? { read: false, operate: false, administer: false });

/** Why nothing can be sent at all now; undefined when it can. */
export const away = computed(() => (offline.value ? "The server cannot be reached: what is shown may be old, and nothing is sent until it is back." : undefined));

/** Why a button that changes something is not for this person, or not for now; undefined when it is. */
export const readOnly = computed(() =>
  away.value ? away.value : me.value && !me.value.can.operate ? `The role ${me.value.principal.role} cannot change anything; it takes operator.` : undefined,
);

/** The same of what only an admin does. */
export const notAdmin = computed(() => away.value ?? (can.value.administer ? null : "It takes the role admin."));

export function has(feature: string): boolean {
  return me.value?.features.includes(feature) ?? false;
}

function arrived(answer: Me) {
  const there = moment(answer.server.time);
  if (there !== null) {
    skew.value = there - Date.now();
    now.value = there;
  }
  // who may not see the default namespace begins in one that they may see
  if (!query.peek().has("namespace") && answer.namespace && answer.namespace !== "default") set({ namespace: answer.namespace }, true);
  me.value = answer;
  loggedOut.value = null;
}

export async function whoAmI() {
  try {
    arrived(await get<Me>("me"));
  } catch (fault) {
    if (fault instanceof Refusal && fault.status === 401) loggedOut.value = "";
    else throw fault;
  } finally {
    known.value = true;
  }
}

export async function login(token: string) {
  arrived(await post<Me>("login", { token: token.trim() }));
}

export async function logout() {
  await post("logout");
  me.value = null;
  loggedOut.value = "";
}
