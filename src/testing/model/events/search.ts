/**
 * Binary search in lists that are sorted by stream position.
 *
 * @module
 */

/** The index of the first item that lies after `position`. */
export function firstAfter(items: readonly { readonly position: number }[], position: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.position ?? Infinity) > position) high = middle;
    else low = middle + 1;
  }
  return low;
}
