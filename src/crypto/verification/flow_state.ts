/**
 * What is known of one verification: how far it has come, who takes part, and which keys it is about.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#key-verification-framework | Key verification framework}
 *
 * What a message of the other side does to a verification, if it comes at its time.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#key-verification-framework | Key verification framework}
 *
 * Over 300 lines because what a message does to a state is read beside the state.
 *
 * @module
 */

import type { VerificationEnd } from "../../errors/encryption_error.ts";
import { VERIFICATION_PREFIX, type VerificationCancelCode } from "../../types/content/encryption_content.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type {
  VerificationCancellation,
  VerificationPhase,
  VerificationWay,
} from "../../types/verification.ts";
import type { OwnDevice } from "../context/context.ts";
import {
  checkedContent,
  commonWays,
  flowKey,
  type FlowName,
  type FrozenKeys,
  RECIPROCATE,
  SAS,
  type StepContent,
  unexpected,
  VerificationFault,
  type VerificationState,
  type VerificationStep,
  type VerifiedKeys,
} from "./protocol.ts";
import type { QrReciprocation } from "./qr_reciprocation.ts";
import type { SasBinding, SasExchange } from "./sas_exchange.ts";

/** What a verification begins with. */
export interface FlowSetup {
  /** Which one it is. */
  readonly name: FlowName;
  /** This device. */
  readonly own: OwnDevice;
  /** Whether the other side has asked for it. */
  readonly isIncoming: boolean;
  /** The devices of the other user that take part, or were asked. */
  readonly devices: readonly DeviceID[];
  /** The methods of the side that asks. */
  readonly methods: readonly string[];
  /** When it is called off unless it has ended, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** When a request of the other side is dropped unless it was accepted. Default: then. */
  readonly promptUntil?: number;
  /** The start with which it began, in place of a request. Default: none. */
  readonly start?: JsonObject;
}

/** The start of the other side, to be answered. */
interface TheirStart {
  readonly start: JsonObject;
  readonly offer: StepContent<"start">;
}

/** The state of one verification. It decides nothing. */
export class FlowState {
  readonly name: FlowName;
  readonly own: OwnDevice;
  readonly isIncoming: boolean;
  /** Whether it began with a start, without a request. */
  readonly isBare: boolean;
  readonly #expiresAt: number;
  readonly #promptUntil: number;
  /** The devices of the other user that take part, or were asked. */
  devices: readonly DeviceID[];
  phase: VerificationPhase = "requested";
  ownMethods: readonly string[] = [];
  theirMethods: readonly string[] = [];
  /** The keys as they were when the exchange began. */
  keys: FrozenKeys | undefined;
  /** Whether this side has sent the start that counts. */
  isStarter = false;
  theirStart: TheirStart | undefined;
  sas: SasExchange | undefined;
  qr: QrReciprocation | undefined;
  /** What a scanned code has verified, once the other side is done. */
  scanned: VerifiedKeys | undefined;
  /** What the other side has vouched for. */
  vouched: VerifiedKeys | undefined;
  isConfirmed = false;
  verified: VerifiedKeys | undefined;
  replacedBy: string | undefined;
  #cancellation: VerificationCancellation | undefined;

  /** @param setup What it begins with. */
  constructor({ name, own, isIncoming, devices, methods, expiresAt, promptUntil, start }: FlowSetup) {
    this.name = name;
    this.own = own;
    this.isIncoming = isIncoming;
    this.devices = devices;
    this.isBare = start !== undefined;
    this.#expiresAt = expiresAt;
    this.#promptUntil = Math.min(expiresAt, promptUntil ?? expiresAt);
    if (isIncoming) this.theirMethods = methods;
    else this.ownMethods = methods;
  }

  /** Whether it has ended. */
  get isOver(): boolean {
    return this.phase === "done" || this.phase === "cancelled";
  }

  /** Whether the user has not answered the request yet. */
  get isPrompt(): boolean {
    return this.isIncoming && this.phase === "requested";
  }

  /** Whether this side has asked, and nobody has answered yet. */
  get isAsking(): boolean {
    return !this.isIncoming && this.phase === "requested";
  }

  /** The other device; undefined: it is not known yet which. */
  get deviceId(): DeviceID | undefined {
    return this.isAsking ? undefined : this.devices[0];
  }

  /** When it is called off unless it has ended, in milliseconds since the epoch. */
  get expiresAt(): number {
    return this.isPrompt ? this.#promptUntil : this.#expiresAt;
  }

