/**
 * Which servers may take part in a room.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#server-access-control-lists-acls-for-rooms | Server ACLs}
 * @module
 */

import type { JsonObject } from "../../../types/json.ts";
import { matchesGlob } from "./glob.ts";

/** Whether an `m.room.server_acl` of this content lets a server take part. */
export function allowsServer({ allow, deny }: JsonObject, serverName: string): boolean {
  const matches = (patterns: unknown) =>
    Array.isArray(patterns) &&
    patterns.some((pattern) => typeof pattern === "string" && matchesGlob(pattern, serverName));
  return !matches(deny) && matches(allow);
}
