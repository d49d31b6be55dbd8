/**
 * What a message of the other side does to a verification, if it comes at its time.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#key-verification-framework | Key verification framework}
 * @module
 */

import type { DeviceID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { FlowOutbox, FlowState } from "./flow_state.ts";
import {
  checkedContent,
  RECIPROCATE,
  SAS,
  type StepContent,
  unexpected,
  VerificationFault,
  type VerificationStep,
} from "./protocol.ts";
import type { SasExchange } from "./sas_exchange.ts";

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
    if (state.phase !== "requested") return; // another device was faster, and this one is told
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
