/**
 * A server answers to the signature of another user's identity, or of another own device, as if it
 * had taken it, and has not: `verifyUser()` and `verifyDevice()` counted it as published, and the
 * user's other devices never saw it.
 *
 * What must hold: it is uploaded again, by the next process too, until the server shows it or says no.
 *
 * The class of mistake: that something was sent is taken for that it has arrived.
 */

import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { clientStage } from "../../../client/support/stage.ts";
import { ALICE, device, KEY, OTHER_KEY, shown } from "../../../encryption/identity/scene.ts";

const BOB = "@bob:localhost";

/** What a server can answer without taking a signature, or saying that it refuses this one. */
const ANSWERS: readonly [status: number, body: unknown][] = [
  [200, {}],
  [200, { failures: {} }],
  [200, { failures: { "@carol:localhost": { A: {} } } }],
  [200, []],
  [200, "no JSON object"],
  [403, { errcode: "M_FORBIDDEN", error: "No" }],
  [500, { errcode: "M_UNKNOWN", error: "Down" }],
];

for (const [status, body] of ANSWERS) {
  Deno.test(`T163: after the answer ${status} ${JSON.stringify(body)} a signature is uploaded until the server shows it`, async () => {
    await using here = clientStage();
    const bob = here.client("bob", { encryption: { recoveryKey: OTHER_KEY } });
    await bob.crypto?.start();
    const tablet = await device(here, "TABLET", { encryption: { recoveryKey: KEY } });
    await tablet.crypto?.start();
    const plain = await device(here, "PLAIN");
    await plain.crypto?.start();
    const store = new MemoryStore();
    let isDeaf = false;
    let uploads = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      if (!request.url.includes("/keys/signatures/upload")) return await here.homeserver.fetch(request);
      uploads++;
      return isDeaf ? Response.json(body, { status }) : await here.homeserver.fetch(request);
    };
    const phone = await device(here, "PHONE", { encryption: { recoveryKey: KEY }, store, fetch });
    await phone.crypto?.start();
    await phone.crypto?.idle();
    const seen = await phone.crypto?.getIdentity(BOB);
    const { ed25519 } = (await phone.crypto?.getDevices(ALICE))?.find(({ deviceId }) =>
      deviceId === "PLAIN"
    ) ?? {};
    assert(seen !== undefined && ed25519 !== undefined);
    isDeaf = true;
    await phone.crypto?.verifyUser(seen);
    await phone.crypto?.verifyDevice({ userId: ALICE, deviceId: "PLAIN", ed25519 });
    await phone.crypto?.idle();
    assertEquals((await shown(tablet)).signers.PLAIN, []);
    await phone.close();

    isDeaf = false;
    const next = await device(here, "PHONE", { encryption: {}, store, fetch });
    await next.crypto?.start();
    await next.crypto?.idle();
    await here.clock.tick(60_000);
    await next.crypto?.idle();
    assertEquals((await shown(tablet)).signers.PLAIN?.length, 1);
    const identity = await tablet.crypto?.getIdentity(BOB);
    assert(identity?.isVerified);
    const enough = uploads;
    await here.clock.tick(2 * 3_600_000); // twice the longest wait before it tries again
    await next.crypto?.idle();
    assertEquals(uploads, enough, "what is shown is not uploaded again");
  });
}
