import { assert, assertEquals, assertRejects } from "@std/assert";
import { deviceKeysAPI, filtersAPI } from "../../../src/api/account/account.ts";
import { syncAPI } from "../../../src/api/server/server.ts";
import { toDeviceAPI } from "../../../src/api/messages/mod.ts";
import {
  NetworkError,
  RequestTimeoutError,
  ServiceResponseError,
  ValueError,
} from "@greenroom/matrix/errors";
import type { UserID } from "@greenroom/matrix/types";
import { eventType } from "../../../src/types/events/event_type.ts";
import { inTurn, refusal, scripted, silent, untilSettled } from "../../support/scripted_fetch.ts";
import { deviceKeys } from "../beyond_contract.ts";

const SYNC = "GET /_matrix/client/v3/sync";
const QUERY = "POST /_matrix/client/v3/keys/query";
const CLAIM = "POST /_matrix/client/v3/keys/claim";
const UPLOAD = "POST /_matrix/client/v3/keys/upload";
const SEND = "PUT /_matrix/client/v3/sendToDevice";

Deno.test("sync() waits half a minute by default, and sends only the given options", async () => {
  const { session, log } = scripted({ [SYNC]: { next_batch: "s1" } });
  const { sync } = syncAPI(session);
  await sync();
  await sync({ since: "", filterId: "", fullState: false, useStateAfter: false });
  await sync({
    since: "s0",
    timeout: 0,
    filterId: "f",
    fullState: true,
    setPresence: "unavailable",
    useStateAfter: true,
  });
  await sync({ filterId: { room: { timeline: { limit: 1 } } } });
  assertEquals(log(), [
    `${SYNC}?timeout=30000`,
    `${SYNC}?timeout=30000`,
    `${SYNC}?since=s0&timeout=0&filter=f&full_state=true&set_presence=unavailable&use_state_after=true&org.matrix.msc4222.use_state_after=true`,
    `${SYNC}?timeout=30000&filter=%7B%22room%22%3A%7B%22timeline%22%3A%7B%22limit%22%3A1%7D%7D%7D`,
  ]);
});

Deno.test("sync() is never repeated by the transport, whatever the policy says", async () => {
  for (
    const answer of [
      new TypeError("reset"),
      refusal(502, "M_UNKNOWN"),
      refusal(429, "M_LIMIT_EXCEEDED", {}, { "retry-after": "1" }),
    ]
  ) {
    const { session, requests } = scripted({ [SYNC]: answer });
    await assertRejects(() => syncAPI(session).sync({ retry: { maxRetries: 5 } }));
    assertEquals(requests.length, 1);
  }
});

Deno.test("sync() gives up half a minute after the wait, ten where much may be collected, or when requestTimeout says", async () => {
  const [since, requestTimeout] = ["s", 5_000];
  const cases = [
    [{ since }, undefined, 60_000],
    [{ since, timeout: 100_000 }, undefined, 130_000],
    [{}, undefined, 630_000],
    [{ since: "" }, undefined, 630_000],
    [{ since, fullState: true }, undefined, 630_000],
    [{ since, timeout: 0 }, undefined, 600_000],
    [{ since, timeout: 100_000 }, requestTimeout, 105_000],
    [{ timeout: 0 }, 900_000, 900_000],
    [{ since, timeout: 100_000, requestTimeout }, 1_000, 5_000],
  ] as const;
  for (const [options, ofClient, expected] of cases) {
    const { session, clock } = scripted({ [SYNC]: silent }, { requestTimeout: ofClient });
    const failed = assertRejects(() => syncAPI(session).sync(options), RequestTimeoutError);
    await clock.tick(expected - 1);
    assert(clock.pending > 0);
    await clock.tick(1);
    await failed;
  }
});

Deno.test("sync() rejects an answer without next_batch, or with sections of a wrong type", async () => {
  for (
    const answer of [{}, { next_batch: 7 }, { next_batch: "s", rooms: [] }, {
      next_batch: "s",
      to_device: "x",
    }]
  ) {
    await assertRejects(() => syncAPI(scripted({ [SYNC]: answer }).session).sync(), ServiceResponseError);
  }
});

