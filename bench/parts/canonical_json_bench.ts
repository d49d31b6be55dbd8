/** Canonical JSON: what is signed and verified. */

import { canonicalJson } from "../../src/crypto/encoding/encoding.ts";
import { seeded } from "../kill/random.ts";
import { RoomInputs, withStrangers } from "../peers/inputs/room_inputs.ts";

const deviceKeys = {
  user_id: "@alice:example.org",
  device_id: "JLAFKJWSCS",
  algorithms: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
  keys: { "curve25519:JLAFKJWSCS": "a".repeat(43), "ed25519:JLAFKJWSCS": "b".repeat(43) },
  signatures: { "@alice:example.org": { "ed25519:JLAFKJWSCS": "c".repeat(86) } },
  unsigned: { device_display_name: "Alice's 📱" },
};
const random = seeded(1);
const events = new RoomInputs(random, withStrangers(random, 40)).state();

Deno.bench("canonical JSON: the keys of a device", () => {
  canonicalJson(deviceKeys);
});

Deno.bench("canonical JSON: the state of a room of 40 members", () => {
  canonicalJson(events);
});
