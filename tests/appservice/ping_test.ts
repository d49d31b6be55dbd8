import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type Appservice, AppservicePingError } from "@greenroom/matrix/appservice";
import { grownBy } from "../support/growth.ts";
import { appserviceScene, registration } from "./scene.ts";

Deno.test("ping() resolves when the homeserver gets through", async () => {
  await using scene = await appserviceScene();
  assertEquals(await scene.serving?.ping(), 0);
});

Deno.test("ping() resolves when the homeserver has knocked, and fails afterwards as Synapse may", async () => {
  await using scene = await appserviceScene();
  const { serving } = scene;
  scene.serving = {
    async fetch(request: Request) {
      await serving?.fetch(request);
      throw new TypeError("AlreadyCalled: Tried to cancel an already-called event.");
    },
  } as unknown as Appservice; // nothing else of it is used
  assertEquals(await serving?.ping(), 0);
});

const failures: [string, Parameters<Awaited<ReturnType<typeof appserviceScene>>["instance"]>[0], string][] = [
  ["has another hs_token", { registration: { ...registration, hs_token: "other" } }, "hs_token"],
  ["has an as_token that the homeserver does not know", {
    registration: { ...registration, as_token: "other" },
  }, "as_token"],
  ["has the id of another", { registration: { ...registration, id: "other" } }, "another registration"],
];
for (const [name, options, mend] of failures) {
  Deno.test(`start() of one that ${name} rejects, and says so`, async () => {
    await using scene = await appserviceScene({ isServing: false });
    scene.serving = scene.instance(options);
    const error = await assertRejects(async () => await scene.serving?.start(), AppservicePingError);
    assertStringIncludes(error.message, mend);
    for (const secret of [registration.hs_token, registration.as_token]) {
      assert(!error.message.includes(secret));
    }
  });
}

Deno.test("start() rejects if something else answers at the URL", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const error = await assertRejects(async () => await scene.instance().start(), AppservicePingError);
  assertStringIncludes(error.message, "https://echo.example said 502");
});

Deno.test("start() waits for a homeserver that can't be reached", async () => {
  await using scene = await appserviceScene();
  const { serving, stage } = scene;
  using _fault = stage.homeserver.faults.add({ kind: "drop", match: { path: "/ping" } });
  const done = serving?.start();
  await stage.settle();
  await scene.send("t1", []);
  await serving?.stop();
  await done;
});

for (const status of [429, 500, 502]) {
  Deno.test(`start() waits for a homeserver that answers ${status} for now`, async () => {
    await using scene = await appserviceScene();
    const { serving, stage } = scene;
    using _fault = stage.homeserver.faults.add({ kind: "html", status, match: { path: "/ping" } });
    const done = serving?.start();
    await stage.settle();
    await scene.send("t1", []);
    await serving?.stop();
    await done;
  });
}

Deno.test("start() that is stopped while the homeserver is asked to knock ends", async () => {
  await using scene = await appserviceScene();
  using _fault = scene.stage.homeserver.faults.add({ kind: "delay", ms: 60_000, match: { path: "/ping" } });
  const done = scene.serving?.start();
  await scene.serving?.stop();
  await done;
});

Deno.test("start() without ping asks the homeserver nothing", async () => {
  await using scene = await appserviceScene();
  const done = scene.serving?.start({ ping: false });
  await scene.stage.settle();
  await scene.serving?.stop();
  await done;
  assertEquals(scene.stage.homeserver.requests.filter("POST", "/ping").length, 0);
});

Deno.test("Of thousands of pings the latest IDs are kept, and of none what else is in it", async () => {
  await using scene = await appserviceScene();
  const headers = { authorization: `Bearer ${registration.hs_token}` };
  let count = 0;
  const knock = async (times: number, transaction_id: string): Promise<void> => {
    for (let time = 0; time < times; time++) {
      const body = JSON.stringify({
        transaction_id: `${transaction_id}${count++}`,
        rest: "x".repeat(50_000),
      });
      const request = new Request("https://echo.example/_matrix/app/v1/ping", {
        method: "POST",
        headers,
        body,
      });
      assertEquals((await scene.serving?.fetch(request))?.status, 200);
    }
  };
  await knock(100, "ping");
  await grownBy(() => Promise.resolve(), 1); // which collects garbage
  const before = Deno.memoryUsage().heapUsed;
  const grown = await grownBy(async () => {
    await knock(1_500, "ping");
    await knock(500, "x".repeat(50_000));
  }, 200);
  assertEquals(grown, []);
  const more = Deno.memoryUsage().heapUsed - before;
  assert(more < 4e6, `${more} bytes more`); // 100 bodies are 5 MB
});
