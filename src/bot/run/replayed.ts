/**
 * What a step of an earlier run came to.
 *
 * @module
 */

import type { Step } from "./run_record.ts";
import { ConversationEndedError, ConversationError } from "./errors.ts";
import { revivedError } from "./kept_error.ts";

/**
 * What a step came to.
 *
 * @param step The step of the earlier run.
 * @param kind What it is now.
 * @param at Its place.
 * @returns A copy of what it returned.
 * @throws What it threw; {@link ConversationError} if the functions go another way now.
 */
export function replayed(step: Step | undefined, kind: string, at: number): unknown {
  if (step === undefined || step.kind !== kind) {
    throw new ConversationError(
      `Cannot go on with a conversation: step ${at + 1} was "${step?.kind}", and is "${kind}" now; ` +
        "what comes between two questions must not depend on time, chance or other data, unless c.step() reads it",
    );
  }
  if (step.end !== undefined) throw new ConversationEndedError(step.end);
  if (step.error !== undefined) throw revivedError(step.error);
  return structuredClone(step.value);
}

/**
 * Checks that the functions of a conversation came as far as before.
 *
 * @throws {ConversationError} If they ended earlier.
 */
export function checkReplayed({ isReplaying }: { readonly isReplaying: boolean }): void {
  if (!isReplaying) return;
  throw new ConversationError(
    "Cannot go on with a conversation: no function did what was done in it before; keep its command, and what leads " +
      "to it, as long as somebody may answer",
  );
}
