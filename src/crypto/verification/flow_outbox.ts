/**
 * The messages of one verification that are to be sent.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#key-verification-framework | Key verification framework}
 * @module
 */

import type { DeviceID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { VERIFICATION_PREFIX } from "../megolm/verification_event.ts";
import type { FlowState } from "./flow_state.ts";
import type { VerificationStep } from "./verification_message.ts";

/** A message to be sent. */
export interface OutgoingStep {
  /** Its type. */
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
