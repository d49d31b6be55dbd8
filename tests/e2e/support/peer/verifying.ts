/**
 * Verifications between a peer and us, step by step.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type {
  DeviceID,
  RoomID,
  UserID,
  VerificationPeer,
  VerificationPhase,
  VerificationRequest,
  VerificationWayOptions,
} from "@greenroom/matrix/types";
import { PATIENCE_MS, within } from "../deadline.ts";
import type { Ours } from "../ours.ts";
import type { Peer } from "./peer.ts";

/** The next request that we get. */
export async function nextRequest(ours: Ours): Promise<VerificationRequest> {
  const iterator = ours.crypto.verificationRequests[Symbol.asyncIterator]();
  const { value } = await within(iterator.next(), "a request to verify");
  return value as VerificationRequest;
}

/** Waits until a verification has come to a phase. */
export async function reach(request: VerificationRequest, phase: VerificationPhase): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  while (request.phase !== phase) {
    assert(request.cancellation === undefined, JSON.stringify(request.cancellation));
    await request.changed({ signal });
  }
}

/** The name that the peer has for a verification, once it is there. */
async function flowOf(peer: Peer, phase: string): Promise<string> {
  return (await peer.first("verification", (event) => event.phase === phase)).flowId;
}

/** A verification, and the name that the peer has for it. */
export interface Flow {
  readonly request: VerificationRequest;
  readonly flowId: string;
}

/** The peer asks, and we accept. */
export async function askedBy(
  peer: Peer,
  ours: Ours,
  where: { deviceId: DeviceID } | { roomId: RoomID },
): Promise<Flow> {
  const asking = peer.call("requestVerification", { userId: ours.userId, ...where });
  const request = await nextRequest(ours);
  await request.accept();
  return { request, flowId: String(await asking) };
}

/** We ask, and the peer accepts. */
export async function asked(
  peer: Peer,
  ours: Ours,
  { ways, ...whom }: Exclude<VerificationPeer, UserID> & VerificationWayOptions,
): Promise<Flow> {
  const request = await ours.crypto.requestVerification(whom, { ways });
  const flowId = await flowOf(peer, "requested");
  await peer.call("acceptVerification", { flowId });
  return { request, flowId };
}

/** Both show the same, and both confirm. */
export async function compareWith(peer: Peer, flowId: string, request: VerificationRequest): Promise<void> {
  const { emoji, decimals } = await request.compare({ signal: AbortSignal.timeout(PATIENCE_MS) });
  const theirs = await peer.first("sas", (event) => event.flowId === flowId);
  assertEquals(emoji?.map(({ name }) => name), theirs.emoji);
  assertEquals(decimals, theirs.decimal);
  await peer.call("confirmSas", { flowId });
  await request.confirm();
  await within(request.done, "the end of a verification");
}
