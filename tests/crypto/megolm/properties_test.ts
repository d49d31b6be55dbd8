import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { FairIndex } from "../../../src/crypto/records/mod.ts";
import { readMegolmPayload } from "../../../src/crypto/megolm/encrypted_event.ts";
import type { EventID, MessageEvent } from "@greenroom/matrix/types";
import { memoryVault, step } from "../support/vault.ts";
import { ALICE, newDevice, Receiver, ROOM, Sender, told } from "./support.ts";

Deno.test("the keys of a session, in any order, decrypt what the earliest of them can", async () => {
  const key = fc.record({
    from: fc.nat(9),
    by: fc.constantFrom("owner", "squatter", "backup"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(key, { minLength: 1, maxLength: 8 }), async (keys) => {
      const receiver = new Receiver();
      const owner = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
      const squatter = new Sender(
        receiver,
        receiver.devices.put(newDevice(receiver, "@mallory:example.org")),
      );
      const roomKeys: string[] = [];
      const events: MessageEvent[] = [];
      for (let index = 0; index < 10; index++) {
        roomKeys.push(owner.laterKey().session_key);
        events.push(owner.say(`${index}`));
      }
      for (const { from, by } of keys) {
        const { session_id } = owner.roomKey;
        const session_key = roomKeys[from] ?? "";
        if (by === "owner") await receiver.key(owner, { session_key });
        else if (by === "squatter") await receiver.key(squatter, { session_id, session_key });
        else await importKey(receiver, owner, session_key);
      }
      const first = Math.min(...keys.map(({ from }) => from));
      const readable = keys.some(({ by }) => by !== "squatter"); // a squatter alone does not speak for others
      const expected = events.map((_, index) =>
        index < first ? "KEY_TOO_NEW" : readable ? `${index}` : "UNTRUSTED"
      );
      assertEquals((await receiver.decrypt(...events)).map(told), expected);
      receiver.restart();
      assertEquals((await receiver.decrypt(...events)).map(told), expected);
    }),
    { numRuns: 30, seed: 1 },
  );
});

Deno.test("however events come, an index belongs to the first event that had it", async () => {
  const arrival = fc.record({ message: fc.nat(70), name: fc.nat(1), restart: fc.boolean() });
  const batches = fc.array(fc.array(arrival, { maxLength: 30 }), { maxLength: 5 });
  const receiver = new Receiver();
  await fc.assert(
    fc.asyncProperty(batches, async (batches) => {
      const sender = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
      await receiver.key(sender);
      const messages = Array.from({ length: 71 }, (_, index) => sender.say(`${index}`));
      const owners = new Map<number, number>();
      for (const batch of batches) {
        if (batch[0]?.restart) receiver.restart();
        const events = batch.map(({ message, name }) =>
          ({ ...messages[message], event_id: `$${message}-${name}` as EventID }) as MessageEvent
        );
        const expected = batch.map(({ message, name }) => {
          if (!owners.has(message)) owners.set(message, name);
          return owners.get(message) === name ? `${message}` : "REPLAYED";
        });
        assertEquals((await receiver.decrypt(...events)).map(told), expected);
      }
    }),
    { numRuns: 30, seed: 2 },
  );
});

Deno.test("any payload is a message of the room or refused with a reason", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.uint8Array(), fc.json().map((text) => new TextEncoder().encode(text))),
      (plaintext) => {
        const payload = readMegolmPayload(plaintext, ROOM);
        assert(typeof payload === "string");
      },
    ),
    { seed: 3 },
  );
  const inside = fc.record({ type: fc.string(), room_id: fc.constant(ROOM), content: fc.object() });
  fc.assert(
    fc.property(inside, (payload) => {
      const found = readMegolmPayload(new TextEncoder().encode(JSON.stringify(payload)), ROOM);
      if (typeof found === "string") return;
      assertEquals(found, JSON.parse(JSON.stringify({ type: payload.type, content: payload.content })));
    }),
    { seed: 4 },
  );
});

Deno.test("decrypting any event throws nothing and disturbs no other", async () => {
  const receiver = new Receiver();
  const sender = new Sender(receiver, receiver.devices.put(newDevice(receiver, ALICE)));
  await receiver.key(sender);
  const good = sender.say("good");
  const odd = fc.record({
    event_id: fc.oneof(fc.anything(), fc.constant("$x")),
    sender: fc.oneof(fc.anything(), fc.constant(ALICE)),
    room_id: fc.oneof(fc.anything(), fc.constant(ROOM)),
    origin_server_ts: fc.oneof(fc.anything(), fc.nat()),
    unsigned: fc.oneof(fc.anything(), fc.record({ "m.relations": fc.anything() })),
    content: fc.oneof(
      fc.anything(),
      fc.record({
        algorithm: fc.constant("m.megolm.v1.aes-sha2"),
        session_id: fc.oneof(fc.anything(), fc.string(), fc.constant(sender.sessionId)),
        ciphertext: fc.oneof(fc.anything(), fc.base64String()),
      }),
    ),
  }, { requiredKeys: [] });
  await fc.assert(
    fc.asyncProperty(fc.array(odd), async (events) => {
      const decrypted = await receiver.decrypt(...events as unknown as MessageEvent[], good);
      assertEquals(decrypted.length, events.length + 1);
      assertEquals(told(decrypted.at(-1)), "good");
      for (const decryption of decrypted.slice(0, -1)) assert("reason" in decryption);
    }),
    { numRuns: 200, seed: 5 },
  );
});

Deno.test("a fair index keeps to its limit, keeps small groups, and takes back what came to nothing", async () => {
  const action = fc.record({ group: fc.nat(3).map(String), id: fc.nat(9).map(String), keep: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(action, { maxLength: 5 })), async (steps) => {
      const limit = 8;
      const index = new FairIndex<string>(limit);
      for (const [number, actions] of steps.entries()) {
        const before = snapshot(index);
        const fails = actions[0]?.keep === false;
        await step(memoryVault(), (tx) => {
          for (const { group, id, keep } of actions) {
            if (!keep) index.delete(tx, group, id);
            else {
              const sizes = sizesOf(index);
              for (const [gone] of index.set(tx, [group, id, `${group}/${id}`])) {
                sizes.set(group, (sizes.get(group) ?? 0) + 1);
                assertEquals(sizes.get(gone), Math.max(...sizes.values()));
              }
            }
            assert(index.size <= limit);
          }
          if (fails) throw new TypeError(`step ${number}`);
        }).catch(() => {});
        if (fails) assertEquals(snapshot(index), before);
        assertEquals(index.size, snapshot(index).length);
      }
    }),
    { numRuns: 100, seed: 6 },
  );
});

const snapshot = (index: FairIndex<string>) => [...index.values()].sort();

function sizesOf(index: FairIndex<string>): Map<string, number> {
  const groups = Map.groupBy(index.values(), (value) => value.split("/")[0] ?? "");
  return new Map([...groups].map(([group, values]) => [group, values.length]));
}

async function importKey(receiver: Receiver, owner: Sender, sessionKey: string): Promise<void> {
  using session = receiver.context.vodozemac.megolm.createInbound(sessionKey);
  const { curve25519: senderKey, ed25519: senderEd25519 } = owner.device;
  await receiver.step((tx) =>
    receiver.inbound.import(tx, {
      roomId: ROOM,
      sessionId: owner.sessionId,
      sessionKey: session.exportAt() ?? "",
      senderKey,
      senderEd25519,
      source: "backup",
    })
  );
}
