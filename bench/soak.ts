/**
 * Many bots in one process against a Synapse for minutes: is every message handled exactly once by
 * every bot of its room, and does memory stay flat?
 *
 * `deno task soak [SECONDS] [BOTS] [ROOMS]`
 *
 * Garbage is collected before memory is read, so that the heap's size is that of what is still
 * used; without `--expose-gc` it is not.
 *
 * Each room has {@linkcode BOTS_A_ROOM} of the bots, so that each bot is in as many rooms. People
 * talk in every room as fast as Synapse takes it. The exit code is 1 if a message was lost or
 * repeated, or memory grew.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { delay } from "@std/async/delay";
import { liftLimits } from "../tools/synapse/lift_limits.ts";
import { registerUser } from "../tools/synapse/register_user.ts";
import { Synapse } from "../tools/synapse.ts";

const BOTS_A_ROOM = 4;
const SAMPLE_MS = 5_000;
/** What comes before this part of the time is warming up: code is compiled, caches fill. */
const WARM_UP = 1 / 3;
/**
 * How much more memory the end of a run may take than its middle did, in bytes: of the process, and
 * of that what is held.
 */
const MAX_GROWTH = { rss: 24 * 2 ** 20, heap: 3 * 2 ** 20 };
/** How long the last messages may take to arrive, in milliseconds. */
const PATIENCE_MS = 60_000;

/** A bot, and what it has handled. */
interface Bot {
  readonly client: Client;
  /** How often it has handled each message, by the message's text. */
  readonly handled: Map<string, number>;
}

/** A room, and what was said in it. */
interface Room {
  readonly roomId: RoomID;
  readonly speaker: Client;
  readonly bots: readonly Bot[];
  sent: number;
}

/** Memory at a time. */
interface Sample {
  readonly second: number;
  readonly rss: number;
  readonly heap: number;
}

async function newClient(server: Synapse, name: string): Promise<Client> {
  const { userId, deviceId, accessToken } = await registerUser(server, { localpart: name, password: "soak" });
  await liftLimits(server, userId);
  return new Client({ baseUrl: server.baseUrl, mxid: userId, deviceId, accessToken });
}

async function newBot(server: Synapse, name: string, latencies: number[]): Promise<Bot> {
  const client = await newClient(server, name);
  const handled = new Map<string, number>();
  client.on("m.room.message", ({ content: { body } }) => {
    handled.set(body, (handled.get(body) ?? 0) + 1);
    latencies.push(Date.now() - Number(body.split(" ")[2]));
  });
  return { client, handled };
}

/**
 * Talks in a room until the time is up; every message is unlike all others, and says when it was
 * sent.
 */
async function talk(room: Room, index: number, until: number): Promise<void> {
  while (Date.now() < until) {
    await room.speaker.sendText(room.roomId, `${index} ${room.sent} ${Date.now()}`);
    room.sent++;
  }
}

/** Reads memory, time and again, until the time is up. */
async function watchMemory(samples: Sample[], begun: number, until: number): Promise<void> {
  const { gc } = globalThis as { gc?: () => void };
  while (Date.now() < until) {
    gc?.();
    const { rss, heapUsed } = Deno.memoryUsage();
    samples.push({ second: Math.round((Date.now() - begun) / 1000), rss, heap: heapUsed });
    await delay(SAMPLE_MS);
  }
}

/**
 * How many messages each bot ought to have handled and has not, and how many it has handled more
 * than once.
 */
function judge(rooms: readonly Room[]): { lost: number; repeated: number; handled: number } {
  const verdict = { lost: 0, repeated: 0, handled: 0 };
  for (const bot of new Set(rooms.flatMap(({ bots }) => bots))) {
    const expected = rooms.filter(({ bots }) => bots.includes(bot)).reduce((sum, { sent }) => sum + sent, 0);
    const counts = [...bot.handled.values()];
    verdict.lost += expected - counts.length;
    verdict.repeated += counts.filter((count) => count > 1).length;
    verdict.handled += counts.reduce((sum, count) => sum + count, 0);
  }
  return verdict;
}

/** The mean of a part of the samples. */
function mean(samples: readonly Sample[], key: "rss" | "heap"): number {
  return samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

async function soak(seconds: number, botCount: number, roomCount: number): Promise<boolean> {
  await using server = await Synapse.start();
  const latencies: number[] = [];
  const indices = (count: number) => [...Array(count).keys()];
  const bots = await Promise.all(indices(botCount).map((i) => newBot(server, `bot${i}`, latencies)));
  const rooms: Room[] = [];
  for (const i of indices(roomCount)) {
    const speaker = await newClient(server, `speaker${i}`);
    const roomId = await speaker.createRoom({ preset: "public_chat" });
    const members = indices(Math.min(BOTS_A_ROOM, botCount)).map((n) => bots[(i + n) % botCount]);
    const present = members.filter((bot) => bot !== undefined);
    for (const { client } of present) await client.joinRoom(roomId);
    rooms.push({ roomId, speaker, bots: present, sent: 0 });
  }
  const running = bots.map(({ client }) => client.start({ fillGaps: true }));
  console.log(`${botCount} bots, ${roomCount} rooms with ${BOTS_A_ROOM} bots each, ${seconds} seconds`);

  const begun = Date.now();
  const until = begun + seconds * 1000;
  const samples: Sample[] = [];
  await Promise.all([watchMemory(samples, begun, until), ...rooms.map((room, i) => talk(room, i, until))]);
  for (const end = Date.now() + PATIENCE_MS; judge(rooms).lost > 0 && Date.now() < end;) await delay(100);
  const drained = Date.now();
  await Promise.all(
    [...bots.map(({ client }) => client), ...rooms.map(({ speaker }) => speaker)].map((c) => c.close()),
  );
  await Promise.all(running);

  const { lost, repeated, handled } = judge(rooms);
  const sent = rooms.reduce((sum, room) => sum + room.sent, 0);
  const warm = samples.slice(Math.floor(samples.length * WARM_UP));
  const [middle, end] = [warm.slice(0, warm.length >> 1), warm.slice(warm.length >> 1)];
  const grown = (key: "rss" | "heap") => mean(end, key) - mean(middle, key) > MAX_GROWTH[key];
  latencies.sort((one, other) => one - other);
  console.table({
    "messages sent": sent,
    "messages a second": Math.round(sent / seconds),
    "times handled": handled,
    lost,
    repeated,
    "latency, median": `${percentile(latencies, 0.5)} ms`,
    "latency, 99 %": `${percentile(latencies, 0.99)} ms`,
    "time to drain": `${drained - until} ms`,
    "memory (RSS), middle third": mebibytes(mean(middle, "rss")),
    "memory (RSS), last third": mebibytes(mean(end, "rss")),
    "memory held, middle third": mebibytes(mean(middle, "heap")),
    "memory held, last third": mebibytes(mean(end, "heap")),
  });
  return lost === 0 && repeated === 0 && !grown("rss") && !grown("heap");
}

if (import.meta.main) {
  const [seconds = 180, bots = 20, rooms = 20] = Deno.args.map(Number);
  const passed = await soak(seconds, bots, rooms);
  console.log(passed ? "passed" : "failed");
  Deno.exit(passed ? 0 : 1);
}
