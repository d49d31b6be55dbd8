/**
 * How deep JSON may be nested that comes from outside.
 *
 * @module
 */

/**
 * Far more than anybody needs, and far less than what would overflow the stack of those who copy, keep or compare it: that begins
 * at some 3,000.
 */
const MAX_DEPTH = 100;

/** Whether no more than 100 objects and arrays of a value of JSON lie in each other. */
export function isShallow(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isShallow(item, levels - 1));
  for (const name in value) {
    if (!isShallow((value as Record<string, unknown>)[name], levels - 1)) return false;
  }
  return true;
}
