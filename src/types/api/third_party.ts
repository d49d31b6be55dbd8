/**
 * Networks outside Matrix that the server has a bridge to.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#third-party-networks | Third-party networks}
 * @module
 */

import type { RoomAlias, UserID } from "../ids.ts";

/** A kind of network. */
export interface ThirdPartyProtocol {
  /** The fields that name a user, the widest first. */
  user_fields: string[];
  /** The fields that name a place, the widest first. */
  location_fields: string[];
  /** The network's icon, a content URI. */
  icon: string;
  /** What the fields look like. */
  field_types: { [field: string]: ThirdPartyFieldType };
  /** The networks of this kind. */
  instances: ThirdPartyProtocolInstance[];
}

/** What a field looks like. */
export interface ThirdPartyFieldType {
  /** A regular expression that values match. */
  regexp: string;
  /** An example. */
  placeholder: string;
}

/** A network. */
export interface ThirdPartyProtocolInstance {
  /** The network's name, for users. */
  desc: string;
  /** The network's icon, a content URI; the kind's if absent. */
  icon?: string;
  /** Values of fields that are given. */
  fields: { [field: string]: unknown };
  /** The network, among all of the world. */
  network_id: string;
  /** The network, on this server: what `getRoomDirectory()` takes as `thirdPartyInstanceId`. */
  instance_id?: string;
}

/** A place in a network, as a room. */
export interface ThirdPartyLocation {
  /** An alias of the room. */
  alias: RoomAlias;
  /** The kind of network. */
  protocol: string;
  /** Where the place is in the network. */
  fields: { [field: string]: unknown };
}

/** A user of a network, as a user of Matrix. */
export interface ThirdPartyUser {
  /** The user in Matrix. */
  userid: UserID;
  /** The kind of network. */
  protocol: string;
  /** Who the user is in the network. */
  fields: { [field: string]: unknown };
}
