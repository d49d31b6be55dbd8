/**
 * Findings about the encryption of a client, from the facts.
 *
 * Over 300 lines because most of it is what they say.
 *
 * @module
 */

import type { CryptoFinding } from "../crypto_findings.ts";
import type { KeyBackupInfo } from "../backup/backup.ts";
import { wrongBy } from "../../api/http/mod.ts";
import { type CryptoDevice, isOwnDehydrated } from "../../crypto/devices/mod.ts";
import type { OwnIdentityState } from "../../crypto/engine/engine.ts";
import type { ComparedSeeds } from "../../crypto/identity/identity.ts";
import type { SecretStorageProblem } from "../../errors/encryption_error.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";

/** With fewer one-time keys others may soon find none. */
const FEW_KEYS = 10;

/** What is known of the own device. */
export interface DeviceFacts {
  /** Whether the server has shown other keys of it. */
  readonly conflict: boolean;
  readonly device: DeviceKeys;
  /** Whether the own identity has signed what the server shows. */
  readonly isSigned: boolean;
  /** What the server shows; undefined: nothing. */
  readonly shown: DeviceKeys | undefined;
}

/** Finds what is wrong with the published keys of the device. */
export function deviceFinding({ conflict, device, isSigned, shown }: DeviceFacts): CryptoFinding {
  const keys = JSON.stringify(Object.entries(device.keys).sort());
  if (conflict || (shown !== undefined && JSON.stringify(Object.entries(shown.keys).sort()) !== keys)) {
    return {
      code: "device-conflict",
      level: "error",
      message: "The server has other keys of this device than the store.",
      mend: "Run the device with the store that has its keys, or log in again as a new device; " +
        "an application service takes another deviceId.",
    };
  }
  if (shown === undefined) {
    return {
      code: "device-missing",
      level: "error",
      message: "The server does not show this device, so that nobody can send it keys.",
      mend: "Call start(), which publishes the keys; if the device was logged out, log in again.",
    };
  }
  if (isSigned) {
    const message = "The keys of this device are published, and signed by the own identity.";
    return { code: "device-signed", level: "ok", message };
  }
  return {
    code: "device-unsigned",
    level: "warning",
    message: "The keys of this device are published without a signature of the own identity: " +
      "clients that exclude unsigned devices neither show its messages nor give it keys.",
    mend:
      "Give the client encryption.recoveryKey or passphrase, call ensureVerified(), or verify this device " +
      "with another client of the user.",
  };
}

/** Finds what is wrong with the own identity. */
export function identityFinding({ shown }: Pick<OwnIdentityState, "shown">): CryptoFinding {
  if (shown === undefined) {
    return {
      code: "identity-absent",
      level: "warning",
      message:
        "The account has no identity, so that nobody can tell its devices from those that the server makes up.",
      mend: "Call ensureVerified() with recoveryKey, passphrase or onRecoveryKey, which makes one.",
    };
  }
  const facts = { master: shown.master };
  if (shown.hasChanged) {
    return {
      code: "identity-changed",
      level: "error",
      message: "The server shows another identity of the own user than the one that was accepted here.",
      mend:
        "If the user has reset it, call ensureVerified() with the new recovery key; if nobody has, or it was " +
        "replaced before, the server, or who controls it, may be attacking: ask the user's other clients, and " +
        "acknowledgeIdentity() if they show it.",
      facts,
    };
  }
  if (!shown.isVerified) {
    return {
      code: "identity-unproven",
      level: "warning",
      message: "The server shows an identity of the own user, and nothing here proves that it is the user's.",
      mend: "Call ensureVerified() with the recovery key or passphrase of the secret storage.",
      facts,
    };
  }
  return {
    code: "identity-verified",
    level: "ok",
    message: "The own identity is the one that was proven, and has not changed.",
    facts,
  };
}

