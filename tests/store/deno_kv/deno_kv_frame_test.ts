import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { decodeWrites, encodeWrites } from "../../../src/store/deno_kv/deno_kv_frame.ts";
import { joinBytes } from "../../../src/store/deno_kv/deno_kv_write.ts";

const write = fc.record({
  key: fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.nat()), { minLength: 1, maxLength: 4 }),
  record: fc.option(fc.uint8Array({ maxLength: 40 }), { nil: undefined }),
});

Deno.test("decodeWrites() makes the writes again that encodeWrites() has put one behind the other", () => {
  fc.assert(
    fc.property(fc.array(fc.array(write, { maxLength: 20 }), { maxLength: 4 }), (frames) => {
      const bytes = joinBytes(frames.map(encodeWrites));
      assertEquals(decodeWrites(bytes), frames.flat());
    }),
  );
});
