/**
 * What people do with bots of the kit, beside the answers that they give by themselves.
 *
 * @module
 */

import { answerText, type CommandName, COMMANDS, commandText, readQuestion } from "../kit/kit_texts.ts";
import { totals } from "../kit/kit_bot.ts";
import type { OutsideValue } from "../kit/kit_ledger.ts";
import { botsOf, personOf, SENDS } from "../kit/kit_scene.ts";
import type { Device } from "../world/device.ts";
import { type ActionKind, chosen } from "./action.ts";
import { kitMoments } from "./kit_moments.ts";

/** For how long a bot is thrown out, in milliseconds, or several times that. */
const AWAY = 6_000;
/** By when a bot has put its question, in milliseconds. */
const ASKING = 10_000;
const NAMES = Object.keys(COMMANDS) as CommandName[];

/** The questions that a device has read, the latest first. */
function questionsOf({ readings }: Device) {
  return [...readings.values()].toReversed().flatMap((text) => readQuestion(text) ?? []);
}

/** The kinds. */
export const kitKinds: readonly ActionKind[] = [
  ...kitMoments,
  {
    name: "command",
    weight: 110,
    isOfKit: true,
    perform({ world, device, room, action: { what } }) {
      const person = personOf(world, device);
      const name = chosen(NAMES, what);
      if (person === undefined || name === undefined) return;
      for (let count = what % 16 === 0 ? 2 : 1; count > 0; count--) {
        world.say(person, room, { words: (number) => commandText(name, number) });
      }
    },
  },
  {
    name: "answer a question again, or late",
    weight: 14,
    isOfKit: true,
    perform({ world, device, room, action: { what } }) {
      const person = personOf(world, device);
      if (person === undefined) return;
      const question = chosen(questionsOf(person).slice(0, 3), what);
      if (question === undefined) return;
      world.say(person, room, { words: (number) => answerText(question, number) });
    },
  },
  {
    name: "all answer a question at once",
    weight: 8,
    isOfKit: true,
    perform({ world, device, room }) {
      const [question] = personOf(world, device) === undefined
        ? []
        : questionsOf(personOf(world, device) as Device);
      if (question === undefined) return;
      for (const each of world.devices) {
        if (each.account.isBot || !each.isRunning) continue;
        world.say(each, room, { words: (number) => answerText(question, number) });
      }
    },
  },
  {
    name: "cancel a conversation",
    weight: 4,
    isOfKit: true,
    perform({ world, device, room }) {
      const person = personOf(world, device);
      if (person !== undefined) world.say(person, room, { words: (number) => `!cancel of ${number}` });
    },
  },
  {
    name: "a session of a bot is changed from outside",
    weight: 12,
    isOfKit: true,
    perform({ world, room, action: { what } }) {
      const device = chosen(botsOf(world), what);
      const { bot, kit, process } = device ?? {};
      if (bot === undefined || kit === undefined || process?.isAlive !== true) return;
      const change = { room: room.id, entry: `outside ${kit.outside.length + 1}`, isMade: false };
      kit.outside.push(change);
      world.note(`${device?.name} is to note ${change.entry} in room ${world.rooms.indexOf(room) + 1}`);
      bot.session(totals, room.id).update((state) => void state.by.push(change.entry)).then(
        () => change.isMade = process.isAlive,
        (error) => world.note(`${device?.name} can't note ${change.entry}: ${error}`),
      );
    },
  },
  {
    name: "a value in the store of a bot is set or deleted from outside",
    weight: 12,
    isOfKit: true,
    perform({ world, action: { where, what } }) {
      const device = chosen(botsOf(world), what);
      const { bot, kit, process } = device ?? {};
      if (bot === undefined || kit === undefined || process?.isAlive !== true) return;
      const told = (work: Promise<void>, done: () => void): void =>
        void work.then(
          () => process.isAlive && done(),
          (error) => world.note(`${device?.name} can't change its store: ${error}`),
        );
      const known = kit.outsideValues.find(({ isSet, isGoing }) => isSet && !isGoing);
      if (known !== undefined && where % 2 === 0) {
        known.isGoing = true;
        told(bot.store.delete(known.key), () => known.isGone = true);
      } else {
        const number = kit.outsideValues.length + 1;
        const value: OutsideValue = { key: ["outside", number], isSet: false, isGoing: false, isGone: false };
        kit.outsideValues.push(value);
        told(bot.store.set(value.key, number), () => value.isSet = true);
      }
    },
  },
  {
    name: "a bot ends while it puts a question, and is thrown out and invited again",
    weight: 8,
    isOfKit: true,
    async perform({ world, device, room, action: { where, what } }) {
      const [creator] = world.accounts;
      const [person, bot] = [personOf(world, device), chosen(botsOf(world), where)];
      if (creator === undefined || person === undefined || bot?.isRunning !== true) return;
      const subject = room.encryptedAt < Infinity ? SENDS[1] : SENDS[0];
      bot.process?.plan({ operation: "request", subject, after: what % 2, takesEffect: true, kind: "crash" });
      const name = what % 3 === 0 ? "survey" : "order";
      world.say(person, room, { words: (number) => commandText(name, number) });
      if (!await world.until(() => !bot.isRunning, ASKING)) return;
      const path = `v3/rooms/${encodeURIComponent(room.id)}`;
      const change = async (verb: string): Promise<unknown> =>
        await world.ask(await creator.token(), "POST", `${path}/${verb}`, { user_id: bot.userId });
      await change("kick");
      await world.timeline.pass((what >> 2) % 4 * AWAY); // its next process may see that it is not there
      await change("invite");
      world.note(`${bot.name} has ended, was thrown out and is invited again`);
    },
  },
  {
    name: "a bot ends in the middle of what it does",
    weight: 30,
    isOfKit: true,
    perform({ world, action: { where, what } }) {
      const device = chosen(botsOf(world), where >> 4);
      const isCommit = what % 2 === 0;
      device?.process?.plan({
        operation: isCommit ? "commit" : "request",
        subject: isCommit ? "session/" : chosen(SENDS, what >> 1),
        after: where % 4,
        takesEffect: (what >> 3) % 2 === 0,
        kind: what % 5 === 0 ? "error" : "crash",
      });
      world.note(`${device?.name} is to end with a ${isCommit ? "commit of sessions" : "send"}`);
    },
  },
];