Deno.test("Sync and key operations refuse impossible waits and users, and send nothing", async () => {
  const { session, requests } = scripted();
  const keys = deviceKeysAPI(session);
  const toDevice = toDeviceAPI(session);
  const bad = "bob" as UserID;
  const calls: (() => Promise<unknown>)[] = [
    () => syncAPI(session).sync({ timeout: -1 }),
    () => syncAPI(session).sync({ timeout: 0.5 }),
    () => keys.queryKeys([], { timeout: -1 }),
    () => keys.queryKeys([bad]),
    () => keys.queryKeys({ [bad]: [] }),
    () => keys.claimKeys({}, { timeout: NaN }),
    () => keys.claimKeys({ [bad]: {} }),
    () => toDevice.sendToDevice("", {}),
    () => toDevice.sendToDevice(eventType("m.room.message", "message") as never, {}),
    () => toDevice.sendToDevice("a.b", { [bad]: { D: {} } }),
    () => toDevice.sendToDevice("a.b", { "@bob:b.org": { "": {} } }),
    () => toDevice.sendToDevice("a.b", { "@bob:b.org": { D: "x" as unknown as object } }),
    () => toDevice.sendToOneDevice("a.b", bad, "D", {}),
    () => toDevice.sendToOneDevice("..", "@bob:b.org", "D", {}),
    () => filtersAPI(session).getFilter(""),
  ];
  for (const call of calls) await assertRejects(call, ValueError);
  assertEquals(requests, []);
});

Deno.test("uploadKeys() sends what there is, and hands out the counts", async () => {
  const signatures = { "@alice:example.org": { "ed25519:DEV": "c2ln" } };
  const { session, body } = scripted({ [UPLOAD]: { one_time_key_counts: { signed_curve25519: 50 } } });
  const { uploadKeys } = deviceKeysAPI(session);
  assertEquals(await uploadKeys(), { signed_curve25519: 50 });
  assertEquals(body(), {});
  const oneTimeKeys = { "signed_curve25519:A": { key: "a2V5", signatures } };
  const fallbackKeys = { "signed_curve25519:B": { key: "a2V5", fallback: true, signatures } };
  await uploadKeys({ deviceKeys: deviceKeys as never, oneTimeKeys, fallbackKeys });
  assertEquals(body(), { device_keys: deviceKeys, one_time_keys: oneTimeKeys, fallback_keys: fallbackKeys });
  await assertRejects(
    () => deviceKeysAPI(scripted({ [UPLOAD]: {} }).session).uploadKeys(),
    ServiceResponseError,
  );
});

Deno.test("uploadKeys() and claimKeys() are one try: a key must not be used up or offered twice", async () => {
  const { session, requests } = scripted({
    [UPLOAD]: new TypeError("reset"),
    [CLAIM]: new TypeError("reset"),
  });
  await assertRejects(() => deviceKeysAPI(session).uploadKeys(), NetworkError);
  await assertRejects(() => deviceKeysAPI(session).claimKeys({}), NetworkError);
  assertEquals(requests.length, 2);
});

Deno.test("queryKeys() takes users or devices, sends a token only if there is one, and hands failures out", async () => {
  const failures = { "down.org": {} };
  const { session, clock, requests } = scripted({
    [QUERY]: inTurn(new TypeError("reset"), { failures, device_keys: {} }),
  });
  const { queryKeys } = deviceKeysAPI(session);
  assertEquals(await untilSettled(clock, queryKeys(["@bob:b.org", "@eve:e.org"])), {
    failures,
    device_keys: {},
  });
  await queryKeys({ "@bob:b.org": ["D1"], "@eve:e.org": [] }, { token: "s1", timeout: 0 });
  await queryKeys([], { token: "" });
  assertEquals(requests.slice(1).map(({ body }) => body), [
    { device_keys: { "@bob:b.org": [], "@eve:e.org": [] }, timeout: 10_000 },
    { device_keys: { "@bob:b.org": ["D1"], "@eve:e.org": [] }, timeout: 0, token: "s1" },
    { device_keys: {}, timeout: 10_000 },
  ]);
});

