/**
 * Finds the route of a request: a trie over path segments, so that the number of routes costs
 * nothing.
 *
 * @module
 */

import { Failure } from "./failure.ts";
import type { Route } from "./route.ts";

interface Node {
  readonly literals: Map<string, Node>;
  readonly routes: Map<string, { route: Route; names: readonly string[] }>;
  parameter?: Node;
}

/** A route together with the values of its path parameters. */
interface RouteMatch {
  /** The route. */
  readonly route: Route;
  /** The decoded path parameters by name. */
  readonly params: Readonly<Record<string, string>>;
}

/** A compiled routing table. */
export class Router {
  readonly #root: Node = newNode();

  /** Compiles the table. */
  constructor(routes: Iterable<Route>) {
    for (const route of routes) {
      this.#add(route, route.path.split("/").slice(1));
      // r0 was the name of v3 before the specification had versions; Synapse answers to both.
      if (route.path.includes("/v3/")) {
        this.#add(route, route.path.replace("/v3/", "/r0/").split("/").slice(1));
      }
    }
  }

  /**
   * The route of a request, or a 404 for an unknown path and a 405 for a known one with another
   * method.
   */
  match(method: string, path: string): RouteMatch {
    const values: string[] = [];
    const node = find(this.#root, path.split("/").slice(1), 0, values);
    if (node === undefined || node.routes.size === 0) {
      throw new Failure(404, "M_UNRECOGNIZED", "Unrecognized request");
    }
    const entry = node.routes.get(method);
    if (entry === undefined) throw new Failure(405, "M_UNRECOGNIZED", "Unrecognized request");
    return {
      route: entry.route,
      params: Object.fromEntries(entry.names.map((name, i) => [name, values[i] ?? ""])),
    };
  }

  #add(route: Route, segments: readonly string[]): void {
    const names: string[] = [];
    let node = this.#root;
    for (const segment of segments) {
      if (segment.startsWith("{")) {
        names.push(segment.slice(1, -1));
        node = node.parameter ??= newNode();
      } else {
        const next = node.literals.get(segment) ?? newNode();
        node.literals.set(segment, next);
        node = next;
      }
    }
    node.routes.set(route.method, { route, names });
  }
}

function newNode(): Node {
  return { literals: new Map(), routes: new Map() };
}

function find(node: Node, segments: readonly string[], index: number, values: string[]): Node | undefined {
  const segment = segments[index];
  if (segment === undefined) return node.routes.size > 0 ? node : undefined;
  const literal = node.literals.get(segment);
  if (literal !== undefined) {
    const found = find(literal, segments, index + 1, values);
    if (found !== undefined) return found;
  }
  if (node.parameter === undefined) return undefined;
  values.push(decode(segment));
  const found = find(node.parameter, segments, index + 1, values);
  if (found === undefined) values.pop();
  return found;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Failure(404, "M_UNRECOGNIZED", "Unrecognized request");
  }
}
