/**
 * Which of many similar cases a test tries: all of them take minutes.
 *
 * @module
 */

/** Set by the deep half of the gate, which tries all. */
export const EVERY_CASE = "GREENROOM_EVERY_CASE";

/** Whether all are to be tried. */
export const inDeepHalf: boolean = Deno.env.get(EVERY_CASE) === "true";

/**
 * The cases to try: all in the deep half of the gate, else the first of each kind and each tenth.
 *
 * @param kindOf What is alike in cases of one kind.
 * @param options.all Whether all are to be tried.
 */
export function casesToTry<T>(
  cases: readonly T[],
  kindOf: (each: T) => unknown,
  { all = inDeepHalf }: { readonly all?: boolean } = {},
): T[] {
  if (all) return [...cases];
  const kinds = new Set<unknown>();
  return cases.filter((each, at) => {
    const isNew = !kinds.has(kindOf(each));
    kinds.add(kindOf(each));
    return isNew || at % 10 === 9;
  });
}
