/**
 * A user has a thousand devices, each with the maximum of algorithms and the longest names, and is
 * in a room.
 *
 * What must hold: the record of a device is bounded in bytes, and so is a user's record, however
 * often it is written.
 *
 * The class of mistake: the number of things and the length of each were bounded, in characters,
 * but not their total.
 */

import { assert, assertEquals } from "@std/assert";
import { encodeValue } from "../../../../src/store/base/mod.ts";
import { DeviceStage } from "../../support/device_stage.ts";
import { FakeUser, queryResponse } from "../../support/fake_user.ts";

const MALLORY = "@mallory:example.org";
/** What a thousand devices may come to: a kibibyte each. */
const MAX_BYTES = 1_000 * 1_024;

for (const letter of ["x", "é", "\ue000", "🎉", "\u0001"]) {
  Deno.test(`T65: a thousand devices with long names make a record that fits: ${JSON.stringify(letter)}`, async () => {
    const stage = new DeviceStage();
    const mallory = new FakeUser(MALLORY, ...Array.from({ length: 1_000 }, (_, index) => `DEVICE${index}`));
    const response = queryResponse(mallory);
    const text = letter.repeat(255 / letter.length);
    for (const device of mallory.devices) {
      const algorithms = ["m.olm.v1.curve25519-aes-sha2", ...Array.from({ length: 31 }, () => text)];
      const unsigned = { device_display_name: text };
      response.device_keys[MALLORY] ??= {};
      response.device_keys[MALLORY][device.deviceId] = mallory.deviceKeys(device, { algorithms, unsigned });
    }
    await stage.mark(MALLORY);
    await stage.ask(response);
    const [entry] = await stage.vault.getMany([["crypto", "devices", MALLORY]]) as unknown[];
    assert(entry !== undefined);
    const bytes = encodeValue(entry).length;
    assert(bytes <= MAX_BYTES, `${bytes} bytes`);
    const devices = (await stage.run((tx) => stage.lists.devicesOf(tx, [MALLORY]))).get(MALLORY) ?? [];
    assertEquals(devices.length, 1_000);
    for (const { algorithms, displayName } of devices) {
      assertEquals(algorithms[0], "m.olm.v1.curve25519-aes-sha2");
      assert(displayName !== undefined && text.startsWith(displayName) && displayName.length > 50);
    }
  });
}
