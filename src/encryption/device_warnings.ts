/**
 * What a start says of the own device, while it can still be mended easily.
 *
 * @module
 */

import type { OwnHealth } from "../crypto/engine/engine.ts";
import type { Logger } from "../base/log.ts";

/** Each warning is logged once. */
export class DeviceWarnings {
  readonly #log: Logger;
  readonly #said = new Set<string>();

  /** @param log Gets them. */
  constructor(log: Logger) {
    this.#log = log;
  }

  /** Says that others may not trust this device, and how to mend it. */
  unsigned({ isSigned, device, state }: Pick<OwnHealth, "isSigned" | "device" | "state">): void {
    if (isSigned) return;
    const mend = state.shown === undefined
      ? "start a bot with MATRIX_RECOVERY_KEY_FILE=./recovery.key, which makes a recovery key and keeps it in that " +
        "file, or give encryption.onRecoveryKey"
      : "the account has a recovery key, which its user has: give it as MATRIX_RECOVERY_KEY or " +
        "encryption.recoveryKey, or verify this device with another client of the user";
    this.#say(
      "Nobody has signed this device, so that clients like Element neither show its encrypted messages nor give " +
        `it keys, and it can't read what their users say: ${mend}`,
      { userId: device.user_id, deviceId: device.device_id },
    );
  }

  /** Says that the next process with the same access token has other keys, which is refused. */
  volatile(): void {
    this.#say(
      "The keys of this device are lost when the process ends, and its access token is not: the next start with " +
        "that token ends in a DeviceConflictError; give a store that lasts (a bot: MATRIX_STORE), or log in anew " +
        "each time (a bot: MATRIX_USER and MATRIX_PASSWORD in place of MATRIX_TOKEN)",
    );
  }

  #say(message: string, data?: Record<string, unknown>): void {
    if (this.#said.has(message)) return;
    this.#said.add(message);
    this.#log.warn(message, data);
  }
}