  /** What both devices can do. */
  get ways(): VerificationWay[] {
    return commonWays(this.ownMethods, this.theirMethods);
  }

  /** It, as plain data. */
  view(): VerificationState {
    const { name, isIncoming, deviceId, phase, ways, replacedBy, verified, expiresAt } = this;
    return {
      id: flowKey(name),
      userId: name.userId,
      deviceId,
      roomId: name.roomId,
      isIncoming,
      phase,
      ways,
      shortString: this.sas?.shortString,
      cancellation: this.#cancellation,
      replacedBy,
      verified,
      expiresAt,
      needs: this.#needs,
    };
  }

  get #needs(): VerificationState["needs"] {
    if (this.isOver) return undefined;
    if (this.theirStart !== undefined && !this.isPrompt) return "start";
    return this.isConfirmed && this.vouched !== undefined ? "completion" : undefined;
  }

  /** Of two requests or starts at once, that of the smaller user counts, or of the smaller device. */
  isFirst(deviceId: DeviceID): boolean {
    const { userId } = this.name;
    return userId === this.own.userId ? this.own.deviceId < deviceId : this.own.userId < userId;
  }

  /**
   * Takes the keys of both sides as they are now. What was shown or begun with other keys verifies none.
   *
   * @throws {VerificationFault} If they were others before.
   */
  freeze(keys: FrozenKeys): void {
    const { device, master, ownMaster } = this.keys ?? keys;
    if (device !== keys.device || master !== keys.master || ownMaster !== keys.ownMaster) {
      throw new VerificationFault("m.key_mismatch", "The keys have changed in the meantime");
    }
    this.keys = keys;
  }

  /** What a comparison of short strings is bound to. */
  get binding(): SasBinding {
    const { userId: ownUser, deviceId: ownDevice } = this.own;
    const { userId, flowId } = this.name;
    return {
      own: { userId: ownUser, deviceId: ownDevice },
      other: { userId, deviceId: this.deviceId ?? "" },
      flowId,
    };
  }

  /** The own keys that this side vouches for: the identity only if it is known to be the user's. */
  vouchedByUs({ ownMaster, isOwnVerified }: FrozenKeys): Map<string, string> {
    const { deviceId, ed25519 } = this.own;
    const own = new Map([[`ed25519:${deviceId}`, ed25519]]);
    if (isOwnVerified && ownMaster !== undefined) own.set(`ed25519:${ownMaster}`, ownMaster);
    return own;
  }

  /** Ends it without a word. */
  end(code: VerificationCancelCode, reason: string, by: VerificationEnd): void {
    if (this.isOver) return;
    this.#cancellation = { code, reason, by };
    this.phase = "cancelled";
    this.free();
  }

  /** Frees private keys. */
  free(): void {
    this.dropSas();
    this.qr = undefined;
    this.theirStart = undefined;
  }

  /** Frees the private keys of the comparison. */
  dropSas(): void {
    this.sas?.[Symbol.dispose]();
    this.sas = undefined;
  }
}

/** A message to be sent. */
export interface OutgoingStep {
  readonly type: string;
  /** Its content, which says which verification it belongs to. */
  readonly content: JsonObject;
  /** The devices of the other user; ignored in a room. */
  readonly devices: readonly DeviceID[];
}

/** Keeps the messages of a verification until they are taken. */
export class FlowOutbox {
  readonly #state: FlowState;
  #outgoing: OutgoingStep[] = [];

  /** @param state Of which verification. */
  constructor(state: FlowState) {
    this.#state = state;
  }

  /** Takes the messages that are to be sent. */
  take(): OutgoingStep[] {
    return this.#outgoing.splice(0);
  }

  /** Sends a message to the devices that take part; its content is to say which verification it is. */
  send(step: VerificationStep, content: JsonObject): void {
    this.sendNamed(step, this.named(content));
  }

  /** The same, with a content that says so already. */
  sendNamed(step: VerificationStep, content: JsonObject, devices = this.#state.devices): void {
    this.#outgoing.push({ type: VERIFICATION_PREFIX + step, content, devices });
  }

  /** Tells devices that were asked too, by their names, that another one takes part. */
  tellAccepted(devices: readonly DeviceID[]): void {
    if (devices.length === 0) return;
    const content = { code: "m.accepted", reason: "Another device has accepted the request" };
    this.sendNamed("cancel", this.named(content), devices);
  }

