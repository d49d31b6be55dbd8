/**
 * Key requests, of this device to own other devices, and of other devices to this one;
 * and how keys are received that no device has sent.
 *
 * @module
 */

import { VodozemacError } from "@greenroom/vodozemac-wasm";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { DeviceLists } from "../devices/mod.ts";
import {
  type AddedKey,
  type ImportedRoomKey,
  type InboundSessions,
  isPastOnly,
  type RecoveredEvent,
  type UndecryptableEvents,
} from "../megolm/mod.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import { FairIndex, type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import {
  asked,
  type AskedDevices,
  checkedAnswer,
  devicesToAsk,
  KeyAnswers,
  type KeyAnswersOptions,
  type OlmAnswer,
  tellAsked,
} from "./key_answers.ts";
import { SharedRateLimit } from "../requests/requests.ts";
import type { CryptoContext } from "../context/context.ts";

export {
  asked,
  type AskedDevices,
  checkedAnswer,
  devicesToAsk,
  type OlmAnswer,
  tellAsked,
} from "./key_answers.ts";

/** The parts that it needs. */
export interface KeyRequestsOptions extends KeyAnswersOptions {
  /** Other devices. */
  readonly devices: Pick<DeviceLists, "device" | "devicesOf">;
  /** Sessions that decrypt. */
  readonly inbound: Pick<InboundSessions, "exportSession" | "import">;
}

interface KeyRequest extends MegolmSessionRef, AskedDevices {
  /** The sender of the event that needs the key. */
  readonly sender: UserID;
  /** The order of the requests. */
  readonly order: number;
  /** From which index on the session is needed; absent: that is not known, and any is taken for enough. */
  readonly index?: number;
}

const LIMIT = 1_000;
const PER_ROOM = { times: 50, periodMs: 10 * 60 * 1_000 };
const MAX_IN_ALL = 500;

/** Requests keys, and answers the requests of others. */
export class KeyRequests {
  readonly #options: KeyRequestsOptions;
  /** Answers the requests of others. */
  readonly answers: KeyAnswers;
  readonly #requests = new FairIndex<KeyRequest>(LIMIT, ({ sender }) => sender);
  readonly #limit: SharedRateLimit;
  #last = 0;

  /** @param options The parts that it needs. */
  constructor(options: KeyRequestsOptions) {
    this.#options = options;
    this.answers = new KeyAnswers(options);
    this.#limit = new SharedRateLimit(options.context.clock, PER_ROOM, MAX_IN_ALL);
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    this.#requests.clear();
    const [records] = await Promise.all([tx.list<KeyRequest>("keyRequest"), this.answers.load(tx)]);
    records.sort(([, one], [, other]) => one.order - other.order);
    for (const [, request] of records) {
      this.#requests.load(request.roomId, request.sessionId, request);
      this.#last = request.order;
    }
  }

