/**
 * One altered answer ends the client: a server, or who stands in between,
 * shows once other keys of this device, which it has taken long since.
 *
 * What must hold: it is an alarm, nothing of that answer counts, and the server is asked
 * again after a while; only what stays so for a minute ends the client. Of a device that it
 * has not taken, the first answer counts.
 *
 * The class of mistake: what one answer says undoes what many have shown.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { DeviceConflictError } from "@greenroom/matrix/errors";
import type { JsonObject } from "@greenroom/matrix/types";
import { Asked, BOB, ME } from "../../engine/asked.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";

/** What shows a device of the same name with keys that are not the own ones, and Bob. */
const altered = () => queryResponse(new FakeUser(ME, "MINE"), new FakeUser(BOB, "B"));

/** An engine whose keys the server has, and that is to ask about its own user. */
async function published(): Promise<Asked> {
  const asked = await (await Asked.open()).publish();
  await asked.sync({ changed: [ME] });
  return asked;
}

/** Answers the next query, after the wait that it may take. */
async function answers(asked: Asked, response: JsonObject) {
  await asked.clock.tick(60_000);
  return await asked.answer(await asked.one("keysQuery"), response);
}

Deno.test("T151: an answer with other keys of the published device is an alarm, and the server is asked again", async () => {
  for (const isRestarted of [false, true]) {
    const asked = await published();
    if (isRestarted) await asked.restart();
    const { alarms } = await answers(asked, altered());
    assertEquals(alarms, [{ kind: "keys-changed", userId: ME, deviceId: "MINE" }]);
    assert(asked.warnings.some((warning) => warning.includes("other keys of this device")));
    const again = await asked.one("keysQuery"); // at once, so that no message has to wait
    await asked.answer(again, altered());
    assertEquals(await asked.kinds(), [], "then after a while");
    assertEquals((await answers(asked, asked.shown())).alarms, []);
    assertEquals(await asked.kinds(), [], "and all is well");
    assertEquals(await asked.engine.devicesOf([ME]), [], "nothing of it has counted");
  }
});

Deno.test("T151: only what stays so ends the client; one good answer begins the count anew", async () => {
  const asked = await published();
  for (let round = 0; round < 2; round++) {
    for (let time = 0; time < 7; time++) await answers(asked, altered());
    if (round === 1) break;
    await answers(asked, asked.shown());
    await asked.sync({ changed: [ME] });
  }
  await assertRejects(() => answers(asked, altered()), DeviceConflictError);
  assertEquals(await asked.kinds(), []);
});

Deno.test("T151: the first answer counts of a device that the server has not taken", async () => {
  const asked = await Asked.open();
  await assertRejects(() => answers(asked, altered()), DeviceConflictError);
});
