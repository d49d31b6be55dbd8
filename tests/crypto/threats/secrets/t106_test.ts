/**
 * An object that is printed, or sent somewhere: `console.log(client)`, a crash report, a debugger's
 * view, JSON in a ticket.
 *
 * Attacker: anybody who sees that. What must hold: no object that the package hands out shows a
 * secret, printed with all its hidden properties, as JSON, or cloned. The class of mistake: a field
 * that was meant to be private is only named so.
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals } from "@std/assert";
import { Client, HTTPAPI, inspectDevice, listDevices, MemoryStore } from "@greenroom/matrix";
import { clientStage } from "../../../client/support/stage.ts";
import { conversation } from "../conversation.ts";
import { Planted, seen } from "../planted.ts";

Deno.test("T106: no object of a client shows a secret, before and after its end", async () => {
  await using stage = clientStage();
  const { alice, bob, stores, keys, words } = await conversation(stage);
  const { mxid, deviceId } = bob;
  assert(mxid !== "" && deviceId !== undefined);
  const look = async () => [
    ...[alice, bob].flatMap((
      client,
    ) => [client, client.api, client.crypto, client.stateStore, client.syncStore]),
    ...[bob.quarantine, bob.dispatchers, bob.log, bob.cryptoLog],
    ...stores.map((store) => ({ store })).filter(({ store }) => !(store instanceof MemoryStore)),
    await inspectDevice(stores[1], { mxid, deviceId }),
    await Array.fromAsync(listDevices(stores[1])),
    await bob.quarantine.list().catch((error) => error),
  ];
  const open = (await look()).map(seen);
  await bob.close();
  await alice.close();
  const closed = (await look()).map(seen);
  const all = [...open, ...closed].join("\n");
  assertEquals(keys.leaksIn(all), []);
  assertEquals(words.leaksIn(all), []);
});

Deno.test("T106: what is made of options shows none of them that is secret", async () => {
  const planted = new Planted();
  const options = {
    baseUrl: "https://hs.example",
    accessToken: planted.token("access token"),
    refreshToken: planted.token("refresh token"),
    log: false as const,
  };
  await using client = new Client({ ...options, mxid: "@a:b" });
  const api = new HTTPAPI(options);
  const store = new MemoryStore();
  await store.commit([{ type: "set", key: ["a"], value: { kept: planted.token("record") } }]);
  assertEquals(
    planted.leaksIn(
      [client, client.api, api, store, structuredClone({ ...api, log: 0, clock: 0, nextTransactionId: 0 })]
        .map(seen).join("\n"),
    ),
    [],
  );
});

Deno.test("T106: no object of vodozemac shows what it holds, nor does an error of it", async () => {
  const planted = new Planted();
  const vodozemac = await Vodozemac.create();
  const { olm, megolm, keys, pk } = vodozemac;
  using account = olm.createAccount();
  account.generateOneTimeKeys(5);
  using outbound = megolm.createOutbound();
  using inbound = megolm.createInbound(outbound.sessionKey());
  using signing = keys.createEd25519();
  using agreeing = keys.createCurve25519();
  using decryption = pk.createDecryption();
  using sas = vodozemac.createSas();
  const states = { account: account.state(), outbound: outbound.state(), inbound: inbound.state() };
  for (const [name, state] of Object.entries(states)) planted.add(name, state);
  planted.add("session key", outbound.sessionKey());
  for (const open of [account.curve25519Key, account.ed25519Key, outbound.sessionId]) {
    planted.allow(Uint8Array.fromBase64(open));
  }
  const told: unknown[] = [
    vodozemac,
    olm,
    megolm,
    keys,
    pk,
    account,
    outbound,
    inbound,
    signing,
    agreeing,
    decryption,
    sas,
  ];
  const attempts = [
    ...Object.values(states).flatMap((state) => {
      const damaged = [
        state.subarray(1),
        state.subarray(0, -1),
        Uint8Array.of(...state, 1),
        state.map((byte) => byte ^ 1),
      ];
      return damaged.flatMap((bytes) => [
        () => olm.restoreAccount(bytes),
        () => olm.restoreSession(bytes),
        () => megolm.restoreInbound(bytes),
        () => megolm.restoreOutbound(bytes),
      ]);
    }),
    () => megolm.createInbound(`${outbound.sessionKey()}A`),
    () => megolm.createInbound(outbound.sessionKey().slice(4)),
    () => megolm.importInbound(outbound.sessionKey()),
    () => inbound.decrypt(outbound.sessionKey()),
    () => account.createOutboundSession(outbound.sessionKey(), account.curve25519Key),
  ];
  let failures = 0;
  for (const attempt of attempts) {
    try {
      told.push(attempt());
    } catch (error) {
      failures++;
      told.push(error);
    }
  }
  assert(failures > 30, `only ${failures} errors`);
  assertEquals(planted.leaksIn(told.map(seen).join("\n")), []);
});
