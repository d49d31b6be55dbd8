/**
 * A run: Alice talks to a bot of which no process stays; then it is judged what she was answered.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import { Client, MemoryStore } from "@greenroom/matrix";
import type { SynapseServer } from "../../tests/e2e/support/synapse.ts";
import { newUser } from "../../tests/e2e/support/synapse.ts";
import { Denokv } from "../../tools/denokv.ts";
import { type Random, seeded } from "../kill/random.ts";
import { isReachable } from "../reachable.ts";
import { Platform } from "./platform.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** Options of a run. */
export interface DeployOptions {
  /** How many messages are sent. */
  readonly messages: number;
  /** The seed of what the platform does. */
  readonly seed: number;
  /** Takes a line now and then. */
  readonly print: (line: string) => void;
}

/** What a run has shown. */
export interface DeployVerdict {
  /** What has happened. */
  readonly counts: Record<string, number>;
  /** What is wrong. */
  readonly problems: readonly string[];
}

const SECRET = "a secret of the deployed bot";
const INSTANCES = 3;
const EVICTIONS = 0.25;
/** How many messages may be unanswered before Alice waits. */
const BACKLOG = 12;
const BURST = 5;
const PAUSE_MS = 250;
/** How many of the lines that instances wrote are told when something is wrong. */
const LAST_LINES = 30;
/** How long nothing may be answered until the run ends, in milliseconds. */
const STUCK_MS = 240_000;

/** Makes a run. */
export async function deployRun(server: SynapseServer, options: DeployOptions): Promise<DeployVerdict> {
  const random = seeded(options.seed);
  await using denokv = await Denokv.start();
  const [human, account] = [
    await newUser(server, "alice", { unlimited: "people" }),
    await newUser(server, "bot", { unlimited: "measured" }),
  ];
  const env = {
    MATRIX_URL: server.baseUrl,
    MATRIX_TOKEN: account.accessToken,
    MATRIX_WAKE_SECRET: SECRET,
    DENO_KV_URL: denokv.url,
    DENO_KV_ACCESS_TOKEN: denokv.accessToken,
    DENO_TIMELINE: "preview/harness", // its cron would wait for the next minute
  };
  await using platform = new Platform({ env, random, instances: INSTANCES, evictions: EVICTIONS });
  const front = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => platform.answer(request),
  );
  try {
    await register(server, account.accessToken, front.addr.port);
    await using alice = new Client({
      baseUrl: server.baseUrl,
      accessToken: human.accessToken,
      store: new MemoryStore(),
      // The bot hears only who has an identity, and has none itself.
      encryption: { ...EVERYBODY, onRecoveryKey() {}, password: human.password, backup: false },
      log: false,
    });
    const answers: string[] = [];
    let answeredAt = performance.now();
    alice.on("m.room.message", ({ sender, content }) => {
      if (sender !== account.userId) return;
      answers.push(content.body);
      answeredAt = performance.now();
    });
    void alice.start();
    await alice.ready;
    const roomId = await alice.createRoom({
      invitees: [account.userId],
      initialState: [{
        type: "m.room.encryption",
        state_key: "",
        content: { algorithm: "m.megolm.v1.aes-sha2" },
      }],
    });
    const isStuck = (): boolean => performance.now() - answeredAt > STUCK_MS;
    while (!await isReachable(alice, roomId, account.userId) && !isStuck()) await delay(PAUSE_MS);
    await talk(options, random, { answers, isStuck, say: (text) => alice.sendText(roomId, text) });
    platform.isCalm = true;
    while (answers.length < options.messages && !isStuck()) await delay(PAUSE_MS);
    await delay(2 * PAUSE_MS); // for what comes twice
    await alice.close();
    const counts = {
      messages: options.messages,
      answers: answers.length,
      ...platform.counts,
      ...timing(platform.starts),
      "since the last answer, s": Math.round((performance.now() - answeredAt) / 1000),
    };
    const problems = [...judge(answers, options.messages), ...complaints(platform.told)];
    return { counts, problems: problems.length === 0 ? [] : [...problems, ...story(counts, platform.told)] };
  } finally {
    await front.shutdown();
  }
}

/** Has the homeserver wake the bot, as its cron does. */
async function register(server: SynapseServer, token: string, port: number): Promise<void> {
  await using bot = new Client({
    baseUrl: server.baseUrl,
    accessToken: token,
    wake: { secret: SECRET },
    log: false,
  });
  await bot.registerWake(`http://127.0.0.1:${port}`);
}

/** Sends messages, several at once, the way people talk. */
async function talk(
  { messages, print }: DeployOptions,
  random: Random,
  { answers, isStuck, say }: {
    readonly answers: readonly string[];
    readonly isStuck: () => boolean;
    readonly say: (text: string) => Promise<unknown>;
  },
): Promise<void> {
  for (let sent = 0; sent < messages && !isStuck();) {
    const burst = Math.min(1 + Math.floor(random() * BURST), messages - sent);
    for (let n = 0; n < burst; n++) await say(`m${++sent}`);
    await delay(random() * PAUSE_MS);
    while (sent - answers.length > BACKLOG && !isStuck()) await delay(PAUSE_MS);
    if (sent % 50 < burst) print(`${sent} sent, ${answers.length} answered`);
  }
}

/** Each message is answered once, in order, and counted without a gap. */
function judge(answers: readonly string[], messages: number): string[] {
  const expected = Array.from({ length: messages }, (_, index) => `${index + 1}: m${index + 1}`);
  const problems: string[] = [];
  for (let index = 0; index < Math.max(expected.length, answers.length); index++) {
    if (answers[index] === expected[index]) continue;
    problems.push(`answer ${index + 1} is "${answers[index]}" and should be "${expected[index]}"`);
    if (problems.length > 10) break;
  }
  return problems;
}

/** What instances complained of that is no consequence of an eviction. */
function complaints(told: readonly string[]): string[] {
  const lines = told.flatMap((text) => text.split("\n"));
  return [...new Set(lines.filter((line) => /panic|Uncaught|unhandled/i.test(line)))].slice(0, 10);
}

/** What may tell why: what has happened, and what instances that have ended wrote last. */
function story(counts: Record<string, number>, told: readonly string[]): string[] {
  return [JSON.stringify(counts), ...told.flatMap((text) => text.trimEnd().split("\n")).slice(-LAST_LINES)];
}

function timing(starts: readonly number[]): Record<string, number> {
  const sorted = starts.toSorted((a, b) => a - b);
  return { "start, median ms": Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0) };
}