  /** A content that says which verification it belongs to. */
  named(content: JsonObject): JsonObject {
    const { roomId, flowId } = this.#state.name;
    if (roomId === undefined) return { ...content, transaction_id: flowId };
    return { ...content, "m.relates_to": { rel_type: "m.reference", event_id: flowId } };
  }
}

/** A message of the other side. */
export interface IncomingStep {
  readonly step: VerificationStep;
  /** Its content, unchecked. */
  readonly content: JsonObject;
  /** Which device has sent it, if that is known. */
  readonly senderDevice?: DeviceID;
}

/** Takes the messages of the other side. A fault of the other side is thrown. */
export class FlowAnswers {
  readonly #state: FlowState;
  readonly #outbox: FlowOutbox;

  /** @param state Of which verification. @param outbox Where its answers go. */
  constructor(state: FlowState, outbox: FlowOutbox) {
    this.#state = state;
    this.#outbox = outbox;
  }

  /** Takes one, unchecked. */
  receive(step: VerificationStep, content: JsonObject): void {
    switch (step) {
      case "ready":
        return this.#ready(checkedContent(step, content));
      case "start":
        return this.#started(content, checkedContent(step, content));
      case "accept":
        this.#exchange(step).accepted(checkedContent(step, content));
        return this.#outbox.send("key", { key: this.#exchange(step).publicKey });
      case "key":
        return this.#key(checkedContent(step, content));
      case "mac":
        return this.#mac(checkedContent(step, content));
      case "done":
        return this.#done();
    }
  }

  #ready({ from_device, methods }: StepContent<"ready">): void {
    const state = this.#state;
    if (state.isIncoming) throw unexpected("ready");
    if (state.phase !== "requested") return; // another device has accepted it first
    if (state.name.roomId === undefined && !state.devices.includes(from_device)) return;
    const others = state.devices.filter((deviceId) => deviceId !== from_device);
    state.devices = [from_device];
    state.theirMethods = methods;
    state.phase = "ready";
    this.#outbox.tellAccepted(others);
    if (state.ways.length === 0) {
      throw new VerificationFault("m.unknown_method", "The devices have no method in common");
    }
  }

  #started(content: JsonObject, offer: StepContent<"start">): void {
    const state = this.#state;
    if (offer.from_device !== state.deviceId) return; // it is another device's
    if (state.isStarter) {
      const method = state.sas === undefined ? RECIPROCATE : SAS;
      const isEarly = state.phase === "started" || state.scanned !== undefined;
      if (offer.method !== method || !isEarly) throw unexpected("start");
      if (state.isFirst(offer.from_device)) return; // the other side gives way
      state.dropSas();
      state.scanned = undefined;
      state.isStarter = false;
      state.phase = "ready";
    }
    if (state.phase !== "ready" || state.theirStart !== undefined) throw unexpected("start");
    if ("secret" in offer) return this.#reciprocated(offer.secret);
    if (!state.ways.includes("sas")) throw new VerificationFault("m.unknown_method", "No SAS was offered");
    state.theirStart = { start: content, offer };
  }

  #reciprocated(secret: string): void {
    const state = this.#state;
    if (state.qr === undefined) throw unexpected("start");
    state.vouched = state.qr.reciprocated(secret);
    state.phase = "scanned";
  }

  #key(content: StepContent<"key">): void {
    const state = this.#state;
    const sas = this.#exchange("key");
    sas.receiveKey(content);
    if (!state.isStarter) this.#outbox.send("key", { key: sas.publicKey });
    state.phase = "comparing";
  }

  #mac(content: StepContent<"mac">): void {
    const state = this.#state;
    const { keys, deviceId } = state;
    if (keys === undefined || state.vouched !== undefined) throw unexpected("mac");
    const { device, master } = keys;
    const expected = new Map([[`ed25519:${deviceId}`, device]]);
    if (master !== undefined) expected.set(`ed25519:${master}`, master);
    const verified = this.#exchange("mac").verify(content, expected);
    state.vouched = {
      device: verified.has(`ed25519:${deviceId}`),
      identity: master !== undefined && verified.has(`ed25519:${master}`),
    };
  }

  #done(): void {
    const state = this.#state;
    if (state.scanned !== undefined) {
      state.vouched = state.scanned;
      state.isConfirmed = true;
    }
    if (state.vouched === undefined) throw unexpected("done");
  }

  #exchange(step: string): SasExchange {
    if (this.#state.sas === undefined) throw unexpected(step);
    return this.#state.sas;
  }
}
