/**
 * The Crypto actor: the engine behind a mailbox.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Engine } from "../../crypto/engine/engine.ts";
import type { OwnIdentity } from "../../crypto/engine/engine_protocol.ts";
import type { EngineAccount } from "../../crypto/context/context.ts";
import type { DehydrationSteps } from "../../crypto/engine/dehydration_steps.ts";
import type { HistorySteps } from "../../crypto/engine/history_steps.ts";
import type { IdentitySteps } from "../../crypto/engine/identity_steps.ts";
import type { KeySteps } from "../../crypto/engine/key_steps.ts";
import type { VerificationSteps } from "../../crypto/engine/verification_steps.ts";
import type { PruneReport } from "../../crypto/engine/pruner.ts";
import type { CryptoPolicy } from "../../crypto/context/policy.ts";
import type { Vault } from "../../crypto/records/vault.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import type { Logger } from "../../base/log.ts";
import type { Actor, ActorRef } from "../kernel/actor.ts";
import { spawn } from "../kernel/spawn.ts";
import type { StoreProtocol } from "../store/store_protocol.ts";

/** The methods of the engine, and of its steps about identities, keys and the like, that are messages. */
type Steps =
  & Omit<Engine, "identity" | "identities" | "keys" | "verifications" | "dehydration" | "history" | "close">
  & IdentitySteps
  & KeySteps
  & DehydrationSteps
  & HistorySteps
  & VerificationSteps;
type EngineStep = keyof Steps;
type Bodies = { [Step in EngineStep]: Parameters<Steps[Step]>[0] };
type Replies = { [Step in EngineStep]: Awaited<ReturnType<Steps[Step]>> };
type EngineSteps = { [Step in EngineStep]: (body: Bodies[Step]) => Promise<Replies[Step]> };
type StepProtocol = { [Step in EngineStep]: (body: Bodies[Step]) => Replies[Step] };

/**
 * What the Crypto actor can be asked: each step of the engine, under its name. What a step has
 * changed is durable when the reply comes; of `receiveSync` it is with the commit of the sync
 * token. A commit that fails is fatal.
 */
export interface CryptoProtocol extends StepProtocol {
  /** Opens the engine of a device; before anything else. */
  open(account: EngineAccount): OwnIdentity;
}

/** The names of all steps: the engine is not loaded yet when the actor starts. */
const STEPS = namesOf<CoreStep>({
  isDoubtful: true,
  isDue: true,
  receiveSync: true,
  decrypt: true,
  requests: true,
  answer: true,
  fail: true,
  prepare: true,
  describeRoom: true,
  memberChanged: true,
  encrypt: true,
  roomEventSent: true,
  noteSent: true,
  settle: true,
  discardGroupSession: true,
  devicesOf: true,
  areDevicesStale: true,
  isRoomEncrypted: true,
  prune: true,
});

/** The steps of the engine itself. */
type CoreStep = Exclude<
  EngineStep,
  IdentityStep | KeyStep | DehydrationStep | HistoryStep | VerificationStep
>;
type IdentityStep = keyof IdentitySteps;
type KeyStep = keyof KeySteps;
type DehydrationStep = keyof DehydrationSteps;
type HistoryStep = keyof HistorySteps;
type VerificationStep = keyof VerificationSteps;

/** The names of the steps about devices and identities. */
const IDENTITY_STEPS = namesOf<IdentityStep>({
  setDeviceTrust: true,
  identityOf: true,
  acknowledgeIdentity: true,
  withdrawVerification: true,
  ownDevice: true,
  ownIdentity: true,
  health: true,
  compareIdentity: true,
  askForIdentity: true,
  offerIdentity: true,
  createIdentity: true,
  confirmIdentity: true,
  abandonIdentity: true,
  keepOpener: true,
  signIdentity: true,
  signDevice: true,
  signatureFate: true,
  requestSecrets: true,
  releaseUpload: true,
});

/** The names of the steps about keys. */
const KEY_STEPS = namesOf<KeyStep>({
  exportSessions: true,
  importKeys: true,
  backupState: true,
  newBackup: true,
  adoptBackup: true,
  followBackup: true,
  forgetBackup: true,
  versionFor: true,
  restoreKeys: true,
});

/** The names of the steps about dehydrated devices. */
const DEHYDRATION_STEPS = namesOf<DehydrationStep>({
  dehydrationState: true,
  keepPickleKey: true,
  pickleKeyToStore: true,
  renewPickleKey: true,
  pickleKeyRenewed: true,
  createDehydrated: true,
  dehydratedUploaded: true,
  beginRehydration: true,
  receiveRehydrated: true,
  clearRehydration: true,
});

