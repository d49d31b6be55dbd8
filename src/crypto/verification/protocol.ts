/**
 * The words of the verification framework: methods, phases, and how long things may take; and the messages of
 * a verification as they come: parsed, bounded, and told which verification they belong to.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#key-verification-framework | Key verification framework}
 * @module
 */

import {
  REQUEST_TYPE,
  VERIFICATION_PREFIX,
  type VerificationCancelCode,
  type VerificationEvent,
  type VerificationMethod,
} from "../../types/content/encryption_content.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import type { DeviceID, RoomID, UserID } from "../../types/ids.ts";
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
} from "../../types/checks/to_device_shapes.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type {
  VerificationCancellation,
  VerificationPhase,
  VerificationWay,
} from "../../types/verification.ts";

/** Short strings that are compared. */
export const SAS = "m.sas.v1";
/** The start after a QR code was scanned. */
export const RECIPROCATE = "m.reciprocate.v1";
/** This device can show a QR code. */
export const QR_SHOW = "m.qr_code.show.v1";
/** This device can scan a QR code. */
export const QR_SCAN = "m.qr_code.scan.v1";

/** How long a verification may take from its request on, in milliseconds. */
export const TIMEOUT = 10 * 60_000;
/** How long a request waits for the user's answer, in milliseconds. */
export const PROMPT_TIMEOUT = 2 * 60_000;
/** How far ahead the clock of the other device may be, in milliseconds. */
export const MAX_AHEAD = 5 * 60_000;

/** What two people compare. */
export interface ShortString {
  /** Seven numbers from 0 to 63, which stand for emoji; undefined: a device can't show emoji. */
  readonly emojiIndices: readonly number[] | undefined;
  /** Three numbers from 1000 to 9191; undefined: a device can't show them. */
  readonly decimals: readonly number[] | undefined;
}

/** What has been verified. */
export interface VerifiedKeys {
  /** Whether the key of the other device is. */
  readonly device: boolean;
  /** Whether the master key of the other user is; of the own user if it is an own device. */
  readonly identity: boolean;
}

/** A verification, as plain data. */
export interface VerificationState {
  /** Its name within this device. */
  readonly id: string;
  /** The other user, who may be the own one. */
  readonly userId: UserID;
  /** The other device, once it is known which. */
  readonly deviceId: DeviceID | undefined;
  /** The room through which it goes; undefined: from device to device. */
  readonly roomId: RoomID | undefined;
  /** Whether the other side has asked for it. */
  readonly isIncoming: boolean;
  /** How far it has come. */
  readonly phase: VerificationPhase;
  /** What this device can do next, by the other's account. */
  readonly ways: readonly VerificationWay[];
  /** What is to be compared. */
  readonly shortString: ShortString | undefined;
  /** Why it was called off. */
  readonly cancellation: VerificationCancellation | undefined;
  /** The one that goes on in its place, since both sides have asked; undefined: none. */
  readonly replacedBy: string | undefined;
  /** What has been verified, at its end. */
  readonly verified: VerifiedKeys | undefined;
  /** When it is called off unless it has ended, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /**
   * What it needs: `start`, that the other device is looked up, and its start answered; `completion`,
   * that the verified keys are stored.
   */
  readonly needs: "start" | "completion" | undefined;
}

/** The ways as methods of a request. */
export function methodsOf(ways: readonly VerificationWay[]): VerificationMethod[] {
  const methods: VerificationMethod[] = [];
  if (ways.includes("sas")) methods.push(SAS);
  if (ways.includes("show-qr")) methods.push(QR_SHOW);
  if (ways.includes("scan-qr")) methods.push(QR_SCAN);
  if (methods.includes(QR_SHOW) || methods.includes(QR_SCAN)) methods.push(RECIPROCATE);
  return methods;
}

/** Returns the ways in which this device can verify, given what both support. */
export function commonWays(own: readonly string[], theirs: readonly string[]): VerificationWay[] {
  const both = (method: string) => own.includes(method) && theirs.includes(method);
  const ways: VerificationWay[] = both(SAS) ? ["sas"] : [];
  if (!both(RECIPROCATE)) return ways;
  if (own.includes(QR_SHOW) && theirs.includes(QR_SCAN)) ways.push("show-qr");
  if (own.includes(QR_SCAN) && theirs.includes(QR_SHOW)) ways.push("scan-qr");
  return ways;
}

/** The keys of both sides, as they are when the exchange begins: what is verified in the end. */
export interface FrozenKeys {
  /** The other device's Ed25519 key. */
  readonly device: string;
  /** The other user's master key; of the own user the one that the server shows. */
  readonly master: string | undefined;
  /** The own master key that the server shows. */
  readonly ownMaster: string | undefined;
  /** Whether this device knows that the own master key is the own user's. */
  readonly isOwnVerified: boolean;
}

/** Which verification a message belongs to. */
export interface FlowName {
  /** The other user. */
  readonly userId: UserID;
  /** The room; undefined: it goes from device to device. */
  readonly roomId: RoomID | undefined;
  /** The transaction ID, or the event ID of the request in the room. */
  readonly flowId: string;
}

/** The name of a verification within this device. */
export function flowKey({ userId, roomId, flowId }: FlowName): string {
  return JSON.stringify([userId, roomId ?? "", flowId]);
}

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

/** The fault of a step that comes out of order. */
export function unexpected(step: string): VerificationFault {
  return new VerificationFault("m.unexpected_message", `The ${step} does not come at its time`);
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

/** Returns the step that an event is; undefined: none. */
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
