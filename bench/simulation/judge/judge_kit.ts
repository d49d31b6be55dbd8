/**
 * Bots of the kit have done each thing once: each command has its first answer, each conversation has
 * come to an end, each answer was taken for one question, each reminder was said, each text that grew
 * is whole, sessions have no gaps and agree, `bot.store` has what was set, and nothing is left of
 * what is over.
 *
 * Over 300 lines because its judgements share what was said in a room.
 *
 * @module
 */

import type { EventID, RoomID } from "@greenroom/matrix/types";
import { orders, own, totals } from "../kit/kit_bot.ts";
import type { KitLedger } from "../kit/kit_ledger.ts";
import {
  type CommandName,
  COMMANDS,
  CONFIRMATION,
  isOpenToAll,
  NO,
  readCommand,
  readCount,
  readQuestion,
  SEVERAL,
  timeoutOf,
  YES,
} from "../kit/kit_texts.ts";
import { isTakenBack } from "../kit/taken_back.ts";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { hasOutlived } from "./judge_kit_leaving.ts";
import { judgeRest } from "./judge_kit_rest.ts";
import { judgeKitStore } from "./judge_kit_store.ts";
import { Memberships } from "./memberships.ts";
import { isOwed, type ShownMessage } from "./owed.ts";
import { soon } from "./soon.ts";

/** Judges all bots of the kit. */
export async function judgeKit(world: World): Promise<void> {
  for (const bot of world.devices) {
    const { kit, goneAt, loss } = bot;
    if (kit === undefined || goneAt < Infinity || loss.isSuffered || world.setback !== undefined) continue;
    await judgeRest(world, bot, kit);
    for (const room of world.rooms) await new RoomJudge(world, room, bot, kit).judge();
    await judgeOrders(world, bot, kit);
    await judgeKitStore(world, bot, kit);
  }
}

/** The orders of each user are those whose second question was asked. */
async function judgeOrders(world: World, bot: Device, kit: KitLedger): Promise<void> {
  for (const { userId } of world.accounts) {
    const { by = [] } = await soon(world, bot.bot?.session(orders, userId).read()) ?? {};
    judgeOnce(world, `${bot.name} in the orders of ${userId}`, by.map(String));
    const ofRooms: number[] = [];
    for (const { id } of world.rooms) {
      ofRooms.push(...(await soon(world, bot.bot?.session(own, [id, userId]).read()))?.by ?? []);
    }
    if (`${ofRooms.toSorted()}` !== `${by.toSorted()}`) {
      world.violate(`${bot.name} has as c.session of ${userId} ${ofRooms}, and as their orders ${by}`);
    }
    for (const number of by) {
      if (!kit.taken.has(`what of ${number}`)) {
        world.violate(`${bot.name} has the order ${number}, of which it was told nothing`);
      }
    }
  }
}

function judgeOnce(world: World, where: string, entries: readonly string[]): void {
  for (const entry of new Set(entries.filter((each, index) => entries.indexOf(each) < index))) {
    world.violate(`${where}: "${entry}" was counted twice`);
  }
}

/** What a bot has said once, with when. */
interface Shown {
  readonly text: string;
  readonly at: number;
  readonly id: string;
}

/** Judges a bot in a room. */
class RoomJudge {
  readonly #world: World;
  readonly #room: WorldRoom;
  readonly #bot: Device;
  readonly #kit: KitLedger;
  readonly #memberships: Memberships;
  readonly #messages: readonly ShownMessage[];
  /** What the bot has said, the oldest first. */
  readonly #said: readonly Shown[];

