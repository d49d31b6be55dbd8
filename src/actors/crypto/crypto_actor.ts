/**
 * The Crypto actor: the engine behind a channel.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type {
  CryptoInput,
  CryptoOutput,
  Engine,
  EngineSteps,
  OwnDeviceKeys,
  PruneReport,
} from "../../crypto/engine/engine.ts";
import type { CryptoPolicy, EngineAccount } from "../../crypto/context/context.ts";
import type { Vault } from "../../crypto/records/mod.ts";
import type { Encrypted, EncryptInput } from "../../crypto/sharing/mod.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import type { Logger } from "../../base/log.ts";
import { type Actor, type ActorRef, type Later, later, spawn } from "../kernel/mod.ts";
import type { StoreHandlers } from "../store/mod.ts";

type Steps = Omit<Engine, "identity" | "steps" | "encrypt" | "close"> & EngineSteps;

/**
 * What the Crypto actor can be asked: each step of the engine, under its name. What a step has
 * changed is durable when the reply comes; of `receiveSync` it is with the commit of the sync
 * token. A commit that fails is fatal.
 */
export type CryptoHandlers =
  & { readonly [Step in keyof Steps]: Steps[Step] }
  & Pick<EngineHandlers, "open" | "encrypt">;

/** All steps, and where the engine has them: it is not loaded yet when the actor starts. */
const STEPS: { readonly [Step in keyof Steps]: Step extends keyof EngineSteps ? "steps" : "core" } = {
  isDoubtful: "core",
  isDue: "core",
  receiveSync: "core",
  decrypt: "core",
  requests: "core",
  answer: "core",
  fail: "core",
  prepare: "core",
  describeRoom: "core",
  memberChanged: "core",
  roomEventSent: "core",
  noteSent: "core",
  settle: "core",
  discardGroupSession: "core",
  devicesOf: "core",
  areDevicesStale: "core",
  isRoomEncrypted: "core",
  prune: "core",
  setDeviceTrust: "steps",
  identityOf: "steps",
  acknowledgeIdentity: "steps",
  withdrawVerification: "steps",
  ownDevice: "steps",
  ownIdentity: "steps",
  health: "steps",
  compareIdentity: "steps",
  askForIdentity: "steps",
  offerIdentity: "steps",
  createIdentity: "steps",
  confirmIdentity: "steps",
  abandonIdentity: "steps",
  keepOpener: "steps",
  signIdentity: "steps",
  signDevice: "steps",
  signatureFate: "steps",
  requestSecrets: "steps",
  releaseUpload: "steps",
  exportSessions: "steps",
  importKeys: "steps",
  backupState: "steps",
  newBackup: "steps",
  adoptBackup: "steps",
  followBackup: "steps",
  forgetBackup: "steps",
  versionFor: "steps",
  restoreKeys: "steps",
  dehydrationState: "steps",
  keepPickleKey: "steps",
  pickleKeyToStore: "steps",
  renewPickleKey: "steps",
  pickleKeyRenewed: "steps",
  createDehydrated: "steps",
  dehydratedUploaded: "steps",
  beginRehydration: "steps",
  receiveRehydrated: "steps",
  clearRehydration: "steps",
  historyRecipients: "steps",
  offerHistory: "steps",
  receiveVerification: "steps",
  requestVerification: "steps",
  askInRoom: "steps",
  askedInRoom: "steps",
  mayRead: "steps",
  actInVerification: "steps",
  completeVerification: "steps",
  expireVerifications: "steps",
};

let loading: Promise<typeof import("../../crypto/engine/engine.ts")> | undefined;

/** Loads the engine, with the first call. */
export function loadEngine(): Promise<typeof import("../../crypto/engine/engine.ts")> {
  return loading ??= import("../../crypto/engine/engine.ts").catch((error) => {
    loading = undefined; // the next client tries again
    throw error;
  });
}

/** Opens the engine, and has a method for each of its steps. */
class EngineHandlers implements AsyncDisposable {
  readonly #store: ActorRef<StoreHandlers>;
  readonly #policy: CryptoPolicy;
  readonly #clock: Clock;
  readonly #log: Logger;
  #opened: Engine | undefined;

