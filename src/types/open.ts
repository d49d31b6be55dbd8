/**
 * Lists of values that the specification leaves open.
 *
 * @module
 */

/** One of the known values, which editors offer, or any other string. */
export type Open<Known extends string> = Known | (string & Record<never, never>);
