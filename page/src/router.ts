/** Where in the page we are, by the part of the address behind the hash. */
import { signal } from "@preact/signals";

export type Route =
  | { screen: "home" }
  | { screen: "case"; caseId: string; runId: string | null }
  | { screen: "compare"; left: string; right: string }
  | { screen: "see" }
  | { screen: "review" }
  | { screen: "settings" };

const ID = "([0-9a-f]{4,64})";
const CASE = new RegExp(`^/case/${ID}(?:/run/${ID})?$`);
const COMPARE = new RegExp(`^/compare/${ID}/${ID}$`);

export function routeOf(hash: string): Route {
  const path = hash.replace(/^#/, "");
  const found = CASE.exec(path);
  if (found?.[1] !== undefined) return { screen: "case", caseId: found[1], runId: found[2] ?? null };
  const pair = COMPARE.exec(path);
  if (pair?.[1] !== undefined && pair[2] !== undefined) return { screen: "compare", left: pair[1], right: pair[2] };
  if (path === "/see") return { screen: "see" };
  if (path === "/review") return { screen: "review" };
  return path === "/settings" ? { screen: "settings" } : { screen: "home" };
}

export function hashOf(route: Route): string {
  switch (route.screen) {
    case "case":
      return `#/case/${route.caseId}${route.runId === null ? "" : `/run/${route.runId}`}`;
    case "compare":
      return `#/compare/${route.left}/${route.right}`;
    case "see":
      return "#/see";
    case "review":
      return "#/review";
    case "settings":
      return "#/settings";
    case "home":
      return "#/";
  }
}

export const route = signal<Route>(routeOf(location.hash));
addEventListener("hashchange", () => (route.value = routeOf(location.hash)));

export function go(to: Route, { replace = false }: { replace?: boolean } = {}): void {
  if (!replace) {
    location.hash = hashOf(to);
    return;
  }
  history.replaceState(null, "", hashOf(to));
  route.value = to;
}
