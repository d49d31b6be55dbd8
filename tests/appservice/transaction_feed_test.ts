import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import type { JsonObject } from "../../src/types/json.ts";
import { Inbox } from "../../src/appservice/inbox.ts";
import { OwnUsers } from "../../src/appservice/own_users.ts";
import { readTransaction } from "../../src/appservice/transaction.ts";
import { TransactionFeed } from "../../src/appservice/transaction_feed.ts";
import { recordingLogger } from "../actors/kernel/support.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { registration } from "./scene.ts";

const device = { userId: "@echo:localhost", deviceId: "GREENROOM" };

function feedOf() {
  const store = new MemoryStore();
  const inbox = new Inbox(store, "echo");
  const feed = new TransactionFeed({
    inbox,
    users: new OwnUsers(registration, "localhost"),
    store,
    device,
    encrypts: true,
    onTransaction() {},
    clock: new TestClock(),
    log: recordingLogger(),
  });
  let id = 0;
  let since: string | undefined;
  return {
    add: async (body: JsonObject) =>
      void await inbox.add(`t${id++}`, readTransaction({ events: [], ...body }) ?? fail()),
    async next() {
      const response = await feed.sync({ since });
      since = response.next_batch;
      return response;
    },
  };
}

function fail(): never {
  throw new TypeError("It has events");
}

const counts = (count: number, user = device.userId): JsonObject => ({
  "org.matrix.msc3202.device_one_time_keys_count": { [user]: { GREENROOM: { signed_curve25519: count } } },
});

Deno.test("A feed tells how many keys are left when the latest transaction says so, and once", async () => {
  const feed = feedOf();
  const told = async () => (await feed.next()).device_one_time_keys_count?.signed_curve25519;
  assertEquals(await told(), undefined); // none were uploaded
  await feed.add({
    ...counts(0),
    "org.matrix.msc3202.device_unused_fallback_key_types": { "@echo:localhost": { GREENROOM: [] } },
  });
  assertEquals(await told(), 50);
  await feed.add(counts(20));
  assertEquals(await told(), 20);
  await feed.add(counts(20));
  assertEquals(await told(), 50);
  await feed.add(counts(3, "@_echo_parrot:localhost"));
  assertEquals(await told(), 50);
  await feed.add({});
  assertEquals(await told(), 50);
});

Deno.test("A feed does not believe an older transaction about the keys that are left", async () => {
  const feed = feedOf();
  await feed.next();
  const many = Array.from({ length: 120 }, (_, index) => ({ room_id: "!a:b", event_id: `$${index}` }));
  await feed.add({ ...counts(5), events: many });
  await feed.add(counts(30));
  assertEquals((await feed.next()).device_one_time_keys_count, { signed_curve25519: 50 });
  assertEquals((await feed.next()).device_one_time_keys_count, { signed_curve25519: 30 });
});

Deno.test("A feed has the messages to its own device alone, and whose devices have changed in the end", async () => {
  const feed = feedOf();
  await feed.next();
  const to = (to_user_id: string, to_device_id: string) => ({ type: "m.dummy", to_user_id, to_device_id });
  await feed.add({
    to_device: [
      to("@echo:localhost", "GREENROOM"),
      to("@echo:localhost", "OTHER"),
      to("@_echo_a:localhost", "GREENROOM"),
    ],
    device_lists: { changed: ["@a:b", "@c:d"], left: ["@e:f"] },
  });
  await feed.add({ "org.matrix.msc3202.device_lists": { changed: ["@e:f"], left: ["@a:b"] } });
  const { to_device, device_lists } = await feed.next();
  assertEquals(to_device?.events?.length, 1);
  assertEquals(device_lists as unknown, { changed: ["@c:d", "@e:f"], left: ["@a:b"] });
});
