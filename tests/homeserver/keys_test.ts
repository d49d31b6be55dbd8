import { assertEquals, assertStringIncludes } from "@std/assert";
import { canonicalJson } from "../../src/testing/json/json.ts";
import { type Caller, type Json, stage } from "./harness.ts";

const BOB = "@bob:localhost";

const key = (value: string) => ({ key: value, signatures: {} });

function deviceKeys(caller: Caller, extra = {}): Json {
  return {
    user_id: caller.id,
    device_id: caller.deviceId,
    algorithms: [],
    keys: {},
    signatures: {},
    ...extra,
  };
}

Deno.test("keys: one-time keys are handed out once each, and then the fallback key", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const counts = await bob.ok("POST", "/keys/upload", {
    device_keys: deviceKeys(bob),
    one_time_keys: { "signed_curve25519:A": key("a"), "signed_curve25519:B": key("b") },
    fallback_keys: { "signed_curve25519:F": key("f") },
  });
  assertEquals(counts, { one_time_key_counts: { signed_curve25519: 2 } });
  const claim = async () => {
    const wanted = {
      [BOB]: { [bob.deviceId]: "signed_curve25519" },
      "@none:localhost": { X: "signed_curve25519" },
    };
    const answer = await alice.ok("POST", "/keys/claim", { one_time_keys: wanted });
    return Object.keys(answer.one_time_keys[BOB]?.[bob.deviceId] ?? {})[0];
  };
  const types = async () => (await bob.sync()).device_unused_fallback_key_types;
  assertEquals([await claim(), await claim(), await types()], ["signed_curve25519:A", "signed_curve25519:B", [
    "signed_curve25519",
  ]]);
  assertEquals([await claim(), await claim(), await types()], [
    "signed_curve25519:F",
    "signed_curve25519:F",
    [],
  ]);
  await bob.ok("POST", "/keys/upload", { fallback_keys: { "signed_curve25519:G": key("g") } });
  assertEquals([await types(), await claim()], [["signed_curve25519"], "signed_curve25519:G"]);
});

Deno.test("keys: a one-time key may be uploaded again, but not replaced", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const upload = (value: string) =>
    alice.send("POST", "/keys/upload", { one_time_keys: { "signed_curve25519:A": key(value) } });
  assertEquals((await upload("a")).status, 200);
  assertEquals((await upload("a")).body.one_time_key_counts, { signed_curve25519: 1 });
  const refused = await upload("b");
  assertEquals([refused.status, refused.body.errcode], [400, "M_UNKNOWN"]);
  assertStringIncludes(refused.body.error, "already exists");
  assertEquals(
    await alice.refusal("POST", "/keys/upload", { device_keys: deviceKeys(alice, { device_id: "X" }) }),
    [
      400,
      "M_BAD_JSON",
    ],
  );
});

Deno.test("keys: device keys that are not whole are refused with all that comes with them", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const { keys: _, ...keyless } = deviceKeys(alice);
  const bodies: [unknown, string][] = [
    [null, "M_INVALID_PARAM"],
    ["keys", "M_BAD_JSON"],
    [keyless, "M_MISSING_PARAM"],
    [deviceKeys(alice, { algorithms: [1] }), "M_BAD_JSON"],
    [deviceKeys(alice, { signatures: { [alice.id]: "a" } }), "M_BAD_JSON"],
  ];
  for (const [device_keys, errcode] of bodies) {
    const body = { device_keys, one_time_keys: { "signed_curve25519:A": key("a") } };
    assertEquals(await alice.refusal("POST", "/keys/upload", body), [400, errcode]);
  }
  for (
    const bad of [{ "signed_curve25519": key("a") }, { "signed_curve25519:A": { key: 1, signatures: {} } }]
  ) {
    assertEquals(await alice.refusal("POST", "/keys/upload", { one_time_keys: bad }), [400, "M_BAD_JSON"]);
  }
  assertEquals(await alice.ok("POST", "/keys/upload", {}), { one_time_key_counts: { signed_curve25519: 0 } });
});

Deno.test("keys: a query gives devices with their names, and failures of other homeservers", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  await bob.ok("PUT", `/devices/${bob.deviceId}`, { display_name: "Phone" });
  await bob.ok("POST", "/keys/upload", { device_keys: deviceKeys(bob) });
  const answer = await alice.ok("POST", "/keys/query", { device_keys: { [BOB]: [], "@eve:elsewhere": [] } });
  assertEquals(answer.device_keys, {
    [BOB]: { [bob.deviceId]: deviceKeys(bob, { unsigned: { device_display_name: "Phone" } }) },
  });
  assertEquals(Object.keys(answer.failures), ["elsewhere"]);
});

