/** A client whose machine has a wrong clock. */

import { SKEW } from "../../../src/api/http/mod.ts";
import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { type ClientStage, clientStage } from "../support/stage.ts";

const HOUR = 3_600_000;

/** A way to a server that says the time, some way off. */
function telling(here: ClientStage, offset: number, more: Record<string, string> = {}): typeof fetch {
  return async (input, init) => {
    const response = await here.homeserver.fetch(input, init);
    response.headers.set("date", new Date(here.clock.now() + offset).toUTCString());
    for (const [name, value] of Object.entries(more)) response.headers.set(name, value);
    return response;
  };
}

function warnings({ log }: ClientStage): (string | undefined)[] {
  return log.lines.filter(([level, message]) => level === "warn" && message.includes("clock"))
    .map(([, message]) => /is (\d+ seconds .*?):/.exec(message)?.[1]);
}

async function syncedTwice(here: ClientStage, client: Client): Promise<void> {
  for (let time = 0; time < 2; time++) {
    const running = client.start();
    await client.ready;
    await client.stop();
    await running;
  }
  await here.settle();
}

Deno.test("A client whose clock is wrong says so once when it starts, by how much and what breaks, and asks nothing for it", async () => {
  await using here = clientStage();
  const asked = async (name: string, fetch: typeof globalThis.fetch) => {
    const before = here.homeserver.requests.length;
    await syncedTwice(here, here.client(name, { fetch }));
    return here.homeserver.requests.length - before;
  };
  const untold = await asked("timeless", here.homeserver.fetch);
  assertEquals(warnings(here), []);
  assertEquals(await asked("late", telling(here, HOUR)), untold);
  assertEquals(warnings(here), ["3600 seconds behind that of the server"]);
  await asked("early", telling(here, -HOUR));
  assertEquals(warnings(here).length, 2);
  assert(/^3(600|599) seconds ahead of that of the server$/.test(warnings(here)[1] ?? ""));
  const [, message] = here.log.lines.find(([, message]) => message.includes("clock")) ?? [];
  assert(message?.includes("reminders") && message.includes("verify"), message);
});

Deno.test("A pass says it, too", async () => {
  await using here = clientStage();
  const client = here.client("bot", { fetch: telling(here, HOUR) });
  for (let time = 0; time < 2; time++) await client.syncOnce();
  assertEquals(warnings(here), ["3600 seconds behind that of the server"]);
});

Deno.test("Nothing is said of a clock by an answer out of a cache, by half a minute, or by what is no time", async () => {
  await using here = clientStage();
  await syncedTwice(here, here.client("cached", { fetch: telling(here, -HOUR, { age: "3600" }) }));
  await syncedTwice(here, here.client("near", { fetch: telling(here, 30_000) }));
  await syncedTwice(here, here.client("strange", { fetch: telling(here, 0, { date: "yesterday" }) }));
  assertEquals(warnings(here), []);
});

Deno.test("The first answer that says the time counts, and another server's is asked anew", async () => {
  await using here = clientStage();
  let fetch = telling(here, HOUR, { age: "1" });
  const client = here.client("bot", { fetch: (...request) => fetch(...request) });
  await client.whoami();
  assertEquals(client.api[SKEW], undefined);
  fetch = telling(here, HOUR);
  await client.whoami();
  fetch = telling(here, 0);
  await client.whoami();
  assertEquals(client.api[SKEW], HOUR);
  client.api.baseUrl = here.homeserver.baseUrl;
  await client.whoami();
  assertEquals(client.api[SKEW], 0);
});
