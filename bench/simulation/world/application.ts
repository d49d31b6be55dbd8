/**
 * What the application of a device does: its handlers, with an author's mistakes and patience.
 *
 * @module
 */

import { type Client, defineSession, encryptionOf, eventType } from "@greenroom/matrix";
import { MatrixRequestError } from "@greenroom/matrix/errors";
import type { MessageEvent, RoomID } from "@greenroom/matrix/types";
import { answerMessages, describe } from "../../kill/answering.ts";
import type { LedgerEntry } from "../../kill/ledger.ts";
import { answerQuestions } from "../kit/kit_people.ts";
import type { Chance } from "../core/chance.ts";
import type { Device } from "./device.ts";
import type { Process } from "./process.ts";
import type { Surroundings } from "./surroundings.ts";

/** The type of what other programs send to a device. */
export const MEMO = "org.example.memo";

/** Of so many handlers, one takes its time; of a program that runs for the first time, of fewer. */
const [SLOW, SLOW_AT_FIRST] = [6, 2];
/** How long what is decrypted may be on its way to a handler, in milliseconds. */
const ON_ITS_WAY = 1_000;
/** How long that takes at most, in milliseconds. */
const LONGEST = 20_000;

const tally = defineSession({ name: "tally", per: "room", initial: () => ({ seen: 0 }) });

/** Where an application runs. */
interface Place {
  readonly device: Device;
  readonly process: Process;
  readonly world: Surroundings;
  /** Whether it is the device's first process. */
  readonly isFirst: boolean;
  /** Decides which of its handlers are slow. */
  readonly pace: Chance;
  /** By which sync it reads. */
  readonly sync: "classic" | "sliding";
}

/** What must not come in clear: it could be forged. */
const SECRET_TYPES = ["m.room_key", "m.forwarded_room_key", "m.secret.send"];

/** Gives a client the handlers of an application. */
export function teach(client: Client, { device, process, world, isFirst, pace, sync }: Place): void {
  countHandlers(client, process);
  const takeTime = async (): Promise<void> => {
    if (pace.below(isFirst ? SLOW_AT_FIRST : SLOW) === 0) await process.clock.delay(pace.below(LONGEST));
  };
  const note = (entry: LedgerEntry): void => device.record(entry);
  if (device.account.hasKit) {
    client.on("HANDLER_ERROR", ({ error }) => world.note(`${device.name} fails: ${describe(error)}`));
  } else if (device.account.isBot) {
    const received = new Set<string>();
    const noteOnce = (entry: LedgerEntry): void => {
      const isAgain = entry.kind === "received" && received.size === received.add(entry.eventId).size;
      // After a commit that failed, a pass begins again in the same process.
      if (isAgain && !process.hasLostCommit) {
        world.violate(`${device.name} has handled ${entry.eventId} twice in one process`);
      }
      note(entry);
    };
    keepTally(
      client,
      { device, process, takeTime },
      (problem) => world.violate(`${device.name}: ${problem}`),
    );
    answerMessages(client, { userId: device.userId, note: noteOnce, tell: () => {} });
  } else {
    client.on("UNDECRYPTABLE", async ({ event: { event_id: eventId }, code, reason }) => {
      note({ kind: "undecryptable", eventId, code, reason: reason.message });
      await takeTime();
    });
  }
  if (!device.account.isBot) answerQuestions(client, { device, world, pace });
  watchRepetitions(client, device, (problem) => world.violate(problem));
  client.on("m.room.message", ({ content: { body } }) => {
    if (Number(body.split(" ").at(-1)) % 7 === 3) throw new TypeError("a handler of the application failed");
  });
  for (const type of ["GAP", "DEVICE_ALARM", "MALFORMED", "EVENT_QUARANTINED", "UNENCRYPTED"] as const) {
    client.on(type, () => world.reach(`state: ${type}`));
  }
  client.on("GAP", ({ room_id }) => device.loss.leaveOut(room_id, world.timeline.now));
  client.on("UNENCRYPTED", ({ event }) => void device.refused.add(event.event_id));
  client.on("INVITE", async ({ room_id }) => {
    if (device.account.hasKit) return; // the kit joins
    await takeTime();
    await client.joinRoom(room_id).catch((error) => {
      world.note(`${device.name} can't join ${room_id}: ${describe(error)}`);
      device.account.unjoined.add(room_id);
      throw error;
    });
  });
  for (const type of device.account.encrypts ? SECRET_TYPES : []) {
    client.on(eventType(type, "to_device"), () => world.violate(`${device.name} was handed ${type}`));
  }
  client.on("SYNC_ERRORED", ({ error }) => {
    if (!(error instanceof MatrixRequestError && error.errcode === "M_UNKNOWN_POS")) return;
    world.violate(`${device.name} begins no other connection when the homeserver has forgotten one`);
  });
  client.on(eventType(MEMO, "to_device"), async ({ content: { number } }) => {
    if (sync === "sliding") await takeTime(); // by the classic sync it would not come again
    world.note(`${device.name} has memo ${number}`);
    device.memos.add(Number(number));
  });
  client.on("m.room.message", async (event) => {
    const { event_id, sender, content } = event;
    if (world.planted.has(event_id)) watchPlanted(event, { device, world });
    if (world.hearsay.has(event_id)) watchHearsay(event, { device, world });
    if (isMistaken(event, { device, world })) device.mistaken.add(event_id);
    await takeTime();
    device.senders.set(event_id, sender);
    if (device.undecryptable.has(event_id)) world.reach("state: read when its key had come");
    device.readings.set(event_id, String(content.body));
    world.note(`${device.name} reads ${event_id}: ${content.body}`);
  }, { history: true, name: "read" });
}

