/**
 * What leads out of a verification: its messages, the requests of others that wait for the user's answer,
 * and what was verified, which is stored in one commit with the signatures.
 *
 * @module
 */

import { type CryptoContext, newTxn, type OwnDevice } from "../context/context.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { Outbox } from "../requests/requests.ts";
import type { DeviceID, RoomID, TransactionID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import {
  REQUEST_TYPE,
  VERIFICATION_PREFIX,
  type VerificationEvent,
} from "../../types/content/encryption_content.ts";
import type { VerificationFlow } from "./verification_flow.ts";
import {
  checkedContent,
  type FlowName,
  type FrozenKeys,
  MAX_AHEAD,
  type StepContent,
  TIMEOUT,
  VerificationFault,
  type VerifiedKeys,
} from "./protocol.ts";
import { acceptedIdentity, type CryptoDevice, type DeviceLists } from "../devices/mod.ts";
import type { IdentitySigning } from "../identity/identity.ts";

/** A message to be sent to a room. */
export interface VerificationSend {
  /** The verification. */
  readonly id: string;
  readonly roomId: RoomID;
  /** The other user. */
  readonly userId: UserID;
  /** The devices that are to read it; none: all of that user. */
  readonly devices: readonly DeviceID[];
  readonly type: string;
  readonly content: JsonObject;
  /** Makes a repetition of the request one request. */
  readonly txnId: TransactionID;
}

/** Devices of a user. */
interface Receivers {
  readonly userId: UserID;
  readonly devices: readonly DeviceID[];
}

/** A verification that the other side may wait for. */
type UnderwayRecord = FlowName & Receivers;

/** Sends to devices through the outbox, and collects what goes to rooms. */
export class VerificationPost {
  readonly #options;
  readonly #recorded = new Set<string>();
  #sends: VerificationSend[] = [];

  /** @param options What it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** Sends to devices. */
    readonly outbox: Outbox;
  }) {
    this.#options = options;
  }

  /**
   * Calls off what an earlier process has left: its keys are gone.
   *
   * @param restored Resolves when the outbox has all that is on its way: what is put in comes after that.
   */
  async load(tx: Transaction, restored: Promise<void>): Promise<void> {
    const [left] = await Promise.all([tx.list<UnderwayRecord>("verification"), restored]);
    for (const [[id = ""], record] of left) {
      this.refuse(tx, id, record, "The device was restarted");
      tx.delete(underwayKey(id));
    }
  }

  /** Says that a verification is not known here. */
  refuse(
    tx: Transaction,
    id: string,
    { roomId, flowId, userId, devices }: UnderwayRecord,
    reason: string,
  ): void {
    const [type, said] = [`${VERIFICATION_PREFIX}cancel`, { code: "m.unknown_transaction", reason }];
    if (roomId === undefined) {
      return this.#toDevices(tx, { userId, devices }, { type, content: { ...said, transaction_id: flowId } });
    }
    const content = { ...said, "m.relates_to": { rel_type: "m.reference", event_id: flowId } };
    this.#toRoom({ id, roomId, userId, devices, type, content });
  }

  /** Sends what a verification has to say, and notes whether the other side may wait for it. */
  settle(tx: Transaction, flow: VerificationFlow): void {
    const { id, name: { userId, roomId }, isOver, isPrompt } = flow;
    for (const { type, content, devices } of flow.takeOutgoing()) {
      if (roomId !== undefined) this.#toRoom({ id, roomId, userId, devices, type, content });
      else this.#toDevices(tx, { userId, devices }, { type, content });
    }
    if (isOver) {
      if (this.#recorded.delete(id)) tx.delete(underwayKey(id));
    } else if (!isPrompt) {
      this.#recorded.add(id);
      tx.set(underwayKey(id), { ...flow.name, devices: flow.devices });
    }
  }

  /** Takes what is to be sent to rooms, in order. */
  takeSends(): VerificationSend[] {
    return this.#sends.splice(0);
  }

  #toRoom(send: Omit<VerificationSend, "txnId">): void {
    this.#sends.push({ ...send, txnId: this.#options.context.uniqueId() });
  }

  #toDevices(
    tx: Transaction,
    { userId, devices }: Receivers,
    { type: eventType, content }: Pick<VerificationSend, "type" | "content">,
  ): void {
    if (devices.length === 0) return;
    const messages = { [userId]: Object.fromEntries(devices.map((deviceId) => [deviceId, content])) };
    this.#options.outbox.add(tx, { kind: "toDevice", eventType, messages }, newTxn(this.#options.context));
  }
}

function underwayKey(id: string): RecordKey<UnderwayRecord> {
  return { ...recordKey<UnderwayRecord>("verification", id), held: true };
}

/** How many messages are kept while a request is being sent. */
const MAX_EARLY = 20;

/** A request that is being sent. */
export interface Asking {
  /** Where. */
  readonly roomId: RoomID;
  /** Who is asked. */
  readonly userId: UserID;
  /** What this device can do. */
  readonly methods: readonly string[];
  /** What the user has said in the meantime. */
  readonly early: VerificationEvent[];
}

