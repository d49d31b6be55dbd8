/**
 * A map whose entries remember at which stream position they were last changed.
 *
 * @module
 */

/** Values by key, each with the position of its last change. */
export class VersionedMap<Value> {
  readonly #entries = new Map<string, { value: Value; position: number }>();
  #latest = 0;

  /** The value under `key`. */
  get(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Stores a value that changed at `position`. */
  set(key: string, value: Value, position: number): void {
    this.#entries.set(key, { value, position });
    this.#latest = Math.max(this.#latest, position);
  }

  /** The position of the last change of `key`, 0 if there was none. */
  positionOf(key: string): number {
    return this.#entries.get(key)?.position ?? 0;
  }

  /** The entries that changed after `position`, in the order of their change. */
  since(position: number): [key: string, value: Value, position: number][] {
    if (this.#latest <= position) return [];
    const changed: [string, Value, number][] = [];
    for (const [key, entry] of this.#entries) {
      if (entry.position > position) changed.push([key, entry.value, entry.position]);
    }
    return changed.sort((a, b) => a[2] - b[2]);
  }
}
