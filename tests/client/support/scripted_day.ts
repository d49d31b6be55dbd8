/**
 * A day in the life of a bot: login, keys, a room, an encrypted conversation, and logout.
 *
 * @module
 */

import { type KvStore, MemoryStore, UnknownTokenError } from "@greenroom/matrix";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { audit } from "./day_audit.ts";
import { type CrashPlan, Life, NO_CRASH, type Tally } from "./crash.ts";
import { DayBot } from "./day_bot.ts";
import { Theatre } from "./theatre.ts";

/** Two messages are what a group session is good for. */
const ENCRYPTION = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: 2 };

/** A place where the bot of a day keeps what it keeps. */
export interface DayStore {
  /** Opens it, for one life. */
  readonly open: (life: Life) => Promise<KvStore>;
  /** What is there in the end. */
  readonly look: (life: Life) => Promise<KvStore>;
}

/** Something to go wrong with a day. */
export interface DayPlan extends CrashPlan {
  /** Whether it goes wrong once more in the next life. */
  readonly again?: boolean;
  /** How many bytes the bot's session gets at one time. Default: few. */
  readonly bulk?: number;
}

/** How days are played. */
export interface DayOptions {
  /** Where the bot keeps what it keeps. Default: in memory, and the commits of the store are those that fail. */
  readonly store?: () => DayStore;
}

function memoryStore(): DayStore {
  const store = new MemoryStore();
  return { open: (life) => Promise.resolve(life.store(store)), look: () => Promise.resolve(store) };
}

/** What a day is played with. */
interface Scene {
  readonly theatre: Theatre;
  readonly bot: DayBot;
  readonly room: RoomID;
  readonly said: string[];
}

/** A day that is over. */
export interface PlayedDay {
  /** What went wrong, in order. */
  readonly faults: string[];
  /** What its processes still wanted to commit when a commit had failed. */
  readonly aftermath: readonly string[];
  /** What the bot did. */
  readonly tally: Tally;
}

/** Plays days at the same time, each with a bot of its own, and looks at what has become of each. */
export async function playDays(
  plans: readonly DayPlan[],
  { store = memoryStore }: DayOptions = {},
): Promise<PlayedDay[]> {
  await using theatre = await Theatre.open();
  return await Promise.all(plans.map((plan, index) => play(theatre, plan, { index, store: store() })));
}

/** How many days are played at the same time. */
const AT_ONCE = 24;

/**
 * Plays a day for each deed of a kind, and has it go wrong there: which deeds there are, a day shows in which nothing goes wrong.
 *
 * @returns For each day in which something did, what that was, in order.
 * @throws If the days differ so much that it did in less than nine of ten.
 */
export async function everyDay(
  plan: Omit<DayPlan, "at" | "sort">,
  options: DayOptions = {},
): Promise<string[][]> {
  const { bulk } = plan;
  const [undisturbed] = await playDays([{ ...NO_CRASH, bulk }], options);
  const sorts = undisturbed?.tally.sorts[plan.deed] ?? [];
  const plans = sorts.map((sort, index) => ({
    ...plan,
    sort,
    at: sorts.slice(0, index + 1).filter((each) => each === sort).length,
  }));
  const days: string[][] = [];
  for (let first = 0; first < plans.length; first += AT_ONCE) {
    const played = await playDays(plans.slice(first, first + AT_ONCE), options);
    days.push(...played.map(({ faults }) => faults));
  }
  const struck = days.filter((faults) => faults.length > 0);
  if (struck.length >= 0.9 * plans.length) return struck;
  throw new Error(`Something went wrong in ${struck.length} of ${plans.length} days only`);
}

