import { assertEquals, assertStrictEquals } from "@std/assert";
import { LazyGroups } from "../../src/api/lazy_groups.ts";

interface Whole {
  one(): string;
  other(): string;
  both(): string;
}

/** Objects of two groups, and which groups were made, by the parts of the object. */
function stage() {
  const made: string[] = [];
  const groups = new LazyGroups<Whole, string>([
    {
      names: "one both",
      make: (parts) => (made.push(`first of ${parts}`), { one: () => "one", both: () => "first" }),
    },
    {
      names: "other both",
      make: (parts, whole) => (
        made.push(`second of ${parts}`), { other: () => whole.one(), both: () => "second" }
      ),
    },
  ]);
  return { made, groups };
}

Deno.test("A group is made when one of its members is read, and once", () => {
  const { made, groups } = stage();
  const whole = groups.of("a");
  assertEquals([made, groups.names.sort()], [[], ["both", "one", "other"]]);
  assertEquals([whole.one(), whole.one === whole.one, made], ["one", true, ["first of a"]]);
  assertEquals(groups.of("b").other(), "one");
  assertEquals(made, ["first of a", "second of b", "first of b"]);
});

Deno.test("Of a name that several groups have, the last one counts", () => {
  assertEquals(stage().groups.of("a").both(), "second");
});

Deno.test("An object over another has its members, but those of its own", () => {
  const whole = stage().groups.of("a");
  const over: Whole = Object.create(whole, { one: { value: () => "own" } });
  assertEquals([over.one(), over.both(), whole.one()], ["own", "second", "one"]);
});

Deno.test("All objects of the same groups have one prototype", () => {
  const { groups } = stage();
  assertStrictEquals(Object.getPrototypeOf(groups.of("a")), Object.getPrototypeOf(groups.of("b")));
});