/** Finds out whether the private keys are at hand; nothing if there is no identity. */
export function privateKeysFinding(
  { shown, keys }: Pick<OwnIdentityState, "shown" | "keys">,
): CryptoFinding[] {
  if (keys?.phase === "published" && keys.missing === undefined) {
    const message = "The private keys of the own identity are at hand, and are those that the server shows.";
    return [{ code: "private-keys-here", level: "ok", message }];
  }
  if (keys?.phase === "created") {
    return [{
      code: "private-keys-unpublished",
      level: "warning",
      message: "A new identity was made here, and is not published yet.",
      mend: "Call ensureVerified() with the same options as before, which completes it.",
    }];
  }
  if (shown === undefined) return [];
  return [{
    code: "private-keys-missing",
    level: "warning",
    message:
      "The private keys of the own identity are not at hand: this device can't sign itself, nor others.",
    mend: "Call ensureVerified() with the recovery key or passphrase of the secret storage.",
  }];
}

/**
 * Finds what is wrong with the dehydrated device.
 *
 * @param devices The own devices; undefined: this one has made none.
 */
export function dehydratedFinding(devices: readonly CryptoDevice[] | undefined): CryptoFinding[] {
  if (devices === undefined) return [];
  if (devices.some(isOwnDehydrated)) {
    const message = "The server has a dehydrated device, signed by the own identity.";
    return [{ code: "dehydrated-device-on", level: "ok", message }];
  }
  return [{
    code: "dehydrated-device-missing",
    level: "warning",
    message: "The server does not show the dehydrated device, or not as the own identity has signed it: " +
      "what is sent while no device is there can't be read later.",
    mend: "Call ensureVerified() with dehydratedDevice, or start with it: a new one is made then.",
  }];
}

/** The secret that was given opens the secret storage. */
export function openStorageFinding(): CryptoFinding {
  const message = "The secret storage opens with what was given.";
  return { code: "secret-storage-opens", level: "ok", message };
}

/**
 * Finds what is wrong with a secret storage that was not opened.
 *
 * @param problem Why it does not open; undefined: nothing is known to be wrong.
 */
export function storageFinding(problem: SecretStorageProblem | undefined): CryptoFinding {
  if (problem === "absent") {
    return {
      code: "secret-storage-absent",
      level: "warning",
      message: "The account has no secret storage: who loses the store loses the identity and the backup.",
      mend: "Call ensureVerified() with recoveryKey, passphrase or onRecoveryKey, or secretStorage.create().",
    };
  }
  if (problem === undefined) {
    const message = "There is a secret storage; whether it opens was not tried, since no secret was given.";
    return { code: "secret-storage-locked", level: "ok", message };
  }
  return {
    code: "secret-storage-unusable",
    level: "error",
    message: `The secret storage does not open: ${PROBLEMS[problem] ?? problem}.`,
    mend: problem === "mistyped" || problem === "wrong-key" || problem === "no-passphrase"
      ? "Give the recovery key or the passphrase that the user's other clients accept."
      : "Set it up again with a client that has the private keys, or call secretStorage.reset().",
    facts: { problem },
  };
}

const PROBLEMS: Partial<Record<SecretStorageProblem, string>> = {
  mistyped: "the recovery key has a typing error",
  "wrong-key": "what was given is not its key",
  "no-passphrase": "its key was not made from a passphrase",
  unverifiable: "nothing shows whether the key is the right one",
  damaged: "a secret in it is damaged",
  "other-keys": "a secret in it is there for other keys only",
  unusable: "its description is not what the specification says",
};

/** Finds what is wrong with the stored private keys; nothing if there is no identity. */
export function storedKeysFinding(compared: ComparedSeeds | undefined): CryptoFinding[] {
  if (compared === undefined) return [];
  const entries = Object.entries(compared);
  const named = (state: string) =>
    entries.filter(([, each]) => each === state).map(([name]) => name).join(", ");
  if (named("differs") !== "") {
    return [{
      code: "stored-keys-mismatch",
      level: "error",
      message: `The secret storage has private keys of another identity: ${named("differs")}.`,
      mend:
        "Find out with another client which identity is the user's; a client that has its private keys can store them.",
    }];
  }
  if (named("absent") !== "") {
    return [{
      code: "stored-keys-incomplete",
      level: "warning",
      message: `The secret storage does not have all private keys of the own identity: ${
        named("absent")
      } is missing.`,
      mend: "Set the secret storage up again with a client that has them.",
    }];
  }
  const message = "The private keys in the secret storage are those of the own identity.";
  return [{ code: "stored-keys-match", level: "ok", message }];
}

