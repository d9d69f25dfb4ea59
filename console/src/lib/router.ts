// Where we are. Every state that somebody might want to send on is in the address: the page in its path, the rest in its query.
import { computed, signal } from "@preact/signals";

/** The folder of the console, wherever a proxy has put it: the one that this file was loaded from. */
export const base = new URL(".", import.meta.url);
/** The folder of the server's other routes. */
export const root = new URL("..", base);

const address = signal(location.href);

function segments(href: string): string[] {
  const path = new URL(href).pathname;
  if (!path.startsWith(base.pathname)) return [];
  return path
    .slice(base.pathname.length)
    .split("/")
    .filter((part) => part !== "")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

/** The parts of the path below the console, decoded: ["runs", "order-42", "timeline"]. */
export const path = computed(() => segments(address.value));
export const query = computed(() => new URL(address.value).searchParams);

/** One value of the query; "" when it is not there. */
export function param(name: string): string {
  return query.value.get(name) ?? "";
}

export type Query = Record<string, string | number | boolean | null | undefined>;

function fill(search: URLSearchParams, values: Query) {
  for (const [name, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "" || value === false) search.delete(name);
    else search.set(name, value === true ? "1" : String(value));
  }
}

/** The address of a page. Ids may hold anything. The namespace goes along. */
export function href(parts: (string | number)[], values: Query = {}): string {
  const url = new URL(parts.map((part) => encodeURIComponent(part)).join("/"), base);
  fill(url.searchParams, { namespace: query.value.get("namespace"), ...values });
  return url.pathname + url.search;
}

export function go(to: string, replace = false) {
  const url = new URL(to, location.href);
  if (url.href === location.href) return;
  history[replace ? "replaceState" : "pushState"](null, "", url.href);
  const moved = segments(url.href).join("/") !== path.peek().join("/");
  address.value = url.href;
  if (moved && !replace) {
    scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }
}

/** Changes parts of the query and stays on the page. */
export function set(values: Query, replace = false) {
  const url = new URL(address.peek());
  fill(url.searchParams, values);
  go(url.href, replace);
}

/** Where a login link says to begin: `#/runs/order-7` behind it, which stays in the browser. */
function beginning(): string | null {
  if (!location.hash.startsWith("#/")) return null;
  try {
    const to = new URL("." + location.hash.slice(1), base);
    return to.origin === base.origin && to.pathname.startsWith(base.pathname) ? to.href : null;
  } catch {
    return null;
  }
}

/** Links within the console are followed without loading the page again. */
export function start() {
  // Its address is written as the page's first one has it; browsers read it again when that changes.
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (icon) icon.href = icon.href;
  const to = beginning();
  if (to) go(to, true);
  addEventListener("popstate", () => (address.value = location.href));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.("a[href]") as HTMLAnchorElement | null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(base.pathname) || link.pathname.startsWith(base.pathname + "api/")) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    go(link.href);
  });
}
