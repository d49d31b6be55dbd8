import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, UnknownTokenError } from "@greenroom/matrix";
import { ActorError } from "@greenroom/matrix/errors";
import { assertPending, complaintsIn } from "../../actors/kernel/support.ts";
import { company } from "../support/company.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** The paths that a user has asked for since a number of requests. */
function asked({ homeserver }: ClientStage, since: number): string[] {
  return [...homeserver.requests].slice(since)
    .filter(({ user }) => user === undefined || user === "@bot:localhost")
    .map(({ path }) => path.replace("/_matrix/client/v3", ""));
}

const LEAVING: Record<string, (bot: Client) => Promise<unknown>> = {
  "logout()": (bot) => bot.logout(),
  "logoutAll()": (bot) => bot.logoutAll(),
  "logout() that keeps the token": (bot) => bot.logout({ clearAccessToken: false }),
  "deactivateAccount()": (bot) => bot.deactivateAccount({ authentication: { password: "password of bot" } }),
};

for (const [name, leave] of Object.entries(LEAVING)) {
  Deno.test(`${name} while the client syncs ends start() cleanly, and nothing more is sent`, async () => {
    for (const isInHandler of [false, true]) {
      await using stage = clientStage();
      const { bot, alice, roomId } = await company(stage);
      const left = Promise.withResolvers<number>();
      const go = async (): Promise<void> => {
        await leave(bot);
        left.resolve(stage.homeserver.requests.length);
      };
      if (isInHandler) bot.on("m.room.message", go);
      const running = bot.start();
      await bot.ready;
      await alice.sendText(roomId, "x");
      await stage.settle();
      if (!isInHandler) await go();
      const before = await left.promise;
      await running;
      await stage.clock.tick(600_000);
      assertEquals(asked(stage, before), []);
      assertEquals(complaintsIn(stage.log), []);
      await bot.close();
      await bot.done;
      assertEquals(asked(stage, before), []);
    }
  });

  Deno.test(`${name} that the server refuses leaves a client as it was: it goes on syncing`, async () => {
    await using stage = clientStage();
    const { bot, alice, roomId } = await company(stage);
    const heard: string[] = [];
    bot.on("m.room.message", ({ content }) => heard.push(content.body));
    const running = bot.start();
    await bot.ready;
    using _ = stage.homeserver.faults.add({
      kind: "status",
      status: 500,
      match: { path: /logout|deactivate/ },
    });
    await assertRejects(() => leave(bot));
    await assertPending(running);
    await alice.sendText(roomId, "still there?");
    await stage.until(() => heard.length === 1);
    await bot.sendText(roomId, "yes");
    await bot.stop();
    await running;
  });
}

Deno.test("logout() while encryption publishes its keys ends that too", async () => {
  await using stage = clientStage();
  const bot = stage.client("bot", { encryption: EVERYBODY });
  const held = stage.homeserver.faults.add({ kind: "hold", match: { path: "/keys/" } });
  const running = bot.start();
  await held.hit();
  const left = bot.logout();
  await stage.settle();
  held.remove();
  await left;
  const before = stage.homeserver.requests.length;
  await running;
  await stage.clock.tick(600_000);
  assertEquals(asked(stage, before), []);
  assertEquals(complaintsIn(stage.log), []);
});

Deno.test("A logout by the server says whether the device and its keys are still there", async () => {
  for (const isSoft of [true, false]) {
    await using stage = clientStage();
    const bot = stage.client("bot");
    const running = bot.start();
    await bot.ready;
    if (isSoft) stage.homeserver.expireTokens("@bot:localhost");
    else stage.homeserver.revokeTokens("@bot:localhost");
    const error = await assertRejects(() => running, UnknownTokenError);
    assertEquals(error.isSoftLogout, isSoft);
    assert(error.message.includes(isSoft ? "log in with the same device ID" : "there is no such session"));
    const ended = await assertRejects(() => bot.done, ActorError);
    assert(ended.message.includes(isSoft ? "log in with the same device ID" : "there is no such session"));
  }
});
