/**
 * What speed is compared with.
 *
 * @module
 */

/** A commit that nothing may be slower than. It moves only by a commit that says why. */
export const BASELINE = "e90d0490f20a6352c2be2071da9435444e27c925";
