import { assertEquals } from "@std/assert";
import { lookAt, withShown } from "../../../src/actors/store/mod.ts";
import type { MessageEvent } from "@greenroom/matrix/types";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Events with IDs as room versions have them: hashes, or in old ones whatever a server makes up. */
const KINDS: Record<string, (index: number) => string> = {
  hashes: (index) => {
    let id = "$";
    for (let i = 0, state = index + 1; i < 43; i++) {
      state = state * 48_271 % 2_147_483_647;
      id += ALPHABET[state % 64];
    }
    return id;
  },
  "names of servers": (index) => `$${index}:example.org`,
  "names with spaces and semicolons": (index) => `$${index} a;${index};`,
};

for (const [kind, idOf] of Object.entries(KINDS)) {
  Deno.test(`Of many events and of few, those are found that were shown, and no others: ${kind}`, () => {
    const events = Array.from(
      { length: 300 },
      (_, index) => ({ event_id: idOf(index) }) as MessageEvent,
    );
    const shown = withShown("", lookAt("", events.slice(0, 20)).added);
    for (const count of [1, 3, 4, 20, 150]) {
      const some = events.slice(18, 18 + count);
      assertEquals([...lookAt(shown, some).again], some.slice(0, 2), `${count} events`);
      const others = events.slice(20, 20 + count);
      assertEquals([...lookAt(shown, others).again], [], `${count} other events`);
    }
  });
}

Deno.test("An event that comes twice in one response is found the second time", () => {
  const [one, other, again] = ["$1:example.org", "$2:example.org", "$1:example.org"].map((event_id) =>
    ({ event_id }) as MessageEvent
  );
  assertEquals([...lookAt("", [one, other, again] as MessageEvent[]).again], [again]);
  assertEquals([...lookAt("", [one] as MessageEvent[]).again], []);
});
