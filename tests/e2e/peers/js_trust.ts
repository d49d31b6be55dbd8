/**
 * What the puppet of matrix-js-sdk can do about trust:
 * cross-signing, verification by emoji, and whom it shuts out.
 *
 * @module
 */

import { delay } from "@std/async/delay";
import type { MatrixClient } from "matrix-js-sdk";
import {
  AllDevicesIsolationMode,
  type CryptoCallbacks,
  decodeRecoveryKey,
  OnlySignedDevicesIsolationMode,
} from "matrix-js-sdk/lib/crypto-api/index.js";
import { CryptoEvent } from "matrix-js-sdk/lib/crypto-api/CryptoEvent.js";
import {
  type ShowQrCodeCallbacks,
  type ShowSasCallbacks,
  VerificationPhase,
  type VerificationRequest,
  VerificationRequestEvent,
  type Verifier,
  VerifierEvent,
} from "matrix-js-sdk/lib/crypto-api/verification.js";

const POLL_MS = 100;
/** A device that is new may not know its own user's public keys, and then takes no private ones. */
const ASKS_SERVER = true;

/** Tells the test something. */
type Tell = (line: Record<string, unknown>) => void;
type Crypto = NonNullable<ReturnType<MatrixClient["getCrypto"]>>;

/** A verification that goes on. */
interface Flow {
  request: VerificationRequest;
  verifier?: Verifier;
  sas?: ShowSasCallbacks;
  qr?: ShowQrCodeCallbacks;
}

/** Verifications and cross-signing of one client after the other. */
export class Trust {
  readonly #tell: Tell;
  readonly #flows = new Map<string, Flow>();
  #client: MatrixClient | undefined;
  /** The key of the secret storage. */
  #secret: Uint8Array<ArrayBuffer> | undefined;

