/**
 * The messages of a verification as they come: parsed, bounded, and told which verification they
 * belong to.
 *
 * @module
 */

import { Misfit, type Shape, UNNOTED } from "../../types/checks/shape.ts";
import {
  verificationAccept,
  verificationCancel,
  verificationDone,
  verificationKey,
  verificationMac,
  verificationReady,
  verificationRequest,
  verificationStart,
} from "../../types/checks/verification_shapes.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type FlowName, RECIPROCATE, SAS } from "./protocol.ts";
import {
  REQUEST_TYPE,
  VERIFICATION_PREFIX,
  type VerificationEvent,
} from "../../types/events/verification_event.ts";
import type { VerificationCancelCode } from "../../types/content/verification_content.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";

/** A fault of the other device: the verification is cancelled with a code. It never leaves the engine. */
export class VerificationFault extends EncryptionError {
  readonly problem: VerificationCancelCode;

  /**
   * @param problem The code to cancel with.
   * @param message The reason in words, which the other device gets: without secrets.
   */
  constructor(problem: VerificationCancelCode, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** A step of a verification: the part of its type behind {@link VERIFICATION_PREFIX}. */
export type VerificationStep = "request" | "ready" | "start" | "accept" | "key" | "mac" | "done" | "cancel";

/** How long the ID of a verification may be, in characters: as long as an event ID. */
const MAX_ID = 255;
/** How many keys a message may have MACs of. */
const MAX_MACS = 100;

const SHAPES = {
  request: verificationRequest,
  ready: verificationReady,
  start: verificationStart,
  accept: verificationAccept,
  key: verificationKey,
  mac: verificationMac,
  done: verificationDone,
  cancel: verificationCancel,
} as const;

export type StepContent<Step extends VerificationStep> = typeof SHAPES[Step] extends Shape<infer Content>
  ? Content
  : never;

/** Which step an event is; undefined: none. */
export function stepOf({ type, place }: VerificationEvent): VerificationStep | undefined {
  if (place !== undefined && type === "m.room.message") return "request";
  const step = type.slice(VERIFICATION_PREFIX.length);
  if (!Object.hasOwn(SHAPES, step) || place !== undefined && step === "request") return undefined;
  return step as VerificationStep;
}

/** The verification that an event belongs to, by its sender's account; undefined: it does not say. */
export function flowOf({ sender: userId, content, place }: VerificationEvent): FlowName | undefined {
  if (place === undefined) return named(userId, undefined, content.transaction_id);
  const { roomId, eventId } = place;
  if (content.msgtype === REQUEST_TYPE) return named(userId, roomId, eventId);
  const relation = content["m.relates_to"];
  if (!isJsonObject(relation) || relation.rel_type !== "m.reference") return undefined;
  return named(userId, roomId, relation.event_id);
}

function named(userId: UserID, roomId: RoomID | undefined, flowId: unknown): FlowName | undefined {
  const isId = typeof flowId === "string" && flowId !== "" && flowId.length <= MAX_ID &&
    flowId.isWellFormed();
  return isId ? { userId, roomId, flowId } : undefined;
}

/**
 * Checks the content of a step.
 *
 * @throws {VerificationFault} If it is malformed, or starts a method that is not known.
 */
export function checkedContent<Step extends VerificationStep>(
  step: Step,
  content: JsonObject,
): StepContent<Step> {
  if (
    step === "start" && typeof content.method === "string" && ![SAS, RECIPROCATE].includes(content.method)
  ) {
    throw new VerificationFault("m.unknown_method", "The method is not supported");
  }
  const checked = (SHAPES[step] as Shape<JsonObject>)(content, UNNOTED);
  if (checked instanceof Misfit) {
    const where = checked.path.join(".");
    throw new VerificationFault("m.invalid_message", `The ${step} is malformed: ${where} ${checked.problem}`);
  }
  if (step === "mac" && Object.keys(checked.mac as object).length > MAX_MACS) {
    throw new VerificationFault("m.invalid_message", "The mac has too many keys");
  }
  return checked as StepContent<Step>;
}
