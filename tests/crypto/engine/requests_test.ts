/** What an engine asks of the server, when it must not ask yet, and what it makes of a refusal. */

import { assertEquals, assertRejects } from "@std/assert";
import { DeviceConflictError } from "@greenroom/matrix/errors";
import type { JsonObject } from "@greenroom/matrix/types";
import { FakeUser, queryResponse } from "../support/fake_user.ts";
import { Asked, BOB, ME } from "./asked.ts";

const HOUR = 3_600_000;
const COUNTS = { one_time_key_counts: { signed_curve25519: 50 } };
const TOLERATE = { keysQuery: false, keysClaim: false };
const PATIENT = { roomId: "!room:example.org", tolerate: TOLERATE } as const;

Deno.test("a server that has other keys of the device ends it: nothing more is asked", async () => {
  const asked = await Asked.open();
  const query = await asked.one("keysQuery");
  await assertRejects(
    () => asked.answer(query, queryResponse(new FakeUser(ME, "MINE"))),
    DeviceConflictError,
  );
  await asked.engine.areDevicesStale({ users: [BOB] });
  assertEquals(await asked.kinds(), []);
});

Deno.test("a server that has one-time keys of a device which it never got any of is that of another store", async () => {
  const asked = await Asked.open();
  await asked.answer(await asked.one("keysQuery"), { device_keys: { [ME]: {} } });
  const upload = await asked.one("keysUpload");
  const clash = "One time key signed_curve25519:AAAAAA already exists";
  await assertRejects(() => asked.fail(upload, 400, clash), DeviceConflictError);
  assertEquals(await asked.kinds(), []);
});

Deno.test("a device that was published goes on after such a clash, with other keys, once it knows what the server has", async () => {
  const asked = await (await Asked.open()).publish();
  await asked.sync({ oneTimeKeys: 1 });
  const upload = await asked.one("keysUpload");
  await asked.fail(upload, 400, "One time key signed_curve25519:AAAAAA already exists");
  await asked.answer(await asked.one("keysQuery"), asked.shown());
  const { body } = await asked.one("keysUpload");
  const names = ({ one_time_keys = {} }: typeof body) => Object.keys(one_time_keys);
  assertEquals(names(body).filter((name) => names(upload.body).includes(name)), []);
});

Deno.test("an answer counts once: what comes a second time under its request's name changes nothing", async () => {
  const asked = await (await Asked.open()).publish();
  await asked.engine.areDevicesStale({ users: [BOB] });
  const query = await asked.one("keysQuery");
  await asked.answer(query, queryResponse(new FakeUser(BOB, "B")));
  await asked.answer(query, queryResponse(new FakeUser(BOB, "C")));
  const devices = await asked.engine.devicesOf([BOB]);
  assertEquals(devices.map(({ deviceId }) => deviceId), ["B"]);
  await asked.fail(query, 500);
  assertEquals(await asked.kinds(), []);
});

Deno.test("an upload that fails otherwise is the same again, once it is known what the server has", async () => {
  const asked = await Asked.open();
  await asked.answer(await asked.one("keysQuery"), { device_keys: { [ME]: {} } });
  const { body, ...upload } = await asked.one("keysUpload");
  await asked.fail({ body, ...upload }, 500, "already exists");
  await asked.answer(await asked.one("keysQuery"), { device_keys: { [ME]: {} } });
  assertEquals((await asked.one("keysUpload")).body, body);
});

Deno.test("nothing is uploaded before the server has answered what keys it has of the device, even where it fails to", async () => {
  const unreachable = await Asked.open();
  const failures = { "example.org": {} };
  await unreachable.answer(await unreachable.one("keysQuery"), { device_keys: {}, failures });
  assertEquals(await unreachable.kinds(), []);
  const refused = await Asked.open();
  await refused.fail(await refused.one("keysQuery"), 400);
  assertEquals(await refused.kinds(), []);
});