  /** What the client asks for. */
  readonly callbacks: CryptoCallbacks = {
    getSecretStorageKey: ({ keys }) => {
      const keyId = Object.keys(keys)[0];
      const found = keyId !== undefined && this.#secret !== undefined;
      // It was looked at.
      return Promise.resolve(found ? [keyId, this.#secret as Uint8Array<ArrayBuffer>] : null);
    },
  };

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  /** Takes the client that runs. */
  watch(client: MatrixClient): void {
    this.#client = client;
    client.on(CryptoEvent.VerificationRequestReceived, (request) => this.#follow(request));
  }

  /** What it can be told to do. */
  // deno-lint-ignore no-explicit-any -- arguments as the other side's types say, which the protocol can't carry
  readonly verbs: Record<string, (args: any) => unknown> = {
    bootstrapCrossSigning: ({ password }) =>
      this.#crypto.bootstrapCrossSigning({
        setupNewCrossSigning: true,
        authUploadDeviceSigningKeys: async (request) => {
          const user = this.#client?.getUserId() ?? "";
          await request({ type: "m.login.password", identifier: { type: "m.id.user", user }, password });
        },
      }),
    /** The public master key, as it tells its user. */
    masterKey: () => this.#crypto.getCrossSigningKeyId(),
    /** Returns the recovery key; with a passphrase, that opens it too. Backs up room keys from then on. */
    bootstrapSecretStorage: async ({ passphrase }) => {
      const key = await this.#crypto.createRecoveryKeyFromPassphrase(passphrase);
      this.#secret = key.privateKey;
      const createSecretStorageKey = () => Promise.resolve(key);
      const [setupNewSecretStorage, setupNewKeyBackup] = [true, true];
      await this.#crypto.bootstrapSecretStorage({
        createSecretStorageKey,
        setupNewSecretStorage,
        setupNewKeyBackup,
      });
      return key.encodedPrivateKey;
    },
    /** Takes a recovery key for what opens the secret storage. */
    useRecoveryKey: ({ recoveryKey }) => {
      this.#secret = decodeRecoveryKey(recoveryKey);
    },
    storeSecret: ({ name, value }) => this.#secretStorage.store(name, value),
    /** Waits until it reads a secret so; what it knows of account data comes by sync. */
    awaitSecret: async ({ name, value }) => {
      while (await this.#secretStorage.get(name).catch(() => undefined) !== value) await delay(POLL_MS);
    },
    /**
     * Waits until the backup has so many room keys; the library lets up to
     * ten seconds pass before it uploads.
     */
    awaitBackup: async ({ count }) => {
      while (await this.#backedUp() < count) await delay(POLL_MS);
    },
    /**
     * Opens the secret storage, and takes from it the keys for signing and the backup,
     * and from that the room keys.
     */
    recover: async ({ recoveryKey }) => {
      this.#secret = decodeRecoveryKey(recoveryKey);
      await this.#crypto.userHasCrossSigningKeys(undefined, ASKS_SERVER);
      await this.#crypto.bootstrapCrossSigning({});
      await this.#crypto.loadSessionBackupPrivateKeyFromSecretStorage();
      await this.#crypto.checkKeyBackupAndEnable();
      const { total, imported } = await this.#crypto.restoreKeyBackup();
      return { total, imported };
    },
    /** Takes the keys for signing from the secret storage, and returns the public master key. */
    adoptCrossSigning: async ({ recoveryKey }) => {
      this.#secret = decodeRecoveryKey(recoveryKey);
      await this.#crypto.userHasCrossSigningKeys(undefined, ASKS_SERVER);
      await this.#crypto.bootstrapCrossSigning({});
      return await this.#crypto.getCrossSigningKeyId();
    },
    /** Reads the dehydrated device that is there, and makes another one. */
    startDehydration: () => this.#crypto.startDehydration(),
    /** Waits until it sees a device with its user's signature. */
    awaitSigned: async ({ userId, deviceId }) => {
      for (;;) {
        await this.#crypto.getUserDeviceInfo([userId], ASKS_SERVER);
        const status = await this.#crypto.getDeviceVerificationStatus(userId, deviceId);
        if (status?.signedByOwner) return;
        await delay(POLL_MS);
      }
    },
    setIsolation: ({ onlySigned }) => {
      const strict = false;
      this.#crypto.setDeviceIsolationMode(
        onlySigned ? new OnlySignedDevicesIsolationMode() : new AllDevicesIsolationMode(strict),
      );
    },
    requestVerification: async ({ userId, deviceId, roomId }) =>
      this.#follow(
        roomId === undefined
          ? await this.#crypto.requestDeviceVerification(userId, deviceId)
          : await this.#crypto.requestVerificationDM(userId, roomId),
      ),
    acceptVerification: ({ flowId }) => this.#flow(flowId).request.accept(),
    startSas: async ({ flowId }) => {
      const flow = this.#flow(flowId);
      this.#verify(flowId, flow, await flow.request.startVerification("m.sas.v1"));
    },
    confirmSas: ({ flowId }) => this.#flow(flowId).sas?.confirm(),
    mismatchSas: ({ flowId }) => this.#flow(flowId).sas?.mismatch(),
    cancelVerification: ({ flowId }) => this.#flow(flowId).request.cancel(),
    /** The bytes of the QR code that it shows, in base64. */
    showQr: async ({ flowId }) => {
      const bytes = await this.#flow(flowId).request.generateQRCode();
      return bytes === undefined ? null : new Uint8Array(bytes).toBase64();
    },
    scanQr: async ({ flowId, code }) => {
      const flow = this.#flow(flowId);
      const bytes = new Uint8ClampedArray(Uint8Array.fromBase64(code));
      this.#verify(flowId, flow, await flow.request.scanQRCode(bytes));
    },
    confirmQr: ({ flowId }) => this.#flow(flowId).qr?.confirm(),
    /** Waits until it has all private keys of its user's identity, and the key of the backup. */
    awaitSecrets: async () => {
      for (;;) {
        const { privateKeysCachedLocally: keys } = await this.#crypto.getCrossSigningStatus();
        const isWhole = keys.masterKey && keys.selfSigningKey && keys.userSigningKey;
        if (isWhole && await this.#crypto.getSessionBackupPrivateKey() !== null) return;
        await delay(POLL_MS);
      }
    },
    /** Waits until it knows its own user's public keys. */
    awaitIdentity: async () => {
      while (!await this.#crypto.userHasCrossSigningKeys(undefined, ASKS_SERVER)) await delay(POLL_MS);
    },
    /** Waits until it counts a user as verified. */
    awaitVerified: async ({ userId }) => {
      while (!(await this.#crypto.getUserVerificationStatus(userId)).isVerified()) await delay(POLL_MS);
    },
  };

  get #secretStorage(): MatrixClient["secretStorage"] {
    if (this.#client === undefined) throw new Error("the client does not run; start it");
    return this.#client.secretStorage;
  }

  get #crypto(): Crypto {
    const api = this.#client?.getCrypto();
    if (api === undefined) throw new Error("the client does not run; start it");
    return api;
  }

  /** How many room keys the server has; the library remembers an earlier answer. */
  async #backedUp(): Promise<number> {
    const headers = { authorization: `Bearer ${this.#client?.getAccessToken()}` };
    const url = `${this.#client?.getHomeserverUrl().replace(/\/$/, "")}/_matrix/client/v3/room_keys/version`;
    return (await (await fetch(url, { headers })).json()).count;
  }

  #flow(flowId: string): Flow {
    const flow = this.#flows.get(flowId);
    if (flow === undefined) throw new Error(`there is no verification ${flowId}`);
    return flow;
  }

  #follow(request: VerificationRequest): string {
    const flowId = request.transactionId ?? "";
    const flow: Flow = { request };
    this.#flows.set(flowId, flow);
    const look = () => {
      const { otherUserId: userId, otherDeviceId: deviceId = null, cancellationCode: code } = request;
      const phase = VerificationPhase[request.phase].toLowerCase();
      this.#tell({ event: "verification", flowId, userId, deviceId, phase, code });
      if (request.verifier !== undefined) this.#verify(flowId, flow, request.verifier);
    };
    request.on(VerificationRequestEvent.Change, look);
    look();
    return flowId;
  }

  #verify(flowId: string, flow: Flow, verifier: Verifier): void {
    if (flow.verifier !== undefined) return;
    flow.verifier = verifier;
    verifier.on(VerifierEvent.ShowSas, (sas) => {
      flow.sas = sas;
      const emoji = sas.sas.emoji?.map(([, name]) => name) ?? null;
      this.#tell({ event: "sas", flowId, emoji, decimal: sas.sas.decimal ?? null });
    });
    verifier.on(VerifierEvent.ShowReciprocateQr, (qr) => {
      flow.qr = qr;
      this.#tell({ event: "scanned", flowId });
    });
    verifier.verify().catch((error) => console.error(error)); // a cancellation shows in the request's phase
  }
}
