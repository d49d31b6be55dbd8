/**
 * An object whose members are made in groups, each when one of them is read first: a client uses few of its
 * operations. A file of its own because it knows nothing of Matrix.
 *
 * @module
 */

/** Members that are made together. */
export interface Group<Whole, Parts> {
  /** Their names, with spaces in between: known before they are made. */
  readonly names: string;
  /** Makes them, of parts and of the object itself. */
  readonly make: (parts: Parts, whole: Whole) => Partial<Whole>;
}

/** What an object has of its groups. */
interface Made {
  readonly parts: unknown;
  readonly whole: object;
  /** Those that were made, by their place. */
  readonly made: (Readonly<Record<string, unknown>> | undefined)[];
}

/** Where it has that. */
const MADE = Symbol("groups");

/**
 * Makes objects of the same groups. Their members are getters of one prototype; `Object.create()` makes an
 * object over one that has some of its own; a spread has none of them.
 */
export class LazyGroups<Whole extends object, Parts> {
  readonly #prototype: object = {};

  /** @param groups The groups; of a name that several have, the last one counts. */
  constructor(groups: readonly Group<Whole, Parts>[]) {
    for (const [index, { names, make }] of groups.entries()) {
      for (const name of names.split(" ")) {
        Object.defineProperty(this.#prototype, name, {
          configurable: true, // of a group that comes later
          enumerable: true,
          get(this: { readonly [MADE]: Made }) {
            const { parts, whole, made } = this[MADE];
            const members = made[index] ??= make(parts as Parts, whole as Whole) as Record<string, unknown>;
            return members[name];
          },
        });
      }
    }
  }

  /** The names of all members. */
  get names(): string[] {
    return Object.keys(this.#prototype);
  }

  /** Makes an object. */
  of(parts: Parts): Whole {
    const whole = Object.create(this.#prototype);
    return Object.defineProperty(whole, MADE, { value: { parts, whole, made: [] } });
  }
}