  /** As {@link spawnCrypto}. */
  constructor(store: ActorRef<StoreHandlers>, policy: CryptoPolicy, clock: Clock, log: Logger) {
    this.#store = store;
    this.#policy = policy;
    this.#clock = clock;
    this.#log = log;
  }

  static {
    for (const [step, part] of Object.entries(STEPS)) {
      Object.defineProperty(this.prototype, step, {
        value(this: EngineHandlers, body: unknown): unknown {
          const from: unknown = part === "core" ? this.#engine : this.#engine.steps;
          // Steps are methods.
          return (from as Readonly<Record<string, (body: unknown) => unknown>>)[step]?.(body);
        },
      });
    }
  }

  /** Opens the engine of a device; before anything else. */
  async open(account: EngineAccount): Promise<OwnDeviceKeys> {
    if (this.#opened === undefined) {
      const { Engine } = await loadEngine();
      const [vault, policy, clock, log] = [storeVault(this.#store), this.#policy, this.#clock, this.#log];
      this.#opened = await Engine.open({ account, vault, policy, clock, log });
    }
    return this.#opened.identity();
  }

  /** Encrypts an event. Other messages are handled while it becomes durable. */
  async encrypt(input: EncryptInput): Promise<Later<Encrypted | undefined>> {
    return later((await this.#engine.encrypt(input)).reply);
  }

  get #engine(): Engine {
    if (this.#opened !== undefined) return this.#opened;
    throw new EncryptionError("Cannot use encryption: it has not been opened for a device yet");
  }

  /** Closes the engine. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.close();
  }
}

/**
 * Starts the Crypto actor, and begins to load its engine and vodozemac, while the client asks the
 * server whose token it has.
 *
 * @param store Stores the engine's records.
 * @param policy Whom the engine encrypts for, and what it accepts.
 * @param clock The wall clock.
 * @param log Where the engine logs.
 */
export function spawnCrypto(
  store: ActorRef<StoreHandlers>,
  policy: CryptoPolicy,
  clock: Clock,
  log: Logger,
): Actor<CryptoHandlers> {
  loadEngine().catch(() => {}); // `open` rejects with it
  const handlers = new EngineHandlers(store, policy, clock, log);
  return spawn({ name: "crypto", handlers: handlers as unknown as CryptoHandlers, log }); // with all steps
}

/**
 * Has the Crypto actor remove what need not be kept any more, in short steps: other messages are
 * handled in between.
 *
 * @param crypto The actor, which has been opened.
 * @returns How many records were removed in all, by their kind.
 */
export async function pruneCrypto(crypto: ActorRef<CryptoHandlers>): Promise<PruneReport> {
  const removed: Record<string, number> = {};
  for (;;) {
    const step = await crypto.prune();
    for (const [kind, count] of Object.entries(step.removed)) removed[kind] = (removed[kind] ?? 0) + count;
    if (step.done) return { done: true, removed };
  }
}

/** The Store, as the engine uses it. A commit that fails ends the Store, and everything with it. */
function storeVault(store: ActorRef<StoreHandlers>): Vault {
  return {
    getMany: (keys) => store.readRecords(keys),
    list: (prefix, options) => store.listRecords({ prefix, ...options }),
    commit: (mutations) => store.commitRecords(mutations),
    defer: (mutations) => store.deferRecords(mutations),
    flush: () => store.flush(),
  };
}

/** Where the parts of a client find its encryption, which can be set later. */
export interface CryptoHolder<Machine> {
  /** The encryption; undefined: there is none. */
  readonly crypto: Machine | undefined;
}

/** What a sync calls: `Encryption`, in `src/encryption/encryption.ts`. */
export interface SyncCrypto {
  /**
   * Opens the engine, compares the device's keys with what the server has of it, and publishes them
   * if it has none.
   *
   * @param following Syncs follow until it aborts: each goes on where the one before has ended. Default:
   *   none does.
   */
  start(following?: AbortSignal): Promise<void>;
  /**
   * Receives a sync response: keys first, then what they decrypt. It is durable with the response's
   * token.
   */
  receiveSync(input: CryptoInput): Promise<CryptoOutput>;
  /** Resolves when no request to the server is under way any more. */
  idle(): Promise<void>;
}
