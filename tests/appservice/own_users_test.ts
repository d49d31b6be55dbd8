import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { OwnUsers } from "../../src/appservice/own_users.ts";
import { Bot } from "@greenroom/matrix/bot";
import { appserviceScene, registration } from "./scene.ts";

const users = new OwnUsers({
  ...registration,
  namespaces: {
    users: [{ regex: "@_echo_.*", exclusive: true }, { regex: "@.*:localhost", exclusive: false }],
  },
}, "localhost");

Deno.test("Own users are the sender, and those of exclusive namespaces on this server, matched from the beginning", () => {
  assert(users.isOwn("@echo:localhost") && users.isOwn("@_echo_a:localhost"));
  for (const other of ["@alice:localhost", "@_echo_a:elsewhere", "@x@_echo_a:localhost", "@echo:elsewhere"]) {
    assertEquals([other, users.isOwn(other)], [other, false]);
  }
});

Deno.test("Ghosts are own users, but for those that the application service itself is", async () => {
  const [bot, ghost] = ["@echo:localhost", "@_echo_a:localhost"];
  assertEquals([bot, ghost, "@alice:localhost", "@_echo_a:elsewhere"].filter((each) => users.isGhost(each)), [
    ghost,
  ]);
  await using scene = await appserviceScene({ encryption: true });
  const appservice = scene.instance();
  const { sender_localpart } = appservice.registration;
  assert(appservice.userId !== `@${sender_localpart}:localhost`);
  for (const own of [appservice.userId, `@${sender_localpart}:localhost`]) assert(!appservice.isGhost(own));
  assert(appservice.isGhost(ghost));
});

Deno.test("An application service may act as whom a namespace has, exclusive or not", () => {
  assertEquals(users.actable("alice"), "@alice:localhost");
  assertEquals(users.actable("@_echo_a:localhost"), "@_echo_a:localhost");
  assertThrows(() => users.actable("@alice:elsewhere"), ValueError);
});

Deno.test("A bot of an application service accepts its own invitations, and leaves those of ghosts to functions", async () => {
  await using scene = await appserviceScene();
  const { stage, alice } = scene;
  const appservice = scene.instance();
  scene.serving = appservice;
  const asked: unknown[] = [];
  const heard: unknown[] = [];
  const bot = new Bot({ appservice, autoJoin: ({ state_key }) => asked.push(state_key) > 0 });
  bot.on("invite", ({ event }) => void heard.push(event.state_key));
  const running = bot.start({ signals: false });
  await appservice.intent("_echo_parrot").ensureRegistered();
  const room = await alice.createRoom();
  await alice.inviteUser(room, "@_echo_parrot:localhost");
  await stage.until(() => heard.length === 1);
  await alice.inviteUser(room, "@echo:localhost");
  await stage.until(() => stage.homeserver.room(room).membership("@echo:localhost") === "join");
  await stage.settle();
  assertEquals([asked, heard], [["@echo:localhost"], ["@_echo_parrot:localhost", "@echo:localhost"]]);
  assertEquals(stage.homeserver.room(room).membership("@_echo_parrot:localhost"), "invite");
  const joins = stage.homeserver.requests.filter("POST", "/join").filter(({ status }) => status !== 200);
  assertEquals(joins, []);
  await bot.stop();
  await running;
});
