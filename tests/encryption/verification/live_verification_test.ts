/** A verification as the application holds it, and the stream of requests, by themselves. */

import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { VerificationError } from "@greenroom/matrix/errors";
import type { VerificationState } from "../../../src/crypto/verification/verification.ts";
import { LiveVerification, RequestStream } from "../../../src/encryption/verification/live_verification.ts";
import { emojiOf } from "../../../src/encryption/verification/verification_crypto.ts";
import { verificationState } from "./hub_stage.ts";

const live = (change: Partial<VerificationState> = {}) =>
  new LiveVerification(verificationState(change), () => Promise.resolve(undefined));

/** Whether something settles without more. */
async function settles(work: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  work.then(() => isSettled = true, () => isSettled = true);
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  return isSettled;
}

Deno.test("changed() waits for another phase, whatever else changes, and for no longer than its signal lets it", async () => {
  const request = live();
  const waiting = request.changed();
  request.update(verificationState({ deviceId: "PHONE" }));
  assertEquals([request.deviceId, await settles(waiting)], ["PHONE", false]);
  request.update(verificationState({ phase: "ready" }));
  assertEquals(await waiting, "ready");
  const reason = new TypeError("enough");
  const refused = request.changed({ signal: AbortSignal.abort(reason) });
  assert(await settles(refused));
  assertStrictEquals(await refused.catch((error) => error), reason);
});

Deno.test("A device that shows numbers only has no emoji to compare, and each emoji has its name", () => {
  const decimals = [1_000, 2_000, 9_191];
  const numbers = live({ phase: "comparing", shortString: { emojiIndices: undefined, decimals } });
  assertEquals(numbers.comparison, { emoji: undefined, decimals });
  const emojiIndices = [0, 26, 63, 0, 0, 0, 0];
  const emoji = live({ phase: "comparing", shortString: { emojiIndices, decimals } }).comparison?.emoji;
  assertEquals(emoji?.slice(0, 3), [
    { symbol: "🐶", name: "Dog" },
    { symbol: "🌽", name: "Corn" },
    { symbol: "📌", name: "Pin" },
  ]);
  assertEquals(emojiOf([36]), [{ symbol: "👍", name: "Thumbs Up" }]);
});

Deno.test("Who waits for what is to be compared learns that there is nothing to compare any more", async () => {
  const request = live();
  const comparing = request.compare();
  request.update(verificationState({ phase: "done", verified: { device: true, identity: false } }));
  await assertRejects(() => comparing, ValueError, "Cannot compare anything: the verification is done");
});

Deno.test("startSas() waits until the other side has accepted, begins once, and gives what is to be compared", async () => {
  const acts: string[] = [];
  const own = verificationState({ isIncoming: false });
  const request = new LiveVerification(own, (_id, { act }) => Promise.resolve(void acts.push(act)));
  const comparing = request.startSas();
  assertEquals([await settles(comparing), acts], [false, []]);
  request.update({ ...own, phase: "ready" });
  assertEquals([await settles(comparing), acts], [false, ["startSas"]]);
  const shortString = { emojiIndices: undefined, decimals: [1_000, 2_000, 9_191] };
  request.update({ ...own, phase: "comparing", shortString });
  assertEquals(await comparing, { emoji: undefined, decimals: shortString.decimals });
  assertEquals(acts, ["startSas"]);
});

Deno.test("startSas() rejects when the other side declines, and when its signal aborts", async () => {
  const own = verificationState({ isIncoming: false });
  const request = new LiveVerification(own, () => Promise.resolve(undefined));
  const reason = new TypeError("enough");
  const refused = request.startSas({ signal: AbortSignal.abort(reason) });
  assertStrictEquals(await refused.catch((error) => error), reason);
  const declined = request.startSas();
  const cancellation = { code: "m.user", reason: "", by: "them" } as const;
  request.update({ ...own, phase: "cancelled", cancellation });
  await assertRejects(() => declined, VerificationError, "called it off with m.user");
});

Deno.test("compare() refuses an option that there is not, also if there is nothing to wait for", async () => {
  const shortString = { emojiIndices: undefined, decimals: [1_000, 2_000, 9_191] };
  const request = live({ phase: "comparing", shortString });
  await assertRejects(
    () => request.compare({ timeout: 1 } as never),
    ValueError,
    "there is no option timeout",
  );
});

Deno.test("The error of a verification that was called off says why, as far as the other side does", async () => {
  for (
    const [reason, said] of [["", "m.user; ask again"], ["No time", "m.user: No time; ask again"]] as const
  ) {
    const request = live({ phase: "cancelled", cancellation: { code: "m.user", reason, by: "them" } });
    const error = await assertRejects(
      () => request.done,
      VerificationError,
      `has called it off with ${said}`,
    );
    assertEquals([error.problem, error.by, error.reason], ["m.user", "them", reason]);
  }
});

Deno.test("Who iterates gets all requests that still wait, and none that has ended in the meantime", async () => {
  const stream = new RequestStream(() => []);
  const reader = stream[Symbol.asyncIterator]();
  const first = reader.next();
  const [read, ended, waiting, last] = [live(), live(), live(), live()];
  stream.add(read);
  assertStrictEquals((await first).value, read);
  for (const request of [ended, waiting, last]) stream.add(request);
  ended.update(verificationState({ phase: "cancelled" }));
  assertStrictEquals((await reader.next()).value, waiting);
  assertStrictEquals((await reader.next()).value, last);
  stream.close();
  assertEquals(await reader.next(), { done: true, value: undefined });
});

Deno.test("What has ended is not kept for who does not read", async () => {
  const stream = new RequestStream(() => []);
  const reader = stream[Symbol.asyncIterator]();
  const first = reader.next();
  stream.add(live());
  await first;
  let asked = 0;
  const ended = live({ phase: "cancelled" });
  Object.defineProperty(ended, "isOver", { get: () => (asked++, true) });
  for (const request of [ended, live()]) stream.add(request);
  const before = asked;
  stream.add(live());
  assertEquals(asked, before);
  stream.close();
});
