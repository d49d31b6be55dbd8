/**
 * A day of a bot: login, keys, a room, an encrypted conversation, and logout.
 *
 * @module
 */

import { MemoryStore, type Store, UnknownTokenError } from "@greenroom/matrix";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { casesToTry } from "../../support/cases.ts";
import { audit } from "./day_audit.ts";
import { type FaultPlan, NO_FAULT, type OperationLog, TestProcess } from "./crash.ts";
import { DayBot } from "./day_bot.ts";
import { DaySetup } from "./day_setup.ts";

/** A group session lasts for two messages. */
const ENCRYPTION = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: 2 };

/** The store of a day's bot. */
export interface DayStore {
  /** Opens it, for one process. */
  readonly open: (process: TestProcess) => Promise<Store>;
  /** Opens it at the end of the day, to see what is in it. */
  readonly read: (process: TestProcess) => Promise<Store>;
}

/** A fault in a day. */
export interface DayPlan extends FaultPlan {
  /** Whether the fault hits the next process too. */
  readonly again?: boolean;
  /** How many bytes the bot's session gets for a while. Default: few. */
  readonly bulk?: number;
}

/** Options of {@link playDays}. */
export interface DayOptions {
  /** Makes a bot's store. Default: a store in memory, whose commits the faults hit. */
  readonly store?: () => DayStore;
}

function memoryStore(): DayStore {
  const store = new MemoryStore();
  return { open: (process) => Promise.resolve(process.store(store)), read: () => Promise.resolve(store) };
}

/** A day under way. */
interface Day {
  readonly setup: DaySetup;
  readonly bot: DayBot;
  readonly room: RoomID;
  /** The messages of the bot that must be in the room, in order. */
  readonly sent: string[];
}

/** A day that is over. */
export interface PlayedDay {
  /** The operations that a fault hit, in order. */
  readonly faults: string[];
  /** The commits that the bot's processes began after one of their commits had failed. */
  readonly commitsAfterFault: readonly string[];
  /** The bot's operations. */
  readonly log: OperationLog;
}

/** Plays days at the same time, each with a bot of its own, and audits each. */
export async function playDays(
  plans: readonly DayPlan[],
  { store = memoryStore }: DayOptions = {},
): Promise<PlayedDay[]> {
  await using setup = await DaySetup.open();
  return await Promise.all(plans.map((plan, index) => play(setup, plan, { index, store: store() })));
}

/** How many days are played at the same time. */
const CONCURRENCY = 24;

/**
 * Plays a day for each operation of a kind that is to be tried, with a fault at that operation. A day
 * without a fault shows which operations there are.
 *
 * @returns For each day that a fault hit, the operations it hit, in order.
 * @throws If the days differ so much that the fault hit less than nine of ten.
 */
export async function everyDay(
  plan: Omit<DayPlan, "at" | "subject">,
  options: DayOptions = {},
): Promise<string[][]> {
  const { bulk } = plan;
  const [undisturbed] = await playDays([{ ...NO_FAULT, bulk }], options);
  const subjects = undisturbed?.log.subjects[plan.operation] ?? [];
  const all = subjects.map((subject, index) => ({
    ...plan,
    subject,
    at: subjects.slice(0, index + 1).filter((each) => each === subject).length,
  }));
  const plans = casesToTry(all, ({ subject }) => subject);
  const days: string[][] = [];
  for (let first = 0; first < plans.length; first += CONCURRENCY) {
    const played = await playDays(plans.slice(first, first + CONCURRENCY), options);
    days.push(...played.map(({ faults }) => faults));
  }
  const hit = days.filter((faults) => faults.length > 0);
  if (hit.length >= 0.9 * plans.length) return hit;
  throw new Error(`The fault hit ${hit.length} of ${plans.length} days only`);
}

