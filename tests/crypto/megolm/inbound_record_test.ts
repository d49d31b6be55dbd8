/** What a session's record tells of it. */

import { assertEquals } from "@std/assert";
import {
  type Claimed,
  type InboundRecord,
  isShareable,
  mergeRatchets,
} from "../../../src/crypto/megolm/inbound_record.ts";
import { ALICE } from "./support.ts";
import type { InboundGroupSession, SessionOrdering } from "@greenroom/vodozemac-wasm";

Deno.test("a session's key goes to users who are invited later if all who sent it allow it", () => {
  const device = { senderKey: "", senderEd25519: "" };
  const open = { ...device, userId: ALICE, sharedHistory: true };
  const closed = { ...open, sharedHistory: false };
  const said = { ...device, source: "backup" } as const;
  const met = { ...said, sharedHistory: true, isMet: true } as const;
  const unused = { userId: ALICE, number: 0 };
  const rows: [claimed: Claimed, isShareable: boolean][] = [
    [{ claims: [] }, false],
    [{ claims: [], hearsay: [{ ...said, sharedHistory: true }] }, true],
    [{ claims: [], hearsay: [{ ...said, sharedHistory: false }] }, false],
    [{ claims: [], hearsay: [{ ...said, sharedHistory: true }, { ...said, sharedHistory: false }] }, false],
    [{ claims: [open] }, true],
    [{ claims: [open], hearsay: [{ ...said, sharedHistory: false }] }, true],
    [{ claims: [closed], hearsay: [{ ...said, sharedHistory: true }] }, false],
    [{ claims: [open, closed] }, false],
    [{ claims: [open], others: { count: 1, sharedHistory: true } }, true],
    [{ claims: [open], others: { count: 1, sharedHistory: false } }, false],
    // Who merely claims the session changes nothing of what delivered messages have shown.
    [{ claims: [closed], unused, hearsay: [met] }, true],
    [{ claims: [open], unused, hearsay: [{ ...met, sharedHistory: false }] }, false],
    [{ claims: [], hearsay: [met, { ...said, sharedHistory: false }] }, true],
    [{ claims: [closed], hearsay: [met] }, false],
  ];
  for (const [claimed, expected] of rows) {
    const record: InboundRecord = { state: new Uint8Array(), firstIndex: 0, ...claimed };
    assertEquals(isShareable(record), expected, JSON.stringify(claimed));
  }
});

/** A key from index 5 on comes for a session that is there. */
function merge({ ordering, isSigned, known, laterOn = "unconnected" }: {
  readonly ordering: SessionOrdering;
  readonly isSigned: boolean;
  /** The index from which on the ratchet that is there is signed. */
  readonly known?: number;
  /** How the two compare at that index. */
  readonly laterOn?: SessionOrdering;
}) {
  let advancedTo: number | undefined;
  const proven = {
    advanceTo: (index: number) => advancedTo = index,
    [Symbol.dispose]: () => {},
  } as unknown as InboundGroupSession;
  const there = { clone: () => proven } as unknown as InboundGroupSession;
  const come = {
    firstKnownIndex: 5,
    compare: (other: InboundGroupSession) =>
      other === there ? ordering : advancedTo === known ? laterOn : "unconnected",
  } as unknown as InboundGroupSession;
  const record = { signedFrom: known } as InboundRecord;
  return mergeRatchets(come, { isSigned, before: { session: there, record } });
}

Deno.test("of two ratchets that connect, the earlier stays, signed from the earliest index of both", () => {
  for (const [ordering, isBetter] of [["better", true], ["worse", false], ["equal", false]] as const) {
    assertEquals(merge({ ordering, isSigned: false }), { isBetter, signedFrom: undefined });
    assertEquals(merge({ ordering, isSigned: true }), { isBetter, signedFrom: 5 });
    assertEquals(merge({ ordering, isSigned: false, known: 3 }), { isBetter, signedFrom: 3 });
    assertEquals(merge({ ordering, isSigned: true, known: 3 }), { isBetter, signedFrom: 3 });
    assertEquals(merge({ ordering, isSigned: true, known: 7 }), { isBetter, signedFrom: 5 });
  }
});

Deno.test("of two ratchets that do not connect, a signed one replaces an unsigned one", () => {
  const ordering = "unconnected";
  assertEquals(merge({ ordering, isSigned: true }), { isBetter: true, signedFrom: 5 });
  assertEquals(merge({ ordering, isSigned: false }), undefined);
  assertEquals(merge({ ordering, isSigned: false, known: 7 }), undefined);
});

Deno.test("a ratchet that is signed gives way only to one that is from an earlier index on, and comes to the same", () => {
  const [ordering, isSigned] = ["unconnected", true] as const;
  for (const known of [3, 5]) assertEquals(merge({ ordering, isSigned, known, laterOn: "equal" }), undefined);
  assertEquals(merge({ ordering, isSigned, known: 7, laterOn: "equal" }), { isBetter: true, signedFrom: 5 });
  assertEquals(merge({ ordering, isSigned, known: 7, laterOn: "unconnected" }), undefined);
});
