/**
 * What users of an application service have published: the keys of devices, identities, and signatures.
 *
 * @module
 */

import type { UserID } from "@greenroom/matrix/types";
import type { World } from "../world/world.ts";
import type { ServiceLedger } from "./service_ledger.ts";

/** The device that each user has. */
export const SERVICE_DEVICE = "GREENROOM";

/** Signatures, by user and by the name of a key. */
type Signatures = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A request that the homeserver has accepted. */
interface Exchange {
  readonly url: URL;
  readonly body: string | undefined;
  readonly answer: string;
}

/** Notes what the homeserver has accepted of a user. */
export function notePublished(world: World, ledger: ServiceLedger, { url, body, answer }: Exchange): void {
  const userId = url.searchParams.get("user_id") as UserID | null;
  if (userId === null || body === undefined) return;
  const { pathname } = url;
  if (pathname.endsWith("/keys/upload")) noteKeys(world, ledger, { userId, body });
  if (pathname.endsWith("/keys/device_signing/upload")) noteIdentity(world, ledger, { userId, body });
  if (pathname.endsWith("/keys/signatures/upload")) noteSignature(world, ledger, { userId, body, answer });
}

/** What a user has uploaded. */
interface Upload {
  readonly userId: UserID;
  readonly body: string;
}

function noteKeys({ timeline }: World, ledger: ServiceLedger, { userId, body }: Upload): void {
  const { device_keys: keys }: { device_keys?: { readonly signatures: Signatures } } = JSON.parse(body);
  if (keys === undefined) return;
  ledger.publishedAt.getOrInsert(userId, timeline.now);
  const signers = Object.keys(keys.signatures[userId] ?? {});
  if (signers.some((name) => name !== `ed25519:${SERVICE_DEVICE}`)) {
    ledger.signedAt.getOrInsert(userId, timeline.now);
  }
}

/** An identity stays: no process and no store has to keep it. */
function noteIdentity(world: World, { masters }: ServiceLedger, { userId, body }: Upload): void {
  const { master_key: key }: { master_key?: { readonly keys: Record<string, string> } } = JSON.parse(body);
  const [master] = Object.values(key?.keys ?? {});
  if (master === undefined || master === masters.get(userId)) return;
  if (masters.has(userId)) world.violate(`the service has replaced the identity of ${userId}`);
  world.note(`${userId} has the identity ${master}`);
  world.reach("service: ghosts: an identity is made");
  masters.set(userId, master);
}

function noteSignature(
  { timeline, reach }: World,
  { signedAt }: ServiceLedger,
  { userId, body, answer }: Upload & Pick<Exchange, "answer">,
): void {
  const signed: Readonly<Record<string, Readonly<Record<string, unknown>>>> = JSON.parse(body);
  const { failures = {} }: { failures?: Record<string, Record<string, unknown>> } = JSON.parse(answer);
  if (signed[userId]?.[SERVICE_DEVICE] === undefined) return;
  if (failures[userId]?.[SERVICE_DEVICE] !== undefined) return;
  reach("service: ghosts: a device is signed");
  signedAt.getOrInsert(userId, timeline.now);
}
