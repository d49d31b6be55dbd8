/**
 * Tells encryption at once of members that the client itself has invited or removed: what is sent
 * next must not wait for the sync that tells of it.
 *
 * @module
 */

import type { MembershipAPI } from "../api/rooms/membership.ts";
import { Membership } from "../types/enums.ts";
import type { CryptoMachine } from "../actors/crypto/crypto.ts";

type Noted = Pick<MembershipAPI, "inviteUser" | "kickUser" | "banUser">;

/** The operations that change others' membership, with a note to encryption after each. */
export function notingMembers(api: Noted, crypto: () => CryptoMachine | undefined): Noted {
  const noting =
    (change: Noted["inviteUser"], membership: Membership): Noted["inviteUser"] =>
    async (roomId, userId, options) => {
      await change(roomId, userId, options);
      await crypto()?.memberChanged(roomId, userId, membership);
    };
  return {
    inviteUser: noting(api.inviteUser, Membership.INVITE),
    kickUser: noting(api.kickUser, Membership.LEAVE),
    banUser: noting(api.banUser, Membership.BAN),
  };
}
