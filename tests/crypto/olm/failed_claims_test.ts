/** What becomes of claims that failed as a whole. */

import { assert, assertEquals } from "@std/assert";
import type { OlmClaims } from "../../../src/crypto/olm/olm.ts";
import type { UserID } from "@greenroom/matrix/types";
import { step } from "../support/vault.ts";
import { claims, namesIn } from "./wanted_devices.ts";

const MINUTE = 60_000;

const down = (now: number) => ({ now, refused: false, answered: false });

Deno.test("a claim that failed as a whole is made again, a little later (S19)", async () => {
  const { made } = await claims(3);
  const first = made.next(0);
  assert(first !== undefined);
  made.failed(first, down(0));
  assertEquals(made.next(999), undefined);
  const second = made.next(1_000);
  assertEquals(namesIn(second), namesIn(first));
  assert(second !== undefined);
  made.failed(second, down(1_000));
  assertEquals(made.next(2_999), undefined);
  assertEquals(namesIn(made.next(3_000)), namesIn(first));
});

Deno.test("a claim that failed is made at once for who has waited, and the next wait is the longer one", async () => {
  const { made } = await claims(3);
  made.endWait(made.all()); // of what has not failed yet
  const first = made.next(0);
  assert(first !== undefined);
  made.failed(first, down(0));
  assertEquals(made.next(999), undefined);
  made.endWait(made.all());
  const second = made.next(10);
  assertEquals(namesIn(second), namesIn(first));
  assert(second !== undefined);
  made.failed(second, down(10));
  assertEquals([made.next(2_009), made.nextIn(10)], [undefined, 2_000]);
});

Deno.test("who has waited for a claim does not get a key of a device that had none a moment ago", async () => {
  const { made, vault } = await claims(1);
  const [device] = made.all();
  assert(device !== undefined);
  await step(vault, (tx) => made.exhausted(tx, device, 0));
  made.endWait([device]);
  assertEquals(made.next(0), undefined);
});

Deno.test("a claim that goes on failing is made every minute: rooms can't be sent to meanwhile", async () => {
  const { made } = await claims(3);
  for (let failures = 0; failures < 20; failures++) {
    const claim = made.next(failures * MINUTE);
    assert(claim !== undefined, `after ${failures} failures`);
    made.failed(claim, down(failures * MINUTE));
  }
});

/** Has the server refuse the next claim; gives what that named. */
function refuse(made: OlmClaims, now: number): string[] {
  const claim = made.next(now);
  assert(claim !== undefined);
  made.failed(claim, { now, refused: true, answered: true });
  return namesIn(claim);
}

Deno.test("devices of a claim that was refused are asked for in groups of a quarter, with others or without", async () => {
  const { made, vault } = await claims(5);
  assertEquals(refuse(made, 0).length, 5);
  const others = ["E0", "E1", "E2"].map((deviceId) => ({ userId: "@u0:s0" as UserID, deviceId }));
  await step(vault, (tx) => made.want(tx, others));
  const next = () => namesIn(made.next(0)).toSorted();
  assertEquals([next(), next(), next(), next()], [["D0", "D1"], ["D2", "D3"], ["D4", "E0"], ["E1", "E2"]]);
});

Deno.test("a device that is to be asked for alone is not asked for with one that was wanted before", async () => {
  const { made, vault } = await claims(1);
  const first = made.next(0);
  assert(first !== undefined);
  const others = ["E0", "E1"].map((deviceId) => ({ userId: "@u0:s0" as UserID, deviceId }));
  await step(vault, (tx) => made.want(tx, others));
  refuse(made, 0);
  made.failed(first, down(0));
  const next = () => namesIn(made.next(1_000));
  assertEquals([next(), next(), next(), next()], [["D0"], ["E0"], ["E1"], []]);
});

Deno.test("a claim over which the server fails once is made again as it was, and then for fewer devices", async () => {
  const { made } = await claims(8);
  for (const [now, count] of [[0, 8], [1_000, 8], [3_000, 2]] as const) {
    const claim = made.next(now);
    assertEquals(namesIn(claim).length, count);
    assert(claim !== undefined);
    made.failed(claim, { now, refused: false, answered: true });
  }
});

Deno.test("none of several devices in a failed claim is blamed, whichever others were answered since it was made smaller", async () => {
  const { made, devices, vault } = await claims(5);
  refuse(made, 0);
  const [first, second] = [made.next(0), made.next(0)];
  assert(first !== undefined && second !== undefined);
  await step(vault, (tx) => made.answered(tx, first));
  made.failed(second, { now: 0, refused: false, answered: true });
  for (const device of devices) assert(made.isPromising(device, 0));
});

Deno.test("a device alone is to blame for a claim over which the server fails as soon as another was answered", async () => {
  const { made, devices: [device], vault } = await claims(2);
  assert(device !== undefined);
  const failed = { refused: false, answered: true };
  let now = 0;
  const ask = async (outcome?: { refused: boolean; answered: boolean }) => {
    const claim = made.next(now);
    assert(claim !== undefined);
    if (outcome === undefined) await step(vault, (tx) => made.answered(tx, claim));
    else made.failed(claim, { now, ...outcome });
    return namesIn(claim);
  };
  assertEquals(await ask(failed), ["D0", "D1"]);
  now = MINUTE;
  assertEquals(await ask(failed), ["D0", "D1"]);
  now = 2 * MINUTE;
  assertEquals(await ask(failed), ["D0"]);
  assert(made.isPromising(device, now), "the server fails over whatever it is asked");
  assertEquals(await ask(), ["D1"]);
  now = 3 * MINUTE;
  assertEquals(await ask({ refused: false, answered: false }), ["D0"]);
  assert(made.isPromising(device, now), "the server was not reached");
  now = 4 * MINUTE;
  assertEquals(await ask(failed), ["D0"]);
  assert(!made.isPromising(device, now), "it answers for others");
});
