import { assert, assertEquals, assertRejects } from "@std/assert";
import { verifySignedJson } from "../../../src/crypto/encoding/encoding.ts";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { ME } from "../identity/own_scene.ts";
import { SasExchange } from "../../../src/crypto/verification/sas_exchange.ts";
import { RawDevice } from "../engine/raw_device.ts";
import { FakeUser } from "../support/fake_user.ts";
import { EngineScene, OTHER } from "./engine_scene.ts";

const vodozemac = await Vodozemac.load();

Deno.test("Another user is signed by the own user-signing key, once and durably", async () => {
  const scene = await EngineScene.open();
  const id = await scene.confirmed();
  assertEquals(scene.states.get(id)?.needs, "completion");
  assertEquals(await scene.trust(), "cross-signed"); // not before it is stored
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  assertEquals(scene.states.get(id)?.verified, { device: true, identity: true });
  assert((await scene.bot.engine.steps.identityOf(OTHER))?.isVerified);
  await scene.bot.flush();
  assertEquals(scene.steps.at(-1), "done");
  const [upload, ...others] = scene.uploaded;
  assertEquals(others, []);
  const master = scene.them.master?.publicKey ?? "";
  const object = upload?.[OTHER]?.[master] as never;
  const key = scene.identity.userSigning?.publicKey ?? "";
  assert(verifySignedJson(vodozemac, object, { userId: ME, keyId: `ed25519:${key}`, publicKey: key }));
  await scene.bot.restart();
  assert((await scene.bot.engine.steps.identityOf(OTHER))?.isVerified);
  assertEquals(scene.uploaded.length, 1);
});

Deno.test("C17: what was verified and not uploaded is uploaded by the next process, in the same words", async () => {
  for (const isSelf of [false, true]) {
    const scene = await EngineScene.open({ isSelf });
    const id = await scene.confirmed();
    await scene.bot.engine.steps.completeVerification(id);
    assertEquals(scene.uploaded, []);
    await scene.bot.restart(); // with all that was stored, and nothing else
    const [upload] = scene.uploaded;
    assertEquals(await scene.trust(), "verified");
    assert((await scene.bot.engine.steps.identityOf(scene.userId))?.isVerified);
    assert(Object.hasOwn(upload?.[scene.userId] ?? {}, isSelf ? "PEER" : scene.them.master?.publicKey ?? ""));
    assertEquals(scene.steps.at(-1), "done");
    await scene.bot.restart();
    assertEquals(scene.uploaded.length, 1);
  }
});

Deno.test("C17: a process that ends before the commit has trusted nothing, and calls the verification off", async () => {
  const scene = await EngineScene.open();
  const id = await scene.confirmed();
  scene.bot.failing = { when: "before", commits: 0 };
  await assertRejects(() => scene.bot.engine.steps.completeVerification(id));
  await scene.bot.restart();
  assertEquals([await scene.trust(), scene.uploaded], ["cross-signed", []]);
  assertEquals(scene.sent.at(-1)?.[2].code, "m.unknown_transaction");
  assertEquals(scene.flow?.state().cancellation?.code, "m.unknown_transaction");
});

Deno.test("C18: a verification is called off once by the processes that follow, and not at all if it is over", async () => {
  for (const end of ["called off", "completed"]) {
    const scene = await EngineScene.open();
    const id = await scene.confirmed();
    const { engine } = scene.bot;
    if (end === "completed") scene.take(await engine.steps.completeVerification(id));
    else await scene.act(id, { act: "cancel", code: "m.user", reason: "" });
    await scene.bot.flush();
    const { length } = scene.sent;
    await scene.bot.restart();
    await scene.bot.restart();
    assertEquals(scene.sent.length, length, end);
  }
  const scene = await EngineScene.open();
  await scene.confirmed();
  await scene.bot.restart();
  assertEquals(scene.steps.at(-1), "cancel");
  const { length } = scene.sent;
  await scene.bot.restart();
  assertEquals(scene.sent.length, length);
});

Deno.test("C17: an upload that fails is repeated, and one that is refused is given up with a warning", async () => {
  const scene = await EngineScene.open();
  const id = await scene.confirmed();
  await scene.bot.engine.steps.completeVerification(id);
  const failures = {
    [OTHER]: { [scene.them.master?.publicKey ?? ""]: { errcode: "M_INVALID_SIGNATURE", error: "no" } },
  };
  scene.onUpload = () => ({ failures });
  await scene.bot.flush();
  await scene.bot.restart();
  assertEquals(scene.uploaded.length, 1);
  assertEquals(await scene.trust(), "verified"); // what was compared stays so here
});