  constructor(world: World, room: WorldRoom, bot: Device, kit: KitLedger) {
    this.#world = world;
    this.#room = room;
    this.#bot = bot;
    this.#kit = kit;
    this.#memberships = new Memberships(world.homeserver, room.id);
    this.#messages = world.homeserver.room(room.id).messages;
    this.#said = this.#messages.filter(({ sender }) => sender === bot.userId).flatMap((message) => {
      const text = this.#textOf(message);
      return text === undefined ? [] : [{ text, at: message.origin_server_ts, id: message.event_id }];
    });
  }

  /** Judges. */
  async judge(): Promise<void> {
    for (const message of this.#messages) {
      const command = readCommand(this.#textOf(message) ?? "");
      if (command !== undefined && message.sender !== this.#bot.userId) this.#judgeCommand(command, message);
    }
    for (const untaken of this.#kit.untaken) this.#judgeUntaken(untaken);
    for (const untaken of this.#kit.untakenReactions) this.#judgeUntakenReaction(untaken);
    await this.#judgeTotal();
  }

  #textOf({ event_id: id, type, content }: ShownMessage): string | undefined {
    const read = this.#world.devices.map(({ readings }) => readings.get(id as never))
      .find((text) => text !== undefined);
    return read ?? (type === "m.room.message" ? content.body as string | undefined : undefined);
  }

  #violate(what: string): void {
    const { name } = this.#bot;
    this.#world.violate(`${name} in room ${this.#world.rooms.indexOf(this.#room) + 1}: ${what}`);
  }

  #find(start: string): Shown | undefined {
    return this.#said.find(({ text }) => text === start || text.startsWith(`${start} `));
  }

  /** Whether something failed that the application was told of. */
  #hasFailed(...whats: readonly string[]): boolean {
    return whats.some((what) => this.#kit.failed.has(what));
  }

  /** Whether the server has shown the bot a message as an edit of another: to those it does not listen. */
  #isEdit({ event_id: id }: ShownMessage): boolean {
    return this.#world.shownAsEdits.has(`${this.#bot.name} ${id}`);
  }

  /** Whether the server has shown the message again that an entry is about, and so before others. */
  #isDisordered(entry = ""): boolean {
    const { eventId } = this.#world.sayings.get(Number(entry.split(" ").at(-1)))?.saying ?? {};
    return eventId !== undefined && this.#bot.disordered.has(eventId);
  }

  #judgeCommand(
    { name, number }: { readonly name: CommandName; readonly number: number },
    message: ShownMessage,
  ): void {
    const said = this.#world.sayings.get(number);
    if (said === undefined || this.#hasFailed(`${name} of ${number}`) || this.#isEdit(message)) return;
    if (name === "order" || name === "survey") this.#judgeLeaving(number);
    const { device: author, saying: { text } } = said;
    const isHeard = isOwed(this.#world, {
      ...{ room: this.#room, bot: this.#bot, memberships: this.#memberships },
      ...{ message, author, text },
    });
    if (!isHeard) return;
    const first = this.#find(`${COMMANDS[name]} of ${number}`);
    if (first === undefined) return this.#violate(`"${text}" was not answered`);
    if (name === "order" || name === "survey") this.#judgeConversation(name, number);
    if (name === "tell") this.#judgeStream(number, first);
    if (name === "later") this.#judgeLater(number, first);
    if (name === "several") this.#judgeSeveral(number, message.event_id);
    if (name === "remind" && this.#find(`reminded of ${number}`) === undefined) {
      if (!this.#hasFailed(`reminded of ${number}`) && !this.#kit.isSkewed) {
        this.#violate(`it did not remind of ${number}`);
      }
    }
  }

  /** What was set for later was said, unless the bot could not speak there any more. */
  #judgeLater(number: number, { at }: Shown): void {
    const isSaid = this.#find(`said of ${number}`) !== undefined || this.#hasFailed(`said of ${number}`);
    const { now } = this.#world.timeline;
    if (isSaid || this.#kit.isSkewed || !this.#memberships.joined(this.#bot.userId, at, now)) return;
    this.#violate(`it did not say what was set by ${number}`);
  }

  /** What it has said without waiting came in that order, and all of it if it counts as handled. */
  #judgeSeveral(number: number, eventId: EventID): void {
    const all = SEVERAL.map((part) => `${part} of ${number}`);
    const said = this.#said.map(({ text }) => text).filter((text) => all.includes(text));
    const expected = this.#kit.hasSettled(eventId) ? all : all.filter((text) => said.includes(text));
    if (said.join() !== expected.join()) this.#violate(`it was to say ${all}, and has said ${said}`);
  }

  #judgeConversation(name: "order" | "survey", number: number): void {
    const end = this.#find(name === "order" ? `ordered of ${number}` : `surveyed of ${number}`);
    const ended = this.#find(`ended of ${number}`);
    if (end !== undefined && ended !== undefined && !this.#isTakenUp(number) && !this.#isTakenBack(number)) {
      this.#violate(`the conversation ${number} ended twice: "${end.text}", and "${ended.text}"`);
    }
    if (this.#kit.isSkewed) return;
    if (end === undefined && ended === undefined) this.#violate(`the conversation ${number} never ended`);
    if (name === "order" && end !== undefined && this.#find(`remind of ${number}`) === undefined) {
      this.#violate(`it did not remind of the order ${number}`);
    }
  }

  #judgeLeaving(command: number): void {
    for (const question of ["what", "many", "any"]) {
      const of = `${question} of ${command}`;
      const [askedAt, answeredAt] = [this.#find(of)?.at, this.#timeOf(this.#kit.taken.get(of))];
      const asked = { room: this.#room.id, bot: this.#bot, kit: this.#kit, command, of, askedAt, answeredAt };
      if (hasOutlived(this.#world, asked)) {
        this.#violate(`"${of}" goes on, and it had left the room since it asked`);
      }
    }
  }

  /**
   * Whether a conversation went on whose time was up: its process ended before that was committed,
   * and an answer came before the next one had looked whose time is up.
   */
  #isTakenUp(number: number): boolean {
    const ended = this.#kit.ended.get(number);
    if (ended?.reason !== "timeout") return false;
    const answers = ["what", "many", "any"].map((question) =>
      this.#kit.taken.get(`${question} of ${number}`)
    );
    const isLate = answers.some((answer) => (this.#timeOf(answer) ?? -Infinity) > ended.at);
    if (isLate) {
      this.#world.reach("excused: an answer was taken, since it was not committed that the time was up");
    }
    return isLate;
  }

  /**
   * Whether the answer that ended a conversation was redacted before that was committed: then it waits anew.
   */
  #isTakenBack(number: number): boolean {
    return ["many", "any"].some((question) => {
      const answer = this.#kit.taken.get(`${question} of ${number}`);
      return answer !== undefined && isTakenBack(this.#world, this.#kit, answer);
    });
  }

  /**
   * Whether a run was cut off that had said a count, and there is no other of what it was about: that was
   * redacted, or the bot has left the room since, so that it is not shown again.
   */
  #isUncounted(entry: string): boolean {
    const number = entry.startsWith("ordered")
      ? this.#kit.taken.get(entry.replace(/^ordered/, "many"))
      : Number(entry.split(" ").at(-1));
    const { eventId } = this.#world.sayings.get(number ?? -1)?.saying ?? {};
    const at = this.#timeOf(number);
    if (number === undefined || eventId === undefined || at === undefined) return false;
    if (isTakenBack(this.#world, this.#kit, number)) return true;
    const hasLeft = !this.#memberships.joined(this.#bot.userId, at, this.#world.timeline.now);
    if (!hasLeft || this.#kit.hasSettled(eventId)) return false;
    this.#world.reach("excused: the room was left before it was committed that something was counted");
    return true;
  }

  /** When what was said with a number came to the server. */
  #timeOf(number = -1): number | undefined {
    const { eventId } = this.#world.sayings.get(number)?.saying ?? {};
    return this.#messages.find(({ event_id }) => event_id === eventId)?.origin_server_ts;
  }

  /** Its last edit has all of the text, or the note that it was interrupted. */
  #judgeStream(number: number, first: Shown): void {
    const edits = this.#said.filter(({ text }) =>
      text.startsWith(`* told of ${number} `) || text === `* told of ${number}`
    );
    const last = edits.at(-1)?.text ?? first.text;
    const isWhole = number % 5 === 0 ? last.endsWith("(interrupted)") : last.endsWith("piece 5");
    if (!isWhole) this.#violate(`what it told of ${number} ends as "${last}"`);
  }

  /** An answer that nobody took came too late, or was not the first, or of somebody who was not asked. */
  #judgeUntaken({ command, question, answer, at }: KitLedger["untaken"][number]): void {
    if (this.#kit.isSkewed) return; // by its clock it came after the end, or before
    if (question === CONFIRMATION) return; // words like these are neither a yes nor a no
    const said = this.#world.sayings.get(answer);
    const begun = this.#world.sayings.get(command);
    if (said?.saying.room !== this.#room.id || begun?.saying.room !== this.#room.id) return;
    if (!isOpenToAll(command) && said.device.account !== begun.device.account) return;
    const of = `${question} of ${command}`;
    const asked = this.#find(of);
    if (asked === undefined || this.#kit.taken.has(of)) return;
    const message = this.#messages.find(({ event_id }) => event_id === said.saying.eventId);
    const ended = this.#kit.ended.get(command);
    if (message === undefined || message.origin_server_ts < asked.at || this.#isEdit(message)) return;
    const isInTime = message.origin_server_ts < asked.at + timeoutOf(command);
    if (ended?.reason === "timeout" && (at < ended.at || (ended.isDeaf && isInTime))) {
      this.#violate(`the answer ${answer} to "${of}" came in time, and nobody took it`);
    }
  }

  /** A yes or a no that nobody took came too late, or was of somebody who was not asked. */
  #judgeUntakenReaction({ to, key, sender, at }: KitLedger["untakenReactions"][number]): void {
    const { command, question } = readQuestion(this.#said.find(({ id }) => id === to)?.text ?? "") ?? {};
    if (command === undefined || question !== CONFIRMATION || this.#kit.isSkewed) return;
    if ((key !== YES && key !== NO) || this.#world.sayings.get(command)?.device.userId !== sender) return;
    const ended = this.#kit.ended.get(command);
    if (ended?.reason === "timeout" && at < ended.at) {
      this.#violate(`the ${key} to "${question} of ${command}" came in time, and nobody took it`);
    }
  }

  async #judgeTotal(): Promise<void> {
    const { by = [] } =
      await soon(this.#world, this.#bot.bot?.session(totals, this.#room.id as RoomID).read()) ?? {};
    judgeOnce(this.#world, this.#bot.name, by);
    const counts = this.#said.flatMap(({ text }) => {
      const counted = readCount(text);
      return counted === undefined ? [] : [{ ...counted, text, place: by[counted.count - 1] }];
    });
    for (const [index, { text, entry, count, place }] of counts.entries()) {
      if (place === entry || this.#hasFailed(entry, entry.replace(/^ordered/, "order"))) continue;
      if (!by.includes(entry) && this.#isUncounted(entry)) continue;
      // A run that was cut off is counted anew by the next, behind what came from outside meanwhile, or what
      // the server has shown out of order. What it had encrypted may have arrived since.
      const isAnew = counts.slice(index + 1).some((other) =>
        other.entry === entry && other.place === entry
      ) && (this.#kit.outside.some((change) => change.entry === place) || this.#isDisordered(place) ||
        this.#kit.mayRepeat(text));
      if (!isAnew) this.#violate(`it has said "${text}", and counted "${place}" as number ${count}`);
    }
    for (const { room, entry, isMade } of this.#kit.outside) {
      if (room === this.#room.id && isMade && !by.includes(entry)) {
        this.#violate(`${entry} was made, and is lost`);
      }
    }
  }
}