Deno.test("device lists: name users with changed keys, newcomers, and users who are gone", async () => {
  await using scene = stage(["alice", "bob", "carol"]);
  const { alice, bob, carol } = scene.users;
  const room = await alice.createRoom({ preset: "public_chat" });
  let since = (await alice.sync()).next_batch;
  const start = since;
  const lists = async () => {
    const answer = await alice.sync({ since });
    since = answer.next_batch;
    return answer.device_lists;
  };
  await bob.ok("POST", "/keys/upload", { device_keys: deviceKeys(bob) });
  assertEquals(await lists(), undefined);
  await bob.join(room);
  assertEquals(await lists(), { changed: [BOB] });
  await bob.ok("POST", "/keys/upload", { device_keys: deviceKeys(bob, { algorithms: ["x"] }) });
  assertEquals(await lists(), { changed: [BOB] });
  await bob.ok("POST", "/keys/upload", { device_keys: deviceKeys(bob, { algorithms: ["x"] }) });
  await carol.ok("POST", "/keys/upload", { device_keys: deviceKeys(carol) });
  assertEquals(await lists(), undefined);
  await bob.ok("POST", "/logout", {});
  assertEquals(await lists(), { changed: [BOB] });
  await alice.ok("POST", `/rooms/${room}/kick`, { user_id: BOB });
  assertEquals(await lists(), { left: [BOB] });
  const changes = await alice.ok("GET", `/keys/changes?from=${start}&to=${since}`);
  assertEquals(changes, { changed: [BOB], left: [BOB] });
});

Deno.test("to-device: messages stay until a sync acknowledges them, and go to one or all devices", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const { next_batch } = await bob.sync();
  const send = (txn: string, messages: Json) =>
    alice.ok("PUT", `/sendToDevice/com.example.x/${txn}`, { messages });
  await send("1", { [BOB]: { [bob.deviceId]: { n: 1 } } });
  await send("1", { [BOB]: { [bob.deviceId]: { n: 1 } } });
  await send("2", { [BOB]: { "*": { n: 2 }, NOBODY: { n: 3 } } });
  const expected = [1, 2].map((n) => ({ type: "com.example.x", sender: "@alice:localhost", content: { n } }));
  const first = await bob.sync({ since: next_batch });
  assertEquals(first.to_device.events, expected);
  assertEquals((await bob.sync({ since: next_batch })).to_device.events, expected);
  assertEquals(scene.homeserver.toDevice(BOB, bob.deviceId).length, 2);
  assertEquals((await bob.sync({ since: first.next_batch })).to_device, undefined);
  assertEquals(scene.homeserver.toDevice(BOB, bob.deviceId), []);
});

Deno.test("to-device: many messages come in portions, each acknowledged on its own", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  let since = (await bob.sync()).next_batch;
  for (let n = 0; n < 250; n++) {
    await alice.ok("PUT", `/sendToDevice/com.example.x/${n}`, {
      messages: { [BOB]: { [bob.deviceId]: { n } } },
    });
  }
  const seen: number[] = [];
  for (const size of [100, 100, 50]) {
    const answer = await bob.sync({ since });
    assertEquals(answer.to_device.events.length, size);
    seen.push(...answer.to_device.events.map(({ content }: Json) => content.n));
    since = answer.next_batch;
  }
  assertEquals(seen, Array.from({ length: 250 }, (_, n) => n));
});

/** A signing key pair and what the specification calls the key. */
async function signer() {
  const pair = await crypto.subtle.generateKey("Ed25519", EXTRACTABLE, ["sign", "verify"]) as CryptoKeyPair;
  const base64 = (bytes: ArrayBuffer) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("=", "");
  const publicKey = base64(await crypto.subtle.exportKey("raw", pair.publicKey));
  const sign = async (json: Json, user: string, keyId = `ed25519:${publicKey}`): Promise<Json> => {
    const { signatures = {}, unsigned: _, ...rest } = json;
    const bytes = new TextEncoder().encode(canonicalJson(rest));
    const signature = base64(await crypto.subtle.sign("Ed25519", pair.privateKey, bytes));
    return { ...json, signatures: { ...signatures, [user]: { ...signatures[user], [keyId]: signature } } };
  };
  const key = (user_id: string, usage: string) => ({
    user_id,
    usage: [usage],
    keys: { [`ed25519:${publicKey}`]: publicKey },
  });
  return { publicKey, sign, key };
}

const EXTRACTABLE = true;

