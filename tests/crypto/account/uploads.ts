/**
 * The keys of a device that has not uploaded any, and what the server says of them.
 *
 * @module
 */

import type { KeysUploadRequest } from "@greenroom/matrix/types";
import { Peer } from "../olm/peers.ts";

/** Whose device it is. */
export const USER = { userId: "@alice:example.org", deviceId: "ALICE" } as const;

/** A device that nobody knows yet. */
export const fresh = (): Promise<Peer> => Peer.unpublished(USER);

/** Has the server say how many one-time keys it has; undefined: it does not say. */
export const counts = (peer: Peer, count: unknown, unused: readonly string[] = ["signed_curve25519"]) =>
  peer.step((tx) =>
    peer.keys.receiveCounts(tx, count === undefined ? {} : { signed_curve25519: count as number }, unused)
  );

/** The one-time keys of an upload. */
export const oneTimeKeyIds = (request: KeysUploadRequest | undefined): string[] =>
  Object.keys(request?.one_time_keys ?? {});

/** The fallback keys of an upload. */
export const fallbackIds = (request: KeysUploadRequest | undefined): string[] =>
  Object.keys(request?.fallback_keys ?? {});
