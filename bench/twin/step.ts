/** What is sent to both homeservers. */

import type { JsonObject } from "../../src/types/json.ts";

/**
 * A request to any homeserver. What a server makes is named by the request whose answer has it:
 * `{{3.room_id}}` is the member `room_id` of the answer to request 3, `*` stands for the first
 * member whatever its name, and `{{run}}` for letters that no other run has.
 */
export interface Step {
  /** Its number; it stays when others are left out. */
  readonly id: number;
  /** The access token. */
  readonly token?: string;
  /** The HTTP method. */
  readonly method: string;
  /** The path, a segment at a time. */
  readonly path: readonly string[];
  /** The query. */
  readonly query?: Readonly<Record<string, string>>;
  /** The body as JSON. */
  readonly body?: unknown;
  /** The body as text, in place of JSON. */
  readonly text?: string;
  /**
   * The content type.
   *
   * @default {"application/json"}
   */
  readonly type?: string;
  /** A request that is sent at the same time. */
  readonly beside?: Step;
}

/** What a homeserver answered. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** The body; what is not JSON, as text with its content type. */
  readonly body: unknown;
}

/** What both answered to a request, made comparable. */
export interface Compared {
  readonly step: Step;
  readonly ours: Answer;
  readonly theirs: Answer;
  /** The rooms that upgrades have made so far. */
  readonly upgraded: readonly string[];
  /** Whether it goes on from an answer that came while the homeserver had another request. */
  readonly isSinceBeside: boolean;
}

/** The request and those beside it. */
export function flat(step: Step): Step[] {
  return step.beside === undefined ? [step] : [step, step.beside];
}

/** An object, or an empty one in place of anything else. */
export function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? value as JsonObject : {};
}

/** A request on one line. */
export function describeStep(step: Step): string {
  const query = Object.entries(step.query ?? {}).map(([key, value]) => `${key}=${value}`).join("&");
  const body = step.text ?? (step.body === undefined ? "" : JSON.stringify(step.body));
  const line =
    `${step.id}: ${step.method} /${step.path.join("/")}${query === "" ? "" : `?${query}`} ${body} ` +
    `(${step.token ?? "no token"})`;
  return step.beside === undefined ? line : `${line}\n  beside ${describeStep(step.beside)}`;
}
