/**
 * Work on several things at once, and not on all.
 *
 * @module
 */

/**
 * Works on several things, a few at a time. After a failure nothing more is begun.
 *
 * @param things What to work on.
 * @param limit How many are worked on at once.
 * @param work The work.
 * @throws The first failure, when all that was begun has ended.
 */
export async function sideBySide<Thing>(
  things: readonly Thing[],
  limit: number,
  work: (thing: Thing) => Promise<unknown>,
): Promise<void> {
  const queue = things.values(); // shared: each thing is taken once
  let failure: { readonly error: unknown } | undefined;
  const takeNext = async (): Promise<void> => {
    for (const thing of queue) {
      try {
        await work(thing);
      } catch (error) {
        failure ??= { error };
      }
      if (failure !== undefined) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, things.length) }, takeNext));
  if (failure !== undefined) throw failure.error;
}
