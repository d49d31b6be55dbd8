import { assertEquals } from "@std/assert";
import type { Bot } from "@greenroom/matrix/bot";
import type { BotTester, TestRoom } from "@greenroom/matrix/testing";
import type { JsonObject, RoomID } from "@greenroom/matrix/types";
import { moderation } from "../../../examples/bots/moderation/moderation.ts";
import { trying } from "../support.ts";

/** A moderation bot, its list, and what people do. */
async function scene() {
  let policyRoom: RoomID = "!list:localhost";
  let reading: Promise<void> | undefined;
  const setUp = (bot: Bot) => {
    const { stateStore } = bot.client;
    const listState = stateStore.listState.bind(stateStore);
    stateStore.listState = async (room: RoomID, type: string) => {
      await reading;
      return await listState(room, type);
    };
    moderation(bot, policyRoom);
  };
  const tester: BotTester = trying(setUp, {
    admins: ["@alice:localhost"],
  });
  await tester.start();
  const list = await tester.room("alice");
  policyRoom = list.id;
  await tester.restart(); // which knows the room of the list
  const state = (room: RoomID, path: string, content: JsonObject) =>
    tester.request("alice", "PUT", `/rooms/${encodeURIComponent(room)}/state/${path}`, content);
  return {
    tester,
    /** Has the store take its time for what a room's state is, until that is called which is returned. */
    slow(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      reading = promise;
      return resolve;
    },
    /** Has the list ban whom a pattern fits. */
    list: (entity: string) =>
      state(list.id, "m.policy.rule.user/rule", { entity, recommendation: "m.ban", reason: "spam" }),
    /** Gives the bot power, and others more. */
    empower({ id }: TestRoom, ...others: readonly string[]) {
      const mighty = others.map((name) => [tester.userId(name), 100]);
      return state(id, "m.room.power_levels", {
        users: { [tester.mxid]: 50, ...Object.fromEntries(mighty) },
      });
    },
    async enter({ id }: TestRoom, user: string) {
      const path = encodeURIComponent(id);
      await tester.request("alice", "POST", `/rooms/${path}/invite`, { user_id: tester.userId(user) });
      await tester.request(user, "POST", `/join/${path}`, {});
    },
    membership: (room: TestRoom, user: string) => room.view().membership(tester.userId(user)),
    [Symbol.asyncDispose]: () => tester[Symbol.asyncDispose](),
  };
}

Deno.test("The moderation bot bans all listed users who have joined at once while it was off", async () => {
  await using here = await scene();
  const { tester } = here;
  const room = await tester.room("alice");
  await here.empower(room);
  await here.list("@spam*:localhost");
  await tester.settle();
  await tester.stop();
  const spammers = ["spam1", "spam2", "spam3", "spam4"];
  for (const name of spammers) await here.enter(room, name);
  const go = here.slow();
  await tester.start();
  await tester.settle();
  go();
  await tester.settle();
  assertEquals(spammers.map((name) => here.membership(room, name)), spammers.map(() => "ban"));
});

Deno.test("A room in which the moderation bot has no power, or a user whom it can't ban, keeps it from no other", async () => {
  await using here = await scene();
  const { tester } = here;
  const powerless = await tester.room("alice", "mallory");
  const room = await tester.room("alice", "malcolm", "mallory");
  await here.empower(room, "malcolm");
  await here.list("@mal*:localhost");
  await tester.settle();
  assertEquals(here.membership(room, "mallory"), "ban");
  assertEquals(here.membership(room, "malcolm"), "join");
  assertEquals(here.membership(powerless, "mallory"), "join");
  const said = (text: string) => tester.logged.filter((line) => line.includes(text)).length;
  assertEquals([said("The bot lacks the power to ban"), said("Cannot ban")], [1, 1]);
  await here.empower(powerless);
  await tester.settle();
  assertEquals(here.membership(powerless, "mallory"), "ban"); // as soon as it can
});

Deno.test("The moderation bot says that it lacks the power to remove messages", async () => {
  await using here = await scene();
  const room = await here.tester.room("alice", "bob");
  await room.say("!clear @bob:localhost");
  await room.expect("I lack the power to remove messages in this room.");
});
