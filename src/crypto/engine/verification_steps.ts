/**
 * The steps of the engine about verifications: what comes of them, and what the user decides.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import type { DeviceID, EventID, RoomID, UserID } from "../../types/ids.ts";
import { shareDecision } from "../sharing/mod.ts";
import type { Transaction } from "../records/mod.ts";
import type {
  FrozenKeys,
  VerificationFlow,
  VerificationNews,
  VerificationSend,
} from "../verification/verification.ts";
import type { VerificationEvent } from "../../types/content/encryption_content.ts";
import type { VerificationWay } from "../../types/verification.ts";
import type { EngineParts } from "./engine_parts.ts";
import type { RecoveredEvent } from "../megolm/mod.ts";

/** Whom to ask for a verification. */
export interface VerificationTarget {
  readonly userId: UserID;
  /** The devices that are asked. */
  readonly devices: readonly DeviceID[];
  /** How this device can verify. */
  readonly ways: readonly VerificationWay[];
}

/** A step of the user in a verification. */
export type VerificationAct =
  | { readonly act: "accept"; readonly ways: readonly VerificationWay[] }
  | { readonly act: "startSas" | "answerStart" | "showQr" | "confirm" | "mismatch" }
  | { readonly act: "scanQr"; readonly bytes: Uint8Array }
  | { readonly act: "cancel"; readonly code: string; readonly reason: string };

/** What a step has led to. */
export interface VerificationReply extends VerificationNews {
  /** The verification that was begun; undefined: none. */
  readonly id?: string;
  /** The bytes of the QR code to show. */
  readonly qrCode?: Uint8Array<ArrayBuffer>;
  /** Events that can be read now, since their devices are trusted. */
  readonly recovered?: readonly RecoveredEvent[];
}

/** The steps about verifications, by their names. */
export const verificationSteps = {
  /** Receives messages, in order. */
  receiveVerification: (tx, { verifications }, events: readonly VerificationEvent[]) => {
    for (const event of events) verifications.receive(tx, event);
    return verifications.take(tx);
  },
  /** Asks devices of a user; they have been looked up. */
  requestVerification: (tx, { verifications }, { userId, devices, ways }: VerificationTarget) => {
    const { id } = verifications.request(userId, devices, ways);
    return { ...verifications.take(tx), id };
  },
  /** Begins to ask a user in a room: returns what is to be sent. */
  askInRoom: (
    _,
    { verifications },
    { roomId, userId, ways }: Omit<VerificationTarget, "devices"> & { readonly roomId: RoomID },
  ) => verifications.ask(roomId, userId, ways),
  /** Returns whether devices of a user get the keys of what is sent to a room; of none that is named, all. */
  mayRead: async (
    tx,
    { devices, context: { policy } },
    { userId, devices: named }: Pick<VerificationTarget, "userId" | "devices">,
  ) => {
    const known = await devices.devicesOf(tx, [userId]);
    const wasVerified = (await devices.identityOf(tx, userId))?.wasVerified === true;
    return (known.get(userId) ?? []).every((device) =>
      device.isDehydrated || (named.length > 0 && !named.includes(device.deviceId)) ||
      shareDecision(policy.sendTo, device, { isSpared: false, wasVerified }) === "share"
    );
  },
  /** Notes that the request in a room was sent, as an event; undefined: it was not. */
  askedInRoom: (
    tx,
    { verifications },
    { id, eventId }: { readonly id: string; readonly eventId: EventID | undefined },
  ) => {
    const flow = verifications.asked(tx, id, eventId);
    return { ...verifications.take(tx), id: flow?.id };
  },
  /**
   * Takes a decision of the user.
   *
   * @throws {ValueError} If the verification has ended, or is not far enough for it.
   */
  actInVerification: async (tx, parts, { id, ...act }: VerificationAct & { readonly id: string }) => {
    const { verifications } = parts;
    const flow = verifications.get(id);
    if (flow === undefined || flow.isOver) {
      if (act.act === "answerStart" || act.act === "cancel") return verifications.take(tx);
      throw new ValueError("Cannot go on with the verification: it has ended; begin another");
    }
    verifications.changed(flow);
    const qrCode = await acted(tx, parts, flow, act);
    return { ...verifications.take(tx), qrCode };
  },
  /** Stores what was verified. */
  completeVerification: async (tx, { verifications, undecryptable }, id: string) => {
    const flow = verifications.get(id);
    const verified = flow && await verifications.complete(tx, flow);
    const recovered = verified === undefined ? [] : await undecryptable.retry(tx, "all");
    return { ...verifications.take(tx), recovered };
  },
  /** Calls off what has taken too long, and returns what an earlier process has left to be said. */
  expireVerifications: (tx, { verifications }) => {
    verifications.expire();
    return verifications.take(tx);
  },
} satisfies Record<
  string,
  (
    tx: Transaction,
    parts: EngineParts,
    ...input: never[]
  ) => VerificationReply | VerificationSend | boolean | Promise<VerificationReply | boolean>
>;

async function acted(
  tx: Transaction,
  { verifications, context }: EngineParts,
  flow: VerificationFlow,
  act: VerificationAct,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  switch (act.act) {
    case "accept":
      flow.accept(act.ways);
      return;
    case "confirm":
      flow.confirm();
      return;
    case "mismatch":
      flow.mismatch();
      return;
    case "cancel":
      flow.cancel(act.code, act.reason);
      return;
  }
  const keys: FrozenKeys | undefined = await verifications.keysOf(tx, flow);
  if (keys === undefined) {
    flow.cancel("m.key_mismatch", "The device is not known");
    return;
  }
  switch (act.act) {
    case "startSas":
      flow.startSas(context.vodozemac, keys);
      return;
    case "answerStart":
      flow.answerStart(context.vodozemac, keys);
      return;
    case "showQr":
      return flow.showQr(keys);
    case "scanQr":
      flow.scanQr(act.bytes, keys);
      return;
  }
}
