import { assertEquals, assertRejects } from "@std/assert";
import type { SyncPass } from "@greenroom/matrix";
import type { Session } from "../../../src/api/http/mod.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { loggerOf } from "../../../src/base/log.ts";
import { BoundedBodies, Refusal } from "../../../src/base/bounded_body.ts";
import { PushGateway, type PushGatewayOptions, WakeKey } from "../../../src/client/serving/serving.ts";

/** How many wakes may wait for their pass. */
const MAX_WAITING = 10_000;

const log = false;
const isOurs = true;

function gatewayOf(
  pass: () => Promise<SyncPass | undefined>,
  more: Partial<PushGatewayOptions> = {},
): PushGateway {
  return new PushGateway({
    key: { matches: async () => await isOurs } as Partial<WakeKey> as WakeKey,
    isSyncing: () => false,
    isOver: () => false,
    pass,
    clock: systemClock,
    log: loggerOf(log, systemClock),
    ...more,
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

Deno.test("A wake that fails is answered so that it comes again, and logged as a warning unless the client was stopped", async () => {
  const aborted = new DOMException("", "AbortError");
  for (
    const [error, isOver, level] of [
      [new TypeError("the store is down"), false, "warn"],
      [new DOMException("", "NotFoundError"), false, "warn"],
      [undefined, false, "warn"],
      [aborted, false, "debug"],
      [new TypeError("the client is closed"), true, "debug"],
    ] as const
  ) {
    const logged: string[] = [];
    const note = (level: string) => () => void logged.push(level);
    const gateway = gatewayOf(() => Promise.reject(error), {
      isOver: () => isOver,
      log: { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") },
    });
    assertEquals([await statusOf(gateway.notify(wake())), logged], [503, [level]]);
  }
});

Deno.test("A notification names up to eight devices, each an object with a key", async () => {
  const gateway = gatewayOf(() => Promise.resolve(undefined));
  const status = (devices: readonly unknown[]) => {
    const body = JSON.stringify({ notification: { event_id: "$a", devices } });
    return statusOf(gateway.notify(new Request("https://bot.example/", { method: "POST", body })));
  };
  const device = { pushkey: "key" };
  assertEquals(await Promise.all([8, 9].map((count) => status(Array(count).fill(device)))), [200, 400]);
  assertEquals(await Promise.all([null, "key", {}].map((each) => status([device, each]))), [400, 400, 400]);
});

Deno.test("While the own device is unknown, no key is rejected, and the wake comes again", async () => {
  const key = { matches: () => Promise.reject(new TypeError("away")) } as Partial<WakeKey> as WakeKey;
  const gateway = gatewayOf(() => Promise.resolve(undefined), { key });
  assertEquals(await statusOf(gateway.notify(wake())), 503);
});

Deno.test("A wake's key is made again if its account could not be asked for", async () => {
  let asked = 0;
  const account = () =>
    asked++ === 0 ? Promise.reject(new TypeError("away")) : Promise.resolve(["@a:b", "D"]);
  const key = new WakeKey({ account } as unknown as Session, { secret: "secret" });
  await assertRejects(() => key.get(), TypeError, "away");
  const made = await key.get();
  assertEquals([asked, await key.matches(made), await key.matches("x".repeat(600))], [2, true, false]);
});
