import { assert, assertEquals } from "@std/assert";
import ts from "typescript";
import { plant } from "../../bench/mutation/guards.ts";
import * as __m from "../../bench/mutation/switch.ts";

/** What a source can be changed to, as `code -> change`. */
function changes(source: string): string[] {
  return plant("src/crypto/x.ts", source, 1).mutants.map(({ code, change }) => `${code} -> ${change}`);
}

/** A function as it is with each of its mutants; the first is without any. */
function variants<T extends (...args: never[]) => unknown>(source: string): T[] {
  const { text, mutants } = plant("src/crypto/x.ts", source, 1);
  const code = ts.transpileModule(text, { compilerOptions: { target: ts.ScriptTarget.ESNext } }).outputText;
  const made: T = new Function("__m", `${code}; return f;`)(__m);
  return [0, ...mutants.map(({ id }) => id)].map((id) =>
    ((...args) => {
      __m.switchOn(id);
      try {
        return made(...args);
      } finally {
        __m.switchOn(0);
      }
    }) as T
  );
}

Deno.test("plant() breaks a condition in each way that no other way implies", () => {
  assertEquals(changes("if (a && (b || !c)) x();"), [
    "a && (b || !c) -> false",
    "a -> true",
    "b || !c -> true",
    "b -> false",
    "c -> true",
  ]);
});

Deno.test("plant() moves the limits of comparisons, and takes bounds away", () => {
  assertEquals(changes("const x = a < 5;"), ["a < 5 -> true", "a < 5 -> false", "a < 5 -> <="]);
  assertEquals(changes("Math.min(a, 5); list.slice(0, 5);"), [
    "Math.min(a, 5) -> its first argument",
    "Math.min(a, 5) -> its second argument",
    "list.slice(0, 5) -> all of it",
  ]);
});

Deno.test("plant() takes out checks, refusals among others, predicates and what is listed", () => {
  assertEquals(changes("checkKey(key); await this.#requireRoom(room); use(key);"), [
    "checkKey(key); -> removed",
    "await this.#requireRoom(room); -> removed",
  ]);
  assertEquals(
    changes("for (;;) { if (a) { log(); continue; } if (b) continue; }").at(-3),
    "continue; -> removed",
  );
  assertEquals(changes("list.filter((x) => ok(x));"), ["ok(x) -> true", "ok(x) -> false"]);
  assertEquals(changes("function f(x): x is Y { return ok(x); }"), ["ok(x) -> true", "ok(x) -> false"]);
  assertEquals(changes(`new Set(["a", "b"]);`), [`"a" -> not listed`, `"b" -> not listed`]);
});

Deno.test("plant() leaves alone a refusal after which nothing would come", () => {
  assertEquals(changes("function f() { try { g(); } catch { log(); return undefined; } }"), []);
  assertEquals(changes("for (;;) { try { g(); } catch { log(); continue; } }"), []);
  assertEquals(changes("function f() { try { g(); } catch { log(); return undefined; } h(); }"), [
    "return undefined; -> removed",
  ]);
});

Deno.test("plant() never makes a loop endless by itself", () => {
  assertEquals(changes("while (more()) next();"), ["more() -> false"]);
});

Deno.test("what plant() makes does what the source did, until a mutant is on", () => {
  const source = `function f(a, b) {
    if (a < 3 && !(b === 1 || [2, 3].includes(b))) { b++; return undefined; }
    return Math.min(a, b) > 1 ? "many" : "few";
  }`;
  const [planted, ...mutants] = variants<(a: number, b: number) => unknown>(source);
  const original = new Function(`${source}; return f;`)();
  const inputs = [0, 1, 2, 3, 4].flatMap((a) => [0, 1, 2, 3, 4].map((b) => [a, b] as const));
  for (const [a, b] of inputs) assertEquals(planted?.(a, b), original(a, b));
  for (const mutant of mutants) assert(inputs.some(([a, b]) => mutant(a, b) !== original(a, b)));
});

Deno.test("a mutant's key says where it is by names, and differs from similar ones", () => {
  const source = "class A { f() { if (x) y(); if (x) z(); } }";
  const key = "src/crypto/x.ts A.f: x -> true";
  const keys = (text: string) => plant("src/crypto/x.ts", text, 1).mutants.map((mutant) => mutant.key);
  assertEquals(keys(source).filter((found) => found.startsWith(key)), [key, `${key} #2`]);
  assertEquals(keys(`// moved\n\n${source}`), keys(source));
});
