/**
 * What operations on rooms take and return.
 *
 * @module
 */

import type { Membership, Open, ThirdPartyMedium } from "../enums.ts";
import type { ContentURI, RoomID, UserID } from "../ids.ts";
import type { JsonObject } from "../json.ts";

/** A piece of state that a new room is to have. */
export interface InitialStateEvent {
  /** Such as `m.room.topic`. */
  type: string;
  /** Which piece of the state of this type it is. Default: empty. */
  state_key?: string;
  /** As the type defines it. */
  content: JsonObject;
}

/** Someone to invite who may not be in Matrix yet. */
export interface Invite3pid {
  /** The identity server to ask who it is. */
  id_server: string;
  /** A token of the identity server. Secret. */
  id_access_token: string;
  /** What the address is of. */
  medium: Open<ThirdPartyMedium>;
  /** Usually an email address. */
  address: string;
}

/** An identity server's word that the user is the one who was invited by address. */
export interface ThirdPartySigned {
  /** The user who invited. */
  sender: UserID;
  /** The user who was invited. */
  mxid: UserID;
  /** The state key of the `m.room.third_party_invite` event. */
  token: string;
  /** Signatures by server and key ID, in unpadded base64. */
  signatures: { [server: string]: { [keyId: string]: string } };
}

/** A member of a room, as `/joined_members` returns it. */
export interface RoomMember {
  /** The member's display name in the room. */
  display_name?: string | null;
  /** The member's avatar in the room. */
  avatar_url?: ContentURI | null;
}

/** A member of a room and what the user is to it. */
export interface JoinedMember extends RoomMember {
  /** Always `join`; added by Greenroom. */
  membership: typeof Membership.JOIN;
}

/** The answer to an upgrade of a room. */
export interface RoomUpgradeResponse {
  /** The new room. */
  replacement_room: RoomID;
}
