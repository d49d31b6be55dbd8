import { assertEquals } from "@std/assert";
import { type EngineOperations, requestSender } from "../../../src/actors/crypto/request_sender.ts";
import type { EngineRequest } from "../../../src/crypto/engine/engine.ts";
import { TestClock } from "@greenroom/matrix/testing";

const HOUR = 3_600_000;
const EVENT: Extract<EngineRequest, { kind: "roomEvent" }> = {
  id: "1",
  kind: "roomEvent",
  roomId: "!room:a",
  txnId: "txn",
  content: { algorithm: "m.megolm.v1.aes-sha2", ciphertext: "c", session_id: "session" },
  createdAt: 0,
};
const SIGNAL = new AbortController().signal;

/** A room with pages of history, each event as its transaction ID and time. */
function history(...pages: [txn: string, time: number][][]) {
  const sent: unknown[] = [];
  const asked: unknown[] = [];
  const api: Partial<EngineOperations> = {
    sendMessageEvent: (...args: unknown[]) => {
      sent.push(args.slice(0, 3));
      return Promise.resolve("$sent");
    },
    getMessages(_roomId, _direction, from) {
      asked.push(from);
      const page = Number(from ?? 0);
      const chunk = (pages[page] ?? []).map(([transaction_id, origin_server_ts]) => ({
        origin_server_ts,
        unsigned: { transaction_id },
      }));
      return Promise.resolve(
        { chunk, start: "s", end: page + 1 < pages.length ? String(page + 1) : undefined } as never,
      );
    },
  };
  return { sent, asked, api: api as EngineOperations };
}

Deno.test("An event that an earlier process left is sent with its own bytes and transaction ID", async () => {
  const { api, sent, asked } = history();
  await requestSender(api, new TestClock(60_000))(EVENT, SIGNAL);
  assertEquals([sent, asked], [[["!room:a", "m.room.encrypted", EVENT.content]], []]);
});

Deno.test("An event that is older than the server's memory is looked for first, and not sent if it is there", async () => {
  const { api, sent, asked } = history([["other", 2 * HOUR]], [["txn", 10]], [["older", -2 * HOUR]]);
  await requestSender(api, new TestClock(2 * HOUR))(EVENT, SIGNAL);
  assertEquals([sent, asked], [[], [undefined, "1"]]);
});

Deno.test("An old event that is not in the history since it was encrypted is sent", async () => {
  const { api, sent, asked } = history([["other", 2 * HOUR]], [["older", -2 * HOUR]], [["txn", -3 * HOUR]]);
  await requestSender(api, new TestClock(2 * HOUR))(EVENT, SIGNAL);
  assertEquals([sent.length, asked], [1, [undefined, "1"]]);
});

Deno.test("An event with a future time is searched for in the whole range of history", async () => {
  const { api, sent, asked } = history([["other", 3]], [["older", 2]], [["txn", 1]]);
  const event = { ...EVENT, createdAt: Date.UTC(2030, 0, 1) };
  await requestSender(api, new TestClock(Date.UTC(2026, 0, 1)))(event, SIGNAL);
  assertEquals([sent, asked], [[], [undefined, "1", "2"]]);
});

Deno.test("An event that is as old as the server's memory is sent without a look at the history", async () => {
  const { api, sent, asked } = history([["txn", 10]]);
  await requestSender(api, new TestClock(20 * 60_000))(EVENT, SIGNAL);
  assertEquals([sent.length, asked], [1, []]);
});

Deno.test("An old event is looked for until the history begins, behind empty pages, too, or for twenty pages", async () => {
  const recent = (): [string, number][] => [["other", HOUR]];
  const histories: [pages: [string, number][][], asked: number, sent: number][] = [
    [[recent(), recent()], 2, 1],
    [[recent(), [], [["txn", 10]]], 3, 0],
    [[recent(), ...Array.from({ length: 30 }, () => [])], 20, 1],
    [[recent(), [["edge", -20 * 60_000]], [["txn", 10]]], 3, 0],
    [[...Array.from({ length: 20 }, recent), [["txn", 10]]], 20, 1],
    [[...Array.from({ length: 19 }, recent), [["txn", 10]]], 20, 0],
  ];
  for (const [pages, questions, sends] of histories) {
    const { api, sent, asked } = history(...pages);
    await requestSender(api, new TestClock(2 * HOUR))(EVENT, SIGNAL);
    assertEquals([asked.length, sent.length], [questions, sends]);
  }
});

Deno.test("One-time keys are uploaded before the device keys and the fallback key that come with them; what comes alone goes as it is", async () => {
  const [device, oneTime, fallback] = [{ device_id: "D" }, { one: "1" }, { fall: "back" }];
  const uploads = async (body: object) => {
    const uploaded: object[] = [];
    const api = {
      uploadKeys({ signal: _, ...keys }: { signal: AbortSignal }) {
        uploaded.push(JSON.parse(JSON.stringify(keys)));
        return Promise.resolve({ signed_curve25519: uploaded.length });
      },
    } as unknown as EngineOperations;
    const request = { id: "1", kind: "keysUpload", body } as unknown as EngineRequest;
    return [await requestSender(api, new TestClock(0))(request, SIGNAL), ...uploaded];
  };
  const rest = { one_time_keys: oneTime, fallback_keys: fallback };
  const sent = { oneTimeKeys: oneTime, fallbackKeys: fallback };
  assertEquals(await uploads({ device_keys: device, ...rest }), [
    { one_time_key_counts: { signed_curve25519: 2 } },
    { oneTimeKeys: oneTime },
    { deviceKeys: device, fallbackKeys: fallback },
  ]);
  assertEquals(await uploads(rest), [{ one_time_key_counts: { signed_curve25519: 1 } }, sent]);
  assertEquals(await uploads({ device_keys: device }), [{ one_time_key_counts: { signed_curve25519: 1 } }, {
    deviceKeys: device,
  }]);
});