/** Keeps them until they were sent. */
export class RoomAsking {
  readonly #context: CryptoContext;
  readonly #asking = new Map<string, Asking>();

  /** @param context Gives names to them. */
  constructor(context: CryptoContext) {
    this.#context = context;
  }

  /** Begins one: what is to be sent. */
  begin(roomId: RoomID, userId: UserID, methods: readonly string[]): VerificationSend {
    const { own, uniqueId } = this.#context;
    const [id, txnId] = [uniqueId(), uniqueId()];
    this.#asking.set(id, { roomId, userId, methods, early: [] });
    const body = `${own.userId} asks to verify each other's keys, which this client can't do in a room`;
    const content = {
      msgtype: REQUEST_TYPE,
      body,
      from_device: own.deviceId,
      methods: [...methods],
      to: userId,
    };
    return { id, roomId, userId, devices: [], type: "m.room.message", content, txnId };
  }

  /** Keeps a message of a verification that is not known: it may be one of these. */
  keep(event: VerificationEvent, room: RoomID): void {
    for (const { roomId, userId, early } of this.#asking.values()) {
      if (room === roomId && event.sender === userId && early.length < MAX_EARLY) early.push(event);
    }
  }

  /** One was sent, or could not be. */
  end(id: string): Asking | undefined {
    const asking = this.#asking.get(id);
    this.#asking.delete(id);
    return asking;
  }
}

/** The parts that it needs. */
export interface VerifiedTrustParts {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** The devices and identities of users. */
  readonly devices: DeviceLists;
  /** Signs them. */
  readonly signing: IdentitySigning;
}

export interface Verified {
  /** The other user, who may be the own one. */
  readonly userId: UserID;
  /** The other device. */
  readonly device: CryptoDevice;
  /** The keys that were verified. */
  readonly keys: FrozenKeys;
  /** Which of them. */
  readonly vouched: VerifiedKeys;
}

/** Stores the trust, and what the server is to get. */
export async function trustVerified(
  tx: Transaction,
  { context: { own }, devices, signing }: VerifiedTrustParts,
  { userId, device, keys: { master }, vouched }: Verified,
): Promise<void> {
  if (vouched.identity && master !== undefined) {
    const compared = { userId, master };
    const isVerified = (await devices.identityOf(tx, userId))?.isVerified === true;
    if (!isVerified && await signing.signIdentity(tx, compared) === "no-key") {
      await devices.changeIdentity(tx, userId, (before) => acceptedIdentity(before, compared));
    }
  }
  if (!vouched.device) return;
  await devices.setTrust(tx, device, "verified");
  if (userId === own.userId) await signing.signDevice(tx, device);
}

/** How many requests of one user may wait, and how many of all. */
const MAX_OF_USER = 10;

const MAX_PROMPTS = 100;

/** What is to be done with one more request. */
export interface PromptVerdict {
  readonly mayWait: boolean;
  /** The request that gives way to it, if one has to: the oldest of the user with the most. */
  readonly instead?: VerificationFlow;
}

/**
 * Returns whether one more request of a user may wait. No user can crowd out another's only request, and
 * nobody those of the own user.
 */
export function judgePrompt(
  flows: Iterable<VerificationFlow>,
  userId: UserID,
  own: Pick<OwnDevice, "userId">,
): PromptVerdict {
  const prompts = [...flows].filter(({ isPrompt }) => isPrompt);
  const ofUser = prompts.filter(({ name }) => name.userId === userId);
  if (ofUser.length >= MAX_OF_USER) return { mayWait: false };
  if (prompts.length < MAX_PROMPTS) return { mayWait: true };
  if (userId === own.userId) return { mayWait: true };
  const others = prompts.filter(({ name }) => name.userId !== own.userId);
  const groups = [...Map.groupBy(others, ({ name }) => name.userId).values()];
  const most = groups.reduce((one, other) => other.length > one.length ? other : one, []);
  return most.length > 1 ? { mayWait: true, instead: most[0] } : { mayWait: false };
}

/** A request of another device. */
export type IncomingRequest = Pick<StepContent<"ready">, "from_device" | "methods"> & {
  /** When it was made, in milliseconds since the epoch: by its own account, or in a room by the server's. */
  readonly timestamp: number;
};

/** Reads a request; or says why it is none for this device, or none any more. */
export function readRequest(
  { sender, content, place }: VerificationEvent,
  { own, now }: { readonly own: OwnDevice; readonly now: number },
): { readonly request?: IncomingRequest; readonly problem?: string } {
  try {
    const { timestamp = NaN, ...request } = place === undefined
      ? checkedContent("request", content)
      : { ...checkedContent("ready", content), timestamp: place.at };
    if (place !== undefined && content.to !== own.userId) return { problem: "it is for another user" };
    if (!(timestamp > now - TIMEOUT && timestamp < now + MAX_AHEAD)) return { problem: "it is not of now" };
    if (sender === own.userId && request.from_device === own.deviceId) return { problem: "it is its own" };
    return { request: { ...request, timestamp } };
  } catch (error) {
    if (error instanceof VerificationFault) return { problem: error.message };
    throw error;
  }
}
