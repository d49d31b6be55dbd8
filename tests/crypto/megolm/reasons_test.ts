import { VodozemacError, type VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Attribution } from "../../../src/crypto/megolm/session_owner.ts";
import {
  notDecrypted,
  undecryptable,
  untrusted,
  withheldFrom,
} from "../../../src/crypto/megolm/encrypted_event.ts";
import type { MessageEvent } from "@greenroom/matrix/types";

Deno.test("A reason holds no characters that move a terminal's cursor, and is not as long as a sender likes", () => {
  const evil = "\u001b[2J\r\n\u0007";
  const event = {
    event_id: `$${evil}`,
    sender: `@${evil}:a`,
    room_id: `!${evil}`,
    content: { session_id: "s".repeat(10_000) },
  } as unknown as MessageEvent;
  for (const { reason } of [undecryptable(event, "MISSING_KEY", "no key; wait"), withheldFrom(event, evil)]) {
    // deno-lint-ignore no-control-regex -- control characters are what must not be there
    assert(!/[\u0000-\u001f\u007f]/.test(reason), reason);
    assert(reason.length < 1_500);
    assertStringIncludes(reason, "Cannot decrypt event $");
  }
});

const EVENT = { event_id: "$event", sender: "@alice:example.org", content: {} } as unknown as MessageEvent;

Deno.test("a reason says what each code means with which a key is kept, and what to do", () => {
  const meanings = {
    "m.blacklisted": "has blocked this device; ask them to unblock it",
    "m.unverified": "only trusts verified devices; verify this device",
    "m.unauthorised": "was not in the room at that time; ask the sender",
    "m.unavailable": "the device that was asked does not have the key; ask the sender",
    "m.no_olm": "found no way to send the key securely; it tries again",
    "m.history_not_shared": "may not share earlier history; nothing can be done",
    "org.example.other": "keeps the key from this device; ask them why",
  };
  for (const [code, meaning] of Object.entries(meanings)) {
    const { reason, withheld } = withheldFrom(EVENT, code);
    assertEquals(withheld, code);
    assertStringIncludes(reason, meaning);
    assert(reason.endsWith(`(${code})`));
  }
});

Deno.test("a key that came by way of another and does not open a message is taken for a missing one, until it is proved", () => {
  const codeOf = (error: VodozemacErrorCode, signedFrom?: number) =>
    notDecrypted(EVENT, new VodozemacError(error, "megolm decrypt"), {
      firstIndex: 3,
      ...(signedFrom !== undefined && { signedFrom }),
    }).code;
  for (const error of ["bad_mac", "bad_padding"] as const) {
    assertEquals([codeOf(error), codeOf(error, 4), codeOf(error, 3)], [
      "MISSING_KEY",
      "MISSING_KEY",
      "MALFORMED",
    ]);
  }
  assertEquals([codeOf("bad_signature"), codeOf("bad_signature", 4)], ["MALFORMED", "MALFORMED"]);
});

Deno.test("a reason names the device that is not trusted enough; by its key if it is unknown", () => {
  const attribution: Attribution = {
    trust: "unknown-device",
    source: "direct",
    senderKey: "KEY",
    senderDevice: undefined,
  };
  assertStringIncludes(
    untrusted(EVENT, attribution).reason,
    "the device with the key KEY is not trusted enough",
  );
  const known = { ...attribution, trust: "unsigned-device", senderDevice: "DEVICE" } as const;
  assertStringIncludes(
    untrusted(EVENT, known).reason,
    "the device DEVICE is not trusted enough (unsigned-device)",
  );
  const mismatched = { ...attribution, trust: "mismatched-sender" } as const;
  assertStringIncludes(untrusted(EVENT, mismatched).reason, "came from another user than its sender");
});
