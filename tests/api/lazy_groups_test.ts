import { assertEquals } from "@std/assert";
import { type Groups, lazily, namesOf } from "../../src/api/lazy_groups.ts";

interface Whole {
  one(): string;
  other(): string;
  both(): string;
}

/** Objects of two groups, and which groups were made, by the parts of the object. */
function stage() {
  const made: string[] = [];
  const groups: Groups<Whole, string> = [
    (parts) => (made.push(`first of ${parts}`), { one: () => "one", both: () => "first" }),
    (parts, whole) => (made.push(`second of ${parts}`), { other: () => whole.one(), both: () => "second" }),
  ];
  const kind = {};
  return { made, make: (parts: string) => lazily(groups, parts, kind) };
}

Deno.test("A group is made when one of its members is read, and once", () => {
  const { made, make } = stage();
  make("earlier"); // which shows the names
  made.length = 0;
  const whole = make("a");
  assertEquals(made, []);
  assertEquals([whole.one(), whole.one === whole.one, made], ["one", true, ["first of a"]]);
  assertEquals(make("b").other(), "one");
  assertEquals(made, ["first of a", "second of b", "first of b"]);
});

Deno.test("Of a name that several groups have, the last one counts", () => {
  const { make } = stage();
  assertEquals(make("a").both(), "second");
});

Deno.test("An object over another has its members, but those of its own", () => {
  const { make } = stage();
  const whole = make("a");
  const over: Whole = Object.create(whole, { one: { value: () => "own" } });
  assertEquals([over.one(), over.both(), whole.one()], ["own", "second", "one"]);
});

Deno.test("The names of all members are known before they are made", () => {
  const { make } = stage();
  assertEquals(namesOf(make("a")).sort(), ["both", "one", "other"]);
});

Deno.test("All objects of a kind have one prototype, and those of another kind another", () => {
  const [{ make }, other] = [stage(), stage()];
  const [first, second, third] = [make("a"), make("b"), other.make("a")].map(Object.getPrototypeOf);
  assertEquals([first === second, first === third], [true, false]);
});
