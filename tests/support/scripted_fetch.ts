/**
 * A homeserver that is a list of answers: it records what it is asked and answers by rule.
 *
 * @module
 */

import { AssertionError } from "@std/assert";
import { HTTPAPI, Session } from "../../src/api/http/mod.ts";
import type { HTTPAPIOptions } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { requestProblems } from "./openapi.ts";

/** A request as it arrived. */
export interface ScriptedRequest {
  /** The HTTP method. */
  method: string;
  /** The path as it stands in the URL, escapes and all. */
  path: string;
  /** The query, without its `?`. */
  query: string;
  /** The headers. */
  headers: Headers;
  /** The body: parsed if it is JSON, else its bytes; undefined without a body. */
  body: unknown;
  /** Aborted when the client gives up. */
  signal: AbortSignal;
}

/** An answer: an object or list is a 200 with that JSON, an error a connection that fails. */
export type Answer = object | Response | Error;

/** How a rule answers: always the same, or as a function says. */
export type Rule = Answer | ((request: ScriptedRequest) => Answer | Promise<Answer>);

/** A session whose homeserver is scripted. */
export interface Scripted {
  /** The session, of `@alice:example.org` unless said otherwise. */
  session: Session;
  /** Its clock. */
  clock: TestClock;
  /** What was asked, in order. */
  requests: ScriptedRequest[];
  /** What was asked, in order: method, path with its escapes resolved, and query. */
  log(): string[];
  /** The body of the request with this number; of the last without one. */
  body(index?: number): unknown;
}

/** How a scripted session is made. */
export interface ScriptedOptions extends Partial<HTTPAPIOptions> {
  /** Who acts. Default: `@alice:example.org`; empty for a user who is yet to be asked for. */
  mxid?: UserID | "";
  /**
   * Whether a request that is not as the specification describes it is reported,
   * and fails the test. Default: true.
   */
  checked?: boolean;
}

/**
 * Makes a session whose homeserver answers by rule. What no rule is for is refused with 404 `M_UNRECOGNIZED`.
 *
 * @param rules The answers by method and path, the path's escapes resolved: `"GET /_matrix/client/versions"`;
 * under `"*"` the answer to everything else.
 * @param options How the session and its transport are made.
 */
export function scripted(rules: Record<string, Rule> = {}, options: ScriptedOptions = {}): Scripted {
  const { mxid = "@alice:example.org", clock = new TestClock(), checked = true, ...rest } = options;
  const requests: ScriptedRequest[] = [];
  const http = new HTTPAPI({
    baseUrl: "https://hs.example.org",
    accessToken: "secret",
    clock,
    log: false,
    ...rest,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const recorded = await record(request, init?.signal ?? request.signal);
      requests.push(recorded);
      if (checked) report(requestProblems({ ...recorded, url: request.url }));
      const rule = rules[`${request.method} ${decodeURIComponent(recorded.path)}`] ?? rules["*"] ??
        refusal(404, "M_UNRECOGNIZED");
      const answer = typeof rule === "function" ? await rule(recorded) : rule;
      if (answer instanceof Error) throw answer;
      return answer instanceof Response ? answer.clone() : Response.json(answer);
    },
  });
  return {
    session: new Session(http, mxid),
    clock: clock as TestClock,
    requests,
    log: () => requests.map(line),
    body: (index = -1) => requests.at(index)?.body,
  };
}

/** A refusal in Matrix's shape. */
export function refusal(
  status: number,
  errcode: string,
  body: object = {},
  headers: HeadersInit = {},
): Response {
  return Response.json({ errcode, error: "No", ...body }, { status, headers });
}

/** A rule that gives one answer after the other, and the last one from then on. */
export function inTurn(...answers: [Answer, ...Answer[]]): Rule {
  let next = 0;
  return () => answers[Math.min(next++, answers.length - 1)] ?? answers[0];
}

/** Moves the clock until a promise settles: for operations that wait between their tries. */
export async function untilSettled<Result>(clock: TestClock, promise: Promise<Result>): Promise<Result> {
  let settled = false;
  promise.then(() => settled = true, () => settled = true);
  for (let minutes = 0; !settled && minutes < 60; minutes++) await clock.tick(60_000);
  return await promise;
}

/** Fails the test: an error thrown here would only be a connection that fails to the client. */
function report(problems: readonly string[]): void {
  if (problems.length > 0) reportError(new AssertionError(problems.join("\n")));
}

async function record(request: Request, signal: AbortSignal): Promise<ScriptedRequest> {
  const { pathname, search } = new URL(request.url);
  const bytes = request.body === null ? undefined : await request.bytes();
  return {
    method: request.method,
    path: pathname,
    query: search.slice(1),
    headers: request.headers,
    body: bytes !== undefined && request.headers.get("content-type") === "application/json"
      ? JSON.parse(new TextDecoder().decode(bytes))
      : bytes,
    signal,
  };
}

function line({ method, path, query }: ScriptedRequest): string {
  return `${method} ${decodeURIComponent(path)}${query === "" ? "" : `?${query}`}`;
}

/** Never answers, until the client gives up. */
export const silent = ({ signal }: ScriptedRequest): Promise<Response> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
