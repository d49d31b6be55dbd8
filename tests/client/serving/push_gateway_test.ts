import { assertEquals } from "@std/assert";
import type { SyncPass } from "../../../src/actors/syncer/syncer_options.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { loggerOf } from "../../../src/base/log.ts";
import { BoundedBodies, Refusal } from "../../../src/base/bounded_body.ts";
import { PushGateway, type WakeKey } from "../../../src/client/serving/push_gateway.ts";

/** How many wakes may wait for their pass. */
const MAX_WAITING = 10_000;

const log = false;
const isOurs = true;

function gatewayOf(pass: () => Promise<SyncPass | undefined>): PushGateway {
  return new PushGateway({
    key: { matches: async () => await isOurs } as Partial<WakeKey> as WakeKey,
    isSyncing: () => false,
    isOver: () => false,
    pass,
    clock: systemClock,
    log: loggerOf(log, systemClock),
  });
}

function wake(): Request {
  const body = JSON.stringify({ notification: { event_id: "$a", devices: [{ pushkey: "key" }] } });
  return new Request("https://bot.example/", { method: "POST", body });
}

/** The status with which something is answered, or refused. */
async function statusOf(answer: Promise<unknown>): Promise<number> {
  return await answer.then(() => 200, (error) => {
    if (error instanceof Refusal) return error.response.status;
    throw error;
  });
}

Deno.test("A wake that is over makes room for another, however it ended, thousands of times", async () => {
  let count = 0;
  const gateway = gatewayOf(() => {
    if (++count % 3 === 0) return Promise.reject(new TypeError("the store is down"));
    return Promise.resolve(
      count % 3 === 1 ? undefined : { left: "handlers" } as Partial<SyncPass> as SyncPass,
    );
  });
  const statuses = new Set<number>();
  for (let wakes = 0; wakes < MAX_WAITING + 10; wakes++) statuses.add(await statusOf(gateway.notify(wake())));
  assertEquals(statuses, new Set([200, 503]));
  assertEquals(count, MAX_WAITING + 10);
});

Deno.test("Who comes when 10,000 wakes wait is told to come again, and is served when they are over", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const full = Promise.withResolvers<void>();
  let count = 0;
  const gateway = gatewayOf(() => {
    if (++count === MAX_WAITING) full.resolve();
    return promise;
  });
  const waiting = Array.from({ length: MAX_WAITING }, () => gateway.notify(wake()));
  await full.promise;
  assertEquals(await statusOf(gateway.notify(wake())), 429);
  resolve(undefined);
  for (const each of await Promise.all(waiting)) assertEquals(each.status, 200);
  assertEquals(await statusOf(gateway.notify(wake())), 200);
});

Deno.test("A body that was read, refused or broken off makes room for others, thousands of times", async () => {
  const bodies = new BoundedBodies(systemClock, { body: 100, reading: 150, time: 10_000 });
  const bodyOf = (count: number): BodyInit => {
    const text = new TextEncoder().encode(`{"a":"${"x".repeat(count % 3 === 0 ? 200 : 80)}"}`);
    if (count % 3 !== 1) return new Blob([text]).stream();
    let isBegun = false;
    return new ReadableStream({
      pull(controller) {
        if (isBegun) controller.error(new TypeError("the caller has gone"));
        else controller.enqueue(text);
        isBegun = true;
      },
    });
  };
  for (let count = 0; count < 2_000; count++) {
    const request = new Request("https://bot.example/", { method: "POST", body: bodyOf(count) });
    assertEquals(await statusOf(bodies.json(request)), [413, 400, 200][count % 3]);
  }
});
