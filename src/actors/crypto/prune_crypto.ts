/**
 * Has the Crypto actor let go of what it need not keep any more, step by step.
 *
 * @module
 */

import type { PruneOptions, PruneReport } from "../../crypto/engine/engine_protocol.ts";
import type { ActorRef } from "../kernel/actor.ts";
import type { CryptoProtocol } from "./crypto_protocol.ts";

/**
 * Asks until it is done. What else the actor is asked comes in between: no step takes long.
 *
 * @param crypto The actor, which has been opened.
 * @param options Whether to do it even if it was done today.
 * @returns How many records were removed in all, by their kind.
 */
export async function pruneCrypto(
  crypto: Pick<ActorRef<CryptoProtocol>, "ask">,
  options: PruneOptions = {},
): Promise<PruneReport> {
  const removed: Record<string, number> = {};
  for (;;) {
    const step = await crypto.ask("prune", options);
    for (const [kind, count] of Object.entries(step.removed)) removed[kind] = (removed[kind] ?? 0) + count;
    if (step.done) return { done: true, removed };
  }
}
