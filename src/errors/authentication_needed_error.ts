/**
 * The error for a request that requires another authentication.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#user-interactive-authentication-api | User-interactive authentication}
 * @module
 */

import type { JsonObject } from "../types/json.ts";
import type { AuthenticationResponse } from "../types/api/uia.ts";
import { printable } from "./printable.ts";
import { MatrixRequestError, type RequestErrorInit } from "./request_error.ts";

/**
 * The homeserver requires another authentication, which was missing or was not accepted.
 *
 * Mend: Give the option `authentication`, with one of the flows in `challenge`.
 *
 * @example
 * ```ts
 * import { AuthenticationNeededError, Client } from "@greenroom/matrix";
 * import { Homeserver } from "@greenroom/matrix/testing";
 *
 * await using homeserver = new Homeserver();
 * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch });
 * try {
 *   await client.register({ username: "alice", password: "wonderland" });
 * } catch (error) {
 *   if (!(error instanceof AuthenticationNeededError)) throw error;
 *   console.assert(error.challenge.flows[0]?.stages[0] === "m.login.dummy");
 *   await client.register({ username: "alice", password: "wonderland", authentication: {} });
 * }
 * ```
 */
export class AuthenticationNeededError extends MatrixRequestError {
  /** What the homeserver requires: the flows, of which one is enough, and the session. */
  readonly challenge: AuthenticationResponse;

  /**
   * Makes an error of an answer.
   *
   * @param init What was asked and what was answered.
   */
  constructor(init: RequestErrorInit) {
    super(init);
    this.challenge = challengeIn(init) ?? { flows: [] };
    const ways = this.challenge.flows.map(({ stages }) => stages.join(" and ") || "nothing");
    this.message =
      `Cannot ${init.operation} (${init.method} ${init.path}): the homeserver wants to be shown ${
        printable(ways.join(", or ")) || "nothing that is known"
      }; give it by the option authentication`;
  }
}

/** What the homeserver requires, if an answer is such a challenge. */
export function challengeIn(
  { status, body }: Pick<RequestErrorInit, "status" | "body">,
): AuthenticationResponse | undefined {
  const { flows, params, session, completed } = body;
  if (status !== 401 || !Array.isArray(flows)) return undefined;
  return {
    flows: flows.filter(isObject).map(({ stages }) => ({ stages: strings(stages) })),
    params: isObject(params) ? params as { [stage: string]: JsonObject } : {},
    session: typeof session === "string" ? session : undefined,
    completed: strings(completed),
  };
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
