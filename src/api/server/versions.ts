/**
 * Versions of the Matrix specification, compared.
 *
 * @module
 */

/**
 * Whether any of a server's versions is `wanted` or later. Each `v1` version includes those before
 * it; the `r0` ones of old come before all.
 */
export function atLeast(versions: readonly unknown[], wanted: string): boolean {
  const floor = ordinal(wanted);
  return versions.some((version) => ordinal(version) >= floor);
}

/**
 * Whether a value is a version of the specification: `v1.16`, or `r0.6.1` as the early ones were
 * called.
 */
export function isVersion(version: unknown): version is string {
  return ordinal(version) >= 0 || (typeof version === "string" && /^r0\.\d{1,3}\.\d{1,3}$/.test(version));
}

function ordinal(version: unknown): number {
  const parts = typeof version === "string" ? /^v(\d{1,3})\.(\d{1,4})$/.exec(version) : null;
  return parts === null ? -1 : Number(parts[1]) * 10_000 + Number(parts[2]);
}
