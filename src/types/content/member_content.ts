/**
 * Content of `m.room.member` and of the third-party invitation behind it.
 *
 * Contents are type aliases, and not interfaces, so that each is also a `JsonObject`.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#mroommember | m.room.member}
 * @module
 */

import type { Membership } from "../enums.ts";
import type { ContentURI, UserID } from "../ids.ts";

/** Content of `m.room.member`; the state key is the user it is about. */
export type RoomMemberContent = {
  /** What the user is to the room now. */
  membership: Membership;
  /** The user's display name in this room. */
  displayname?: string | null;
  /** The user's avatar in this room. */
  avatar_url?: ContentURI | null;
  /** Whether the invitation is to a direct chat. */
  is_direct?: boolean;
  /** Why the membership changed, in the sender's words. */
  reason?: string;
  /** Of a restricted join: the user whose server vouched for it. */
  join_authorised_via_users_server?: UserID;
  /** The invitation by email address or phone number that this one follows. */
  third_party_invite?: ThirdPartyInvite;
};

/** How an invitation by email address or phone number became one of a user. */
export interface ThirdPartyInvite {
  /** What to show in place of the address. */
  display_name: string;
  /** The identity server's proof, for homeservers to check. */
  signed: SignedThirdPartyInvite;
}

/** An identity server's word that a user owns the invited address. */
export interface SignedThirdPartyInvite {
  /** The invited user. */
  mxid: UserID;
  /** Signatures by identity server and key ID, in unpadded base64. */
  signatures: { [server: string]: { [keyId: string]: string } };
  /** The state key of the `m.room.third_party_invite` event. */
  token: string;
}

/** Content of `m.room.third_party_invite`; the state key is the token that is to be signed. */
export type RoomThirdPartyInviteContent = {
  /** What to show in place of the address, and not the address. */
  display_name: string;
  /** Where to ask whether the key still holds: `?public_key=` is added to it. */
  key_validity_url?: string;
  /** The Ed25519 key whose signature of the token is accepted. */
  public_key?: string;
  /** Further keys whose signature is accepted. */
  public_keys?: ThirdPartyInviteKey[];
};

/** A key that may sign a third-party invitation. */
export interface ThirdPartyInviteKey {
  /** The Ed25519 key. */
  public_key: string;
  /** Where to ask whether the key still holds; without it, it does. */
  key_validity_url?: string;
}
