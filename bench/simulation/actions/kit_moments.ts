/**
 * What happens to bots of the kit in the middle of something:
 * they end there, are thrown out, or are followed by another process.
 *
 * @module
 */

import { answerText, COMMANDS, commandText, SEVERAL } from "../kit/kit_texts.ts";
import {
  beginConversation,
  botsOf,
  hasSent,
  isAtWork,
  isSaying,
  othersOf,
  personOf,
  SENDS,
} from "../kit/kit_scene.ts";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

/** How many pieces a text has that grows. */
const PIECES = 5;
/** How long a bot has its second process before the first ends, in milliseconds, or several times that. */
const OVERLAP = 12_000;
/** For how long a bot stands still before it is thrown out, in milliseconds. */
const PAUSE = 400;
/** By when a bot has come to do what it was given, in milliseconds. */
const HANDLING = 10_000;

/** Who takes part. */
function castOf({ world, device, action: { where } }: Scene): { person: Device; bot: Device } | undefined {
  const [person, bot] = [personOf(world, device), chosen(botsOf(world), where >> 2)];
  return isAtWork(person) && isAtWork(bot) ? { person, bot } : undefined;
}

/** Has a bot end as `kill -9` does, and begin again. */
function restart(world: World, bot: Device, why: string): void {
  if (!bot.isRunning) return;
  world.note(`${bot.name} ends ${why}`);
  bot.kill();
  bot.start();
}

/** Throws a bot out and invites it again, so many times; between them another program of its user joins. */
async function throwOut(world: World, { bot, room, times }: {
  readonly bot: Device;
  readonly room: WorldRoom;
  readonly times: number;
}): Promise<void> {
  const [creator] = world.accounts;
  if (creator === undefined) return;
  const path = `v3/rooms/${encodeURIComponent(room.id)}`;
  const token = await creator.token();
  for (let count = 1; count <= times; count++) {
    for (const verb of ["kick", "invite"]) {
      await world.ask(token, "POST", `${path}/${verb}`, { user_id: bot.userId });
    }
    if (count < times) await world.ask(await bot.account.token(), "POST", `${path}/join`, {});
  }
  world.note(`${bot.name} was thrown out and invited again, ${times} times`);
}

/** The kinds. */
export const kitMoments: readonly ActionKind[] = [
  {
    name: "a bot ends in the middle of a text that grows",
    weight: 6,
    isOfKit: true,
    async perform(scene) {
      const { world, room, action: { what } } = scene;
      const { person, bot } = castOf(scene) ?? {};
      if (person === undefined || bot === undefined) return;
      const { number } = world.say(person, room, { words: (number) => commandText("tell", number) }) ?? {};
      const start = `* ${COMMANDS.tell} of ${number} `;
      const piece = `piece ${1 + what % PIECES}`;
      const isIt = (text: string) =>
        text.startsWith(start) && (text.includes(piece) || text.includes("interrupted"));
      if (!await isSaying(world, bot, isIt)) return;
      await hasSent(world, bot, room);
      restart(world, bot, `when it has told ${piece}`);
    },
  },
  {
    name: "a bot is thrown out and invited again while it is away, and ends when it says what has ended",
    weight: 5,
    isOfKit: true,
    async perform(scene) {
      const { world, room, action: { what } } = scene;
      const { person, bot } = castOf(scene) ?? {};
      if (person === undefined || bot === undefined) return;
      const name = what % 2 === 0 ? "order" : "survey";
      const number = await beginConversation(world, { person, bot, room, name });
      if (number === undefined) return;
      await hasSent(world, bot, room);
      await world.timeline.pass((1 + (what >> 1) % 4) * 100);
      if (!isAtWork(bot)) return;
      const { process } = bot;
      const isPaused = (what >> 5) % 2 === 0;
      if (isPaused) {
        process?.pause();
        world.say(person, room); // which it is shown first, and then all that comes
        await world.timeline.pass(PAUSE);
      } else await bot.stop();
      await throwOut(world, { bot, room, times: chosen([1, 2, 2, 3], what >> 3) ?? 1 });
      if (isPaused) process?.resume();
      else bot.start();
      if (!await isSaying(world, bot, (text) => text.startsWith(`ended of ${number} `))) return;
      await hasSent(world, bot, room);
      restart(world, bot, "when it says what has ended");
    },
  },
  {
    name: "a bot ends when it has asked, and its second process waits for the device",
    weight: 4,
    isOfKit: true,
    async perform(scene) {
      const { world, room, action: { what } } = scene;
      const { person, bot } = castOf(scene) ?? {};
      const { process } = bot ?? {};
      if (person === undefined || bot === undefined || process === undefined || !bot.mayBegin) return;
      world.note(`${bot.name} is started a second time, and the first is to end when it has asked`);
      bot.begin().client.start({ timeout: 120_000, ...world.sync }).catch(() => {}); // `done` says why
      await world.timeline.pass((1 + what % 4) * OVERLAP);
      const name = (what >> 2) % 2 === 0 ? "order" : "survey";
      await beginConversation(world, { person, bot, room, name });
      await world.timeline.pass((1 + (what >> 3) % 4) * 100);
      process.kill();
    },
  },
  {
    name: "somebody speaks while a bot puts a question to all, and it ends",
    weight: 5,
    isOfKit: true,
    async perform(scene) {
      const { world, room, action: { what } } = scene;
      const { person, bot } = castOf(scene) ?? {};
      const other = person && chosen(othersOf(world, person), what >> 1);
      if (person === undefined || bot === undefined || other === undefined) return;
      do world.say(other, room); while ((world.sayings.size + 1) % 3 > 0); // then the question is open to all
      if (await beginConversation(world, { person, bot, room, name: "survey" }) === undefined) return;
      for (let count = 0; count <= what % 2; count++) await hasSent(world, bot, room);
      restart(world, bot, "while it puts a question to all");
    },
  },
  {
    name: "all answer a question at once, and the bot ends when it has taken an answer",
    weight: 5,
    isOfKit: true,
    async perform(scene) {
      const { world, room, action: { what } } = scene;
      const { person, bot } = castOf(scene) ?? {};
      const others = person === undefined ? [] : othersOf(world, person);
      if (person === undefined || bot === undefined || others.length === 0) return;
      while ((world.sayings.size + 1) % 3 > 0) world.say(person, room); // then the question is open to all
      const command = await beginConversation(world, { person, bot, room, name: "survey" });
      if (command === undefined) return;
      await hasSent(world, bot, room);
      const question = { command, question: COMMANDS.survey };
      for (const each of [person, ...others]) {
        world.say(each, room, { words: (number) => answerText(question, number) });
      }
      if (!await world.until(() => bot.kit?.taken.has(`any of ${command}`) === true, HANDLING)) return;
      await world.timeline.pass(what % 4 * 15);
      restart(world, bot, "when it has taken an answer");
    },
  },
  {
    name: "a bot says several things without waiting, and ends between them",
    weight: 5,
    isOfKit: true,
    perform(scene) {
      const { world, room, action: { what } } = scene;
      const { person, bot } = castOf(scene) ?? {};
      if (person === undefined || bot === undefined) return;
      world.say(person, room, { words: (number) => commandText("several", number) });
      bot.process?.plan({
        ...{ operation: "request", subject: room.encryptedAt < Infinity ? SENDS[1] : SENDS[0] },
        ...{ after: what % SEVERAL.length, takesEffect: (what >> 2) % 2 === 0 },
        kind: (what >> 3) % 3 === 0 ? "error" : "crash",
      });
      world.note(`${bot.name} is to end with one of several sends`);
    },
  },
];