Deno.test("nothing is uploaded while the own devices may have changed", async () => {
  const asked = await (await Asked.open()).publish();
  await asked.sync({ oneTimeKeys: 1, changed: [ME] });
  const query = await asked.one("keysQuery");
  assertEquals(await asked.kinds(), []);
  await asked.answer(query, asked.shown());
  await asked.one("keysUpload");
});

Deno.test("one upload is on its way at a time, whatever else is", async () => {
  const asked = await (await Asked.open()).publish();
  await asked.engine.areDevicesStale({ users: [BOB] });
  await asked.one("keysQuery");
  await asked.sync({ oneTimeKeys: 1 });
  await asked.one("keysUpload");
  assertEquals(await asked.kinds(), []);
});

Deno.test("a room waits until the device is known and published, in this process", async () => {
  const asked = await Asked.open();
  const needs = async () => (await asked.engine.prepare(PATIENT)).needs;
  assertEquals(await needs(), "keysQuery");
  await asked.answer(await asked.one("keysQuery"), { device_keys: { [ME]: {} } });
  assertEquals(await needs(), "keysUpload");
  await asked.answer(await asked.one("keysUpload"), COUNTS);
  assertEquals(await needs(), "room");
  await asked.restart();
  assertEquals(await needs(), "keysQuery");
  await asked.answer(await asked.one("keysQuery"), asked.shown());
  assertEquals(await needs(), "room");
});

for (
  const [status, users] of [[0, 2], [399, 2], [400, 1], [404, 1], [499, 1], [429, 2], [500, 2], [
    502,
    2,
  ]] as const
) {
  Deno.test(`after a query of two users that failed with ${status}, ${users} are asked of at once`, async () => {
    const asked = await (await Asked.open()).publish();
    await asked.engine.areDevicesStale({ users: [BOB, "@carol:example.org"] });
    const query = await asked.one("keysQuery");
    assertEquals(query.users.length, 2);
    await asked.fail(query, status);
    await asked.clock.tick(HOUR);
    const [first] = await asked.engine.requests();
    assertEquals(first?.kind === "keysQuery" && first.users.length, users);
  });
}

for (const shows of ["nothing", "the device"]) {
  Deno.test(`a query from before the upload was taken, which shows ${shows}, says nothing of what was lost`, async () => {
    const asked = await Asked.open();
    await asked.answer(await asked.one("keysQuery"), { device_keys: { [ME]: {} } });
    const upload = await asked.one("keysUpload");
    await asked.sync({ changed: [ME] });
    const query = await asked.one("keysQuery");
    await asked.answer(upload, COUNTS);
    await asked.answer(query, shows === "nothing" ? { device_keys: { [ME]: {} } } : asked.shown());
    if (shows === "nothing") await asked.answer(await asked.one("keysQuery"), asked.shown());
    assertEquals([await asked.kinds(), asked.warnings], [[], []]);
  });
}

Deno.test("unsigned own devices are reported once, when the own identity appears, where that matters", async () => {
  const me = new FakeUser(ME).crossSign();
  for (const sendTo of ["all", "cross-signed"] as const) {
    const asked = await (await Asked.open({ sendTo })).publish();
    const another = new FakeUser(ME, "OTHER");
    const { device_keys } = asked.shown();
    await asked.sync({ changed: [ME] });
    const devices = {
      [ME]: { ...(device_keys as JsonObject)[ME] as JsonObject, ...queryResponse(another).device_keys[ME] },
    };
    await asked.answer(await asked.one("keysQuery"), { device_keys: devices });
    assertEquals(asked.warnings.length, 0, "there is no identity");
    await asked.sync({ changed: [ME] });
    await asked.answer(await asked.one("keysQuery"), { ...queryResponse(me), device_keys });
    await asked.engine.areDevicesStale({ users: [BOB] });
    await asked.answer(await asked.one("keysQuery"), { device_keys: { [BOB]: {} } });
    assertEquals(asked.warnings.length, sendTo === "all" ? 0 : 1);
  }
});