Deno.test("claimKeys() asks for one key of each device, and hands failures out", async () => {
  const answer = {
    failures: { "down.org": {} },
    one_time_keys: { "@bob:b.org": { D: { "curve25519:A": "a2V5" } } },
  };
  const { session, body } = scripted({ [CLAIM]: answer });
  const wanted = { "@bob:b.org": { D: "signed_curve25519" } } as const;
  assertEquals(await deviceKeysAPI(session).claimKeys(wanted), answer as never);
  assertEquals(body(), { one_time_keys: wanted, timeout: 10_000 });
});

Deno.test("A wait for other servers that is longer than the client's time limit is waited for", async () => {
  for (const call of ["queryKeys", "claimKeys"] as const) {
    const { session, clock } = scripted({ [QUERY]: silent, [CLAIM]: silent }, { retry: false });
    const failed = assertRejects(
      () =>
        call === "queryKeys"
          ? deviceKeysAPI(session).queryKeys([], { timeout: 90_000 })
          : deviceKeysAPI(session).claimKeys({}, { timeout: 90_000 }),
      RequestTimeoutError,
    );
    await clock.tick(119_999);
    assertEquals(clock.pending, 1);
    await clock.tick(1);
    await failed;
  }
});

Deno.test("getKeyChanges() and uploadSignatures() hand out what the server says", async () => {
  const { session, log, body } = scripted({
    "GET /_matrix/client/v3/keys/changes": { changed: ["@bob:b.org"], left: [] },
    "POST /_matrix/client/v3/keys/signatures/upload": { failures: {} },
  });
  const keys = deviceKeysAPI(session);
  assertEquals((await keys.getKeyChanges("s1", "s2")).changed, ["@bob:b.org"]);
  const signed = { "@alice:example.org": { DEV: deviceKeys as never } } as const;
  assertEquals(await keys.uploadSignatures(signed), { failures: {} });
  assertEquals([log()[0], body()], ["GET /_matrix/client/v3/keys/changes?from=s1&to=s2", signed as unknown]);
});

Deno.test("sendToDevice() and sendToOneDevice() repeat under one transaction ID, the caller's if there is one", async () => {
  const { session, clock, requests, body } = scripted({ "*": inTurn(new TypeError("reset"), {}) });
  const { sendToDevice, sendToOneDevice } = toDeviceAPI(session);
  const messages = { "@bob:b.org": { D: { line: 1 }, "*": { line: 2 } }, "@eve:e.org": {} } as const;
  await untilSettled(clock, sendToDevice("com.example.cue", messages));
  assertEquals(body(), { messages });
  assertEquals([requests.length, new Set(requests.map(({ path }) => path)).size], [2, 1]);
  await sendToOneDevice(eventType("com.example.cue", "to_device"), "@bob:b.org", "D", { line: 3 }, {
    txnId: "mine",
  });
  assertEquals([requests.at(-1)?.path, body()], [
    `${SEND.slice(4)}/com.example.cue/mine`,
    { messages: { "@bob:b.org": { D: { line: 3 } } } },
  ]);
});

Deno.test("createFilter() and getFilter() are the acting user's, and creating is repeated", async () => {
  const { session, clock, log } = scripted({
    "POST /_matrix/client/v3/user/@ghost:x/filter": inTurn(new TypeError("reset"), { filter_id: "f1" }),
    "GET /_matrix/client/v3/user/@ghost:x/filter/f1": { room: { timeline: { limit: 5 } } },
  });
  const { createFilter, getFilter } = filtersAPI(session);
  const asUserId = "@ghost:x";
  assertEquals(await untilSettled(clock, createFilter({ room: {} }, { asUserId })), "f1");
  assertEquals((await getFilter("f1", { asUserId })).room?.timeline?.limit, 5);
  assertEquals(log().length, 3);
});