Deno.test("cross-signing: keys are set up freely, checked, and replaced with the password only", async () => {
  await using scene = stage(["alice", "bob"]);
  const { alice, bob } = scene.users;
  const [master, self, device] = [await signer(), await signer(), await signer()];
  const keys = deviceKeys(alice, { keys: { [`ed25519:${alice.deviceId}`]: device.publicKey } });
  await alice.ok("POST", "/keys/upload", { device_keys: keys });
  const self_signing_key = self.key(alice.id, "self_signing");
  const body = { master_key: master.key(alice.id, "master"), self_signing_key };
  const path = "/keys/device_signing/upload";
  assertEquals(await alice.refusal("POST", path, body), [400, "M_INVALID_SIGNATURE"]);
  const signed = { ...body, self_signing_key: await master.sign(self_signing_key, alice.id) };
  await alice.ok("POST", path, signed);
  await alice.ok("POST", path, signed);
  assertEquals((await alice.send("POST", path, { master_key: self.key(alice.id, "master") })).status, 401);
  const deviceSigned = await self.sign(keys, alice.id);
  const masterSigned = await device.sign(body.master_key, alice.id, `ed25519:${alice.deviceId}`);
  const forged = { ...keys, signatures: { [alice.id]: { [`ed25519:${self.publicKey}`]: "AAAA" } } };
  const upload = (objects: Json) => alice.ok("POST", "/keys/signatures/upload", { [alice.id]: objects });
  const { failures } = await upload({ [alice.deviceId]: forged });
  assertEquals(failures[alice.id][alice.deviceId].errcode, "M_INVALID_SIGNATURE");
  assertEquals(await upload({ [alice.deviceId]: deviceSigned, [master.publicKey]: masterSigned }), {
    failures: {},
  });
  const strange = await alice.ok("POST", "/keys/signatures/upload", { [bob.id]: { DEVICE: 1 } });
  assertEquals(strange.failures[bob.id].DEVICE.errcode, "M_NOT_FOUND"); // she has no key to sign him with
  assertEquals(
    await alice.refusal("POST", "/keys/signatures/upload", { [alice.id]: { DEVICE: 1 } }),
    [400, "M_INVALID_PARAM"],
  );
  const answer = await bob.ok("POST", "/keys/query", { device_keys: { [alice.id]: [] } });
  assertEquals(Object.keys(answer.device_keys[alice.id][alice.deviceId].signatures[alice.id]), [
    `ed25519:${self.publicKey}`,
  ]);
  assertEquals(Object.keys(answer.master_keys[alice.id].signatures[alice.id]), [`ed25519:${alice.deviceId}`]);
  assertEquals(answer.user_signing_keys, {});
});

Deno.test("cross-signing: keys that come at once come one after the other", async () => {
  const path = "/keys/device_signing/upload";
  const [master, self, other] = [await signer(), await signer(), await signer()];
  const ends: string[] = [];
  for (const isAtOnce of [false, true]) {
    await using scene = stage(["alice"]);
    const { alice } = scene.users;
    const self_signing_key = await master.sign(self.key(alice.id, "self_signing"), alice.id);
    const upload = () =>
      alice.ok("POST", path, { master_key: master.key(alice.id, "master"), self_signing_key });
    if (isAtOnce) await Promise.all([upload(), upload()]);
    else for (let count = 0; count < 2; count++) await upload();
    ends.push((await alice.sync()).next_batch);
  }
  assertEquals(ends[1], ends[0], "what comes twice changes nothing");
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const answers = await Promise.all([master, other].map(async (each) => {
    const self_signing_key = await each.sign(self.key(alice.id, "self_signing"), alice.id);
    return await alice.send("POST", path, { master_key: each.key(alice.id, "master"), self_signing_key });
  }));
  assertEquals(answers.map(({ status }) => status).sort(), [200, 401], "the second replaces the first");
});

Deno.test("key backup: keeps the better key, and takes keys for the latest version only", async () => {
  await using scene = stage(["alice"]);
  const { alice } = scene.users;
  const create = () =>
    alice.ok("POST", "/room_keys/version", { algorithm: "m.megolm_backup.v1", auth_data: {} });
  assertEquals(await create(), { version: "1" });
  const session = (first_message_index: number) => ({
    first_message_index,
    forwarded_count: 0,
    is_verified: false,
    session_data: {},
  });
  const put = (index: number) => alice.ok("PUT", "/room_keys/keys/!r:x/s?version=1", session(index));
  assertEquals([(await put(5)).etag, (await put(7)).etag, (await put(3)).etag], ["1", "1", "2"]);
  assertEquals(await alice.ok("GET", "/room_keys/keys/!r:x/s?version=1"), session(3));
  assertEquals(await alice.ok("GET", "/room_keys/keys?version=1"), {
    rooms: { "!r:x": { sessions: { s: session(3) } } },
  });
  await create();
  const old = await alice.send("PUT", "/room_keys/keys/!r:x/s?version=1", session(0));
  assertEquals([old.status, old.body.errcode, old.body.current_version], [
    403,
    "M_WRONG_ROOM_KEYS_VERSION",
    "1",
  ]);
  await alice.ok("DELETE", "/room_keys/version/2");
  assertEquals((await alice.ok("GET", "/room_keys/version")).count, 1);
  await alice.ok("DELETE", "/room_keys/keys/!r:x?version=1");
  assertEquals((await alice.ok("GET", "/room_keys/version")).count, 0);
});
