/**
 * An actor that a test plays.
 *
 * @module
 */

import type { ActorRef } from "../../src/actors/kernel/mod.ts";

/** A reference of an actor each of whose messages a function answers. */
// deno-lint-ignore no-explicit-any -- a fake of all kinds of message
export function answeredBy<H>(answer: (kind: string, body: any) => Promise<any>): ActorRef<H> {
  return new Proxy({}, {
    get: (_, kind) => kind === "then" ? undefined : (body: unknown) => answer(String(kind), body),
  }) as ActorRef<H>;
}