async function play(
  theatre: Theatre,
  { again = false, bulk = 0, ...plan }: DayPlan,
  { index, store: { open, look } }: { readonly index: number; readonly store: DayStore },
): Promise<PlayedDay> {
  const { bob, stage } = theatre;
  const room = await bob.client.createRoom({
    invitees: ["@carol:localhost"],
    initialState: [{ type: "m.room.encryption", state_key: "", content: ENCRYPTION }],
  });
  const bot = new DayBot({ theatre, name: `bot${index}`, open, plan, again, bulk });
  const scene: Scene = { theatre, bot, room, said: [] };
  try {
    await perform(scene, bulk > 0);
    await bot.end();
  } catch (cause) {
    throw new Error(`A day went wrong: ${bot.faults.join(", then ")}`, { cause });
  }
  const { claimed } = theatre;
  const { homeserver } = stage;
  await audit({
    ...scene,
    store: await look(new Life(NO_CRASH)),
    homeserver,
    claimed: claimed.get(bot.mxid) ?? new Set(),
  });
  return bot;
}

async function perform(scene: Scene, isThick: boolean): Promise<void> {
  const { theatre: { bob, carol }, bot, room } = scene;
  await bot.listen();
  await bob.client.inviteUser(room, bot.mxid);
  await bot.survive((client) => client.joinRoom(room));
  const one = await say(scene, "one");
  const steps = [
    () => hear(scene, "un"),
    async () => {
      await carol.client.joinRoom(room);
      await bot.survive(nothing, () => bot.told.has("join @carol:localhost"));
    },
    () => say(scene, "two"), // in a new session: two messages are what one is good for
    () => hear(scene, isThick ? "thick" : "deux"),
    async () => {
      await carol.client.leaveRoom(room);
      await bot.survive(nothing, () => bot.told.has("leave @carol:localhost"));
    },
    () => hearLate(scene, "trois"), // answered in a new session: someone has left
    () => react(scene, one),
    () => bot.survive((client) => client.redact(room, one, { txnId: "txn-redact" })),
    () => bot.restart(),
  ];
  for (const step of steps) {
    if (bot.faults.length === 0) await step(); // what follows on a fault is the end of the day
  }
  await hear(scene, "quatre");
  for (const key of ["👍", "👎"]) { // what is over is forgotten when something else is
    const reaction = await bob.client.react(room, one, key);
    await bot.survive(nothing, () => bot.told.has(reaction));
  }
  await bot.survive((client) =>
    client.logout().catch((error) => {
      if (!(error instanceof UnknownTokenError)) throw error; // it has logged out already
    })
  );
}

const nothing = (): Promise<void> => Promise.resolve();

/** The bot says something, which Bob reads. */
async function say({ bot, room, said, theatre: { bob } }: Scene, text: string): Promise<EventID> {
  said.push(text);
  const find = () => bob.readings.get(room)?.find(({ body }) => body === text);
  await bot.survive(
    (client) => client.sendText(room, text, { txnId: `txn-${text}` }),
    () => find() !== undefined,
  );
  return find()?.event.event_id ?? "$";
}

/** Bob says something, which the bot answers. */
async function hear(scene: Scene, text: string): Promise<void> {
  await scene.theatre.bob.client.sendText(scene.room, text);
  await answered(scene, text);
}

/** Bob says something in a session whose key comes late. */
async function hearLate(scene: Scene, text: string): Promise<void> {
  const { theatre, bot, room } = scene;
  const { client } = theatre.bob;
  await client.crypto?.discardGroupSession(room);
  theatre.hold(bot.mxid);
  const event = await client.sendText(room, text);
  await bot.survive(nothing, () => bot.told.has(event));
  await theatre.release(bot.mxid);
  await answered(scene, text);
}

async function answered({ bot, room, said, theatre: { bob } }: Scene, text: string): Promise<void> {
  const answer = `${said.filter((each) => each.includes(": ")).length + 1}: ${text}`;
  said.push(answer);
  const isRead = () => bob.readings.get(room)?.some(({ body }) => body === answer) ?? false;
  await bot.survive(nothing, () => isRead() && bot.told.has(`answered ${text}`));
}

async function react({ bot, room, theatre: { stage } }: Scene, event: EventID): Promise<void> {
  const isThere = () =>
    stage.homeserver.room(room).messages.some(({ type, sender }) =>
      type === "m.reaction" && sender === bot.mxid
    );
  await bot.survive((client) => client.react(room, event, "👍", { txnId: "txn-react" }), isThere);
}
