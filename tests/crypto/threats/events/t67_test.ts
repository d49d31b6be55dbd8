/**
 * T67: The server forges what this library adds to events.
 *
 * Handlers use `source` to tell present events from past ones, and messages to a device from those
 * of rooms. It has a name, so a server can write it into any event. Whichever way an event comes
 * in, `source` is what this library sets; where it sets nothing, there is none.
 *
 * The class of mistake: a member of an object from outside is read as if it were ours, because we
 * had overwritten it on the known ways.
 */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { type Client, type ClientOptions, encryptionOf } from "@greenroom/matrix";
import { type JsonObject, type MatrixEvent, type MessageEvent, SyncStream } from "@greenroom/matrix/types";
import { member, message, state, timeline } from "../../../actors/support/events.ts";
import { twoInARoom } from "../../../client/support/encrypted_room.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { InProcessHost } from "../../../operations/support/in_process.ts";
import { Scene, withFetch } from "../../../operations/support/scene.ts";
import { operations } from "../../../operations/suite.ts";
import { eventsIn, NOWHERE, POISON, poison, poisoned } from "../poison.ts";

const ALL = Object.values(SyncStream).reduce((all, flag) => all | flag, 0);

/**
 * Players whose every operation is looked at for events that say more of themselves than they can.
 */
class SuspiciousScene extends Scene {
  readonly forged: string[] = [];

  override client(options: Partial<ClientOptions> = {}): Client {
    const client = super.client(options);
    for (const name in client) { // also those that the class has
      if (typeof client[name as keyof Client] !== "function") continue;
      const operation = client[name as "whoami"] as (...args: unknown[]) => unknown;
      const suspicious = (...args: unknown[]) => {
        const result: unknown = operation(...args);
        if (result instanceof Promise) return result.then((value) => this.#look(name, value));
        return result;
      };
      Object.assign(client, { [name]: suspicious });
    }
    return client;
  }

  #look<T>(name: string, value: T): T {
    for (const event of eventsIn(value)) {
      if ("source" in event || encryptionOf(event as never) !== undefined) this.forged.push(name);
    }
    return value;
  }
}

Deno.test("T67, T66: no operation hands out an event with what the server says in the name of this library", async () => {
  const called = new Set<string>();
  const forged = new Set<string>();
  for (const { run } of operations) {
    await using host = new InProcessHost();
    await using scene = new SuspiciousScene(withFetch(host, poisoned(host.fetch)));
    await run(scene).catch(() => {}); // the homeserver says more than the test expects
    for (const name of scene.called) called.add(name);
    for (const name of scene.forged) forged.add(name);
  }
  const covered = new Set<string>(operations.flatMap(({ covers }) => covers));
  assertEquals([...covered].filter((name) => !called.has(name)), []);
  // The event as the server has sent it: the caller of handleSync() is responsible for its source.
  assertEquals([...forged].sort(), ["sync"]);
});

/** A response with an event in each of its places. */
function everywhere(): JsonObject {
  const outside = (own: string) => ({
    events: [member("@carol:localhost", own), state("m.room.name", { name: "n" })],
  });
  const basic = (type: string) => ({ events: [{ type, sender: "@bob:a", content: {} }] });
  const room = (name: string) => ({
    state: { events: [state("m.room.topic", { topic: name })] },
    ...timeline([
      member("@carol:localhost", "join"),
      message(`${name} 1`, { unsigned: { "m.relations": { "m.replace": message(`${name} 2`) } } }),
      message(`${name} 3`, { unsigned: { redacted_because: message(`${name} 4`) } }),
    ]),
    ephemeral: basic("m.typing"),
    account_data: basic("m.tag"),
  });
  return {
    next_batch: "n",
    account_data: basic("m.direct"),
    presence: basic("m.presence"),
    to_device: basic("org.example.custom"),
    rooms: {
      join: { "!join:a": room("joined") },
      leave: { "!leave:a": room("left") },
      invite: { "!invite:a": { invite_state: outside("invite") } },
      knock: { "!knock:a": { knock_state: outside("knock") } },
    },
  };
}

/** All that reaches handlers of a client. */
function seenBy(client: Client): MatrixEvent[] {
  const seen: MatrixEvent[] = [];
  client.addEventHandler((event) => void seen.push(event), { history: true, redacted: true });
  return seen;
}

Deno.test("T67, T66: of what comes with a sync response, this library says where it came from, and the server nothing", async () => {
  await using stage = clientStage();
  for (const encryption of [false, true]) {
    const client = stage.client("carol", { encryption });
    const seen = seenBy(client);
    const response = poison(everywhere());
    await Promise.all(await client.handleSync({ ...response, next_batch: `n${encryption}` } as never));
    assertEquals(seen.length, 17);
    assertOurs(seen);
  }
});

Deno.test("T67, T66: neither does it of what is read to fill a gap, or what is dispatched from history", async () => {
  await using stage = clientStage();
  const { alice, roomId } = await twoInARoom(stage);
  await alice.inviteUser(roomId, "@carol:localhost");
  const carol = stage.client("carol", {
    encryption: { unencrypted: "deliver" },
    fetch: poisoned(stage.homeserver.fetch),
  });
  await carol.joinRoom(roomId);
  await carol.syncOnce();
  const seen = seenBy(carol);
  for (let n = 0; n < 20; n++) await alice.sendText(roomId, `${n}`, { disableEncryption: true });
  await carol.syncOnce({ filterData: { room: { timeline: { limit: 2 } } } });
  assertEquals(seen.filter(({ type }) => type === "m.room.message").length, 20);
  const { chunk } = await carol.getMessages(roomId, "b", undefined, { limit: 5 });
  for (const event of chunk) {
    carol.dispatchEvent({ ...event, source: NOWHERE } as MatrixEvent, SyncStream.HISTORY);
  }
  assertEquals(seen.filter(({ source }) => source === SyncStream.HISTORY).length, 5);
  assertOurs(seen);
});

Deno.test("T67: nor of an event that is decrypted, whatever is said of it outside and inside", async () => {
  await using stage = clientStage();
  const { alice, bob, roomId } = await twoInARoom(stage);
  const { event_id: eventId } = {
    event_id: await alice.sendMessageEvent(roomId, "org.example.custom", POISON),
  };
  await stage.settle();
  const event = poison(await bob.getEvent(roomId, eventId));
  const decryption = await bob.crypto?.decrypt(event as MessageEvent);
  assert(decryption !== undefined && "event" in decryption);
  assertEquals(encryptionOf(decryption.event), decryption.encryption);
  assertEquals(decryption.encryption.senderDevice, alice.deviceId);
  assertEquals(decryption.event.content, POISON); // which is the sender's word, for what that is worth
  assertFalse("encryption" in decryption.event);
});

/**
 * Fails if anything but this library says where one of the events comes from, or how it was
 * encrypted.
 */
function assertOurs(seen: readonly MatrixEvent[]): void {
  for (const event of seen) {
    assert((event.source & ALL) !== 0, event.type);
    for (const each of eventsIn(event)) {
      assertEquals(
        [Number(each.source ?? 0) & NOWHERE, encryptionOf(each as never)],
        [0, undefined],
        event.type,
      );
    }
  }
}
