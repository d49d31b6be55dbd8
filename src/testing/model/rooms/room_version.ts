/**
 * The differences between room versions that clients can see.
 *
 * @see {@link https://spec.matrix.org/v1.16/rooms/ | Room versions}
 * @module
 */

/** The traits of a room version. */
export interface RoomVersion {
  /** Its name: `1` to `12`. */
  readonly id: string;
  /** Event IDs carry the server name (1 and 2). */
  readonly eventIdsWithServer: boolean;
  /** Aliases are state that only their own server may write (1 to 5). */
  readonly aliasEvents: boolean;
  /** Content is canonical JSON, and levels of notifications are guarded (from 6). */
  readonly strictJson: boolean;
  /** Users may knock (from 7). */
  readonly knock: boolean;
  /** Joining may be allowed by membership in other rooms (from 8). */
  readonly restricted: boolean;
  /** Redaction keeps `join_authorised_via_users_server` (from 9). */
  readonly keepsAuthorisingServer: boolean;
  /** Both together, and power levels must be integers (from 10). */
  readonly knockRestricted: boolean;
  /** `redacts` is in the content, the creator is the sender, redaction keeps more (from 11). */
  readonly modernRedaction: boolean;
  /** The room ID is that of its create event, and creators have infinite power (from 12). */
  readonly creatorPower: boolean;
}

/** The version of a room that is created without naming one; the default of Synapse 1.163. */
export const DEFAULT_ROOM_VERSION = "12";

/** All versions by name. */
export const ROOM_VERSIONS: ReadonlyMap<string, RoomVersion> = new Map(
  Array.from({ length: 12 }, (_, i) => i + 1).map((version) => [String(version), {
    id: String(version),
    eventIdsWithServer: version <= 2,
    aliasEvents: version <= 5,
    strictJson: version >= 6,
    knock: version >= 7,
    restricted: version >= 8,
    keepsAuthorisingServer: version >= 9,
    knockRestricted: version >= 10,
    modernRedaction: version >= 11,
    creatorPower: version >= 12,
  }]),
);
