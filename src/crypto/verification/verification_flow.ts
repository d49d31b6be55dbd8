/**
 * One verification: messages and the user's decisions in, messages and a state out. It knows no time
 * and sends nothing. Over 300 lines because each step is a transition of one state.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#key-verification-framework | Key verification framework}
 * @module
 */

import { type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { VerificationCancelCode } from "../../types/content/verification_content.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { VerificationEnd } from "../../errors/verification_error.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { OwnDevice } from "../engine/context.ts";
import {
  commonWays,
  flowKey,
  type FlowName,
  type FrozenKeys,
  methodsOf,
  RECIPROCATE,
  SAS,
  VERIFICATION_PREFIX,
  type VerificationCancellation,
  type VerificationPhase,
  type VerificationState,
  type VerificationWay,
  type VerifiedKeys,
} from "./protocol.ts";
import { QrReciprocation } from "./qr_reciprocation.ts";
import { type SasBinding, SasExchange, sasOffer } from "./sas_exchange.ts";
import { checkedContent, type StepContent, type VerificationStep } from "./verification_message.ts";
import { VerificationFault } from "./verification_fault.ts";

/** A message to be sent. */
export interface OutgoingStep {
  /** Its type. */
  readonly type: string;
  /** Its content, which says which verification it belongs to. */
  readonly content: JsonObject;
  /** The devices of the other user; ignored in a room. */
  readonly devices: readonly DeviceID[];
}

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

/** A message of the other side. */
export interface IncomingStep {
  /** Which step. */
  readonly step: VerificationStep;
  /** Its content, unchecked. */
  readonly content: JsonObject;
  /** Which device has sent it, if that is known. */
  readonly senderDevice?: DeviceID;
}

/** The start of the other side, to be answered. */
interface TheirStart {
  readonly content: JsonObject;
  readonly offer: StepContent<"start">;
}

const NOT_THEIRS = new Set<VerificationStep>(["request"]);

/** One verification. */
export class VerificationFlow {
  /** Its name within this device. */
  readonly id: string;
  /** Which one it is. */
  readonly name: FlowName;
  /** Whether the other side has asked for it. */
  readonly isIncoming: boolean;
  readonly #expiresAt: number;
  readonly #promptUntil: number;
  readonly #own: OwnDevice;
  readonly #isBare: boolean;
  #devices: readonly DeviceID[];
  #phase: VerificationPhase = "requested";
  #ownMethods: readonly string[] = [];
  #theirMethods: readonly string[] = [];
  #outgoing: OutgoingStep[] = [];
  #keys: FrozenKeys | undefined;
  #isStarter = false;
  #theirStart: TheirStart | undefined;
  #sas: SasExchange | undefined;
  #qr: QrReciprocation | undefined;
  /** What the other side has vouched for. */
  #vouched: VerifiedKeys | undefined;
  #isConfirmed = false;
  #cancellation: VerificationCancellation | undefined;
  #verified: VerifiedKeys | undefined;
  #replacedBy: string | undefined;

  /** @param setup What it begins with. */
  constructor({ name, own, isIncoming, devices, methods, expiresAt, promptUntil, start }: FlowSetup) {
    this.id = flowKey(name);
    this.name = name;
    this.isIncoming = isIncoming;
    this.#expiresAt = expiresAt;
    this.#promptUntil = Math.min(expiresAt, promptUntil ?? expiresAt);
    this.#own = own;
    this.#devices = devices;
    this.#isBare = start !== undefined;
    if (isIncoming) this.#theirMethods = methods;
    else this.#ownMethods = methods;
    if (start === undefined) return;
    this.#theirMethods = [SAS];
    this.#faulted(() => this.#theirStart = { content: start, offer: checkedContent("start", start) });
  }

  /** Whether it has ended. */
  get isOver(): boolean {
    return this.#phase === "done" || this.#phase === "cancelled";
  }

  /** Whether the user has not answered the request yet. */
  get isPrompt(): boolean {
    return this.isIncoming && this.#phase === "requested";
  }

  /** Whether this side has asked, and nobody has answered yet. */
  get isAsking(): boolean {
    return !this.isIncoming && this.#phase === "requested";
  }

  /** The other device; undefined: it is not known yet which. */
  get deviceId(): DeviceID | undefined {
    return this.isAsking ? undefined : this.#devices[0];
  }

  /** When it is called off unless it has ended, in milliseconds since the epoch. */
  get expiresAt(): number {
    return this.isPrompt ? this.#promptUntil : this.#expiresAt;
  }

  /** The devices of the other user that take part, or were asked. */
  get devices(): readonly DeviceID[] {
    return this.#devices;
  }

  /** The keys as they were when the exchange began; undefined: it has not. */
  get keys(): FrozenKeys | undefined {
    return this.#keys;
  }

  /** What the other side has vouched for; undefined: nothing yet. */
  get vouched(): VerifiedKeys | undefined {
    return this.#vouched;
  }

  /** It, as plain data. */
  state(): VerificationState {
    const { id, isIncoming, expiresAt, name: { userId, roomId }, deviceId } = this;
    const isPrompt = this.isPrompt;
    return {
      id,
      userId,
      deviceId,
      roomId,
      isIncoming,
      phase: this.#phase,
      ways: isPrompt ? [] : commonWays(this.#ownMethods, this.#theirMethods),
      shortString: this.#phase === "comparing" || this.#phase === "confirmed"
        ? this.#sas?.shortString
        : undefined,
      cancellation: this.#cancellation,
      replacedBy: this.#replacedBy,
      verified: this.#verified,
      expiresAt,
      needs: this.#needs,
    };
  }

  get #needs(): VerificationState["needs"] {
    if (this.isOver) return undefined;
    if (this.#theirStart !== undefined && !this.isPrompt) return "start";
    return this.#isConfirmed && this.#vouched !== undefined ? "completion" : undefined;
  }

  /** Takes the messages that are to be sent. */
  takeOutgoing(): OutgoingStep[] {
    return this.#outgoing.splice(0);
  }

  /** Sends the own request to devices; one in a room is its name. */
  request(timestamp: number): void {
    this.#send("request", { from_device: this.#own.deviceId, methods: [...this.#ownMethods], timestamp });
  }

  /** Takes part in what the other side has asked for. */
  accept(ways: readonly VerificationWay[]): void {
    if (!this.isPrompt) throw this.#untimely("accept");
    this.join(methodsOf(ways));
  }

  /** The same, with methods; no decision of the user, who has asked for it, too. */
  join(methods: readonly string[]): void {
    this.#ownMethods = methods;
    if (commonWays(this.#ownMethods, this.#theirMethods).length === 0) {
      return this.cancel("m.unknown_method", "The devices have no method in common");
    }
    this.#phase = this.#isBare ? "started" : "ready";
    if (!this.#isBare) {
      this.#send("ready", { from_device: this.#own.deviceId, methods: [...this.#ownMethods] });
    }
  }

  /** Whether the own request counts, if a device of the other side has asked at the same time. */
  countsBeside(deviceId: DeviceID): boolean {
    return this.#isFirst(deviceId);
  }

  /** Leaves the field to the request of the other side, which is accepted by that. */
  giveWayTo(theirs: VerificationFlow): void {
    const others = this.#devices.filter((deviceId) => deviceId !== theirs.deviceId);
    if (this.name.roomId === undefined) this.#tellAccepted(others);
    this.#replacedBy = theirs.id;
    this.end("m.accepted", "The other side has asked at the same time", "them");
    theirs.join(this.#ownMethods);
  }

  #tellAccepted(devices: readonly DeviceID[]): void {
    if (devices.length === 0) return;
    const content = { code: "m.accepted", reason: "Another device has accepted the request" };
    this.#outgoing.push({ ...this.#step("cancel", content), devices });
  }

  /** Begins to compare short strings. */
  startSas(vodozemac: Vodozemac, keys: FrozenKeys): void {
    if (this.#phase !== "ready" || this.#theirStart !== undefined) throw this.#untimely("compare emoji");
    if (!this.state().ways.includes("sas")) {
      throw new ValueError("Cannot compare emoji: not both devices can; look which ways there are");
    }
    this.#keys = keys;
    const start = this.#named({ from_device: this.#own.deviceId, ...sasOffer() });
    this.#sas = SasExchange.started(vodozemac, this.#binding, start);
    this.#isStarter = true;
    this.#phase = "started";
    this.#push("start", start);
  }

  /** Answers the other side's start. */
  answerStart(vodozemac: Vodozemac, keys: FrozenKeys): void {
    const start = this.#theirStart;
    if (start === undefined || this.isOver) return;
    this.#theirStart = undefined;
    this.#faulted(() => {
      this.#keys = keys;
      this.#sas = SasExchange.received(vodozemac, this.#binding, {
        start: start.content,
        offer: start.offer,
      });
      this.#phase = "started";
      this.#send("accept", this.#sas.acceptance());
    });
  }

  /** The bytes of a QR code for the other device to scan. */
  showQr(keys: FrozenKeys): Uint8Array<ArrayBuffer> {
    if (this.#phase !== "ready") throw this.#untimely("show a QR code");
    if (!this.state().ways.includes("show-qr")) throw this.#noQr("show");
    this.#keys = keys;
    this.#qr ??= new QrReciprocation({ own: this.#own, name: this.name, keys });
    return this.#qr.show();
  }

  /** Takes the bytes of the QR code that the other device shows. */
  scanQr(bytes: Uint8Array, keys: FrozenKeys): void {
    if (this.#phase !== "ready") throw this.#untimely("scan a QR code");
    if (!this.state().ways.includes("scan-qr")) throw this.#noQr("scan");
    const qr = this.#qr ?? new QrReciprocation({ own: this.#own, name: this.name, keys });
    this.#faulted(() => {
      const { secret, verifies } = qr.scan(bytes);
      this.#keys = keys;
      this.#qr = qr;
      this.#isStarter = true;
      this.#phase = "confirmed";
      this.#scanned = verifies;
      this.#send("start", { from_device: this.#own.deviceId, method: RECIPROCATE, secret });
    });
  }

  /** What a scanned code has verified, once the other side is done. */
  #scanned: VerifiedKeys | undefined;

  /** The user says that both devices show the same, or that the other one shows a success. */
  confirm(): void {
    if (this.#phase === "scanned") {
      this.#isConfirmed = true;
      this.#phase = "confirmed";
      return;
    }
    const [sas, keys] = [this.#sas, this.#keys];
    if (this.#phase !== "comparing" || sas === undefined || keys === undefined) {
      throw this.#untimely("confirm");
    }
    const { deviceId, ed25519 } = this.#own;
    const own = new Map([[`ed25519:${deviceId}`, ed25519]]);
    const { ownMaster, isOwnVerified } = keys;
    if (isOwnVerified && ownMaster !== undefined) own.set(`ed25519:${ownMaster}`, ownMaster);
    this.#isConfirmed = true;
    this.#phase = "confirmed";
    this.#send("mac", sas.macs(own));
  }

  /** The user says that the devices show different strings, or the other one shows no success. */
  mismatch(): void {
    if (this.#phase !== "comparing" && this.#phase !== "scanned") throw this.#untimely("report a mismatch");
    const sas = this.#phase === "comparing";
    this.cancel(
      sas ? "m.mismatched_sas" : "m.key_mismatch",
      "The user says that the devices show different things",
    );
  }

  /** What was verified is stored. */
  complete(verified: VerifiedKeys): void {
    this.#verified = verified;
    this.#phase = "done";
    if (!this.#isBare) this.#send("done", {});
    this.#free();
  }

  /** Calls it off, and says so to the other side. */
  cancel(code: VerificationCancelCode, reason: string): void {
    if (this.isOver) return;
    this.#send("cancel", { code, reason });
    this.end(code, reason, "us");
  }

  /** Ends it without a word. */
  end(code: VerificationCancelCode, reason: string, by: VerificationEnd): void {
    if (this.isOver) return;
    this.#cancellation = { code, reason, by };
    this.#phase = "cancelled";
    this.#free();
  }

  /** Receives a message. It never throws for what the other side has done: it is called off then. */
  receive({ step, content, senderDevice }: IncomingStep): void {
    if (this.isOver || NOT_THEIRS.has(step)) return;
    if (senderDevice !== undefined && this.deviceId !== undefined && senderDevice !== this.deviceId) return;
    if (step === "cancel") return this.#cancelled(content);
    this.#faulted(() => this.#receive(step, content));
  }

  #receive(step: VerificationStep, content: JsonObject): void {
    switch (step) {
      case "ready":
        return this.#ready(checkedContent(step, content));
      case "start":
        return this.#started(content, checkedContent(step, content));
      case "accept":
        if (this.#phase !== "started") throw unexpected(step);
        this.#exchange(step).accepted(checkedContent(step, content));
        return this.#send("key", { key: this.#exchange(step).publicKey });
      case "key":
        return this.#receiveKey(checkedContent(step, content));
      case "mac":
        return this.#receiveMac(checkedContent(step, content));
      case "done":
        return this.#receiveDone();
    }
  }

  #ready({ from_device, methods }: StepContent<"ready">): void {
    if (this.isIncoming) throw unexpected("ready");
    if (this.#phase !== "requested") return; // another device was faster, and this one is told
    if (this.name.roomId === undefined && !this.#devices.includes(from_device)) return;
    const others = this.#devices.filter((deviceId) => deviceId !== from_device);
    this.#devices = [from_device];
    this.#theirMethods = methods;
    this.#phase = "ready";
    if (this.name.roomId === undefined) this.#tellAccepted(others);
    if (this.state().ways.length === 0) {
      throw new VerificationFault("m.unknown_method", "The devices have no method in common");
    }
  }

  #started(content: JsonObject, offer: StepContent<"start">): void {
    if (offer.from_device !== this.deviceId) return; // it is another device's
    if (this.#phase === "requested") throw unexpected("start");
    if (this.#isStarter) {
      const method = this.#sas === undefined ? RECIPROCATE : SAS;
      const isEarly = this.#phase === "started" || this.#scanned !== undefined;
      if (offer.method !== method || !isEarly) throw unexpected("start");
      if (this.#isFirst(offer.from_device)) return; // the other side gives way
      this.#sas?.[Symbol.dispose]();
      this.#sas = undefined;
      this.#scanned = undefined;
      this.#isStarter = false;
      this.#phase = "ready";
    }
    if (this.#phase !== "ready" || this.#theirStart !== undefined) throw unexpected("start");
    if ("secret" in offer) return this.#reciprocated(offer.secret);
    if (!this.state().ways.includes("sas")) {
      throw new VerificationFault("m.unknown_method", "No SAS was offered");
    }
    this.#theirStart = { content, offer };
  }

  /** Of two requests or starts at once, that of the smaller user counts, or of the smaller device. */
  #isFirst(deviceId: DeviceID): boolean {
    const { userId } = this.name;
    return userId === this.#own.userId ? this.#own.deviceId < deviceId : this.#own.userId < userId;
  }

  #reciprocated(secret: string): void {
    if (this.#qr === undefined) throw unexpected("start");
    this.#vouched = this.#qr.reciprocated(secret);
    this.#phase = "scanned";
  }

  #receiveKey(content: StepContent<"key">): void {
    if (this.#phase !== "started") throw unexpected("key");
    const sas = this.#exchange("key");
    sas.receiveKey(content);
    if (!this.#isStarter) this.#send("key", { key: sas.publicKey });
    this.#phase = "comparing";
  }

  #receiveMac(content: StepContent<"mac">): void {
    const [keys, { deviceId }] = [this.#keys, this];
    const isTime = this.#phase === "comparing" || this.#phase === "confirmed";
    if (!isTime || keys === undefined || this.#vouched !== undefined) throw unexpected("mac");
    const { device, master } = keys;
    const expected = new Map([[`ed25519:${deviceId}`, device]]);
    if (master !== undefined) expected.set(`ed25519:${master}`, master);
    const verified = this.#exchange("mac").verify(content, expected);
    this.#vouched = {
      device: verified.has(`ed25519:${deviceId}`),
      identity: master !== undefined && verified.has(`ed25519:${master}`),
    };
  }

  #receiveDone(): void {
    if (this.#scanned !== undefined) {
      this.#vouched = this.#scanned;
      this.#isConfirmed = true;
      return;
    }
    if (this.#vouched === undefined) throw unexpected("done");
  }

  #cancelled({ code, reason }: JsonObject): void {
    const known = typeof code === "string" && code.length <= 100 ? code : "m.user";
    const words = typeof reason === "string" ? reason.slice(0, 200) : "";
    this.end(known, words, known === "m.accepted" ? "other-device" : "them");
  }

  #exchange(step: string): SasExchange {
    if (this.#sas === undefined) throw unexpected(step);
    return this.#sas;
  }

  get #binding(): SasBinding {
    const { userId: ownUser, deviceId: ownDevice } = this.#own;
    const { userId, flowId } = this.name;
    return {
      own: { userId: ownUser, deviceId: ownDevice },
      other: { userId, deviceId: this.deviceId ?? "" },
      flowId,
    };
  }

  /** Runs some work; a fault of the other side cancels. */
  #faulted(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (error instanceof VerificationFault) return this.cancel(error.problem, error.message);
      if (!(error instanceof VodozemacError) || error.code === "instance_dead") throw error;
      this.cancel("m.invalid_message", "The message can't be used");
    }
  }

  #send(step: VerificationStep, content: JsonObject): void {
    this.#push(step, this.#named(content));
  }

  #push(step: VerificationStep, content: JsonObject): void {
    this.#outgoing.push({ type: VERIFICATION_PREFIX + step, content, devices: this.#devices });
  }

  #step(step: VerificationStep, content: JsonObject): Omit<OutgoingStep, "devices"> {
    return { type: VERIFICATION_PREFIX + step, content: this.#named(content) };
  }

  #named(content: JsonObject): JsonObject {
    const { roomId, flowId } = this.name;
    if (roomId === undefined) return { ...content, transaction_id: flowId };
    return { ...content, "m.relates_to": { rel_type: "m.reference", event_id: flowId } };
  }

  /** Frees private keys. */
  #free(): void {
    this.#sas?.[Symbol.dispose]();
    this.#sas = undefined;
    this.#qr = undefined;
    this.#theirStart = undefined;
  }

  #untimely(action: string): ValueError {
    return new ValueError(`Cannot ${action}: the verification is ${this.#phase}; look at its phase first`);
  }

  #noQr(action: string): ValueError {
    return new ValueError(
      `Cannot ${action} a QR code: the devices have not both said that they can; give that way to accept() or ` +
        "requestVerification()",
    );
  }
}

function unexpected(step: string): VerificationFault {
  return new VerificationFault("m.unexpected_message", `The ${step} does not come at its time`);
}
