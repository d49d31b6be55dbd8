/**
 * The only sources of chance and time while a simulation runs: random numbers, clocks and timers of
 * the runtime are replaced by those of the seed.
 *
 * @module
 */

import { type Binary, Keys } from "@greenroom/vodozemac-wasm";
import { OwnKeys } from "../../../src/crypto/account/account.ts";
import type { Chance } from "./chance.ts";
import { prompt } from "./prompt_crypto.ts";
import type { Timeline } from "./timeline.ts";

/** How many one-time keys a device has on the server: making fifty takes a tenth of the time of a world. */
const ONE_TIME_KEYS = 10;

/**
 * Replaces them until it is disposed of. `crypto.subtle` answers from threads, at a time of its own:
 * what the in-process homeserver and sealed stores need of it is done at once.
 */
export function replaceSources(chance: Chance, timeline: Timeline): Disposable {
  const begun = timeline.now;
  const restore: (() => void)[] = [];
  const replace = <Target extends object>(target: Target, replacements: Partial<Target>): void => {
    for (const [name, value] of Object.entries(replacements)) {
      const own = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { value, configurable: true, writable: true });
      restore.push(() => {
        if (own === undefined) Reflect.deleteProperty(target, name);
        else Object.defineProperty(target, name, own);
      });
    }
  };
  let timers = 0;
  const cancels = new Map<number, () => void>();
  const setTimeout = (call: () => void, ms = 0): number => {
    const timer = ++timers;
    cancels.set(timer, timeline.schedule(ms, "a timer", call));
    return timer;
  };
  replace(crypto, {
    getRandomValues: (target: never) => chance.fill(target),
    randomUUID: () => uuid(chance),
  });
  replace(crypto.subtle, prompt as never);
  replace(OwnKeys, { onServer: ONE_TIME_KEYS } as Partial<typeof OwnKeys>);
  replace(Keys.prototype, { verify: remembered(Keys.prototype.verify) });
  replace(Math, { random: () => chance.next() });
  replace(Date, { now: () => timeline.now });
  replace(performance, { now: () => timeline.now - begun });
  replace(globalThis, {
    setTimeout,
    clearTimeout: (timer: number) => cancels.get(timer)?.(),
    setImmediate: (call: () => void) => void Promise.resolve().then(call), // the event loop has its own time
  } as never);
  return { [Symbol.dispose]: () => restore.forEach((each) => each()) };
}

/** Verifies each signature once: all devices of a world look at the same ones. */
function remembered(verify: Keys["verify"]): Keys["verify"] {
  const verdicts = new Map<string, boolean>();
  return function (this: Keys, key, message, signature) {
    const of = [key, message, signature].map(textOf).join(" ");
    const known = verdicts.get(of);
    if (known !== undefined) return known;
    const verdict = verify.call(this, key, message, signature);
    verdicts.set(of, verdict);
    return verdict;
  };
}

function textOf(value: Binary): string {
  return typeof value === "string" ? value : value.toBase64();
}

function uuid(chance: Chance): ReturnType<typeof crypto.randomUUID> {
  const hex = chance.fill(new Uint8Array(16)).toHex();
  const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20)];
  return `${a}-${b}-4${c}-8${d}-${hex.slice(20)}`;
}
