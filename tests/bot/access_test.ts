import { assertEquals } from "@std/assert";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Bot } from "@greenroom/matrix/bot";
import { clientStage } from "../client/support/stage.ts";

Deno.test("A bot in an application service knows the admins of a room by power level, though it is not sent what was there before it came", async () => {
  await using stage = clientStage();
  const { homeserver: { baseUrl, fetch }, clock, log } = stage;
  const registration = createRegistration({
    id: "shop",
    url: "https://shop.example",
    serverName: "localhost",
  });
  await using appservice = new Appservice({
    ...{ registration, serverName: "localhost", baseUrl, fetch, clock, log },
  });
  stage.homeserver.addAppservice(registration, appservice.fetch);
  const bot = new Bot({ appservice, admins: { powerLevel: 50 } });
  bot.command("close", { access: "admins" }, (c) => c.reply(`Closed for ${c.sender}`));
  const done = bot.start({ signals: false });
  await stage.settle();
  const [alice, bob, carol] = [stage.client("alice"), stage.client("bob"), stage.client("carol")];
  const room = await alice.createRoom({
    preset: "public_chat",
    powerLevelContentOverride: { users: { "@carol:localhost": 50 } },
  });
  for (const client of [bob, carol]) await client.joinRoom(room);
  await alice.inviteUser(room, "@shop:localhost");
  await stage.until(() => stage.homeserver.room(room).membership("@shop:localhost") === "join");
  await stage.settle();
  for (const client of [bob, carol, alice]) await client.sendText(room, "!close");
  const said = () =>
    stage.homeserver.room(room).messages.filter(({ sender }) => sender === "@shop:localhost")
      .map(({ content }) => content.body);
  await stage.until(() => said().length === 2);
  assertEquals(said(), ["Closed for @carol:localhost", "Closed for @alice:localhost"]);
  await bot.stop();
  await clock.tick(10_000);
  await done;
});
