/**
 * One verification: messages and decisions in, messages and a state (`flow_state.ts`) out. It knows no time.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#key-verification-framework | Key verification framework}
 * @module
 */

import { type Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { VerificationCancelCode } from "../../types/content/encryption_content.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { VerificationEnd } from "../../errors/encryption_error.ts";
import type { DeviceID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { VerificationWay } from "../../types/verification.ts";
import {
  FlowAnswers,
  FlowOutbox,
  type FlowSetup,
  FlowState,
  type IncomingStep,
  type OutgoingStep,
} from "./flow_state.ts";
import {
  checkedContent,
  commonWays,
  flowKey,
  type FlowName,
  type FrozenKeys,
  methodsOf,
  RECIPROCATE,
  SAS,
  VerificationFault,
  type VerificationState,
  type VerifiedKeys,
} from "./protocol.ts";
import { QrReciprocation } from "./qr_reciprocation.ts";
import { SasExchange, sasOffer } from "./sas_exchange.ts";

export class VerificationFlow {
  /** Its name within this device. */
  readonly id: string;
  /** Which one it is. */
  readonly name: FlowName;
  /** Whether the other side has asked for it. */
  readonly isIncoming: boolean;
  readonly #state: FlowState;
  readonly #outbox: FlowOutbox;
  readonly #answers: FlowAnswers;

  /** @param setup What it begins with. */
  constructor(setup: FlowSetup) {
    this.id = flowKey(setup.name);
    this.name = setup.name;
    this.isIncoming = setup.isIncoming;
    this.#state = new FlowState(setup);
    this.#outbox = new FlowOutbox(this.#state);
    this.#answers = new FlowAnswers(this.#state, this.#outbox);
    const { start } = setup;
    if (start === undefined) return;
    this.#state.theirMethods = [SAS];
    this.#faulted(() => this.#state.theirStart = { start, offer: checkedContent("start", start) });
  }

  /** Whether it has ended. */
  get isOver(): boolean {
    return this.#state.isOver;
  }

  /** Whether the user has not answered the request yet. */
  get isPrompt(): boolean {
    return this.#state.isPrompt;
  }

  /** Whether this side has asked, and nobody has answered yet. */
  get isAsking(): boolean {
    return this.#state.isAsking;
  }

  /** The other device; undefined: it is not known yet which. */
  get deviceId(): DeviceID | undefined {
    return this.#state.deviceId;
  }

  /** When it is called off unless it has ended, in milliseconds since the epoch. */
  get expiresAt(): number {
    return this.#state.expiresAt;
  }

  /** The devices of the other user that take part, or were asked. */
  get devices(): readonly DeviceID[] {
    return this.#state.devices;
  }

  /** The keys as they were when the exchange began; undefined: it has not. */
  get keys(): FrozenKeys | undefined {
    return this.#state.keys;
  }

  /** What the other side has vouched for; undefined: nothing yet. */
  get vouched(): VerifiedKeys | undefined {
    return this.#state.vouched;
  }

  /** It, as plain data. */
  state(): VerificationState {
    return this.#state.view();
  }

  /** Takes the messages that are to be sent. */
  takeOutgoing(): OutgoingStep[] {
    return this.#outbox.take();
  }

  /** Sends the own request to devices; one in a room is its name. */
  request(timestamp: number): void {
    this.#outbox.send("request", {
      from_device: this.#state.own.deviceId,
      methods: [...this.#state.ownMethods],
      timestamp,
    });
  }

  /** Takes part in what the other side has asked for. */
  accept(ways: readonly VerificationWay[]): void {
    if (this.isAsking) throw new ValueError("Cannot accept: this side has asked; await startSas()");
    if (!this.isPrompt) throw this.#untimely("accept");
    this.join(methodsOf(ways));
  }

  /** The same, with methods; no decision of the user, who has asked for it, too. */
  join(methods: readonly string[]): void {
    this.#state.ownMethods = methods;
    if (commonWays(methods, this.#state.theirMethods).length === 0) {
      return this.cancel("m.unknown_method", "The devices have no method in common");
    }
    this.#state.phase = "ready";
    if (this.#state.isBare) return;
    this.#outbox.send("ready", { from_device: this.#state.own.deviceId, methods: [...methods] });
  }

  /** Returns whether the own request counts, if a device of the other side has asked at the same time. */
  countsBeside(deviceId: DeviceID): boolean {
    return this.#state.isFirst(deviceId);
  }

  /** Leaves the field to the request of the other side, which is accepted by that. */
  giveWayTo(theirs: VerificationFlow): void {
    const others = this.#state.devices.filter((deviceId) => deviceId !== theirs.deviceId);
    this.#outbox.tellAccepted(others);
    this.#state.replacedBy = theirs.id;
    this.end("m.accepted", "The other side has asked at the same time", "them");
    theirs.join(this.#state.ownMethods);
  }

  /** Begins to compare short strings, unless a side has. */
  startSas(vodozemac: Vodozemac, keys: FrozenKeys): void {
    if (!this.isPrompt && (this.#state.theirStart ?? this.#state.sas) !== undefined) return;
    if (this.#state.phase !== "ready") throw this.#untimely("compare emoji");
    if (!this.#state.ways.includes("sas")) {
      throw new ValueError("Cannot compare emoji: not both devices can; look which ways there are");
    }
    this.#frozen(keys, () => {
      const start = this.#outbox.named({ from_device: this.#state.own.deviceId, ...sasOffer() });
      this.#state.sas = SasExchange.started(vodozemac, this.#state.binding, start);
      this.#state.isStarter = true;
      this.#state.phase = "started";
      this.#outbox.sendNamed("start", start);
    });
  }

  /** Answers the other side's start. */
  answerStart(vodozemac: Vodozemac, keys: FrozenKeys): void {
    const { theirStart } = this.#state;
    if (theirStart === undefined) return;
    this.#state.theirStart = undefined;
    this.#frozen(keys, () => {
      this.#state.sas = SasExchange.received(vodozemac, this.#state.binding, theirStart);
      this.#state.phase = "started";
      this.#outbox.send("accept", this.#state.sas.acceptance());
    });
  }

  /** The bytes of a QR code for the other device to scan; none: it was called off. */
  showQr(keys: FrozenKeys): Uint8Array<ArrayBuffer> {
    if (this.#state.phase !== "ready") throw this.#untimely("show a QR code");
    if (!this.#state.ways.includes("show-qr")) throw this.#noQr("show");
    return this.#frozen(keys, () => this.#qr(keys).show()) ?? new Uint8Array();
  }

  /** Takes the bytes of the QR code that the other device shows. */
  scanQr(bytes: Uint8Array, keys: FrozenKeys): void {
    if (this.#state.phase !== "ready" || this.#state.theirStart !== undefined) {
      throw this.#untimely("scan a QR code");
    }
    if (!this.#state.ways.includes("scan-qr")) throw this.#noQr("scan");
    this.#frozen(keys, () => {
      const { secret, verifies } = this.#qr(keys).scan(bytes);
      this.#state.isStarter = true;
      this.#state.phase = "confirmed";
      this.#state.scanned = verifies;
      this.#outbox.send("start", { from_device: this.#state.own.deviceId, method: RECIPROCATE, secret });
    });
  }

  /** The user says that both devices show the same, or that the other one shows a success. */
  confirm(): void {
    if (this.#state.phase === "scanned") {
      this.#state.isConfirmed = true;
      this.#state.phase = "confirmed";
      return;
    }
    const [sas, keys] = [this.#state.sas, this.#state.keys];
    if (this.#state.phase !== "comparing" || sas === undefined || keys === undefined) {
      throw this.#untimely("confirm");
    }
    this.#state.isConfirmed = true;
    this.#state.phase = "confirmed";
    this.#outbox.send("mac", sas.macs(this.#state.vouchedByUs(keys)));
  }

  /** The user says that the devices show different strings, or the other one shows no success. */
  mismatch(): void {
    if (this.#state.phase !== "comparing" && this.#state.phase !== "scanned") {
      throw this.#untimely("report a mismatch");
    }
    const code = this.#state.phase === "comparing" ? "m.mismatched_sas" : "m.key_mismatch";
    this.cancel(code, "The user says that the devices show different things");
  }

  /** Notes that what was verified is stored. */
  complete(verified: VerifiedKeys): void {
    this.#state.verified = verified;
    this.#state.phase = "done";
    if (!this.#state.isBare) this.#outbox.send("done", {});
    this.#state.free();
  }

  /** Calls it off, and says so to the other side. */
  cancel(code: VerificationCancelCode, reason: string): void {
    if (this.isOver) return;
    this.#outbox.send("cancel", { code, reason });
    this.end(code, reason, "us");
  }

  /** Ends it without a word. */
  end(code: VerificationCancelCode, reason: string, by: VerificationEnd): void {
    this.#state.end(code, reason, by);
  }

  /** Receives a message. It never throws for what the other side has done: it is called off then. */
  receive({ step, content, senderDevice }: IncomingStep): void {
    if (this.isOver) return;
    if (senderDevice !== undefined && this.deviceId !== undefined && senderDevice !== this.deviceId) return;
    if (step === "cancel") return this.#cancelled(content);
    this.#faulted(() => this.#answers.receive(step, content));
  }

  #cancelled({ code, reason }: JsonObject): void {
    const known = typeof code === "string" && code.length <= 100 ? code : "m.user";
    const words = typeof reason === "string" ? reason.slice(0, 200) : "";
    this.end(known, words, known === "m.accepted" ? "other-device" : "them");
  }

  #qr(keys: FrozenKeys): QrReciprocation {
    return this.#state.qr ??= new QrReciprocation({ own: this.#state.own, name: this.name, keys });
  }

  /** Runs some work with the keys of both sides, which stay those of the first time. */
  #frozen<Result>(keys: FrozenKeys, work: () => Result): Result | undefined {
    return this.#faulted(() => {
      this.#state.freeze(keys);
      return work();
    });
  }

  /** Runs some work; a fault of the other side cancels. */
  #faulted<Result>(work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      if (error instanceof VerificationFault) this.cancel(error.problem, error.message);
      else if (!(error instanceof VodozemacError) || error.code === "instance_dead") throw error;
      else this.cancel("m.invalid_message", "The message can't be used");
      return undefined;
    }
  }

  #untimely(action: string): ValueError {
    return new ValueError(
      `Cannot ${action}: the verification is ${this.#state.phase}; look at its phase first`,
    );
  }

  #noQr(action: string): ValueError {
    return new ValueError(
      `Cannot ${action} a QR code: the devices have not both said that they can; give that way to accept() or ` +
        "requestVerification()",
    );
  }
}
