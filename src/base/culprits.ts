/**
 * Which of several things make work on all of them fail.
 *
 * @module
 */

/**
 * Finds those that fail by themselves, by halves.
 *
 * @param count How many there are.
 * @param most How many may be found.
 * @param works Whether it succeeds with those from `start` to before `end` alone.
 * @returns Their places, in order; undefined if there are more of them.
 */
export async function culprits(
  count: number,
  most: number,
  works: (start: number, end: number) => Promise<boolean>,
): Promise<number[] | undefined> {
  const found: number[] = [];
  const search = async (start: number, end: number): Promise<void> => {
    if (found.length > most || await works(start, end)) return;
    if (end - start === 1) return void found.push(start);
    const middle = (start + end) >> 1;
    await search(start, middle);
    await search(middle, end);
  };
  if (count > 0) await search(0, count);
  return found.length > most ? undefined : found;
}
