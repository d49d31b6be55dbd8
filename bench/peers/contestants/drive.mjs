/**
 * What contestants in JavaScript have in common, on Deno and on Node:
 * they count events, and say what that took.
 *
 * @module
 */

/**
 * Undefined on Node. What Deno has of Node takes 20 ms to load, which a client need not:
 * it is used when the clock has stopped.
 */
const { Deno } = globalThis;

/**
 * An option of the command line, `--name=value`.
 *
 * @param {string} name
 * @param {string} [byDefault]
 * @returns {string}
 */
export function option(name, byDefault = "") {
  return (Deno?.args ?? process.argv).find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ??
    byDefault;
}

/** The stub homeserver's address. */
export const url = option("url");
/** Whether rooms are encrypted. */
export const encrypted = option("encrypted") !== "";
/** Whether a handler answers each message with {@linkcode TEXT}. */
export const answers = option("what") === "answer";
/** What is sent: 200 bytes. */
export const TEXT = "The room is green – 今日は! ".repeat(9).slice(0, 152);
/**
 * How long memory has to settle before it is read, in milliseconds: connections close, garbage is collected.
 */
const SETTLING_MS = 500;
/** How often it is looked whether anything else could run, in milliseconds. */
const TICK_MS = 2;

/**
 * What sends a message.
 *
 * @typedef {{ send?: (roomId: string, text: string) => Promise<unknown> } | void} Client
 */

let counted = 0;
let wanted = Infinity;
let arrived = () => {};

/** Counts an event of a timeline: what a contestant's handler does. */
export function count() {
  if (++counted >= wanted) arrived();
}

/** Counts several. */
export function countMany(/** @type {number} */ events) {
  counted += events;
  if (counted >= wanted) arrived();
}

function counting(/** @type {number} */ total) {
  return new Promise((resolve) => {
    wanted = total;
    arrived = () => resolve(undefined);
    if (counted >= wanted) arrived();
  });
}

/**
 * @param {"VmHWM" | "VmRSS"} what The most memory that the process ever had, or what it has;
 *   0 where the system does not say.
 */
function memory(what) {
  try {
    const { readFileSync } = process.getBuiltinModule("node:fs");
    return 1024 * Number(readFileSync("/proc/self/status", "utf8").match(`${what}:\\s+(\\d+)`)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function cpu() {
  const { user, system } = Deno === undefined ? process.cpuUsage() : Deno.cpuUsage();
  return (user + system) / 1000;
}

/** Says a line, where the console has been silenced too. */
function say(/** @type {string} */ line) {
  if (Deno === undefined) process.stdout.write(`${line}\n`);
  else Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Begins to measure; what it gives says how long it has been, in milliseconds. */
function stopwatch() {
  const [start, before] = [performance.now(), cpu()];
  return () => ({ wall: performance.now() - start, cpu: cpu() - before });
}

async function ask(/** @type {string} */ path) {
  return await (await fetch(`${url}/bench/${path}`)).json();
}

/** Has the client send messages, one after the other. */
async function sendAll(
  /** @type {string} */ token,
  /** @type {Client} */ client,
  /** @type {number} */ messages,
) {
  if (client?.send === undefined) throw new Error("Cannot send: this client only syncs");
  const roomId = await ask(`${token}/room`);
  const sent = async () =>
    (await ask(`${token}/sent`))[encrypted ? "m.room.encrypted" : "m.room.message"] ?? 0;
  const start = stopwatch();
  for (let index = 0; index < messages; index++) await client.send(roomId, TEXT);
  return { ...start(), events: messages, syncs: await sent() };
}

async function play(/** @type {string} */ token, /** @type {Client} */ client, /** @type {any[]} */ jobs) {
  await ask(`${token}/idle`);
  const results = [];
  let total = 0;
  for (const [index, job] of jobs.entries()) {
    if (job.name === "send") {
      results.push({ job: job.name, ...await sendAll(token, client, job.events), memory: memory("VmHWM") });
      continue;
    }
    const [start, already] = [stopwatch(), counted];
    const { syncs } = await ask(`${token}/${index}`);
    await counting(total += job.events);
    const took = start();
    results.push({ job: job.name, ...took, memory: memory("VmHWM"), events: counted - already, syncs });
  }
  return { results };
}

/** Watches for how long nothing else could run: the delays of a timer, in milliseconds. */
function watchTurns() {
  const delays = /** @type {number[]} */ ([]);
  let due = performance.now() + TICK_MS;
  setInterval(() => {
    const now = performance.now();
    delays.push(Math.max(0, now - due));
    due = now + TICK_MS;
  }, TICK_MS);
  return () => {
    const sorted = delays.splice(0).sort((one, other) => one - other);
    return sorted[Math.ceil(sorted.length * 0.999) - 1] ?? 0;
  };
}

/**
 * Answers messages that come at rates, `--rates=1x10,100x10`: messages a second, and for how many seconds.
 */
async function answerAll(/** @type {string} */ token) {
  await ask(`${token}/idle`);
  const [results, turn] = [[], watchTurns()];
  for (const [rate, seconds] of option("rates").split(",").map((pace) => pace.split("x"))) {
    const start = stopwatch();
    turn();
    const pace = await ask(`${token}/pace/${rate}/${seconds}`);
    results.push({ ...pace, ...start(), turn: turn() });
    if (pace.answered < pace.messages) break;
  }
  return { paces: results };
}

/** What clients that wait take of the processor, in milliseconds. */
async function waitIdly() {
  const start = stopwatch();
  await new Promise((resolve) => setTimeout(resolve, Number(option("seconds")) * 1_000));
  return { paces: [start()] };
}

/**
 * Does what the command line asks for, prints a line of JSON with what it took, and ends the process.
 *
 * `--what=all`: one client does all jobs. A job of syncing begins when its first response may be given, and
 * ends when the client has asked for more with the job's last token and the handler has counted its events.
 * `--what=play`: only those. `--what=start`: one client handles one event. `--what=idle`: so many clients as
 * `--clients` says have synced once, and wait. `--what=wait`: the same, for `--seconds`, and what of the
 * processor that takes. `--what=answer`: one client answers messages.
 *
 * @param {(token: string) => Client | Promise<Client>} begin Starts a client
 *   that counts the events of timelines.
 */
export async function drive(begin) {
  const [token, what] = [option("token"), option("what", "play")];
  let answer = {};
  if (what === "idle" || what === "wait") {
    const names = Array.from({ length: Number(option("clients", "1")) }, (_, index) => `${token}-${index}`);
    for (const name of names) {
      await begin(name);
      await ask(`${name}/idle`);
    }
    await counting(names.length);
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
    globalThis.gc?.();
    answer = { ...what === "wait" && await waitIdly(), memory: memory("VmRSS") };
  } else {
    const client = await begin(token);
    if (what === "start") {
      await counting(1);
      say(""); // stops the clock
    } else if (answers) answer = await answerAll(token);
    else answer = await play(token, client, await ask(what === "all" ? `${token}/jobs` : "jobs"));
    answer = { ...answer, cpu: cpu(), memory: memory("VmHWM") };
  }
  const { deno } = process.versions;
  say(JSON.stringify({ ...answer, runtime: deno ? `Deno ${deno}` : `Node ${process.version}` }));
  process.exit(0);
}
