/**
 * What speed is compared with.
 *
 * @module
 */

/** A commit that nothing may be slower than. It moves only by a commit that says why. */
export const BASELINE = "b9f1b89736572291cb34fbff7b18dd49a263c5cc";
