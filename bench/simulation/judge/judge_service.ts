/**
 * An application service has answered each message once, with counts that have no gap, in the order in
 * which transactions arrived; who was entitled has read each answer; its inbox is empty when all is handled.
 *
 * @module
 */

import type { EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { answererOf } from "../appservice/service_program.ts";
import { SERVICE_DEVICE } from "../appservice/service_published.ts";
import type { Answer, ServiceLedger } from "../appservice/service_ledger.ts";
import { type Request, SPOKEN_TO } from "../appservice/service_people.ts";
import type { WorldService } from "../appservice/world_service.ts";
import type { World, WorldRoom } from "../world/world.ts";
import { judgeSignatures } from "./judge_trust.ts";
import { Memberships } from "./memberships.ts";

/** How many transactions stay in the inbox of a process that goes on: it removes them from time to time. */
const MOST_KEPT = 100;
/** How old the members and devices may be that a user who does not sync sends to, in milliseconds. */
const FRESH = 10_000;
/** How long the end may take, in milliseconds. */
const ENDING = 600_000;

/** Judges the application service of a world, and ends it. */
export async function judgeService(world: World): Promise<void> {
  const { service } = world;
  if (service === undefined) return;
  for (const room of service.people.rooms) judgeRoom(world, service, room);
  await judgeIdentities(world, service);
  const kept = await service.kept();
  if (kept > MOST_KEPT) world.violate(`the service keeps ${kept} transactions`);
  let isDone: boolean | undefined;
  service.end().then((done) => isDone = done);
  if (!await world.until(() => isDone !== undefined, ENDING)) world.violate("the service never ended");
  else if (isDone === false) world.violate("the service says that something is left");
  const left = await service.kept();
  if (left > 0) world.violate(`the service leaves ${left} transactions that it has handled`);
}

/** The device of each user that has said something since it was made is signed by that user's identity. */
async function judgeIdentities(
  world: World,
  { recoveryKey, users, ledger, rooms }: WorldService,
): Promise<void> {
  if (recoveryKey === undefined) return;
  const token = await world.accounts[0]?.token() ?? "";
  for (const userId of users) {
    const since = ledger.deletedAt.get(userId) ?? -Infinity;
    const hasSpoken = rooms.some((room) =>
      world.homeserver.room(room).messages.some(({ sender, type, origin_server_ts: at }) =>
        sender === userId && type === "m.room.encrypted" && at > since
      )
    );
    if (!hasSpoken) continue;
    const devices = [{ name: `the device of ${userId}`, deviceId: SERVICE_DEVICE }];
    world.reach("service: ghosts: a device is signed in the end");
    await judgeSignatures(world, token, { userId, master: ledger.masters.get(userId), devices });
  }
}

function judgeRoom(world: World, service: WorldService, { id: room }: WorldRoom): void {
  const violate = (what: string): void =>
    world.violate(`the service in its room ${service.rooms.indexOf(room) + 1}: ${what}`);
  const memberships = new Memberships(world.homeserver, room);
  const { messages } = world.homeserver.room(room);
  const answers = answersOf(world, service, room);
  const asked = service.people.requests.filter((each) => each.room === room && each.eventId !== undefined);
  for (const { sender, number } of answers) {
    if (sender !== answererOf(service, number)) violate(`${sender} has answered ${number}`);
  }
  for (const request of asked) {
    const { number, eventId } = request;
    const times = answers.filter((answer) => answer.number === number).length;
    const at = messages.find(({ event_id }) => event_id === eventId)?.origin_server_ts ?? 0;
    if (times > 1) violate(`it has answered ${number} ${times} times`);
    if (times === 0 && isOwed(world, { service, memberships, request, at })) {
      violate(`it has not answered ${number}`);
    }
  }
  for (const answer of answers) judgeReaders(world, { service, memberships, answer });
  // What could not be read when it came may be answered later than what came after it.
  if (asked.some(({ eventId }) => service.ledger.late.has(eventId as EventID))) return;
  const counts = answers.map(({ count }) => count);
  if (counts.some((count, index) => count !== index + 1)) violate(`it has counted ${counts.join(", ")}`);
  judgeOrder(service, { answers, asked, violate });
}

/** What was said before one of its users was there is none of its business, and what it had no key for. */
function isOwed(
  world: World,
  { service, memberships, request, at }: {
    readonly service: WorldService;
    readonly memberships: Memberships;
    readonly request: Request;
    readonly at: number;
  },
): boolean {
  const { users, ledger } = service;
  const { author, number } = request;
  if (isCutOff(service, request) || ledger.failed.has(number)) return false;
  if (author === undefined) return users.some((user) => memberships.joined(user, at, at));
  // Whose device was not shown to it as it is.
  if (ledger.hidden.has(author) || (world.isVouched && author.isHidden)) return false;
  const known = author.knownAt.get(`${SPOKEN_TO} ${number}`) ?? -1;
  const [own] = users;
  return own !== undefined && memberships.joined(own, Math.min(known, at), world.timeline.now) &&
    keysAtOf(world, ledger, own) <= known;
}

/**
 * Since when others may give keys to the device of a user:
 * where users vouch for devices, since that is signed.
 */
function keysAtOf({ isVouched }: World, { publishedAt, signedAt }: ServiceLedger, user: UserID): number {
  const since = publishedAt.get(user) ?? Infinity;
  return isVouched ? Math.max(since, signedAt.get(user) ?? Infinity) : since;
}

/** An answer, as it is in the room. */
interface ShownAnswer extends Answer {
  readonly id: EventID;
  readonly sender: string;
  readonly at: number;
  readonly isEncrypted: boolean;
}

/** The answers in a room, in order: as who reads them has them, or as the application service was told. */
function answersOf(world: World, { users, ledger }: WorldService, room: RoomID): ShownAnswer[] {
  const ciphertexts = new Set<unknown>();
  const said = new Set<string>();
  return world.homeserver.room(room).messages.flatMap(({ event_id: id, sender, type, content, ...rest }) => {
    if (!users.includes(sender as UserID)) return [];
    const isEncrypted = type === "m.room.encrypted";
    // With a device the homeserver forgets what it has sent, which is sent again, and read once.
    const isForgotten = rest.origin_server_ts > (ledger.deletedAt.get(sender as UserID) ?? Infinity);
    if (isEncrypted && isForgotten && ciphertexts.has(content.ciphertext)) return [];
    ciphertexts.add(content.ciphertext);
    const read = world.devices.map(({ readings }) => readings.get(id)).find((body) => body !== undefined);
    const told = ledger.answers.get(id);
    const body = read ?? (told === undefined ? content.body : `counted ${told.count}: ${told.number}`);
    const [text, count, number] = /^counted (\d+): (\d+)$/.exec(String(body)) ?? [];
    if (text === undefined) return [];
    // What is known to have arrived is encrypted anew if the handler was cut off, and comes again.
    if (isEncrypted && isForgotten && said.has(`${sender} ${text}`)) {
      world.reach("excused, since the device of a ghost was deleted: an answer is there twice");
      return [];
    }
    said.add(`${sender} ${text}`);
    const answer = { count: Number(count), number: Number(number) };
    return [{ id, sender, isEncrypted, at: rest.origin_server_ts, ...answer }];
  });
}

/** Each device that the answerer knew to be there with its keys has read the answer. */
function judgeReaders(
  world: World,
  { service: { ledger, users: [own] }, memberships, answer: { id, sender, at, number, isEncrypted } }: {
    readonly service: WorldService;
    readonly memberships: Memberships;
    readonly answer: ShownAnswer;
  },
): void {
  const handedAt = ledger.handedAt.get(number);
  if (!isEncrypted || handedAt === undefined) return;
  // The own user knows what transactions have told by then; ghosts ask who is there, and with what devices.
  const since = sender === own ? ledger.toldBy.get(number) ?? handedAt : handedAt - FRESH;
  for (const device of world.devices) {
    if (device.readings.has(id) || device.goneAt < Infinity || device.firstAt >= at) continue;
    if (ledger.hidden.has(device) || device.isHidden || device.spoiled.has(id)) continue;
    if (device.keysAt > since || !memberships.joined(device.userId, since, world.timeline.now)) continue;
    const message = { event_id: id, origin_server_ts: at, content: {} };
    const [{ loss }, room] = [device, memberships.room];
    if (loss.mayMiss(room, message) || loss.mayLack(room, message)) continue;
    const why = device.undecryptable.get(id) ?? "it never came";
    world.violate(`${device.name} has not read ${id}, the answer of the service to ${number}: ${why}`);
  }
}

function judgeOrder(
  service: WorldService,
  { answers, asked, violate }: {
    readonly answers: readonly ShownAnswer[];
    readonly asked: readonly Request[];
    readonly violate: (what: string) => void;
  },
): void {
  const order = [...service.arrived];
  // Whose device went before it knew what event it had sent, of that it can't be said.
  const known = answers.flatMap(({ number }) => asked.find((each) => each.number === number)?.eventId ?? []);
  const places = known.map((eventId) => order.indexOf(eventId));
  if (places.some((place, index) => place < (places[index - 1] ?? 0))) {
    violate(`its answers are not in the order in which transactions arrived: ${places.join(", ")}`);
  }
  if (service.plan.isEncrypted) return; // clients of several people send in any order
  // Only what failed may be overtaken.
  for (const [index, { number }] of answers.entries()) {
    for (const later of answers.slice(index + 1)) {
      const eventId = asked.find((each) => each.number === later.number)?.eventId;
      if (eventId !== undefined && later.number < number && !service.way.failed.has(eventId)) {
        violate(`it has answered ${number} before ${later.number}, whose transaction never failed`);
      }
    }
  }
}

/**
 * Whether who was to answer was thrown out, and the application service can't have known that: then the
 * homeserver refuses the answer, and the handler fails.
 */
function isCutOff(
  { users, people: { thrownOut }, way }: WorldService,
  { number, room }: Pick<Request, "number" | "room">,
): boolean {
  const answerer = answererOf({ users }, number);
  return thrownOut.some((each) =>
    each.user === answerer && each.room === room && (number <= each.after || way.failed.has(each.eventId))
  );
}
