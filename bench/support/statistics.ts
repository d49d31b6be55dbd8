/**
 * What several measurements come to.
 *
 * @module
 */

/** The middle one of several numbers; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const [low = NaN, high = NaN] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return (low + high) / 2;
}

/**
 * The median of two rows' ratios, taken one by one: what was measured in the same round is
 * compared.
 */
export function medianRatio(ones: readonly number[], others: readonly number[]): number {
  return median(ones.map((one, index) => one / (others[index] ?? NaN)));
}
