/** An own identity that is not verified, which the server may have made: it verifies nothing. */

import { assertEquals } from "@std/assert";
import type { JsonObject, UserID } from "@greenroom/matrix/types";
import { ENCRYPTION, EngineServer, ROOM } from "../../engine/homeserver.ts";
import { Bot } from "../../engine/bot.ts";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse, sign, signingKey } from "../../support/fake_user.ts";

const ME: UserID = "@me:example.org", BOB: UserID = "@bob:example.org";

/** What a server shows that has made all identities itself: the own one vouches for Bob's. */
function madeUp(...deviceIds: string[]) {
  const me = new FakeUser(ME, ...deviceIds).crossSign();
  const bob = new FakeUser(BOB, "PHONE").crossSign();
  const response = queryResponse(me, bob);
  const userSigning = signingKey();
  response.user_signing_keys[ME] = me.crossSigningKey(userSigning, "user_signing");
  const master = response.master_keys[BOB];
  if (master !== undefined) {
    const keyId = `ed25519:${userSigning.publicKey}`;
    response.master_keys[BOB] = sign(master, { userId: ME, keyId, key: userSigning });
  }
  return { me, bob, response };
}

Deno.test("T19: an own identity that the server shows makes neither own devices nor other users verified", async () => {
  const stage = new DeviceStage();
  const { response } = madeUp("OTHER");
  await stage.mark(ME, BOB);
  await stage.ask(response);
  for (const time of ["at once", "after a restart"]) {
    assertEquals([await stage.trust(ME), await stage.trust(BOB)], [
      { OTHER: "unsigned" },
      { PHONE: "cross-signed" },
    ], time);
    await stage.restart();
  }
  // Only what the application itself says of a device makes it verified: that one, and no other.
  await stage.say(ME, "OTHER", "verified");
  assertEquals([await stage.trust(ME), await stage.trust(BOB)], [
    { OTHER: "verified" },
    { PHONE: "cross-signed" },
  ]);
});

Deno.test("T19: with sendTo verified no device gets a key by it, and own devices that it vouches for are not answered", async () => {
  const server = new EngineServer();
  const policy = { sendTo: "verified", answerKeyRequests: true } as const;
  const bot = await Bot.open(server, { userId: ME, deviceId: "MINE", policy });
  server.members.add(BOB);
  const { response } = madeUp("OTHER");
  const shown = server.keys.get(ME)?.get("MINE");
  response.device_keys[ME] = { ...response.device_keys[ME], ...(shown && { MINE: { ...shown } }) };
  const answer = server.answer.bind(server);
  server.answer = (from, request) => request.kind === "keysQuery" ? response : answer(from, request);
  await bot.describe();
  await bot.sync({ deviceLists: { changed: [ME], left: [] } });
  const { shared, withheld } = await bot.ready();
  assertEquals(shared, []);
  assertEquals(withheld.map(({ device, code }) => `${device.userId} ${device.deviceId} ${code}`).sort(), [
    "@bob:example.org PHONE m.unverified",
    "@me:example.org OTHER m.unverified",
  ]);
  const { content } = await bot.send("without recipients");
  const request = {
    action: "request",
    requesting_device_id: "OTHER",
    request_id: "1",
    body: { algorithm: ENCRYPTION.algorithm, room_id: ROOM, session_id: content.session_id },
  };
  const inbox = server.mailbox({ userId: ME, deviceId: "OTHER" }).toDevice;
  inbox.length = 0;
  await bot.sync({ toDevice: [{ type: "m.room_key_request", sender: ME, content: request, source: 0 }] });
  assertEquals(inbox.map(({ type, content: { code } }) => [type, code]), [
    ["m.room_key.withheld", "m.unauthorised"],
  ]);
});

Deno.test("T19: only an own identity that nothing has accepted is forgotten when it is not shown any more", async () => {
  const hidden = (response: ReturnType<typeof queryResponse>, master?: JsonObject) => {
    const masters: Record<string, JsonObject> = master === undefined ? {} : { [ME]: master };
    return { ...response, master_keys: masters, self_signing_keys: {}, user_signing_keys: {} };
  };
  for (const accepted of ["by nothing", "by the application", "by its private keys"]) {
    const stage = new DeviceStage();
    const { me, bob, response } = madeUp("OTHER");
    await stage.mark(ME, BOB);
    await stage.ask(response);
    if (accepted === "by the application") await stage.acknowledge(ME);
    if (accepted === "by its private keys") await stage.prove(ME);
    const masters = async () =>
      await stage.run(async (tx) => [
        (await stage.lists.identityOf(tx, ME))?.master,
        (await stage.lists.identityOf(tx, BOB))?.master,
      ]);
    const [mine, bobs] = [me.master?.publicKey, bob.master?.publicKey];
    await stage.mark(ME, BOB);
    await stage.ask(hidden(response, { keys: [] })); // what is malformed says nothing
    assertEquals(await masters(), [mine, bobs], accepted);
    await stage.mark(ME, BOB);
    await stage.ask(hidden(response));
    assertEquals(await masters(), [accepted === "by nothing" ? undefined : mine, bobs], accepted);
  }
});
