/**
 * Two devices that verify each other on the in-process homeserver.
 *
 * @module
 */

import { assert } from "@std/assert";
import type { Client, ClientOptions } from "@greenroom/matrix";
import type { VerificationPhase, VerificationRequest } from "@greenroom/matrix/types";
import type { ClientStage } from "../../client/support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** The users of the tests. */
export const ALICE = "@alice:localhost";
/** The other one. */
export const BOB = "@bob:localhost";

/** A device of a user that follows syncs from now on. */
export async function synced(
  here: ClientStage,
  name: string,
  { deviceId, ...options }: Partial<ClientOptions> & { readonly deviceId?: string } = {},
): Promise<Client> {
  let token: string | undefined;
  if (deviceId !== undefined) {
    const identifier = `@${name}:localhost` as const;
    const { access_token } = await here.client(name).login({
      identifier,
      password: `password of ${name}`,
      deviceId,
    });
    token = access_token;
  }
  const client = here.client(name, {
    retry: false,
    encryption: EVERYBODY,
    ...(token !== undefined && { accessToken: token }),
    ...options,
  });
  client.start().catch(() => {}); // the test ends it
  await here.until(() => client.crypto !== undefined);
  let isReady = false;
  client.ready.then(() => isReady = true, () => isReady = true);
  // One that goes on gets nothing new.
  for (let round = 0; round < 30 && !isReady; round++) await here.settle();
  return client;
}

/** The next request that a client gets. */
export async function nextRequest(here: ClientStage, client: Client): Promise<VerificationRequest> {
  const iterator = client.crypto?.verificationRequests[Symbol.asyncIterator]();
  assert(iterator !== undefined);
  let found: VerificationRequest | undefined;
  iterator.next().then(({ value }) => found = value);
  await here.until(() => found !== undefined);
  await iterator.return?.();
  return found as unknown as VerificationRequest;
}

/** Lets a verification come to a phase. */
export async function reach(
  here: ClientStage,
  phase: VerificationPhase,
  ...requests: VerificationRequest[]
): Promise<void> {
  await here.until(() => requests.every((request) => request.phase === phase));
}

/** Two sides of one verification, ready to begin. */
export async function readyPair(
  here: ClientStage,
  asker: Client,
  other: Client,
  ways?: Parameters<VerificationRequest["accept"]>[0],
): Promise<[VerificationRequest, VerificationRequest]> {
  assert(other.mxid !== "" && asker.crypto !== undefined);
  const asking = asker.crypto.requestVerification({ userId: other.mxid, deviceId: other.deviceId }, ways);
  const theirs = await nextRequest(here, other);
  const mine = await asking;
  await theirs.accept(ways);
  await reach(here, "ready", mine, theirs);
  return [mine, theirs];
}

/** The same, as far as both can compare. */
export async function comparingPair(
  here: ClientStage,
  asker: Client,
  other: Client,
): Promise<[VerificationRequest, VerificationRequest]> {
  const pair = await readyPair(here, asker, other);
  await pair[0].startSas();
  await reach(here, "comparing", ...pair);
  return pair;
}
