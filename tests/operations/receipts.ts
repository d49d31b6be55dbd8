import { assert, assertEquals } from "@std/assert";
import { ForbiddenError } from "@greenroom/matrix";
import type { EventID, RoomID, SyncResponse } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";
import { refused, syncToken, syncUntil } from "./support/wait.ts";

/** An ephemeral event of a room in a sync response. */
function ephemeral(roomId: RoomID, type: string) {
  return ({ rooms }: SyncResponse) =>
    rooms?.join?.[roomId]?.ephemeral?.events?.find((event) => event.type === type);
}

/** Receipts, read markers, typing notices. */
export const receipts: readonly Operation[] = [
  {
    name: "sendReceipt() publishes what was read, or keeps it private, by thread if asked",
    covers: ["sendReceipt"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const first = await alice.sendText(roomId, "One");
      const reply = await alice.sendText(roomId, "In the thread", {
        relatesTo: { rel_type: "m.thread", event_id: first },
      });
      const second = await alice.sendText(roomId, "Two");
      const since = await syncToken(alice);
      await bob.sendReceipt(roomId, first);
      const { value: receipt, next } = await syncUntil(alice, ephemeral(roomId, "m.receipt"), since);
      const read =
        (receipt.content as Record<EventID, Record<string, Record<string, { ts: number }>>>)[first];
      assert(Number.isInteger(read?.["m.read"]?.[bob.userId]?.ts));
      await bob.sendReceipt(roomId, second, { receiptType: "m.read.private" });
      await bob.sendReceipt(roomId, reply, { threadId: first });
      const { value: threaded } = await syncUntil(alice, ephemeral(roomId, "m.receipt"), next);
      const content = threaded.content as Record<
        string,
        Record<string, Record<string, { thread_id?: string }>>
      >;
      assertEquals(content[reply]?.["m.read"]?.[bob.userId]?.thread_id, first);
      assertEquals(content[second], undefined, "private receipts are not for others");
      await bob.sendReceipt(roomId, first, { receiptType: "m.fully_read" });
      assertEquals(await bob.getAccountData("m.fully_read", { roomId }), { event_id: first });
    },
  },
  {
    name: "setFullyReadMarker() sets the marker, and receipts with it if asked",
    covers: ["setFullyReadMarker"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const first = await alice.sendText(roomId, "One");
      const second = await alice.sendText(roomId, "Two");
      const since = await syncToken(alice);
      await bob.setFullyReadMarker(roomId, first);
      assertEquals(await bob.getAccountData("m.fully_read", { roomId }), { event_id: first });
      await bob.setFullyReadMarker(roomId, second, { readReceipt: second });
      assertEquals(await bob.getAccountData("m.fully_read", { roomId }), { event_id: second });
      const { value: receipt } = await syncUntil(alice, ephemeral(roomId, "m.receipt"), since);
      assertEquals(Object.keys(receipt.content), [second], "the marker alone sends no receipt");
      const own = await syncToken(bob);
      const third = await alice.sendText(roomId, "Three");
      await bob.setFullyReadMarker(roomId, third, { privateReadReceipt: third });
      const { value: secret } = await syncUntil(
        bob,
        (response) => {
          const event = ephemeral(roomId, "m.receipt")(response);
          return event !== undefined && third in event.content ? event : undefined;
        },
        own,
      );
      const types = (secret.content as Record<string, object>)[third];
      assertEquals(Object.keys(types ?? {}), ["m.read.private"]);
    },
  },
  {
    name: "setTyping() shows others that the user types, and has stopped",
    covers: ["setTyping"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob);
      const since = await syncToken(alice);
      await bob.setTyping(roomId, { timeout: 30_000 });
      const { value: typing, next } = await syncUntil(alice, ephemeral(roomId, "m.typing"), since);
      assertEquals(typing.content, { user_ids: [bob.userId] });
      await bob.setTyping(roomId);
      const { value: stopped } = await syncUntil(alice, ephemeral(roomId, "m.typing"), next);
      assertEquals(stopped.content, { user_ids: [] });
      await refused(() => carol.setTyping(roomId, { timeout: 1000 }), ForbiddenError, 403);
    },
  },
];
