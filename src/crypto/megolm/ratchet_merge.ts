/**
 * What becomes of two ratchets of one Megolm session.
 *
 * @module
 */

import type { InboundGroupSession } from "@greenroom/vodozemac-wasm";
import type { InboundRecord } from "./inbound_record.ts";

/** What was there before. */
export interface KnownRatchet {
  /** The session. */
  readonly session: InboundGroupSession;
  /** Its record. */
  readonly record: Pick<InboundRecord, "signedFrom">;
}

/** What is to be kept. */
export interface MergedRatchet {
  /** Whether the new ratchet takes the place of what was there. */
  readonly isBetter: boolean;
  /** The index from which on the session's own key has signed what is kept; undefined: from none on. */
  readonly signedFrom: number | undefined;
}

/**
 * Decides between what is known of a session and a key that has come. Of ratchets that fit each other the one that begins earlier
 * stays. Of those that do not, the one stays that the session's own key has signed, for as far back as it has: nobody but the owner
 * can sign one, and anybody can spoil one that is not signed. Where neither is proved, or both are, the first stays.
 *
 * @returns Undefined if the key is to be refused.
 */
export function mergeRatchets(
  session: InboundGroupSession,
  { isSigned, before }: { readonly isSigned: boolean; readonly before: KnownRatchet | undefined },
): MergedRatchet | undefined {
  const signedFrom = isSigned ? session.firstKnownIndex : undefined;
  if (before === undefined) return { isBetter: true, signedFrom };
  const { signedFrom: known } = before.record;
  const ordering = session.compare(before.session);
  if (ordering !== "unconnected") {
    return { isBetter: ordering === "better", signedFrom: earliest(known, signedFrom) };
  }
  if (signedFrom === undefined) return undefined;
  if (known !== undefined) {
    if (known <= signedFrom) return undefined;
    using proven = before.session.clone();
    proven.advanceTo(known);
    if (session.compare(proven) === "unconnected") return undefined;
  }
  return { isBetter: true, signedFrom };
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? one ?? other : Math.min(one, other);
}
