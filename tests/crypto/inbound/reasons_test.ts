import { assert, assertStringIncludes } from "@std/assert";
import { undecryptable, withheldFrom } from "../../../src/crypto/undecryptable.ts";
import type { MessageEvent } from "../../../src/types/event.ts";

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