Deno.test("An own device that has no private keys trusts the own identity, and signs it with its own key", async () => {
  const scene = await EngineScene.open({ isSelf: true, hasKeys: false });
  const id = await scene.confirmed();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  assertEquals(scene.states.get(id)?.verified, { device: true, identity: true });
  await scene.bot.flush();
  const master = scene.identity.master?.publicKey ?? "";
  assertEquals(Object.keys(scene.uploaded[0]?.[ME] ?? {}), [master]);
  const { ed25519: publicKey } = scene.bot.engine.identity();
  const signer = { userId: ME, keyId: "ed25519:MINE", publicKey };
  assert(verifySignedJson(vodozemac, scene.uploaded[0]?.[ME]?.[master] as never, signer));
  assert((await scene.bot.engine.steps.identityOf(ME))?.isVerified);
});

Deno.test("T46: keys that the server has swapped since the beginning are not trusted when all is confirmed", async () => {
  const scene = await EngineScene.open();
  const id = await scene.confirmed();
  scene.them.crossSign();
  await scene.lookUp();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  await scene.bot.flush();
  assertEquals(scene.states.get(id)?.cancellation?.code, "m.key_mismatch");
  assertEquals([await scene.trust(), scene.uploaded], ["cross-signed", []]);
  assertEquals(scene.flow?.state().cancellation?.code, "m.key_mismatch");
});

Deno.test("T56: what is signed has the verified key and nothing that the server shows besides", async () => {
  const scene = await EngineScene.open({ isSelf: true });
  const id = await scene.confirmed();
  const keys = scene.server.keys.get(ME)?.get("PEER");
  assert(keys !== undefined);
  scene.server.keys.get(ME)?.set(
    "PEER",
    { ...keys, unsigned: { device_display_name: "evil" } } as typeof keys,
  );
  await scene.lookUp();
  await scene.bot.engine.steps.completeVerification(id);
  await scene.bot.flush();
  const signed = scene.uploaded[0]?.[ME]?.PEER;
  assertEquals(Object.keys(signed ?? {}).sort(), [
    "algorithms",
    "device_id",
    "keys",
    "signatures",
    "user_id",
  ]);
});

Deno.test("T46: a device that vouches for itself alone is trusted alone: its user is not signed", async () => {
  const scene = await EngineScene.open();
  const keys = scene.peerKeys();
  scene.peerKeys = () => ({ ...keys, ownMaster: undefined });
  const id = await scene.confirmed();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  await scene.bot.flush();
  assertEquals(scene.states.get(id)?.verified, { device: true, identity: false });
  assertEquals([await scene.trust(), scene.uploaded], ["verified", []]);
  const identity = await scene.bot.engine.steps.identityOf(OTHER);
  assert(identity?.isVerified === false);
});

Deno.test("T46: what the other side vouches for is not stored before the user has confirmed", async () => {
  const scene = await EngineScene.open();
  const id = await scene.comparing();
  scene.flow?.confirm();
  await scene.deliver();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  await scene.bot.flush();
  assertEquals([scene.states.get(id)?.phase, scene.uploaded], ["comparing", []]);
  assert(await scene.trust() !== "verified");
});

Deno.test("T46: a device that the server shows with another key by then is not trusted", async () => {
  const scene = await EngineScene.open();
  const keys = scene.peerKeys();
  scene.peerKeys = () => ({ ...keys, ownMaster: undefined });
  const id = await scene.confirmed();
  const { server, peer } = scene;
  server.show(peer.own, "hidden");
  await scene.lookUp();
  new RawDevice(server, OTHER, "PEER").publish();
  server.show(peer.own);
  await scene.lookUp();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  assertEquals(scene.states.get(id)?.cancellation?.code, "m.key_mismatch");
  assert(await scene.trust() !== "verified");
});

Deno.test("T46: a device that vouches for its user's identity alone is trusted by that alone", async () => {
  const { macs } = SasExchange.prototype;
  SasExchange.prototype.macs = function (keys) {
    return macs.call(this, new Map([...keys].filter(([name]) => name !== "ed25519:PEER")));
  };
  try {
    const scene = await EngineScene.open();
    scene.them.unsigned.add("PEER");
    await scene.lookUp();
    const id = await scene.confirmed();
    scene.take(await scene.bot.engine.steps.completeVerification(id));
    assertEquals(scene.states.get(id)?.verified, { device: false, identity: true });
    assert(await scene.trust() !== "verified");
  } finally {
    SasExchange.prototype.macs = macs;
  }
});

