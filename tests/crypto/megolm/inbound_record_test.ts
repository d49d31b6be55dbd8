/** What a session's record tells of it. */

import { assertEquals } from "@std/assert";
import { type Claimed, type InboundRecord, isShareable } from "../../../src/crypto/megolm/inbound_record.ts";
import { ALICE } from "./support.ts";

Deno.test("a session's key goes to users who are invited later if all who sent it have said so", () => {
  const device = { senderKey: "", senderEd25519: "" };
  const open = { ...device, userId: ALICE, sharedHistory: true };
  const closed = { ...open, sharedHistory: false };
  const said = { ...device, source: "backup" } as const;
  const rows: [claimed: Claimed, isShareable: boolean][] = [
    [{ claims: [] }, false],
    [{ claims: [], hearsay: { ...said, sharedHistory: true } }, true],
    [{ claims: [], hearsay: { ...said, sharedHistory: false } }, false],
    [{ claims: [open] }, true],
    [{ claims: [open], hearsay: { ...said, sharedHistory: false } }, true],
    [{ claims: [closed], hearsay: { ...said, sharedHistory: true } }, false],
    [{ claims: [open, closed] }, false],
    [{ claims: [open], others: { count: 1, sharedHistory: true } }, true],
    [{ claims: [open], others: { count: 1, sharedHistory: false } }, false],
  ];
  for (const [claimed, expected] of rows) {
    const record: InboundRecord = { state: new Uint8Array(), firstIndex: 0, ...claimed };
    assertEquals(isShareable(record), expected, JSON.stringify(claimed));
  }
});
