/** History that can't be told or fetched just now. */

import { assert, assertEquals } from "@std/assert";
import { Refusal, ROOM } from "../engine/homeserver.ts";
import { RawSession } from "../engine/raw_device.ts";
import { FakeUser } from "../support/fake_user.ts";
import { ALICE, bundleWith, fileAt, historyScene, ME } from "./stage.ts";

const FILE = "mxc://example.org/bundle";

Deno.test("A user whose devices have no session yet is told nothing, and no empty message is sent", async () => {
  const { bot } = await historyScene();
  await bot.engine.areDevicesStale({ users: [ALICE], since: Infinity });
  await bot.flush();
  const offer = { userId: ALICE, roomId: ROOM, file: fileAt(FILE) as never };
  assertEquals(await bot.engine.steps.offerHistory(offer), 0);
  assertEquals(await bot.engine.requests(), []);
  await bot.engine.steps.historyRecipients(ALICE);
  await bot.flush();
  assertEquals(await bot.engine.steps.offerHistory(offer), 1);
});

Deno.test("An own identity that the server shows, and that is accepted at most, is not a verified one", async () => {
  const { bot, server } = await historyScene();
  const { master } = server.identities.set(ME, new FakeUser(ME).crossSign()).get(ME) ?? {};
  server.show(bot);
  await bot.sync();
  const isVerified = async () => (await bot.engine.steps.historyRecipients(ALICE)).isVerified;
  assert(!await isVerified());
  await bot.engine.steps.acknowledgeIdentity({ userId: ME, master: master?.publicKey ?? "" });
  assert(!await isVerified());
});

Deno.test("History of a sender whose devices can't be looked up for now is fetched when they can", async () => {
  const { bot, alice, announcement, accepts, asked, files, server } = await historyScene();
  files.set(FILE, bundleWith(new RawSession(), alice));
  const answer = server.answer.bind(server);
  let isDown = true;
  server.answer = (from, request) => {
    if (isDown && request.kind === "keysQuery") throw new Refusal(503);
    return answer(from, request);
  };
  await bot.sync({ toDevice: [announcement(alice)] });
  await accepts(ALICE);
  await bot.sync();
  assertEquals(asked, []);
  isDown = false;
  await server.clock.tick(60_000);
  await bot.sync();
  assertEquals(asked, [FILE]);
});
