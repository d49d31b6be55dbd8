/**
 * Runs tests in an instrumented tree, as its input says line by line: each once without a mutant,
 * or those that may notice a mutant until one does. This file is copied into that tree.
 *
 * Arguments: the number of the mutant that is on while modules load (0: none), and the test files.
 *
 * @module
 */

import { cpuUsage } from "node:process";
import { reached, switchOn } from "./switch.ts";
import type { Reply, Request, TestRun } from "./types.ts";

type TestFunction = (context: { readonly name: string }) => void | Promise<void>;

interface CollectedTest {
  readonly name: string;
  readonly run: TestFunction;
}

const tests: CollectedTest[] = [];
/** Ends the test that runs, with what went wrong beside it. */
let fail: (error: unknown) => void = () => {};
const encoder = new TextEncoder();

function say(reply: Reply): void {
  const line = encoder.encode(`\n\u0001${JSON.stringify(reply)}\n`);
  for (let at = 0; at < line.length;) at += Deno.stdout.writeSync(line.subarray(at));
}

/** The numbers of the mutants that would have made a difference since the last time. */
function takeReached(): number[] {
  const ids: number[] = [];
  for (let id = reached.indexOf(1, 1); id !== -1; id = reached.indexOf(1, id + 1)) ids.push(id);
  reached.fill(0);
  return ids;
}

interface TestOptions {
  readonly name?: string;
  readonly fn?: TestFunction;
  readonly ignore?: boolean;
  readonly permissions?: unknown;
}

/** Takes the tests of a file, but for those that want other permissions than all. */
function collect(file: string): (...args: unknown[]) => void {
  return (...args) => {
    const options: TestOptions = args.find((arg) => typeof arg === "object") ?? {};
    const run = args.find((arg) => typeof arg === "function") as TestFunction | undefined ?? options.fn;
    const name = args.find((arg) => typeof arg === "string") ?? options.name;
    if (run === undefined || options.ignore === true || options.permissions !== undefined) return;
    tests.push({ name: `${file}: ${name}`, run });
  };
}

/** Runs a test; what it failed with, if it did. */
async function run({ name, run }: CollectedTest): Promise<string | undefined> {
  const failing = new Promise<never>((_, reject) => fail = reject);
  try {
    await Promise.race([(async () => await run({ name }))(), failing]);
    return undefined;
  } catch (error) {
    return String(error).slice(0, 300);
  } finally {
    fail = () => {};
  }
}

async function baseline(): Promise<void> {
  for (const [index, test] of tests.entries()) {
    takeReached();
    say({ kind: "begin", test: index });
    const start = cpuUsage();
    const error = await run(test);
    const { user, system } = cpuUsage(start);
    const ms = (user + system) / 1000;
    say({
      kind: "ran",
      test: { index, name: test.name, ms, reached: takeReached(), error } satisfies TestRun,
    });
  }
  say({ kind: "baseline" });
}

async function attempt({ mutant, tests: indices }: Request & { kind: "try" }): Promise<void> {
  for (const index of indices) {
    const test = tests[index];
    if (test === undefined) continue;
    say({ kind: "begin", test: index });
    switchOn(mutant);
    const error = await run(test);
    switchOn(0);
    if (error === undefined) continue;
    const tainted = await run(test) !== undefined;
    return say({ kind: "tried", killer: index, error, tainted });
  }
  say({ kind: "tried", tainted: false });
}

/**
 * One line of what is asked; nothing is read ahead, so that a test that waits for nothing leaves
 * nothing to be done.
 */
function readLine(): string | undefined {
  const bytes: number[] = [];
  const byte = new Uint8Array(1);
  while (Deno.stdin.readSync(byte) === 1) {
    if (byte[0] === 10) return new TextDecoder().decode(new Uint8Array(bytes));
    bytes.push(byte[0] ?? 0);
  }
  return undefined;
}

async function main([on, ...files]: string[]): Promise<void> {
  switchOn(Number(on));
  for (const file of files) {
    Object.defineProperty(Deno, "test", { value: collect(file), configurable: true });
    await import(`../../${file}`);
  }
  switchOn(0);
  say({ kind: "loaded", reached: takeReached() });
  for (let line = readLine(); line !== undefined; line = readLine()) {
    const request: Request = JSON.parse(line);
    if (request.kind === "baseline") await baseline();
    else await attempt(request);
  }
  Deno.exit(0);
}

addEventListener("beforeunload", (event) => {
  event.preventDefault();
  fail(new Error("It waits for what never comes"));
});
for (const type of ["unhandledrejection", "error"] as const) {
  addEventListener(type, (event) => {
    event.preventDefault();
    fail("reason" in event ? event.reason : event.error);
  });
}
void main(Deno.args);
