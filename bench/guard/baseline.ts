/**
 * What speed is compared with.
 *
 * @module
 */

/** A commit that nothing may be slower than. It moves only by a commit that says why. */
export const BASELINE = "bf944edc0919b0800cdfc48e99effc4450e18388";
