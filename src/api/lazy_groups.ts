/**
 * An object whose members are made in groups, each when one of them is read first: a client uses few of its
 * operations. A file of its own because it knows nothing of Matrix.
 *
 * @module
 */

/** Makes the members of each group, of parts and of the object itself. */
export type Groups<Whole, Parts> = readonly ((parts: Parts, whole: Whole) => Partial<Whole>)[];

/** What an object has of its groups. */
interface Made {
  readonly groups: Groups<never, never>;
  readonly parts: unknown;
  readonly whole: object;
  /** Those that were made, by their place. */
  readonly made: (Readonly<Record<string, unknown>> | undefined)[];
}

/** Where it has that. */
const MADE = Symbol("groups");

/** What all objects of a kind have in common. */
const prototypes = new WeakMap<object, object>();

/**
 * Makes an object of groups. Its members are getters of its prototype: {@link namesOf} has their names, and
 * `Object.create()` makes one over it that has some of its own; a spread has none of them.
 *
 * @param groups Make the members; of a name that several have, the last one counts.
 * @param parts What they are made of.
 * @param kind All objects of a kind have members of the same names, which the first one shows.
 */
export function lazily<Whole extends object, Parts>(
  groups: Groups<Whole, Parts>,
  parts: Parts,
  kind: object,
): Whole {
  const known = prototypes.get(kind) ??
    prototypeOf(groups.map((make) => Object.keys(make(parts, {} as Whole))));
  prototypes.set(kind, known);
  const whole = Object.create(known);
  return Object.defineProperty(whole, MADE, { value: { groups, parts, whole, made: [] } });
}

function prototypeOf(names: readonly (readonly string[])[]): object {
  const prototype = {};
  for (const [index, group] of names.entries()) {
    for (const name of group) {
      Object.defineProperty(prototype, name, {
        configurable: true, // of a group that comes later
        enumerable: true,
        get(this: { readonly [MADE]: Made }) {
          const { groups, parts, whole, made } = this[MADE];
          const members = made[index] ??= groups[index]?.(parts as never, whole as never);
          return members?.[name];
        },
      });
    }
  }
  return prototype;
}

/** The names of the members of such an object. */
export function namesOf(whole: object): string[] {
  return Object.keys(Object.getPrototypeOf(whole));
}