Deno.test("A device that is gone by then is not trusted", async () => {
  const scene = await EngineScene.open();
  const id = await scene.confirmed();
  scene.server.show(scene.peer.own, "hidden");
  await scene.lookUp();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  assertEquals(scene.states.get(id)?.cancellation?.code, "m.key_mismatch");
  await scene.bot.flush();
  assertEquals(scene.uploaded, []);
});

Deno.test("What is not confirmed can't be completed, and what was is completed once", async () => {
  const scene = await EngineScene.open();
  const { steps } = scene.bot.engine;
  const id = await scene.comparing();
  await steps.completeVerification(id);
  await steps.completeVerification("unknown");
  assertEquals(await scene.trust(), "cross-signed");
  await scene.act(id, { act: "confirm" });
  scene.flow?.confirm();
  await scene.deliver();
  await steps.completeVerification(id);
  await steps.completeVerification(id);
  await scene.bot.flush();
  assertEquals([scene.uploaded.length, scene.steps.filter((step) => step === "done").length], [1, 1]);
});

Deno.test("C17: a user who is verified already is not signed again", async () => {
  const scene = await EngineScene.open();
  await scene.bot.engine.steps.completeVerification(await scene.confirmed());
  await scene.bot.flush();
  await scene.server.clock.tick(1);
  scene.flowId = "again";
  const id = await scene.confirmed();
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  await scene.bot.flush();
  assertEquals([scene.states.get(id)?.phase, scene.uploaded.length], ["done", 1]);
});

Deno.test("Without the private keys a user's identity is accepted, not signed", async () => {
  const scene = await EngineScene.open({ hasKeys: false });
  const before = await scene.bot.engine.steps.identityOf(OTHER);
  scene.them.crossSign();
  await scene.lookUp();
  const id = await scene.confirmed();
  await scene.bot.engine.steps.completeVerification(id);
  const after = await scene.bot.engine.steps.identityOf(OTHER);
  assertEquals([before?.hasChanged, after?.hasChanged, after?.pinned === after?.master, after?.isVerified], [
    false,
    false,
    true,
    false,
  ]);
  assertEquals(scene.uploaded, []);
});

Deno.test("T46: a device vouches for the own identity only if it knows that it is its user's", async () => {
  for (const hasKeys of [true, false]) {
    const scene = await EngineScene.open({ hasKeys });
    await scene.act(await scene.comparing(), { act: "confirm" });
    const [, , { mac = {} } = {}] = scene.sent.find(([step]) => step === "mac") ?? [];
    const master = `ed25519:${scene.identity.master?.publicKey}`;
    assertEquals(Object.keys(mac as object).sort(), ["ed25519:MINE", ...hasKeys ? [master] : []].sort());
  }
});

Deno.test("T46: a device that the server has had forgotten among a thousand others comes back with another key in vain", async () => {
  const scene = await EngineScene.open();
  const { server, peer, them } = scene;
  them.unsigned.add("PEER");
  await scene.lookUp();
  const keys = scene.peerKeys();
  scene.peerKeys = () => ({ ...keys, ownMaster: undefined });
  const id = await scene.confirmed();
  const devices = server.keys.get(OTHER);
  const crowd = new FakeUser(OTHER, ...Array.from({ length: 1_000 }, (_, index) => `CROWD${index}`));
  devices?.clear();
  for (const device of crowd.devices) devices?.set(device.deviceId, crowd.deviceKeys(device) as never);
  await scene.lookUp();
  devices?.clear();
  await scene.lookUp();
  const other = new RawDevice(server, OTHER, "PEER").publish();
  await scene.lookUp();
  const shown = await scene.bot.engine.devicesOf([OTHER]);
  assertEquals(shown.map(({ ed25519 }) => ed25519), [other.own.ed25519]);
  assert(other.own.ed25519 !== peer.own.ed25519);
  scene.take(await scene.bot.engine.steps.completeVerification(id));
  assertEquals(scene.states.get(id)?.cancellation?.code, "m.key_mismatch");
  assert(await scene.trust() !== "verified");
});