async function play(
  setup: DaySetup,
  { again = false, bulk = 0, ...plan }: DayPlan,
  { index, store: { open, read } }: { readonly index: number; readonly store: DayStore },
): Promise<PlayedDay> {
  const { bob, stage } = setup;
  const room = await bob.client.createRoom({
    invitees: ["@carol:localhost"],
    initialState: [{ type: "m.room.encryption", state_key: "", content: ENCRYPTION }],
  });
  const bot = new DayBot({ setup, name: `bot${index}`, open, plan, again, bulk });
  const day: Day = { setup, bot, room, sent: [] };
  try {
    await perform(day, bulk > 0);
    await bot.end();
  } catch (cause) {
    throw new Error(`A day went wrong: ${bot.faults.join(", then ")}`, { cause });
  }
  const { claimed } = setup;
  const { homeserver } = stage;
  await audit({
    ...day,
    store: await read(new TestProcess(NO_FAULT)),
    homeserver,
    claimed: claimed.get(bot.mxid) ?? new Set(),
  });
  return bot;
}

async function perform(day: Day, isThick: boolean): Promise<void> {
  const { setup: { bob, carol }, bot, room } = day;
  await bot.sync();
  await bob.client.inviteUser(room, bot.mxid);
  await bot.complete((client) => client.joinRoom(room));
  const one = await send(day, "one");
  const steps = [
    () => receive(day, "un"),
    async () => {
      await carol.client.joinRoom(room);
      await bot.complete(nothing, () => bot.handled.has("join @carol:localhost"));
    },
    () => send(day, "two"), // in a new group session: one lasts for two messages
    () => receive(day, isThick ? "thick" : "deux"),
    async () => {
      await carol.client.leaveRoom(room);
      await bot.complete(nothing, () => bot.handled.has("leave @carol:localhost"));
    },
    () => receiveLateKey(day, "trois"), // answered in a new group session: a member has left
    () => react(day, one),
    () => bot.complete((client) => client.redact(room, one, { txnId: "txn-redact" })),
    () => bot.restart(),
  ];
  for (const step of steps) {
    if (bot.faults.length === 0) await step(); // after a fault, only the end of the day follows
  }
  await receive(day, "quatre");
  for (const key of ["👍", "👎"]) { // the records of settled events go with the next events
    const reaction = await bob.client.react(room, one, key);
    await bot.complete(nothing, () => bot.handled.has(reaction));
  }
  await bot.complete((client) =>
    client.logout().catch((error) => {
      if (!(error instanceof UnknownTokenError)) throw error; // it has logged out already
    })
  );
}

const nothing = (): Promise<void> => Promise.resolve();

/** The bot sends a message, and Bob receives it. */
async function send({ bot, room, sent, setup: { bob } }: Day, text: string): Promise<EventID> {
  sent.push(text);
  const find = () => bob.received.get(room)?.find(({ body }) => body === text);
  await bot.complete(
    (client) => client.sendText(room, text, { txnId: `txn-${text}` }),
    () => find() !== undefined,
  );
  return find()?.event.event_id ?? "$";
}

/** Bob sends a message, and the bot answers it. */
async function receive(day: Day, text: string): Promise<void> {
  await day.setup.bob.client.sendText(day.room, text);
  await waitForAnswer(day, text);
}

/** Bob sends a message whose key arrives after it, and the bot answers it. */
async function receiveLateKey(day: Day, text: string): Promise<void> {
  const { setup, bot, room } = day;
  const { client } = setup.bob;
  await client.crypto?.discardGroupSession(room);
  setup.withhold(bot.mxid);
  const event = await client.sendText(room, text);
  await bot.complete(nothing, () => bot.handled.has(event));
  await setup.release(bot.mxid);
  await waitForAnswer(day, text);
}

async function waitForAnswer({ bot, room, sent, setup: { bob } }: Day, text: string): Promise<void> {
  const answer = `${sent.filter((each) => each.includes(": ")).length + 1}: ${text}`;
  sent.push(answer);
  const isReceived = () => bob.received.get(room)?.some(({ body }) => body === answer) ?? false;
  await bot.complete(nothing, () => isReceived() && bot.handled.has(`answered ${text}`));
}

async function react({ bot, room, setup: { stage } }: Day, event: EventID): Promise<void> {
  const isThere = () =>
    stage.homeserver.room(room).messages.some(({ type, sender }) =>
      type === "m.reaction" && sender === bot.mxid
    );
  await bot.complete((client) => client.react(room, event, "👍", { txnId: "txn-react" }), isThere);
}
