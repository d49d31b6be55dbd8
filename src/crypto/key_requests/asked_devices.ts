/**
 * The own devices that this one asks for keys and secrets: they are verified, and only those that were
 * asked may answer.
 *
 * @module
 */

import type { DeviceID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import type { Device, DeviceLists } from "../devices/mod.ts";
import { type CryptoContext, newTxn } from "../context/context.ts";
import type { Transaction } from "../records/mod.ts";
import type { Outbox } from "../requests/mod.ts";

/** What was asked, and whom. */
export interface AskedDevices {
  readonly requestId: string;
  /** The devices that were asked: only they may answer. */
  readonly devices: readonly { readonly deviceId: DeviceID; readonly curve25519: string }[];
}

/** A message that came encrypted with Olm, and may be an answer. */
export interface OlmAnswer {
  readonly sender: UserID;
  /** The device that sent it, if it is known. */
  readonly device: Device | undefined;
  readonly content: JsonObject;
}

/** The parts that asking needs. */
interface AskingParts {
  readonly context: CryptoContext;
  readonly devices: Pick<DeviceLists, "devicesOf">;
  readonly outbox: Pick<Outbox, "add">;
}

/** The own devices that may be asked. */
export async function devicesToAsk(
  tx: Transaction,
  { context: { own: { userId } }, devices }: Pick<AskingParts, "context" | "devices">,
): Promise<Device[]> {
  return ((await devices.devicesOf(tx, [userId])).get(userId) ?? []).filter(mayAnswer);
}

/** What is remembered of devices that are asked. */
export function asked(devices: readonly Device[]): AskedDevices["devices"] {
  return devices.map(({ deviceId, curve25519 }) => ({ deviceId, curve25519 }));
}

/** Tells all devices that were asked the same: the request, or that it is cancelled. */
export function tellAsked(
  tx: Transaction,
  { context, outbox }: Pick<AskingParts, "context" | "outbox">,
  { eventType, request: { requestId, devices }, what }: {
    readonly eventType: string;
    readonly request: AskedDevices;
    readonly what: JsonObject;
  },
): void {
  const { own } = context;
  const content = { ...what, requesting_device_id: own.deviceId, request_id: requestId };
  const messages = {
    [own.userId]: Object.fromEntries(devices.map(({ deviceId }) => [deviceId, content])),
  };
  outbox.add(tx, { kind: "toDevice", eventType, messages }, newTxn(context));
}

/**
 * Checks who answers.
 *
 * @param own The own user.
 * @returns The device and the request that it answers, or why the answer does not count.
 */
export function checkedAnswer<Request extends AskedDevices>(
  own: UserID,
  { sender, device }: Omit<OlmAnswer, "content">,
  request: Request | undefined,
): { readonly device: Device; readonly request: Request } | string {
  if (sender !== own || device?.userId !== own) return "it came from another user";
  if (!mayAnswer(device)) return "it came from a device that is not verified";
  if (request === undefined) return "it was not requested";
  const { deviceId, curve25519 } = device;
  if (!request.devices.some((each) => each.deviceId === deviceId && each.curve25519 === curve25519)) {
    return "it came from a device that had not been asked";
  }
  return { device, request };
}

function mayAnswer({ trust, dehydrated }: Device): boolean {
  return trust === "verified" && !dehydrated;
}