/** The names of the steps about history that is shared. */
const HISTORY_STEPS = namesOf<HistoryStep>({ historyRecipients: true, offerHistory: true });

/** The names of the steps about verifications. */
const VERIFICATION_STEPS = namesOf<VerificationStep>({
  receiveVerification: true,
  requestVerification: true,
  askInRoom: true,
  askedInRoom: true,
  mayRead: true,
  actInVerification: true,
  completeVerification: true,
  expireVerifications: true,
});

/** What the Crypto actor is made of. */
export interface CryptoActorOptions {
  /** Stores the engine's records. */
  readonly store: ActorRef<StoreProtocol>;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where the engine logs. */
  readonly log: Logger;
  /** Whom the engine encrypts for, and what it accepts. */
  readonly policy: CryptoPolicy;
}

let loading: Promise<typeof import("../../crypto/engine/engine.ts")> | undefined;

/** Loads the engine, with the first call. */
export function loadEngine(): Promise<typeof import("../../crypto/engine/engine.ts")> {
  return loading ??= import("../../crypto/engine/engine.ts").catch((error) => {
    loading = undefined; // the next client tries again
    throw error;
  });
}

/**
 * Starts the Crypto actor, and begins to load its engine and vodozemac, while the client asks the
 * server whose token it has.
 */
export function spawnCrypto({ store, clock, log, policy }: CryptoActorOptions): Actor<CryptoProtocol> {
  const vault = storeVault(store);
  loadEngine().catch(() => {}); // `open` rejects with it
  let opened: Engine | undefined;
  const engine = (): Engine => {
    if (opened !== undefined) return opened;
    throw new EncryptionError("Cannot use encryption: it has not been opened for a device yet");
  };
  return spawn<CryptoProtocol>({
    name: "crypto",
    log,
    handlers: {
      open: async (account) => {
        if (opened === undefined) {
          const { Engine } = await loadEngine();
          opened = await Engine.open({ account, vault, clock, log, policy });
        }
        return opened.identity();
      },
      ...handlersOf(STEPS, engine),
      ...handlersOf(IDENTITY_STEPS, () => engine().identities),
      ...handlersOf(KEY_STEPS, () => engine().keys),
      ...handlersOf(DEHYDRATION_STEPS, () => engine().dehydration),
      ...handlersOf(HISTORY_STEPS, () => engine().history),
      ...handlersOf(VERIFICATION_STEPS, () => engine().verifications),
    },
    onStop: () => opened?.close(),
  });
}

/**
 * Has the Crypto actor remove what need not be kept any more, in short steps: other messages are
 * handled in between.
 *
 * @param crypto The actor, which has been opened.
 * @returns How many records were removed in all, by their kind.
 */
export async function pruneCrypto(crypto: ActorRef<CryptoProtocol>): Promise<PruneReport> {
  const removed: Record<string, number> = {};
  for (;;) {
    const step = await crypto.ask("prune", undefined);
    for (const [kind, count] of Object.entries(step.removed)) removed[kind] = (removed[kind] ?? 0) + count;
    if (step.done) return { done: true, removed };
  }
}

/** The names of steps, each said once: the type check finds one that is missing. */
function namesOf<Name extends EngineStep>(names: Readonly<Record<Name, true>>): Name[] {
  return Object.keys(names) as Name[]; // its own, and no others
}

/** One handler for each step, which calls the method of that name. */
function handlersOf<Name extends EngineStep>(
  names: readonly Name[],
  steps: () => Pick<EngineSteps, Name>,
): Pick<EngineSteps, Name> {
  const handlerOf = (name: Name) => (body: Bodies[Name]) => steps()[name](body);
  return Object.fromEntries(names.map((name) => [name, handlerOf(name)])) as Pick<EngineSteps, Name>; // of all
}

/** The Store, as the engine uses it. A commit that fails ends the Store, and everything with it. */
function storeVault(store: ActorRef<StoreProtocol>): Vault {
  return {
    getMany: (keys) => store.ask("readRecords", keys),
    list: (prefix, options) => store.ask("listRecords", { prefix, ...options }),
    commit: (mutations) => store.ask("commitRecords", mutations),
    defer: (mutations) => store.ask("deferRecords", mutations),
    flush: () => store.ask("flush", undefined),
  };
}
