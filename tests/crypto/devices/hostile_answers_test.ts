import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { JsonObject } from "@greenroom/matrix/types";
import { isJsonObject } from "../../../src/types/json.ts";
import { DeviceStage } from "../support/device_stage.ts";
import { FakeUser, queryResponse } from "../support/fake_user.ts";

const ALICE = "@alice:a.example";

/** A copy of an answer with something else at one place, or nothing. */
function spoilt(value: unknown, path: readonly number[], other: unknown): unknown {
  const names = isJsonObject(value) ? Object.keys(value) : [];
  const name = names[(path[0] ?? 0) % Math.max(1, names.length)];
  if (!isJsonObject(value) || name === undefined || path.length === 0) return other;
  const copy: JsonObject = { ...value, [name]: spoilt(value[name], path.slice(1), other) };
  if (copy[name] === undefined) delete copy[name];
  return copy;
}

Deno.test("any answer is accepted or ignored, and no known key changes", async () => {
  const stage = new DeviceStage();
  const me = new FakeUser("@me:example.org", "OTHER").crossSign();
  const alice = new FakeUser(ALICE, "PHONE", "LAPTOP").crossSign();
  alice.verifiedBy = me;
  await stage.learn(me);
  await stage.prove(me.userId);
  await stage.learn(alice);
  const pinned = alice.master?.publicKey;
  const keys = new Map(alice.devices.map(({ deviceId, curve25519, signing }) => [
    deviceId,
    [curve25519, signing.publicKey],
  ]));
  const responses = [
    queryResponse(alice),
    queryResponse(new FakeUser(ALICE, "PHONE", "LAPTOP").crossSign()), // all keys are others
  ];
  const other = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>(undefined, "A".repeat(43), "A".repeat(44), ["master"], ["self_signing"]),
    fc.constant(responses[1]?.device_keys[ALICE]?.PHONE),
    fc.constant(responses[0]?.self_signing_keys[ALICE]),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...responses),
      fc.array(fc.nat(20), { maxLength: 7 }),
      other,
      async (...args) => {
        const response = spoilt(...args);
        await stage.mark(ALICE);
        await stage.clock.tick(3_600_000);
        await stage.ask(isJsonObject(response) ? response : {});
        const devices = await stage.run((tx) => stage.lists.devicesOf(tx, [ALICE]));
        for (const { deviceId, curve25519, ed25519 } of devices.get(ALICE) ?? []) {
          const known = keys.get(deviceId);
          if (known !== undefined) assertEquals([curve25519, ed25519], known);
        }
        const identity = await stage.run((tx) => stage.lists.identityOf(tx, ALICE));
        assertEquals([identity?.wasVerified, identity?.pinned], [true, pinned]);
      },
    ),
    { numRuns: 300, seed: 3 },
  );
});
