/**
 * A server takes no signature of this device, and answers as if it had, or in any other way:
 * `ensureVerified()` said `verified`, a bot went on, and nobody trusted its device.
 *
 * What must hold: what is said to be signed is shown so by the server;
 * until then it is said that it is not, and tried again.
 *
 * The class of mistake: that something was sent is taken for that it has arrived.
 */

import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { clientStage } from "../../../client/support/stage.ts";
import { ALICE, device, KEY, PASSWORD, shown } from "../../../encryption/identity/scene.ts";

const BODY = { failures: { [ALICE]: { PLAIN: { errcode: "M_INVALID_SIGNATURE", error: "Invalid" } } } };
/** What a server can answer without taking a signature. */
const ANSWERS: readonly [status: number, body: unknown][] = [
  [200, {}],
  [200, { failures: {} }],
  [200, BODY],
  [200, []],
  [200, "no JSON object"],
  [400, { errcode: "M_BAD_JSON", error: "No" }],
  [403, { errcode: "M_FORBIDDEN", error: "No" }],
  [404, { errcode: "M_UNRECOGNIZED", error: "Unknown" }],
  [500, { errcode: "M_UNKNOWN", error: "Down" }],
];

Deno.test("T161: a device counts as verified only if the server shows its signature", async () => {
  for (const [status, body] of ANSWERS) {
    await using here = clientStage();
    const owner = await device(here, "OWNER", { encryption: { recoveryKey: KEY } });
    await owner.crypto?.start();
    let isDeaf = true;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!isDeaf || !request.url.includes("/keys/signatures/upload")) {
        return await here.homeserver.fetch(request);
      }
      return Response.json(body, { status });
    };
    const plain = await device(here, "PLAIN", { fetch, store: new MemoryStore() });
    await plain.crypto?.start(); // its keys are published without a signature
    await plain.crypto?.idle();
    const state = async () => (await plain.crypto?.ensureVerified({ recoveryKey: KEY }))?.state;
    const name = JSON.stringify([status, body]);
    assertEquals([await state(), await state()], ["unconfirmed", "unconfirmed"], name);
    assert(
      here.log.lines.some(([, message]) => message.includes("does not show that this device is signed")),
    );
    assertEquals((await shown(owner)).signers.PLAIN, []);
    isDeaf = false;
    await here.clock.tick(600_000);
    await plain.crypto?.idle();
    assertEquals(await state(), "verified", name);
    assertEquals((await shown(owner)).signers.PLAIN?.length, 1, name);
  }
});

Deno.test("T161: a reset says that its signature of the device is not shown", async () => {
  await using here = clientStage();
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    return request.url.includes("/keys/signatures/upload")
      ? Response.json({})
      : await here.homeserver.fetch(request);
  };
  const bot = await device(here, "BOT", { fetch, encryption: { recoveryKey: KEY } });
  await bot.crypto?.start();
  const reset = { recoveryKey: KEY, password: PASSWORD, confirm: () => true };
  assertEquals((await bot.crypto?.resetIdentity(reset))?.state, "unconfirmed");
});
