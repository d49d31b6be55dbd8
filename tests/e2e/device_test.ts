/** Whose device it is: starts with the wrong store, and many at once, against a real server. */

import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { type ClientOptions, MemoryStore } from "@greenroom/matrix";
import { DeviceConflictError } from "@greenroom/matrix/errors";
import { complaintsIn, recordingLogger, rejectionOf } from "../actors/kernel/support.ts";
import { Scene } from "../operations/support/scene.ts";
import { synapseHost } from "./support/host.ts";
import { Ours } from "./support/ours.ts";
import { newUser, type SynapseServer, synapseTest, type TestUser } from "./support/synapse.ts";
import { EVERYBODY } from "../support/everybody.ts";

/** What the server shows as the keys of a user's device. */
async function keysOf(observer: Ours, { userId, deviceId }: TestUser): Promise<object | undefined> {
  return (await observer.client.queryKeys([userId])).device_keys?.[userId]?.[deviceId];
}

/** How a client with encryption begins as a user's device. */
const asDevice = ({ userId, deviceId, accessToken }: TestUser): Partial<ClientOptions> => ({
  mxid: userId,
  deviceId,
  accessToken,
  encryption: EVERYBODY,
});

/** Ours, in an encrypted room with another, who has heard it. */
async function talking(server: SynapseServer, store: MemoryStore) {
  const [alice, ours] = [await Ours.start(server, "alice"), await Ours.start(server, "bot", { store })];
  const roomId = await alice.createRoom({ invite: [ours.userId] });
  await ours.joinInvited(roomId);
  const eventId = await ours.sendText(roomId, "Here I am");
  assert((await alice.message((message) => message.eventId === eventId)).encrypted);
  return { alice, ours, roomId };
}

synapseTest(
  "A start with an empty store is refused, overwrites nothing, and the right store goes on",
  async (server) => {
    const store = new MemoryStore();
    const { alice, ours, roomId } = await talking(server, store);
    await using _alice = alice;
    await using _ours = ours;
    await using scene = new Scene(synapseHost(server));
    await ours.stop();
    const before = await keysOf(alice, ours.user);
    const empty = () => scene.client(asDevice(ours.user));
    assertInstanceOf(await rejectionOf(empty().start()), DeviceConflictError);
    await assertRejects(() => empty().syncOnce(), DeviceConflictError);
    await assertRejects(() => empty().sendText(roomId, "It is me"), DeviceConflictError);
    assertEquals(await keysOf(alice, ours.user), before);
    await ours.resume({ store });
    const [there, back] = [await ours.sendText(roomId, "Back"), await alice.sendText(roomId, "Welcome")];
    assert((await alice.message(({ eventId }) => eventId === there)).encrypted);
    assert((await ours.message(({ eventId }) => eventId === back)).encrypted);
  },
);

synapseTest(
  "Of two processes that begin at once with empty stores, one goes on and the other is refused",
  async (server) => {
    await using scene = new Scene(synapseHost(server));
    await using alice = await Ours.start(server, "alice");
    for (let round = 0; round < 5; round++) {
      const user = await newUser(server, "bot");
      const both = [1, 2].map(() => scene.client(asDevice(user)));
      const ends = await Promise.all(
        both.map((client) => client.syncOnce().then(() => undefined, (error) => error)),
      );
      const winner = both[ends.indexOf(undefined)];
      assertEquals(ends.filter((error) => error instanceof DeviceConflictError).length, 1, String(ends));
      const shown = await keysOf(alice, user) as { keys?: object } | undefined;
      assertEquals(shown?.keys, (await winner?.crypto?.getOwnDeviceKeys())?.deviceKeys.keys);
    }
  },
);

synapseTest("No new device detects lost keys on the server", async (server) => {
  await using scene = new Scene(synapseHost(server));
  const log = recordingLogger();
  const users = await Promise.all(Array.from({ length: 40 }, () => newUser(server, "fresh")));
  const clients = users.map((user) => scene.client({ ...asDevice(user), log }));
  await Promise.all(clients.map((client) => client.syncOnce()));
  await Promise.all(clients.map((client) => client.syncOnce()));
  const isOfServer = ([, message]: readonly unknown[]) =>
    !String(message).includes("give a store that lasts");
  assertEquals(complaintsIn(log).filter(isOfServer), []);
});
