/**
 * What the first answer of sliding sync costs, by how many rooms it has, and how much of their state:
 * `deno run -A bench/sync/window.ts [ROUNDS]`.
 *
 * On Synapse, in an account with 18 rooms: two have 500 members, two 80, of which one is the newest, one has
 * 20, and the others have 5 or fewer. Measured is a client's first start with a store in memory, up to its
 * first event. Synapse has nothing in its caches then. What is asked first is changed on its way.
 *
 * @module
 */

import { cpuUsage } from "node:process";
import { Client, MemoryStore } from "@greenroom/matrix";
import { Synapse } from "../../tools/synapse.ts";
import { liftLimits } from "../../tools/synapse/lift_limits.ts";
import { registerUser } from "../../tools/synapse/register_user.ts";

/** How many members the rooms have, the oldest first. */
const ROOMS = [2, 2, 3, 500, 2, 5, 2, 80, 2, 20, 2, 2, 3, 500, 2, 5, 2, 80];
const MESSAGES = 5;
/** Linux counts the time of a process in ticks, of so many milliseconds. */
const TICK = 10;

/** What the first events of rooms and encryption need of a room. */
const LEAST = [
  ...["create", "name", "encryption", "power_levels", "join_rules", "tombstone"]
    .map((type) => [`m.room.${type}`, ""]),
  ["m.room.member", "$ME"],
  ["m.room.member", "$LAZY"],
];
const ALL = [["*", "*"]];

/** What the first request asks for. */
const QUESTIONS = [ROOMS.length, 5, 1].flatMap((rooms) =>
  [["all", ALL] as const, ["least", LEAST] as const].map(([state, required]) => ({ rooms, state, required }))
);

/** A user in the rooms, on a Synapse that is its own. */
async function account() {
  const synapse = await Synapse.start();
  const [person, bot] = await Promise.all(["alice", "bot"].map(async (localpart) => {
    const user = await registerUser(synapse, { localpart, password: crypto.randomUUID() });
    await liftLimits(synapse, user.userId);
    return user;
  }));
  if (person === undefined || bot === undefined) throw new Error("Cannot make the account: no users");
  const { baseUrl } = synapse;
  await using talker = new Client({ baseUrl, accessToken: person.accessToken, log: false });
  await using joiner = new Client({ baseUrl, accessToken: bot.accessToken, log: false });
  for (const [index, size] of ROOMS.entries()) {
    // As state that the room begins with they are stored at once; a ban takes as much as another membership.
    const initialState = Array.from({ length: size - 2 }, (_, member) => ({
      type: "m.room.member",
      state_key: `@member-${member}:localhost`,
      content: { membership: "ban", displayname: `Member ${member}` },
    }));
    const options = { name: `Room ${index}`, invitees: [bot.userId], initialState };
    const room = await talker.createRoom({ ...options, requestTimeout: 600_000 });
    await joiner.joinRoom(room);
    for (let message = 0; message < MESSAGES; message++) await talker.sendText(room, `message ${message}`);
    console.log(`Room ${index + 1} of ${ROOMS.length}: ${size} members`);
  }
  return { synapse, accessToken: bot.accessToken };
}

/** How long a process has been at work, in milliseconds. */
async function workOf(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const [user = 0, system = 0] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12).map(Number);
  return (user + system) * TICK;
}

/** What it takes to the first event. */
interface Start {
  readonly bytes: number;
  /** By the clock. */
  readonly all: number;
  /** In the server's process, up to the answer. */
  readonly server: number;
  /** In this process. */
  readonly client: number;
}

async function start(
  { synapse, accessToken }: Awaited<ReturnType<typeof account>>,
  { rooms, required }: typeof QUESTIONS[number],
): Promise<Start> {
  await synapse.restart();
  let [bytes, server] = [0, NaN];
  const workBefore = await workOf(synapse.pid);
  const rewritten: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.includes("simplified_msc3575/sync?") || bytes > 0) return await fetch(request);
    const body = await request.json();
    Object.assign(body.lists.rooms, { ranges: [[0, rooms - 1]], required_state: required });
    const response = await fetch(request.url, {
      method: "POST",
      headers: request.headers,
      body: JSON.stringify(body),
    });
    const answer = await response.text();
    bytes = answer.length;
    server = await workOf(synapse.pid) - workBefore;
    return new Response(answer, response);
  };
  const { baseUrl } = synapse;
  const began = performance.now();
  const usage = cpuUsage();
  await using client = new Client({
    ...{ baseUrl, accessToken, log: false, sync: "sliding", fetch: rewritten, store: new MemoryStore() },
  });
  const first = Promise.withResolvers<void>();
  client.on("m.room.message", () => first.resolve());
  client.start().catch(first.reject);
  await first.promise;
  const all = performance.now() - began;
  const { user, system } = cpuUsage(usage);
  return { bytes, all, server, client: (user + system) / 1000 };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? NaN;
}

async function measure(rounds: number): Promise<void> {
  const made = await account();
  await using _ = made.synapse;
  const starts = QUESTIONS.map((): Start[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, question] of QUESTIONS.entries()) starts[index]?.push(await start(made, question));
  }
  console.table(QUESTIONS.map(({ rooms, state }, index) => {
    const of = (what: keyof Start): number =>
      Math.round(median((starts[index] ?? []).map((each) => each[what])));
    return {
      rooms,
      state,
      "first answer, kB": Math.round(of("bytes") / 1000),
      "first event, ms": of("all"),
      "server at work, ms": of("server"),
      "client at work, ms": of("client"),
    };
  }));
}

if (import.meta.main) await measure(Number(Deno.args[0] ?? 5));