/** Finds what is wrong with the backup. */
export function backupFinding(
  { version, count, problem, isReadable, isComplete, isWanted }: KeyBackupInfo,
): CryptoFinding {
  const facts = { count, ...(version !== undefined && { version }) };
  if (problem === undefined && isReadable) {
    const of = `The backup of room keys is in use, and has ${count} keys`;
    if (isComplete) return { code: "backup-on", level: "ok", message: `${of}: all of this device.`, facts };
    const message = `${of}; others are on their way into it.`;
    return { code: "backup-behind", level: "ok", message, facts };
  }
  if (problem === undefined) {
    return {
      code: "backup-unreadable",
      level: "warning",
      message:
        "The backup of room keys is in use, but its private key is not at hand: nothing can be restored.",
      mend: "Call backup.trust() with its key, or ensureVerified() with what opens the secret storage.",
      facts,
    };
  }
  if (problem === "absent" && isWanted === false) {
    const message = "There is no backup of room keys, and the user wants none.";
    return { code: "backup-unwanted", level: "ok", message };
  }
  if (problem === "absent") {
    return {
      code: "backup-absent",
      level: "warning",
      message: "There is no backup of room keys: history is lost with the store.",
      mend: "Call ensureVerified() with what opens the secret storage, or backup.create().",
    };
  }
  if (problem === "unusable") {
    return {
      code: "backup-unusable",
      level: "warning",
      message: "The backup of room keys is of an algorithm that is not known, or has no public key.",
      mend: "Make a new one with backup.reset(), if no client of the user needs that one.",
      facts,
    };
  }
  return {
    code: "backup-untrusted",
    level: "warning",
    message:
      "There is a backup of room keys that is not used, since nothing shows that the user has made it.",
    mend: "Call backup.trust() with its key, or ensureVerified() with what opens the secret storage; " +
      "if its key is lost, make a new one with backup.reset().",
    facts,
  };
}

/** Finds out whether others get one-time keys. */
export function oneTimeKeysFinding(count: number = 0): CryptoFinding {
  const facts = { count };
  if (count >= FEW_KEYS) {
    return {
      code: "one-time-keys-left",
      level: "ok",
      message: `The server has ${count} one-time keys of this device.`,
      facts,
    };
  }
  return {
    code: "one-time-keys-few",
    level: "warning",
    message:
      `The server has only ${count} one-time keys of this device: new devices start with its fallback key, or not at all.`,
    mend:
      "Let the client sync, which uploads new ones; if it does, look for requests of encryption that fail in the log.",
    facts,
  };
}

/** Finds out whether others get a fallback key. */
export function fallbackFinding(hasFallback: boolean): CryptoFinding {
  if (hasFallback) {
    const message = "The server has a fallback key of this device.";
    return { code: "fallback-key-published", level: "ok", message };
  }
  return {
    code: "fallback-key-missing",
    level: "warning",
    message:
      "The fallback key of this device is not published: when its one-time keys are used up, nobody new can write to it.",
    mend:
      "Call start(), which publishes it; if it does, look for requests of encryption that fail in the log.",
  };
}

/**
 * Finds out whether the clocks agree; nothing if the server does not say its time.
 *
 * @param skew How far the server's is ahead, in milliseconds; undefined: it does not say.
 */
export function clockFinding(skew: number | undefined): CryptoFinding[] {
  if (skew === undefined) return [];
  const wrong = wrongBy(skew);
  const facts = { skew };
  if (wrong === undefined) {
    const message = "The clock agrees with that of the server.";
    return [{ code: "clock-right", level: "ok", message, facts }];
  }
  return [{
    code: "clock-wrong",
    level: "warning",
    message: `The clock is ${wrong}.`,
    mend: "Set the clock of this machine; if it is right, the server's is wrong.",
    facts,
  }];
}
