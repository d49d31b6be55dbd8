import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import type { JsonObject, SyncResponse } from "@greenroom/matrix/types";
import { systemClock } from "../../src/base/clock.ts";
import { Inbox } from "../../src/appservice/inbox.ts";
import { OwnUsers } from "../../src/appservice/own_users.ts";
import { readTransaction } from "../../src/appservice/transaction.ts";
import { StoreKeys } from "../../src/store/device/mod.ts";
import { DeviceQueue } from "../../src/appservice/device_queue.ts";
import { TransactionFeed } from "../../src/appservice/transaction_feed.ts";
import { recordingLogger } from "../actors/kernel/support.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { registration } from "./scene.ts";

const device = { userId: "@echo:localhost", deviceId: "GREENROOM" };

/** A feed, and what its device's queue answers. */
function feedOf(pages: Partial<SyncResponse>[] = []) {
  const store = new MemoryStore();
  const inbox = new Inbox(store, { id: "echo", userId: "@echo:localhost", clock: systemClock });
  const asked: (string | undefined)[] = [];
  const devices: string[] = [];
  const clock = new TestClock();
  const feed = new TransactionFeed({
    token: { isOwnDead: false, checkOwn: () => Promise.resolve() },
    inbox,
    users: new OwnUsers(registration, "localhost"),
    store,
    device,
    queue: new DeviceQueue(({ since } = {}) => {
      asked.push(since);
      return Promise.resolve({ next_batch: `q${asked.length}`, ...pages[asked.length - 1] });
    }),
    ghosts: { note() {}, forgetRooms() {} },
    rooms: {
      userId: "@echo:localhost",
      log: recordingLogger(),
      isOwn: () => false,
      hasOwnMember: () => Promise.reject(new TypeError("nobody leaves")),
      isThere: (roomId) => Promise.resolve(String(roomId) !== ""),
      joinedRooms: () => Promise.resolve([]),
    },
    clock,
    log: recordingLogger(),
  });
  feed.clients = { read: (userId) => void devices.push(userId) };
  let id = 0;
  let since: string | undefined;
  return {
    clock,
    store,
    asked,
    devices,
    add: async (body: JsonObject) =>
      void await inbox.add(`t${id++}`, readTransaction({ events: [], ...body }) ?? fail()),
    async next(from = since) {
      const response = await feed.sync({ since: from });
      since = response.next_batch;
      return response;
    },
  };
}

function fail(): never {
  throw new TypeError("It has events");
}

const to = (to_user_id: string, to_device_id: string) => ({ type: "m.dummy", to_user_id, to_device_id });
const messages = (count: number) =>
  ({ to_device: { events: Array.from({ length: count }, () => to("", "")) } }) as unknown as SyncResponse;

Deno.test("A feed asks what its device was sent when a transaction says that there is something, and goes on from there", async () => {
  const feed = feedOf();
  await feed.next();
  assertEquals(feed.asked, [undefined]);
  await feed.add({});
  await feed.next();
  await feed.add({ to_device: [to("@echo:localhost", "OTHER"), to("@alice:localhost", "GREENROOM")] });
  await feed.next();
  assertEquals(feed.asked, [undefined]);
  await feed.add({ to_device: [to("@echo:localhost", "GREENROOM")] });
  await feed.next();
  assertEquals(feed.asked, [undefined, "q1"]);
  await feed.next();
  assertEquals(feed.asked, [undefined, "q1"]);
});

Deno.test("A feed delivers messages to its device as the homeserver keeps them, and not those of transactions", async () => {
  const feed = feedOf([{}, messages(2)]);
  await feed.next();
  await feed.add({ to_device: [to("@echo:localhost", "GREENROOM")] });
  assertEquals((await feed.next()).to_device?.events?.length, 2);
});

Deno.test("A feed asks before the first event of each session, since the message with its key may have been dropped", async () => {
  const feed = feedOf();
  await feed.next();
  const event = (session_id: string) => ({
    events: [{ type: "m.room.encrypted", room_id: "!a:b", content: { session_id } }],
  });
  for (const session of ["one", "one", "two", "one"]) {
    await feed.add(event(session));
    await feed.next();
  }
  assertEquals(feed.asked.length, 3);
});

