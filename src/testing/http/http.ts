/**
 * The way from a request to its answer: routes as data, the table that finds them, the check of the token,
 * and the response that is made of what a handler returns or throws.
 *
 * @module
 */

import { type Answer, Failure, Reply } from "../json/json.ts";
import type { ServerState } from "../server/mod.ts";
import { AuthedRequest, MatrixRequest, type RawRequest } from "./request.ts";

export { ConnectionDropped, injectFault, listenOn, localFetch } from "./local_fetch.ts";
export {
  AuthedRequest,
  bearerOf,
  MatrixRequest,
  notMember,
  notReadable,
  oncePerTransaction,
  parseUserId,
  type RawRequest,
  requireJoined,
  requireKeys,
  requireSeen,
  resolveRoom,
  roomToRead,
  roomToWrite,
  viewerOf,
} from "./request.ts";

/** The HTTP methods that the client-server API uses. */
export type Method = "GET" | "PUT" | "POST" | "DELETE";

/** One row of the routing table. */
export interface Route {
  /** The HTTP method. */
  readonly method: Method;
  /** The pattern: `{name}` stands for one segment, `v3` also answers to `r0`. */
  readonly path: string;
  /** Whether an access token is needed. */
  readonly authed: boolean;
  /**
   * Answers, with `{}` if it returns nothing; a route that needs no token gets a request without a session.
   */
  readonly handle: (request: AuthedRequest) => Answer | void | Promise<Answer>;
}

/**
 * A route that needs an access token. `path` is relative to `/_matrix/client/` unless it starts
 * with a slash.
 */
export function route(method: Method, path: string, handle: Route["handle"]): Route {
  return { method, path: absolute(path), authed: true, handle };
}

/** A route that anyone may call. */
export function openRoute(
  method: Method,
  path: string,
  handle: (request: MatrixRequest) => Answer | Promise<Answer>,
): Route {
  return { method, path: absolute(path), authed: false, handle };
}

function absolute(path: string): string {
  return path.startsWith("/") ? path : `/_matrix/client/${path}`;
}

interface Node {
  readonly literals: Map<string, Node>;
  readonly routes: Map<string, { route: Route; names: readonly string[] }>;
  parameter?: Node;
}

/** A route together with the values of its path parameters. */
interface RouteMatch {
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

const CORS: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, POST, PUT, DELETE, OPTIONS",
  "access-control-allow-headers": "X-Requested-With, Content-Type, Authorization, Date",
};

/** Answers a request. Rejects only when the request is aborted. */
export async function serve(
  server: ServerState,
  router: Router,
  raw: RawRequest,
  onError: (error: unknown) => void,
): Promise<Response> {
  if (raw.method === "OPTIONS") return new Response(null, { status: 204, headers: CORS });
  try {
    return toResponse(await answer(server, router, raw));
  } catch (error) {
    if (error instanceof Failure) return toResponse(new Reply(error.status, error.body, error.headers));
    if (raw.signal.aborted) throw error;
    onError(error);
    return toResponse(new Reply(500, { errcode: "M_UNKNOWN", error: "Internal server error" }));
  }
}

async function answer(server: ServerState, router: Router, raw: RawRequest): Promise<Reply> {
  const { route, params } = router.match(raw.method, raw.url.pathname);
  const request = new MatrixRequest(server, raw, params);
  // The router vouches for this: what needs no token does not look at the session.
  const authed = route.authed ? authenticate(request, params) : request as AuthedRequest;
  const result = await route.handle(authed);
  return result instanceof Reply ? result : new Reply(200, result ?? {});
}

function authenticate(request: MatrixRequest, params: Readonly<Record<string, string>>): AuthedRequest {
  const { server, raw } = request;
  const session = server.appservices.session(request) ?? server.oauth?.find(request.token) ??
    server.sessions.find(request.token);
  session.device.lastSeen = server.now;
  return new AuthedRequest(server, raw, params, session);
}

function toResponse({ status, body, headers }: Reply): Response {
  if (body instanceof Uint8Array) {
    const length = { "content-length": String(body.byteLength) };
    return new Response(body as Uint8Array<ArrayBuffer>, {
      status,
      headers: { ...CORS, ...length, ...headers },
    });
  }
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...CORS, "content-type": "application/json", ...headers },
  });
}
