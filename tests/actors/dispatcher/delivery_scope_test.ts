import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { DeliveryScope, SendIds } from "../../../src/actors/dispatcher/delivery_scope.ts";
import { ValueError } from "@greenroom/matrix/errors";
import type { Outgoing } from "../../../src/base/handler_call.ts";
import { spawnStore } from "../../../src/actors/store/mod.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { ROOM } from "../support/events.ts";

const say = { roomId: ROOM, type: "m.room.message", content: { body: "yes" } } as const;

const deliveryOf = (ids: SendIds, event_id = "$1"): DeliveryScope =>
  new DeliveryScope({ event_id, type: "m.room.message" }, { id: "x" }, ids);

/** The sends of a device's delivery, in one process after the other. */
function device() {
  const kv = new MemoryStore();
  return {
    async process<Result>(work: (ids: SendIds) => Promise<Result>): Promise<Result> {
      const store = spawnStore({ kv });
      await store.open([]);
      const result = await work(new SendIds({ store, ready: () => Promise.resolve() }));
      await store.stop();
      return result;
    },
  };
}

Deno.test("The ID of a send is the same in every process of a device, and others can't compute it", async () => {
  const [here, there] = [device(), device()];
  const id = (ids: SendIds) => deliveryOf(ids).transactionId(say, undefined);
  const first = await here.process(id);
  assertMatch(first, /^gr-[\w-]{43}$/);
  assertEquals(await here.process(id), first);
  assertNotEquals(await there.process(id), first);
});

Deno.test("The ID of what is sent in clear is the same in another store, and not that of the same encrypted", async () => {
  const id = (outgoing: Outgoing) => (ids: SendIds) => deliveryOf(ids).transactionId(outgoing, undefined);
  const inClear = { ...say, inClear: true };
  const here = device();
  const first = await here.process(id(inClear));
  assertEquals(await device().process(id(inClear)), first);
  assertNotEquals(await here.process(id(say)), first);
});

Deno.test("Sends differ by delivery, room, type, content, sender, count and key, and each of their IDs is new", async () => {
  const made = await device().process(async (ids) => {
    const [one, other] = [deliveryOf(ids), deliveryOf(ids, "$2")];
    return [
      await one.transactionId(say, undefined),
      await one.transactionId(say, undefined),
      await one.transactionId(say, undefined),
      await one.transactionId({ ...say, roomId: "!other" }, undefined),
      await one.transactionId({ ...say, roomId: undefined }, undefined),
      await one.transactionId({ ...say, type: "m.sticker" }, undefined),
      await one.transactionId({ ...say, asUserId: "@ghost:localhost" }, undefined),
      await one.transactionId({ ...say, content: { body: "no" } }, undefined),
      await one.transactionId(say, "k"),
      await one.transactionId(say, "l"),
      await other.transactionId(say, undefined),
      await other.transactionId(say, "k"),
    ];
  });
  assertEquals(new Set(made).size, made.length);
});

Deno.test("The order of a content's members makes no other ID; what a key is used for twice is one send", async () => {
  const id = (content: object, key?: string) => (ids: SendIds) =>
    deliveryOf(ids).transactionId({ ...say, content }, key);
  const here = device();
  assertEquals(
    await here.process(id({ a: 1, b: { c: [1, 2], d: 2 } })),
    await here.process(id({ b: { d: 2, c: [1, 2] }, a: 1 })),
  );
  const [first, second] = await here.process(async (ids) => {
    const sends = deliveryOf(ids);
    return [
      await sends.transactionId(say, "k"),
      await sends.transactionId({ ...say, content: { body: "no" } }, "k"),
    ];
  });
  assertEquals(first, second);
});

Deno.test("A store that could not be asked is asked again with the next send", async () => {
  let asked = 0;
  const ready = () => asked++ === 0 ? Promise.reject(new RangeError("not now")) : Promise.resolve();
  const store = spawnStore({});
  await store.open([]);
  const sends = deliveryOf(new SendIds({ store, ready }));
  await assertRejects(() => sends.transactionId(say, undefined), RangeError, "not now");
  await sends.transactionId(say, undefined);
  await store.stop();
  assertEquals(asked, 2);
});

Deno.test("A key that a run of a handler uses for something else is refused, and it is said for what", async () => {
  for (const [roomId, where] of [[ROOM, `to ${ROOM}`], [undefined, "to devices"]] as const) {
    const refused = device().process(async (ids) => {
      const sends = deliveryOf(ids);
      await sends.transactionId({ ...say, type: "m.sticker" }, "k");
      await sends.transactionId({ ...say, roomId }, "k");
    });
    await assertRejects(() => refused, ValueError, `Cannot send m.room.message ${where} with the key "k"`);
  }
});