Deno.test("A feed reads all pages of its device's queue before it delivers transactions", async () => {
  const feed = feedOf([{}, messages(100), messages(100), messages(3)]);
  await feed.next();
  await feed.add({
    events: [{ room_id: "!a:b", event_id: "$1" }],
    to_device: [to("@echo:localhost", "GREENROOM")],
  });
  const seen = [];
  for (let round = 0; round < 3; round++) {
    const { to_device, rooms } = await feed.next();
    seen.push([to_device?.events?.length, Object.keys(rooms?.join ?? {}).length]);
  }
  assertEquals(seen, [[100, 0], [100, 0], [3, 1]]);
});

Deno.test("A feed repeats in one response what was received before, however much that is", async () => {
  const feed = feedOf([messages(100)]);
  for (let id = 0; id < 60; id++) await feed.add({ events: [{ room_id: "!a:b", event_id: `$${id}` }] });
  const key = new StoreKeys([device.userId, device.deviceId]).sync();
  await feed.store.commit([{ type: "set", key, value: { nextBatch: "as-45~q", handled: "as-3~q" } }]);
  const events = async (from?: string) =>
    (await feed.next(from)).rooms?.join?.["!a:b"]?.timeline?.events?.length;
  assertEquals(await events("as-3~q"), 42);
  assertEquals(await events(), 15);
});

Deno.test("A feed asks what its device was sent once a minute, whatever the transactions say", async () => {
  const feed = feedOf();
  await feed.next();
  await feed.clock.tick(59_000);
  await feed.next();
  assertEquals(feed.asked.length, 1);
  await feed.clock.tick(1_000);
  await feed.next();
  assertEquals(feed.asked.length, 2);
});

Deno.test("A feed asks how many keys are left when a transaction says something new of it, and believes no transaction", async () => {
  const counts = (count: number, user = device.userId): JsonObject => ({
    "org.matrix.msc3202.device_one_time_keys_count": { [user]: { GREENROOM: { signed_curve25519: count } } },
  });
  const left = (signed_curve25519: number) => ({ device_one_time_keys_count: { signed_curve25519 } });
  const feed = feedOf([{}, left(50), left(30)]);
  const told = async () => (await feed.next()).device_one_time_keys_count?.signed_curve25519;
  assertEquals(await told(), undefined); // none were uploaded
  for (
    const [count, user] of [[20, device.userId], [20, device.userId], [3, "@_echo_parrot:localhost"]] as const
  ) {
    await feed.add(counts(count, user));
    assertEquals(await told(), 50);
  }
  assertEquals(feed.asked.length, 2);
  await feed.add(counts(19));
  assertEquals(await told(), 30);
});

Deno.test("A feed says which other users were sent something to their devices", async () => {
  const feed = feedOf();
  await feed.next();
  await feed.add({
    to_device: [
      to("@_echo_a:localhost", "GREENROOM"),
      to("@_echo_b:localhost", "OTHER"),
      to("@echo:localhost", "GREENROOM"),
    ],
  });
  await feed.next();
  assertEquals(feed.devices, ["@_echo_a:localhost"]);
});

Deno.test("A feed has whose devices have changed in the end, of transactions and of its device's queue", async () => {
  const feed = feedOf([{}, { device_lists: { changed: ["@g:h"], left: ["@c:d"] } }]);
  await feed.next();
  await feed.add({
    device_lists: { changed: ["@a:b", "@c:d"], left: ["@e:f"] },
    to_device: [to("@echo:localhost", "GREENROOM")],
  });
  await feed.add({ "org.matrix.msc3202.device_lists": { changed: ["@e:f"], left: ["@a:b"] } });
  const { device_lists } = await feed.next();
  assertEquals(device_lists as unknown, { changed: ["@e:f", "@g:h"], left: ["@a:b", "@c:d"] });
});