/**
 * Whether an event that copies what another has said may be taken for one of its sender: its key came
 * from a backup, or by way of another device, and the device that it is of is not known yet.
 */
function isMistaken(event: MessageEvent, { device, world }: Pick<Place, "device" | "world">): boolean {
  const author = world.copied.get(event.event_id);
  const { senderTrust, keySource } = encryptionOf(event) ?? {};
  if (author === undefined || senderTrust !== "unknown-device" || keySource === "direct") return false;
  const metAt = device.metAt.get(author.deviceId) ?? Infinity;
  if (world.timeline.now > metAt + ON_ITS_WAY) return false;
  world.reach("forged: a copy is read, unproven, before its author's device is known");
  return true;
}

/** What was written into a backup is of a device that nobody knows, or that its user does not vouch for. */
function watchPlanted(event: MessageEvent, { device, world }: Pick<Place, "device" | "world">): void {
  const { senderTrust = "none", keySource } = encryptionOf(event) ?? {};
  world.reach(`planted: read as of ${senderTrust}`);
  const isUnproven = senderTrust === "unknown-device" || senderTrust === "unsigned-device";
  if (isUnproven && keySource !== "direct") return; // an own device may have passed it on
  world.violate(`${device.name} takes ${event.event_id}, whose key was planted, for one of ${senderTrust}`);
}

/** What a member has announced is what that member says, of others; who wants more does not read it. */
function watchHearsay(event: MessageEvent, { device, world }: Pick<Place, "device" | "world">): void {
  const { senderTrust = "none", keySource = "none", sharedBy } = encryptionOf(event) ?? {};
  world.reach(`hearsay: read as of ${senderTrust}, by a key of source "${keySource}"`);
  const isUnproven = senderTrust === "unknown-device" || senderTrust === "unsigned-device";
  // Others may have passed it on, or another device of its user.
  const hasShared = sharedBy === world.hearsay.get(event.event_id) ||
    world.shares.some(({ sharer, guest }) => sharer.userId === sharedBy && guest === device.account);
  const isSaid = keySource === "bundle" ? hasShared : keySource !== "direct";
  if (isUnproven && isSaid && !device.isStrict) return;
  world.violate(
    `${device.name} takes ${event.event_id}, which ${sharedBy} has made up, for one of ${senderTrust}, by ${keySource}`,
  );
}

/** What earlier processes have settled is not handled again. */
function watchRepetitions(client: Client, device: Device, onProblem: (problem: string) => void): void {
  const { settled, account: { isBot } } = device;
  const read = new Set<string>(
    isBot
      ? device.ledger.flatMap((entry) => entry.kind === "answered" ? [entry.eventId] : [])
      : device.readings.keys(),
  );
  client.on("m.room.message", (event) => {
    const { event_id: id, origin_server_ts: at } = event;
    if (encryptionOf(event) === undefined || at > settled || !read.has(id)) return;
    if (device.undecryptable.has(id) || device.loss.isSuffered) return;
    onProblem(`${device.name} is handed ${id} again, which it had settled`);
  });
}

/** Has a process know how many handlers are at work. */
function countHandlers(client: Client, process: Process): void {
  const on = client.on.bind(client) as (...args: unknown[]) => unknown;
  const counted = (handler: (...args: unknown[]) => unknown) => (...args: unknown[]): unknown => {
    const result = handler(...args);
    if (!(result instanceof Promise)) return result;
    process.handlers++;
    return result.finally(() => process.handlers--);
  };
  client.on =
    ((type: unknown, handler: (...args: unknown[]) => unknown, ...options: unknown[]) =>
      on(type, counted(handler), ...options)) as Client["on"];
}

/** Counts messages in a session whose handlers do not wait for each other by themselves. */
function keepTally(
  client: Client,
  { device: { tallies }, process, takeTime }: Pick<Place, "device" | "process"> & {
    readonly takeTime: () => Promise<void>;
  },
  onProblem: (problem: string) => void,
): void {
  const running = new Set<RoomID>();
  client.on("m.room.message", async ({ room_id }, { session }) => {
    const { seen } = session;
    if (running.has(room_id)) onProblem(`two handlers of one session run in ${room_id}`);
    const left = tallies.get(room_id);
    // What another process has left may have gone with it.
    if (left !== undefined && left.by === process && seen !== left.seen) {
      onProblem(`a handler in ${room_id} has ${seen}, and the one before has left ${left.seen}`);
    }
    running.add(room_id);
    await takeTime();
    session.seen = seen + 1;
    tallies.set(room_id, { by: process, seen: seen + 1 });
    running.delete(room_id);
  }, { session: tally, name: "tally" });
}
