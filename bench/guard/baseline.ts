/**
 * What speed is compared with.
 *
 * @module
 */

/** A commit that nothing may be slower than. It moves only by a commit that says why. */
export const BASELINE = "789e1cf40f8d11193eb8dd286ab09ae64df1681d";
