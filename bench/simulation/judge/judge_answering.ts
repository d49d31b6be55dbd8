/**
 * Each bot has answered every message that it was entitled to, once, with counts that have no gap.
 *
 * @module
 */

import { judgeAnswers, overtaken } from "../../kill/judge_answers.ts";
import { entriesOf } from "../../kill/ledger.ts";
import type { Device } from "../world/device.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { Memberships } from "./memberships.ts";
import { isOwed, type ShownMessage } from "./owed.ts";

/** With what a handler fails whose client can't go on. */
const CUT_OFF = /\b(?:UnknownTokenError|ClientEndedError|ActorError|ActorStoppedError|StoreError)\b/;

/** What is added to the number of a message that was forgotten and said again: that is another message. */
const AGAIN = 1_000_000;

/** Judges all bots in all rooms. */
export function judgeAnswering(world: World): void {
  const bots = world.devices.filter(({ account }) => account.isBot && !account.hasKit);
  for (const room of world.rooms) for (const bot of bots) judgeBot(world, room, bot);
}

function judgeBot(world: World, room: WorldRoom, bot: Device): void {
  const { homeserver, devices, setback } = world;
  const memberships = new Memberships(homeserver, room.id);
  const received = new Map(entriesOf(bot.ledger, "received").map(({ eventId, body }) => [eventId, body]));
  const textOf = (id: string) =>
    devices.map(({ readings }) => readings.get(id as never)).find((text) => text !== undefined) ??
      received.get(id); // it may be redacted before a slow handler has read it
  const replies = new Map<string, string>(
    entriesOf(bot.ledger, "answered").map(({ replyId, text }) => [replyId, text]),
  );
  const answered = new Map(
    entriesOf(bot.ledger, "answered").map(({ replyId, eventId }) => [replyId, eventId]),
  );
  const present = homeserver.room(room.id).messages;
  const gone = setback?.events(room.id).filter(({ state_key }) => state_key === undefined) ?? [];
  const isForgotten = (id: string) => gone.some(({ event_id }) => event_id === id);
  const shown = [...present, ...gone].sort((one, other) => one.origin_server_ts - other.origin_server_ts);
  // What a bot says before it is told where a server is that was set back is shown to nobody who has a token
  // that is ahead of the server, and its key may be deleted.
  const isUnseen = (event: ShownMessage) =>
    setback !== undefined && devices.every((device) => setback.mayMiss(room.id, device, event));
  const reads = shown.filter(({ sender }) => sender === bot.userId).flatMap((event) => {
    const { event_id, type, content } = event;
    // What came in clear when the room was encrypted is an answer, though nobody is shown it.
    const redacted = Object.keys(content).length === 0 || isForgotten(event_id) || isUnseen(event)
      ? replies.get(event_id)
      : undefined;
    const body = textOf(event_id) ?? redacted ?? content.body as string | undefined;
    return body === undefined
      ? []
      : [{ eventId: event_id as string, body, isEncrypted: type === "m.room.encrypted" }];
  }).filter(({ body, isEncrypted }, _, all) =>
    isEncrypted || !all.some((each) => each.isEncrypted && each.body === body) // see `judge_reading.ts`
  ).filter(({ eventId, body }, _, all) =>
    // It was said again.
    !isForgotten(eventId) || !all.some((each) => each.body === body && !isForgotten(each.eventId))
  );
  // A handler that failed has settled, unless the client could not go on: what it has to do is up to
  // the application.
  const failed = new Set(
    entriesOf(bot.ledger, "failed").filter(({ error }) => !CUT_OFF.test(error))
      .map(({ what }) => Number(/^(?:answer|echo of) (\d+)$/.exec(what)?.[1])),
  );
  const excused = new Set<string>();
  const saidAgain = new Set<string>(); // since the server has forgotten it
  const messages = shown.flatMap((message) => {
    const { event_id: eventId, sender } = message;
    const number = Number(/^peer .* (\d+)$/.exec(textOf(eventId) ?? "")?.[1]);
    const said = world.sayings.get(number);
    if (said === undefined || sender === bot.userId) return [];
    const { device: author, saying: { text } } = said;
    if (
      isForgotten(eventId) || failed.has(number) ||
      !isOwed(world, { room, bot, memberships, message, author, text })
    ) {
      excused.add(eventId);
    }
    const isAgain = isForgotten(eventId) && present.some((each) => textOf(each.event_id) === textOf(eventId));
    if (isAgain) saidAgain.add(eventId);
    return [{ eventId: eventId as string, number: isAgain ? number + AGAIN : number }];
  });
  const late = new Set([
    ...entriesOf(bot.ledger, "undecryptable").map(({ eventId }) => eventId),
    ...bot.disordered,
  ]);
  const leftOut = new Set([
    ...entriesOf(bot.ledger, "quarantined").map(({ eventId }) => eventId),
    ...overtaken(bot.ledger, { messages, late }),
  ]);
  // Who has lost that an answer was sent, with a disk, may send it again.
  const forgotten = new Set(
    shown.filter((message) => bot.loss.mayMiss(room.id, message)).map(({ event_id }) => event_id as string),
  );
  const answers = reads.filter(({ eventId, body }, index) => {
    const number = body.split(" ").at(-1);
    const about = (text: string) =>
      text.startsWith(body.split(" ", 1)[0] ?? "") && text.endsWith(` ${number}`);
    const before = reads.slice(0, index).filter((read) => about(read.body));
    return !before.some((read) => forgotten.has(read.eventId) || forgotten.has(eventId));
  }).map((read) =>
    saidAgain.has(answered.get(read.eventId) ?? "")
      ? { ...read, body: read.body.replace(/\d+$/, (number) => String(Number(number) + AGAIN)) }
      : read
  );
  const problems: string[] = [];
  judgeAnswers({ who: "the world", messages, reads: answers, late, leftOut, excused }, problems);
  for (const problem of problems) {
    world.violate(`${bot.name} in room ${world.rooms.indexOf(room) + 1}: ${problem}`);
  }
}
