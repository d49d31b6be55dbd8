/** What a test observes of a database, and may do to it. */
export interface KvWatch {
  /** Before a commit is made; what it throws is what the commit rejects with. */
  beforeCommit?(): void | Promise<void>;
  /** When something is to be put with a commit. */
  onSet?(key: Deno.KvKey): void;
  /** After a commit was made; what it throws is what the commit rejects with. */
  afterCommit?(): void | Promise<void>;
  /** Before anything is read; what it throws is what the reading rejects with. */
  beforeRead?(): void;
  /** Before several keys are read at once. */
  beforeMany?(keys: Deno.KvKey[]): Promise<void>;
  /** Before each step of a list is taken. */
  beforeStep?(): Promise<void>;
  /**
   * When it is closed. By default, the database itself is left open, as a crash leaves the file.
   */
  close?(): void;
}

/** A database that is watched. */
export function watchedKv(kv: Deno.Kv, watch: KvWatch): Deno.Kv {
  const committed = async <Result>(commit: () => Promise<Result>): Promise<Result> => {
    await watch.beforeCommit?.();
    const result = await commit();
    await watch.afterCommit?.();
    return result;
  };
  return replaced(kv, {
    atomic: () => {
      const operation = kv.atomic();
      const atomic = replaced(operation, {
        commit: () => committed(() => operation.commit()),
        set: (key: Deno.KvKey, value: unknown) => {
          watch.onSet?.(key);
          operation.set(key, value);
          return atomic;
        },
      });
      return atomic;
    },
    delete: (key: Deno.KvKey) => committed(() => kv.delete(key)),
    get: (key: Deno.KvKey) => {
      watch.beforeRead?.();
      return kv.get(key);
    },
    getMany: async (keys: Deno.KvKey[]) => {
      watch.beforeRead?.();
      await watch.beforeMany?.(keys);
      return await kv.getMany(keys);
    },
    list: (selector: Deno.KvListSelector, options?: Deno.KvListOptions) => {
      watch.beforeRead?.();
      const entries = kv.list(selector, options);
      const next = async () => {
        await watch.beforeStep?.();
        return await entries.next();
      };
      return replaced(entries, { next });
    },
    close: () => watch.close?.(),
  });
}

/**
 * The object with some of its methods replaced; those that give the object back still give the
 * replacement.
 */
function replaced<Target extends object>(target: Target, methods: Record<string, unknown>): Target {
  const proxy: Target = new Proxy(target, {
    get(_, name) {
      if (typeof name === "string" && name in methods) return methods[name];
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const result = value.apply(target, args);
        return result === target ? proxy : result;
      };
    },
  });
  return proxy;
}

/** What all of it rejects with after a crash. */
export class Crash extends Error {}

/** Dies with a commit: before it is made, or after. */
export class CrashingWatch implements KvWatch {
  /** How many commits were begun. */
  commits = 0;
  #dead = false;
  readonly #at: number;
  readonly #when: "before" | "after";

  /**
   * @param at With which commit: 1 is the first; none if there are not that many.
   * @param when Whether that commit is made.
   */
  constructor(at: number, when: "before" | "after") {
    this.#at = at;
    this.#when = when;
  }

  /** Whether it has died. */
  get dead(): boolean {
    return this.#dead;
  }

  beforeCommit(): void {
    this.commits++;
    if (this.commits === this.#at && this.#when === "before") this.#dead = true;
    this.beforeRead();
  }

  afterCommit(): void {
    if (this.commits >= this.#at) this.#dead = true; // others may have begun in the meantime
    this.beforeRead();
  }

  beforeRead(): void {
    if (this.#dead) throw new Crash("the process is dead");
  }
}

/** How many records there are of each kind that commits write. */
export async function recordCounts(kv: Deno.Kv): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for await (const { key } of kv.list({ prefix: [] })) {
    const kind = String(key[1]);
    if (kind === "format") continue; // written when the database is opened for the first time
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}