  /**
   * Requests the key of an event from the own verified devices, once; does nothing if there are
   * none.
   */
  async want(tx: Transaction, { room_id: roomId, sender, content }: MessageEvent): Promise<void> {
    const { session_id: sessionId, sender_key } = content;
    if (typeof sessionId !== "string") return;
    const index = this.#indexOf(content);
    const known = this.#requests.get(roomId, sessionId);
    if (known !== undefined) return this.#needsFrom(tx, known, index);
    const devices = await devicesToAsk(tx, this.#options);
    if (devices.length === 0 || !this.#limit.take(roomId, sender)) return;
    const request: KeyRequest = {
      roomId,
      sessionId,
      requestId: this.#options.context.uniqueId(),
      sender,
      devices: asked(devices),
      order: ++this.#last,
      index,
    };
    this.#keep(tx, request);
    const body = {
      algorithm: EncryptionAlgorithm.MEGOLM_V1,
      room_id: roomId,
      session_id: sessionId,
      ...(typeof sender_key === "string" && { sender_key }),
    };
    this.#send(tx, request, { action: "request", body });
  }

  /**
   * Cancels the request for a session whose key has come, unless that begins too late for what waits: any
   * member can send such a key.
   */
  received(
    tx: Transaction,
    { session: { roomId, sessionId }, firstIndex }: {
      readonly session: MegolmSessionRef;
      /** The first index that can be decrypted now. */
      readonly firstIndex: number;
    },
  ): void {
    const request = this.#requests.get(roomId, sessionId);
    if (request === undefined || (request.index ?? Infinity) < firstIndex) return;
    this.#requests.delete(tx, roomId, sessionId);
    tx.delete(requestKey(request));
    this.#send(tx, request, { action: "request_cancellation" });
  }

  /**
   * Receives a forwarded key. It counts if it was asked for, and if the device
   * is one that was asked, and still is one of the own verified ones.
   *
   * @returns The session, if there is a key of it now.
   */
  async receiveForward(
    tx: Transaction,
    { sender, device, content }: OlmAnswer,
  ): Promise<MegolmSessionRef | undefined> {
    const { context: { own, log }, inbound } = this.#options;
    const { algorithm, room_id, session_id, session_key, sender_key, sender_claimed_ed25519_key } = content;
    const request = typeof room_id === "string" && typeof session_id === "string"
      ? this.#requests.get(room_id, session_id)
      : undefined;
    const ignore = (reason: string): undefined =>
      log.warn("Ignored a forwarded room key", { sender, reason }) as undefined;
    const answer = checkedAnswer(own.userId, { sender, device }, request);
    if (typeof answer === "string") return ignore(answer);
    if (
      algorithm !== EncryptionAlgorithm.MEGOLM_V1 || typeof session_key !== "string" ||
      typeof sender_key !== "string"
    ) {
      return ignore("it is not what such a key must be");
    }
    const { roomId, sessionId } = answer.request;
    const added = await inbound.import(tx, {
      roomId,
      sessionId,
      sessionKey: session_key,
      senderKey: sender_key,
      senderEd25519: typeof sender_claimed_ed25519_key === "string" ? sender_claimed_ed25519_key : "",
      source: "forwarded",
    });
    if (added.kind === "refused") return ignore(added.reason);
    this.received(tx, added);
    return added.session;
  }

  /** Notes that a session is needed from an earlier index on. */
  #needsFrom(tx: Transaction, request: KeyRequest, index: number | undefined): void {
    if ((index ?? Infinity) < (request.index ?? 0)) this.#keep(tx, { ...request, index });
  }

  #keep(tx: Transaction, request: KeyRequest): void {
    tx.set(requestKey(request), request);
    for (const [, , gone] of this.#requests.set(tx, [request.roomId, request.sessionId, request])) {
      tx.delete(requestKey(gone));
    }
  }

  /** The index of an encrypted event; undefined: it has none. */
  #indexOf({ ciphertext }: JsonObject): number | undefined {
    if (typeof ciphertext !== "string") return undefined;
    try {
      return this.#options.context.vodozemac.megolm.messageIndex(ciphertext);
    } catch (error) {
      if (!(error instanceof VodozemacError) || error.code === "instance_dead") throw error;
      return undefined;
    }
  }

  #send(tx: Transaction, request: KeyRequest, what: JsonObject): void {
    tellAsked(tx, this.#options, { eventType: "m.room_key_request", request, what });
  }
}

function requestKey({ roomId, sessionId }: { roomId: RoomID; sessionId: string }): RecordKey<KeyRequest> {
  return recordKey("keyRequest", roomId, sessionId);
}

/** What has become of imported keys. */
export interface KeysOutput extends Readonly<Record<AddedKey["kind"], number>> {
  /** Events that can be decrypted now. */
  readonly recovered: readonly RecoveredEvent[];
}

/** The parts that receive keys. */
export interface KeyReceivers {
  /** What the parts share. */
  readonly context: CryptoContext;
  readonly inbound: Pick<InboundSessions, "importAll">;
  readonly keyRequests: Pick<KeyRequests, "received">;
  /** The events that wait for keys. */
  readonly undecryptable: Pick<UndecryptableEvents, "retry">;
}

/**
 * Receives keys: those that can't be used are left out, and no more requested is what has come,
 * unless it does for the past alone.
 */
export async function receiveKeys(
  tx: Transaction,
  { inbound, keyRequests, undecryptable, context: { log, policy } }: KeyReceivers,
  keys: readonly ImportedRoomKey[],
): Promise<KeysOutput> {
  const counts = { added: 0, improved: 0, known: 0, refused: 0 };
  const reasons = new Set<string>();
  const newKeys: MegolmSessionRef[] = [];
  for (const [index, added] of (await inbound.importAll(tx, keys)).entries()) {
    const { source } = keys[index] as ImportedRoomKey; // one for each
    counts[added.kind]++;
    if (added.kind === "refused") reasons.add(added.reason);
    else if (!isPastOnly(policy.accept, { trust: "unknown-device", source })) keyRequests.received(tx, added);
    if (added.kind === "added" || added.kind === "improved") newKeys.push(added.session);
  }
  if (counts.refused > 0) {
    log.warn("Refused imported keys", { count: counts.refused, reasons: [...reasons].join("; ") });
  }
  return { ...counts, recovered: await undecryptable.retry(tx, newKeys) };
}
