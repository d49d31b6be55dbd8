/**
 * Encryption among devices that no user has signed: most tests are about something else.
 *
 * @module
 */

/** Sends to all devices, and accepts all. */
export const EVERYBODY = { sendTo: "all", accept: "all" } as const;
