/**
 * A worse key calls off the request for a better one: this device has asked its verified phone for what it
 * can't read, and any member sends it the key of that session from a later index on. A partial backup does
 * it without malice.
 *
 * What must hold: a request stays until what waits can be read, however often later keys come, and across
 * restarts; then it is called off.
 *
 * The class of mistake: that something has come was taken for that what was wanted has come.
 */

import { assert, assertEquals } from "@std/assert";
import type { CryptoPolicy } from "../../../../src/crypto/context/context.ts";
import type { ImportedRoomKey } from "../../../../src/crypto/megolm/mod.ts";
import { receiveKeys } from "../../../../src/crypto/key_requests/key_requests.ts";
import { ALICE, newDevice, ROOM, Sender, told } from "../../megolm/support.ts";
import { Asker, forwarded } from "../../requests/asker.ts";

/** An asker who waits for Alice's first message, of which the phone was asked. */
function waiting(policy: Partial<CryptoPolicy> = {}) {
  const asker = new Asker({ policy });
  const phone = asker.ownDevice("PHONE");
  const alice = new Sender(asker, asker.devices.put(newDevice(asker, ALICE)));
  const all = forwarded(asker, alice);
  const first = alice.say("first");
  const later = alice.laterKey();
  const second = alice.say("second");
  const actions = async () => (await asker.sent()).map(([, , { action }]) => action);
  const import_ = async (source: ImportedRoomKey["source"]) => {
    using session = asker.context.vodozemac.megolm.createInbound(later.session_key);
    const key = {
      roomId: ROOM,
      sessionId: alice.sessionId,
      sessionKey: session.exportAt() ?? "",
      senderKey: alice.device.curve25519,
      senderEd25519: alice.device.ed25519,
      source,
    };
    const { refused } = await asker.step((tx) =>
      receiveKeys(tx, {
        context: asker.context,
        inbound: asker.inbound,
        keyRequests: asker.requests,
        undecryptable: { retry: () => Promise.resolve([]) },
      }, [key])
    );
    assertEquals(refused, 0);
  };
  const member = async () => {
    const added = await asker.key(alice, later);
    assert(added.kind !== "refused");
    await asker.step((tx) => Promise.resolve(asker.requests.received(tx, added)));
  };
  return { asker, phone, alice, all, first, second, actions, import_, member };
}

Deno.test("T122: a key that begins too late calls off no request for an earlier one", async () => {
  const { asker, phone, all, first, second, actions, import_, member } = waiting();
  await asker.want(first);
  assertEquals(await actions(), ["request"]);
  for (const come of [member, member, () => import_("backup"), () => import_("export"), member]) {
    await come();
    assertEquals(await actions(), []);
    await asker.reopen();
    assertEquals(told(await asker.one(first)), "KEY_TOO_NEW");
  }
  assertEquals(told(await asker.one(second)), "second");
  assert(await asker.forward(phone, all));
  assertEquals(told(await asker.one(first)), "first");
  assertEquals(await actions(), ["request_cancellation"]);
});

Deno.test("T122: a key of a backup or a file calls the request off if it reads what waits, also as said now", async () => {
  for (const [source, called] of [["export", ["request_cancellation"]], ["backup", []]] as const) {
    const { asker, second, actions, import_ } = waiting({ accept: "cross-signed-or-legacy" });
    await asker.want(second);
    assertEquals(await actions(), ["request"]);
    await import_(source);
    assertEquals(await actions(), [...called]);
  }
});

Deno.test("T122: a request that was made for a later message stays for an earlier one that comes since", async () => {
  const { asker, phone, all, first, second, actions, member } = waiting();
  await asker.want(second);
  await asker.want(first);
  assertEquals(await actions(), ["request"]);
  await member();
  assertEquals(await actions(), []);
  assert(await asker.forward(phone, all));
  assertEquals([told(await asker.one(first)), await actions()], ["first", ["request_cancellation"]]);
});

Deno.test("T122: a key that reads all that waits calls the request off", async () => {
  const { asker, second, actions, member } = waiting();
  await asker.want(second);
  await member();
  assertEquals(await actions(), ["request", "request_cancellation"]);
});

Deno.test("T122: for what is no message, or has no index, any key calls the request off", async () => {
  for (const ciphertext of [undefined, "", "AAAA"]) {
    const { asker, second, actions, member } = waiting();
    await asker.want({ ...second, content: { ...second.content, ciphertext } });
    await member();
    assertEquals(await actions(), ["request", "request_cancellation"]);
  }
});
