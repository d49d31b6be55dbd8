import { assert, assertRejects } from "@std/assert";
import { StoreError, StoreFormatError, StoreFullError, StoreReadOnlyError } from "@greenroom/matrix/errors";
import type { Store, StoreCheck, StoreEntry, StoreKey, StoreMutation } from "@greenroom/matrix";
import { MemoryStore } from "../../src/store/base/mod.ts";
import { storeConformance } from "../../src/testing/conformance/conformance.ts";
import type { StoreConformanceOptions } from "@greenroom/matrix/testing";

/** The case of the suite whose name begins so. */
function caseOf(
  begins: string,
  open: () => Store,
  options: StoreConformanceOptions = {},
): () => Promise<void> {
  const found: (() => Promise<void>)[] = [];
  storeConformance("It", open, {
    ...options,
    define: (name, run) => {
      if (name.startsWith(`It ${begins}`)) found.push(run);
    },
  });
  const [run] = found;
  assert(run !== undefined && found.length === 1, `${found.length} cases begin with "${begins}"`);
  return run;
}

class Unchecked extends MemoryStore {
  override commit(mutations: readonly StoreMutation[]): Promise<boolean> {
    return super.commit(mutations);
  }
}

class Torn extends MemoryStore {
  override async commit(
    mutations: readonly StoreMutation[],
    checks?: readonly StoreCheck[],
  ): Promise<boolean> {
    await super.commit(mutations.slice(0, mutations.length / 2), checks);
    await Promise.resolve();
    return await super.commit(mutations.slice(mutations.length / 2), checks);
  }
}

class Endless extends MemoryStore {
  override list(prefix: StoreKey): AsyncGenerator<StoreEntry> {
    return super.list(prefix);
  }
}

class Textual extends MemoryStore {
  override async *list(prefix: StoreKey): AsyncGenerator<StoreEntry> {
    for await (const entry of super.list([])) {
      if (entry.key.join("").startsWith(prefix.join("")) && entry.key.length > prefix.length) yield entry;
    }
  }
}

/** What one of these stores does wrong, and the case that must see it. */
const faults: [string, string, () => Store][] = [
  ["ignores checks", "applies nothing when one of the checks does not hold", () => new Unchecked()],
  [
    "ignores checks",
    "applies one of several concurrent commits with the same check",
    () => new Unchecked(),
  ],
  ["ignores checks", "checks the key of an account", () => new Unchecked()],
  ["commits in two halves", "shows all or nothing of a large commit", () => new Torn()],
  [
    "lists from the first key on wherever it is to begin",
    "lists the keys after a key",
    () => new Endless(),
  ],
  ["takes accounts for each other", "shows each account the keys below its prefix", () => new Textual()],
];

for (const [wrong, name, open] of faults) {
  Deno.test(`storeConformance() finds a store that ${wrong}: ${name}`, async () => {
    await assertRejects(caseOf(name, open));
    await caseOf(name, () => new MemoryStore())();
  });
}

const once = (store: Store) => () => store;

Deno.test("storeConformance() finds stores on one place that do not see each other", async () => {
  const cases = [
    "applies one commit of each round of several stores",
    "shows the commits of one store to another",
  ];
  for (const name of cases) {
    await assertRejects(caseOf(name, () => new MemoryStore(), { shared: true }));
    await caseOf(name, once(new MemoryStore()), { shared: true })();
  }
});

/** A place in memory, and what is wrong with it. */
class Place extends MemoryStore {
  problem?: Error;
  /** How much of a commit that is refused is there all the same. */
  kept = 0;

  override async commit(
    mutations: readonly StoreMutation[],
    checks?: readonly StoreCheck[],
  ): Promise<boolean> {
    if (this.problem === undefined || mutations.length === 0) return await super.commit(mutations, checks);
    await super.commit(mutations.slice(0, this.kept));
    throw this.problem;
  }

  opened(): this {
    if (this.problem instanceof StoreFormatError) throw this.problem;
    return this;
  }
}

/** A place that fails in a given way, and the cases of the suite for it. */
function spoiled(problem: Error | undefined, kept = 0): StoreConformanceOptions & { readonly place: Place } {
  const place = new Place();
  const spoil = (error: typeof StoreError) => () => {
    if (problem !== undefined) place.problem = problem;
    place.kept = kept;
    return { error, mend: () => void delete place.problem };
  };
  return {
    place,
    spoil: {
      full: spoil(StoreFullError),
      readOnly: spoil(StoreReadOnlyError),
      newer: spoil(StoreFormatError),
    },
    contentOf: () => Array.fromAsync(place.list([])),
  };
}

const problems: [string, Error, Error][] = [
  ["says that there is no room", new StoreFullError("full"), new StoreReadOnlyError("read-only")],
  ["refuses a place that can't be written", new StoreReadOnlyError("read-only"), new StoreFullError("full")],
  ["says that what is there is of a newer version", new StoreFormatError("newer"), new StoreError("other")],
];

for (const [name, right, wrong] of problems) {
  const run = async (problem: Error | undefined, kept?: number): Promise<void> => {
    const { place, ...options } = spoiled(problem, kept);
    await caseOf(name, () => place.opened(), options)();
  };

  Deno.test(`storeConformance() finds a store that does not do this as it must: ${name}`, async () => {
    await run(right);
    await assertRejects(() => run(wrong));
    await assertRejects(() => run(undefined));
    if (!(right instanceof StoreFormatError)) await assertRejects(() => run(right, 1));
  });
}

Deno.test("storeConformance() leaves out what a store does not promise, and faults that can not be made", () => {
  const names: string[] = [];
  storeConformance("It", () => new MemoryStore(), { define: (name) => void names.push(name) });
  assert(!names.some((name) => /opened again|same place|says that/.test(name)));
});
