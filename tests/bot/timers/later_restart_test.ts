import { assert, assertRejects } from "@std/assert";
import type { Bot } from "@greenroom/matrix/bot";
import type { BotTester, TestRoom } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

const MINUTE = 60_000;

/** A bot that was told to say "Curtain" in ten minutes. */
interface Noted extends AsyncDisposable {
  readonly tester: BotTester;
  readonly room: TestRoom;
  readonly bot: Bot;
  readonly id: string;
}

async function noted(): Promise<Noted> {
  let bot: Bot | undefined;
  let id = "";
  const tester = trying((made) => {
    bot ??= made;
    made.command("later", async (c) => {
      id = await c.later("10m", "Curtain");
      await c.reply("Noted");
    });
  });
  const room = await tester.room("alice");
  await room.say("!later");
  await room.expect("Noted");
  assert(bot !== undefined);
  return { tester, room, bot, id, [Symbol.asyncDispose]: () => tester[Symbol.asyncDispose]() };
}

/** Has the next request for a time to begin again fail. */
function losesRestart({ homeserver }: BotTester): void {
  const body = { errcode: "M_UNKNOWN", error: "Lost" };
  homeserver.faults.add({ kind: "status", status: 400, body, match: { path: "/restart" }, times: 1 });
}

Deno.test("What begins again as the bot goes down is said once, and not before its new time", async () => {
  await using stage = await noted();
  const { tester, room, bot, id } = stage;
  await tester.pass(9 * MINUTE);
  // The homeserver does it, and its answer is lost.
  const [pending] = await bot.client.listDelayedEvents();
  await bot.client.restartDelayedEvent(pending?.delay_id as string);
  losesRestart(tester);
  await assertRejects(() => bot.later.restart(id), Error, "Lost");
  await tester.restart();
  await tester.pass(9 * MINUTE);
  await room.expectNothing();
  await tester.pass(MINUTE);
  await room.expect("Curtain");
  await tester.pass(MINUTE);
  await room.expectNothing();
});

Deno.test("What could not begin again comes at its old time, and once", async () => {
  await using stage = await noted();
  const { tester, room, bot, id } = stage;
  await tester.pass(9 * MINUTE);
  losesRestart(tester);
  await assertRejects(() => bot.later.restart(id), Error, "Lost");
  await tester.pass(MINUTE);
  await room.expect("Curtain");
  assert(!await bot.later.restart(id));
  await tester.pass(11 * MINUTE);
  await room.expectNothing();
  assert(!await bot.later.cancel(id));
});
