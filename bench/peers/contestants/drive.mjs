/**
 * What contestants in JavaScript have in common, on Deno and on Node: they count events, and say what that took.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import process from "node:process";

/**
 * An option of the command line, `--name=value`.
 *
 * @param {string} name
 * @param {string} [byDefault]
 * @returns {string}
 */
export function option(name, byDefault = "") {
  return process.argv.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? byDefault;
}

/** The stub homeserver's address. */
export const url = option("url");
/** How long memory has to settle before it is read, in milliseconds: connections close, garbage is collected. */
const SETTLING_MS = 500;

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

/** @param {"VmHWM" | "VmRSS"} what The most memory that the process ever had, or what it has; 0 where the system does not say. */
function memory(what) {
  try {
    return 1024 * Number(readFileSync("/proc/self/status", "utf8").match(`${what}:\\s+(\\d+)`)?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function cpu() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function ask(/** @type {string} */ path) {
  return await (await fetch(`${url}/bench/${path}`)).json();
}

async function play(/** @type {string} */ token) {
  const jobs = await ask("jobs");
  await ask(`${token}/idle`);
  const results = [];
  let total = 0;
  for (const [index, job] of jobs.entries()) {
    const [start, before, already] = [performance.now(), cpu(), counted];
    const { syncs } = await ask(`${token}/${index}`);
    await counting(total += job.events);
    const took = { wall: performance.now() - start, cpu: cpu() - before };
    results.push({ job: job.name, ...took, memory: memory("VmHWM"), events: counted - already, syncs });
  }
  return { results };
}

/**
 * Does what the command line asks for, prints a line of JSON with what it took, and ends the process.
 *
 * `--what=play`: one client does all jobs. A job begins when its first response may be given, and ends when the client has asked for
 * more with the job's last token and the handler has counted its events. `--what=start`: one client handles one event.
 * `--what=idle`: so many clients as `--clients` says have synced once, and wait.
 *
 * @param {(token: string) => unknown} begin Starts a client that counts the events of timelines.
 */
export async function drive(begin) {
  const [token, what] = [option("token"), option("what", "play")];
  let answer = {};
  if (what === "idle") {
    const names = Array.from({ length: Number(option("clients", "1")) }, (_, index) => `${token}-${index}`);
    for (const name of names) {
      await begin(name);
      await ask(`${name}/idle`);
    }
    await counting(names.length);
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
    globalThis.gc?.();
    answer = { memory: memory("VmRSS") };
  } else {
    await begin(token);
    if (what === "start") await counting(1);
    else answer = await play(token);
    answer = { ...answer, cpu: cpu(), memory: memory("VmHWM") };
  }
  const { deno } = process.versions;
  process.stdout.write(
    JSON.stringify({ ...answer, runtime: deno ? `Deno ${deno}` : `Node ${process.version}` }) + "\n",
  );
  process.exit(0);
}
