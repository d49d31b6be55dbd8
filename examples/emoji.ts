/**
 * Two users verify each other in a room: both see the same emoji, if nobody sits between them.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { RoomID, VerificationRequest } from "@greenroom/matrix/types";

/** Alice asks Bob; both look at what both see. Real users sit together, or read the names aloud. */
export async function verify(alice: Client, bob: Client, roomId: RoomID): Promise<void> {
  if (alice.crypto === undefined || bob.mxid === "") return;
  const asked = accepted(bob);
  const asking = await alice.crypto.requestVerification({ userId: bob.mxid, roomId });
  await asking.startSas();
  const requests = [asking, await asked];
  const seen = await Promise.all(requests.map(emoji));
  console.log(` alice  sees ${seen[0]}\n   bob  sees ${seen[1]}`);
  const isSame = seen[0] === seen[1];
  for (const request of requests) await (isSame ? request.confirm() : request.mismatch());
  await Promise.all(requests.map(({ done }) => done)); // rejects if they were different
}

/** The next request of another, accepted. */
async function accepted({ crypto }: Client): Promise<VerificationRequest> {
  for await (const request of crypto?.verificationRequests ?? []) {
    await request.accept();
    return request;
  }
  throw new TypeError("The client was closed");
}

async function emoji(request: VerificationRequest): Promise<string> {
  const { emoji = [] } = await request.compare();
  return emoji.map(({ symbol, name }) => `${symbol} ${name}`).join("  ");
}
