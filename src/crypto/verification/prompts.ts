/**
 * Requests of others: which ones are taken, and how many may wait for the user's answer.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { OwnDevice } from "../context/context.ts";
import { MAX_AHEAD, TIMEOUT } from "./protocol.ts";
import { checkedContent, type StepContent, VerificationFault } from "./verification_message.ts";
import type { VerificationFlow } from "./verification_flow.ts";
import type { VerificationEvent } from "../../types/events/verification_event.ts";

/** How many requests of one user may wait, and how many of all. */
const MAX_OF_USER = 10;
const MAX_PROMPTS = 100;

/** What is to be done with one more request. */
export interface PromptVerdict {
  readonly mayWait: boolean;
  /** The request that gives way to it, if one has to: the oldest of the user with the most. */
  readonly instead?: VerificationFlow;
}

/**
 * Whether one more request of a user may wait. No user can crowd out another's only request, and nobody
 * those of the own user.
 */
export function judgePrompt(
  flows: Iterable<VerificationFlow>,
  userId: UserID,
  own: Pick<OwnDevice, "userId">,
): PromptVerdict {
  const prompts = [...flows].filter(({ isPrompt }) => isPrompt);
  const ofUser = prompts.filter(({ name }) => name.userId === userId);
  if (ofUser.length >= MAX_OF_USER) return { mayWait: false };
  if (prompts.length < MAX_PROMPTS) return { mayWait: true };
  if (userId === own.userId) return { mayWait: true };
  const others = prompts.filter(({ name }) => name.userId !== own.userId);
  const groups = [...Map.groupBy(others, ({ name }) => name.userId).values()];
  const most = groups.reduce((one, other) => other.length > one.length ? other : one, []);
  return most.length > 1 ? { mayWait: true, instead: most[0] } : { mayWait: false };
}

/** A request of another device. */
export type IncomingRequest = Pick<StepContent<"ready">, "from_device" | "methods"> & {
  /** When it was made, in milliseconds since the epoch: by its own account, or in a room by the server's. */
  readonly timestamp: number;
};

/** Reads a request; or says why it is none for this device, or none any more. */
export function readRequest(
  { sender, content, place }: VerificationEvent,
  { own, now }: { readonly own: OwnDevice; readonly now: number },
): { readonly request?: IncomingRequest; readonly problem?: string } {
  try {
    const { timestamp = NaN, ...request } = place === undefined
      ? checkedContent("request", content)
      : { ...checkedContent("ready", content), timestamp: place.at };
    if (place !== undefined && content.to !== own.userId) return { problem: "it is for another user" };
    if (!(timestamp > now - TIMEOUT && timestamp < now + MAX_AHEAD)) return { problem: "it is not of now" };
    if (sender === own.userId && request.from_device === own.deviceId) return { problem: "it is its own" };
    return { request: { ...request, timestamp } };
  } catch (error) {
    if (error instanceof VerificationFault) return { problem: error.message };
    throw error;
  }
}
