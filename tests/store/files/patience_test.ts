import { assertEquals, assertRejects } from "@std/assert";
import type { Clock } from "@greenroom/matrix";
import { FilePatience } from "../../../src/store/files/files.ts";

/** Tries work that fails while a file is locked; its clock goes on, or is set, with each wait. */
function tried(
  patience: number,
  { fails = Infinity, clockAfter = (now: number, ms: number) => now + ms } = {},
) {
  let now = 1_000_000;
  const waits: number[] = [];
  const clock = {
    now: () => now,
    delay(ms: number): Promise<void> {
      waits.push(ms);
      now = clockAfter(now, ms);
      return Promise.resolve();
    },
  } as unknown as Clock;
  const files = new FilePatience({ patience, clock });
  let tries = 0;
  const work = () => {
    if (tries++ < fails) throw new TypeError("locked");
    return "done";
  };
  return { files, waits, result: () => files.keepTrying(work, (error) => error instanceof TypeError) };
}

Deno.test("A locked file is tried again at growing distances, until it is free", async () => {
  const { result, waits } = tried(30_000, { fails: 7 });
  assertEquals([await result(), waits], ["done", [10, 20, 40, 80, 160, 250, 250]]);
});

Deno.test("Work is given up when another wait would be longer than the patience", async () => {
  for (const [patience, expected] of [[30, [10, 20]], [29, [10]]] as [number, number[]][]) {
    const { result, waits } = tried(patience);
    await assertRejects(result, TypeError, "locked");
    assertEquals(waits, expected);
  }
});

Deno.test("A clock that is set back lets the patience begin again", async () => {
  let isSet = false;
  const { result, waits } = tried(30, {
    clockAfter(now, ms) {
      if (isSet) return now + ms;
      isSet = true;
      return now - 500_000;
    },
  });
  await assertRejects(result, TypeError, "locked");
  assertEquals(waits, [10, 20]);
});

Deno.test("Where waits have ended, work that fails is not tried again", async () => {
  const { files, result, waits } = tried(30_000);
  files.end();
  await assertRejects(result, TypeError, "locked");
  assertEquals(waits, []);
});

Deno.test("What fails for another reason is not tried again", async () => {
  const { files, waits } = tried(30_000);
  const broken = () => Promise.reject(new RangeError("broken"));
  await assertRejects(() => files.keepTrying(broken, (error) => error instanceof TypeError), RangeError);
  assertEquals(waits, []);
});
