/** The ratchets of own group sessions. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { invalidate, outboundCheckpointKey } from "../../../src/crypto/sharing/outbound_record.ts";
import { outboundKey } from "../../../src/crypto/sharing/mod.ts";
import { Transaction } from "../../../src/crypto/records/mod.ts";
import { RecentMap } from "../../../src/base/recent_map.ts";
import { testContext } from "../support/context.ts";
import { memoryVault } from "../support/vault.ts";
import { FakeCopies } from "./fakes.ts";
import { ROOM } from "./room.ts";
import { Stage } from "./stage.ts";
import type { InboundSessions } from "../../../src/crypto/megolm/mod.ts";
import { GroupSessions } from "../../../src/crypto/sharing/group_sessions.ts";

Deno.test("a record's events are encrypted with its own session, whichever session of the room is in memory", async () => {
  const context = testContext();
  const inbound = new FakeCopies();
  const groups = new GroupSessions(context, inbound as unknown as InboundSessions);
  const settings = {
    algorithm: "m.megolm.v1.aes-sha2",
    rotationPeriodMs: 1e9,
    rotationPeriodMsgs: 100,
    historyVisibility: "joined",
  } as const;
  const tx = new Transaction(memoryVault(), new RecentMap(10));
  const first = await groups.create(tx, { roomId: ROOM, settings, previous: undefined });
  const second = await groups.create(tx, { roomId: ROOM, settings, previous: first });
  await tx.commit();
  for (const record of [first, second, first]) {
    const { ciphertext } = groups.encrypt(tx, { key: outboundKey(ROOM), record }, "hello");
    const copy = inbound.added.map(({ sessionKey }) => context.vodozemac.megolm.createInbound(sessionKey))
      .find(({ sessionId }) => sessionId === record.sessionId);
    assertEquals(copy && new TextDecoder().decode(copy.decrypt(ciphertext).plaintext), "hello");
    assertEquals(
      await groups.key(tx, { roomId: ROOM, record }, record.messages).then(isKeyOf),
      record.sessionId,
    );
  }

  function isKeyOf(sessionKey: string | undefined): string | undefined {
    if (sessionKey === undefined) return undefined;
    using session = context.vodozemac.megolm.createInbound(sessionKey);
    return session.sessionId;
  }
});

Deno.test("a session from before checkpoints were written is not taken for one that was put back", async () => {
  const stage = await Stage.open();
  await stage.send();
  const wasPutBack = () => stage.step((tx) => stage.outbound.wasPutBack(tx, ROOM));
  await stage.restart();
  assertFalse(await wasPutBack());
  await stage.step((tx) => tx.delete(outboundCheckpointKey(ROOM)));
  await stage.restart();
  assertFalse(await wasPutBack());
});

Deno.test("the first reason for which a session ends is the one that is reported", async () => {
  const stage = await Stage.open();
  await stage.session();
  const causes: unknown[] = [];
  for (const cause of ["member-left", "discarded"] as const) {
    await stage.step(async (tx) => {
      const record = await tx.get(outboundKey(ROOM));
      assert(record !== undefined);
      invalidate(tx, ROOM, { record, cause });
      causes.push((await tx.get(outboundKey(ROOM)))?.invalid);
    });
  }
  assertEquals(causes, ["member-left", "member-left"]);
});
