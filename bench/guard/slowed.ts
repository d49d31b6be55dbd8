/**
 * Loaded before a contestant, it plants a loss: before each request, and whenever the event loop comes round,
 * a busy wait of as many percent as `GREENROOM_PLANTED` says, of the processor time since the last one.
 *
 * @module
 */

import process from "node:process";

const { fetch } = globalThis;
const part = Number(Deno.env.get("GREENROOM_PLANTED")) / 100;
let before = 0;

function used(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function lose(): void {
  const until = used() + (used() - before) * part;
  while (used() < until);
  before = until;
}

globalThis.fetch = (input, init) => {
  lose();
  return fetch(input, init);
};
Deno.unrefTimer(setInterval(lose, 1));
