/**
 * Secrets that other own devices ask for.
 *
 * They go to own devices that are verified, and to nobody else: who has them can sign in the user's
 * name, or read the backup. A device that is not verified yet may be within minutes, and gets them
 * then.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#sharing | Sharing secrets}
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import { BACKUP_SECRET, backupSecret, type KeyBackup } from "../backup/backup.ts";
import type { DeviceLists } from "../devices/mod.ts";
import { encodeBase64 } from "../../types/base64.ts";
import { type CryptoContext, newTxn } from "../context/context.ts";
import { type OwnIdentity, SEED_SECRETS, seedNameOf } from "../identity/identity.ts";
import type { OlmChannels, OlmClaims } from "../olm/olm.ts";
import { FairRecords, type Transaction } from "../records/mod.ts";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import { isOpaqueId } from "../../types/identifiers.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { type Outbox, SharedRateLimit } from "../requests/requests.ts";

/** Which device asks, and how the request is called. */
interface Asker {
  readonly deviceId: DeviceID;
  readonly requestId: string;
}

/** A request that waits for the device to be verified, or for an Olm session with it. */
interface PendingSecret extends Asker {
  readonly name: string;
  /** When it came, in milliseconds since the epoch. */
  readonly since: number;
}

/** How many requests wait, of all devices; the oldest of the device with the most is dropped. */
const MAX_PENDING = 40;
/** How long they wait, in milliseconds: as long as one asks after it was verified. */
const PENDING_TIME = 15 * 60_000;
/** How often a device is answered an hour, and all together. */
const PER_DEVICE = { times: 20, periodMs: 3_600_000 };
const MAX_IN_ALL = 100;

/** Answers requests for secrets. */
export class SecretAnswers {
  readonly #options;
  readonly #pending = new FairRecords<PendingSecret, Asker>("secret_answer", {
    limit: MAX_PENDING,
    partsOf: ({ deviceId, requestId }) => [deviceId, requestId],
  });
  readonly #limit: SharedRateLimit;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The own devices. */
    readonly devices: Pick<DeviceLists, "device">;
    readonly olm: Pick<OlmChannels, "encrypt"> & { readonly claims: Pick<OlmClaims, "want"> };
    /** What is on its way to the server. */
    readonly outbox: Pick<Outbox, "add">;
    /** The private keys. */
    readonly ownIdentity: Pick<OwnIdentity, "seedOf">;
    readonly backup: Pick<KeyBackup, "used">;
  }) {
    this.#options = options;
    this.#limit = new SharedRateLimit(options.context.clock, PER_DEVICE, MAX_IN_ALL);
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    await this.#pending.load(tx);
  }

  /** Receives an `m.secret.request`, which comes in clear: only the answer is a secret. */
  async receive(tx: Transaction, { sender, content }: ToDeviceEvent): Promise<void> {
    const { own, clock } = this.#options.context;
    const { action, requesting_device_id: deviceId, request_id: requestId, name } = content;
    if (sender !== own.userId || deviceId === own.deviceId) return;
    if (!isOpaqueId(deviceId) || !isOpaqueId(requestId)) return;
    if (action === "request_cancellation") return this.#pending.delete(tx, { deviceId, requestId });
    if (action !== "request" || typeof name !== "string" || !NAMES.has(name)) return;
    await this.#answer(tx, { deviceId, requestId, name, since: clock.now() });
  }

  /** Answers the requests that had to wait: their devices may be verified now, or reachable. */
  async retry(tx: Transaction): Promise<void> {
    for (const pending of this.#pending.values) {
      this.#pending.delete(tx, pending);
      await this.#answer(tx, pending);
    }
  }

  async #answer(tx: Transaction, asked: PendingSecret): Promise<void> {
    const { context: { own, log, clock }, devices, olm } = this.#options;
    const { deviceId, name, requestId } = asked;
    if (elapsed(clock.now(), asked.since) > PENDING_TIME) return;
    const device = await devices.device(tx, own.userId, deviceId);
    if (device?.trust === "blacklisted" || device?.isDehydrated) return;
    if (device?.trust !== "verified") {
      log.debug("A device that is not verified asks for a secret", { deviceId, name });
      return this.#pending.set(tx, asked);
    }
    const secret = await this.#secret(tx, name);
    if (secret === undefined) return;
    const encrypted = await olm.encrypt(tx, device, "m.secret.send", { request_id: requestId, secret });
    if (encrypted === undefined) {
      this.#pending.set(tx, asked);
      return await olm.claims.want(tx, [device]);
    }
    if (!this.#limit.take(deviceId)) {
      return log.warn("A device asks for too many secrets", { deviceId });
    }
    log.info("Sent a secret to another own device that is verified", { deviceId, name });
    this.#send(tx, deviceId, encrypted);
  }

  async #secret(tx: Transaction, name: string): Promise<string | undefined> {
    const { ownIdentity, backup: { used } } = this.#options;
    const seedName = seedNameOf(name);
    if (seedName === undefined) {
      const { privateKey, phase } = used ?? {};
      return privateKey !== undefined && phase === "on" ? backupSecret(privateKey) : undefined;
    }
    const seed = await ownIdentity.seedOf(tx, seedName);
    const secret = seed && encodeBase64(seed);
    seed?.fill(0);
    return secret;
  }

  #send(tx: Transaction, deviceId: DeviceID, content: JsonObject): void {
    const { context, outbox } = this.#options;
    const messages = { [context.own.userId]: { [deviceId]: content } };
    outbox.add(tx, { kind: "toDevice", eventType: "m.room.encrypted", messages }, newTxn(context));
  }
}

/** What is given: nothing else is kept here. */
const NAMES: ReadonlySet<string> = new Set([...Object.values(SEED_SECRETS), BACKUP_SECRET]);
