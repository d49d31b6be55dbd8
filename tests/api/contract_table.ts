/**
 * The contract as data: every operation with each of its parameters, their defaults, and the
 * request that it makes.
 *
 * Names are the contract's own; `contract_test.ts` compares the table with the contract's text and
 * the public API with the table.
 *
 * Over 300 lines because it is one table, whose rows are looked up by eye.
 *
 * @module
 */

import { refusal, type Rule } from "../support/scripted_fetch.ts";

/** A parameter that has a default. */
export interface OptionalParameter {
  /** The default; absent for "none". */
  readonly default?: unknown;
  /** Another value: giving it must make a difference that can be seen. */
  readonly other: unknown;
}

/** An operation. */
export interface ContractRow {
  /** Its name in the contract. */
  readonly operation: string;
  /** The parameters without default, in order, with an argument for each. */
  readonly required?: Readonly<Record<string, unknown>>;
  /** The parameters with a default. */
  readonly optional?: Readonly<Record<string, OptionalParameter>>;
  /** What every call needs beside the required parameters. */
  readonly always?: Readonly<Record<string, unknown>>;
  /** The last request of a call without options, its escapes resolved; absent if there is none. */
  readonly request?: string;
  /** The body of that request; absent if there is none. */
  readonly body?: unknown;
  /** Answers that this operation needs; to everything else comes the usual answer. */
  readonly answers?: Readonly<Record<string, Rule>>;
}

const ROOM = "/_matrix/client/v3/rooms/!room";
const OWN = "/_matrix/client/v3/user/@alice:example.org";
const PROFILE = "/_matrix/client/v3/profile";
const ALIAS = "/_matrix/client/v3/directory/room/#stage:example.org";
const RULE = "/_matrix/client/v3/pushrules/global/content/cue";

const room_id = "!room";
const user_id = "@bob:b.org";
const event_id = "$event";
const url = "mxc://example.org/pic";
const signed = { sender: user_id, mxid: "@alice:example.org", token: "t", signatures: {} };
const extra_content: OptionalParameter = { other: { "com.example.seat": 7 } };
const reason: OptionalParameter = { default: "", other: "Late" };
const relates_to: OptionalParameter = { other: { "m.in_reply_to": { event_id } } };
const html: OptionalParameter = { other: "<b>Go</b>" };
const file_name: OptionalParameter = { other: "cue.ogg" };
const check_current: OptionalParameter = { default: true, other: false };
const clear_access_token: OptionalParameter = { default: true, other: false };
const data = { volume: 11 };

/** Rooms and membership. */
const rooms: ContractRow[] = [
  {
    operation: "create_room",
    optional: {
      alias_localpart: { other: "stage" },
      visibility: { default: "private", other: "public" },
      preset: { default: "private_chat", other: "public_chat" },
      name: { other: "Stage" },
      topic: { other: "Curtains" },
      is_direct: { default: false, other: true },
      invitees: { other: [user_id] },
      initial_state: { other: [{ type: "m.room.name", content: { name: "Stage" } }] },
      room_version: { other: "12" },
      creation_content: { other: { "m.federate": false } },
    },
    request: "POST /_matrix/client/v3/createRoom",
    body: { visibility: "private", preset: "private_chat", is_direct: false },
  },
  {
    operation: "join_room",
    required: { room_id_or_alias: "#stage:example.org" },
    optional: {
      servers: { other: ["b.org"] },
      third_party_signed: { other: signed },
      max_retries: { default: 4, other: 1 },
    },
    request: "POST /_matrix/client/v3/join/#stage:example.org",
    body: {},
    answers: { "POST /_matrix/client/v3/join/#stage:example.org": refusal(502, "M_UNKNOWN") },
  },
  {
    operation: "join_room_by_id",
    required: { room_id },
    optional: { third_party_signed: { other: signed }, extra_content },
    request: `POST ${ROOM}/join`,
    body: {},
  },
  {
    operation: "leave_room",
    required: { room_id },
    optional: { extra_content },
    request: `POST ${ROOM}/leave`,
    body: {},
  },
  { operation: "forget_room", required: { room_id }, request: `POST ${ROOM}/forget`, body: {} },
  {
    operation: "invite_user",
    required: { room_id, user_id },
    optional: { extra_content },
    request: `POST ${ROOM}/invite`,
    body: { user_id },
  },
  {
    operation: "kick_user",
    required: { room_id, user_id },
    optional: { reason, extra_content },
    request: `POST ${ROOM}/kick`,
    body: { user_id, reason: "" },
  },
  {
    operation: "ban_user",
    required: { room_id, user_id },
    optional: { reason, extra_content },
    request: `POST ${ROOM}/ban`,
    body: { user_id, reason: "" },
  },
  {
    operation: "unban_user",
    required: { room_id, user_id },
    request: `POST ${ROOM}/unban`,
    body: { user_id, reason: "" },
  },
  {
    operation: "send_member_event",
    required: { room_id, user_id, membership: "invite" },
    optional: { extra_content },
    request: `PUT ${ROOM}/state/m.room.member/${user_id}`,
    body: { membership: "invite" },
  },
  { operation: "fill_member_event", required: { room_id, user_id, content: { membership: "join" } } },
  { operation: "get_joined_rooms", request: "GET /_matrix/client/v3/joined_rooms" },
  {
    operation: "get_members",
    required: { room_id },
    optional: { at: { other: "t1" }, membership: { other: "join" }, not_membership: { other: "leave" } },
    request: `GET ${ROOM}/members`,
  },
  { operation: "get_joined_members", required: { room_id }, request: `GET ${ROOM}/joined_members` },
  {
    operation: "get_state",
    required: { room_id },
    request: `GET ${ROOM}/state`,
    answers: { [`GET ${ROOM}/state`]: [] },
  },
  {
    operation: "get_state_event",
    required: { room_id, event_type: "m.room.name" },
    optional: { state_key: { default: "", other: "key" } },
    request: `GET ${ROOM}/state/m.room.name/`,
  },
  { operation: "get_event", required: { room_id, event_id }, request: `GET ${ROOM}/event/${event_id}` },
];

/** Sending and reading events. */
const events: ContractRow[] = [
  {
    operation: "send_message_event",
    required: { room_id, event_type: "com.example.cue", content: { go: true } },
    optional: { txn_id: { other: "t1" } },
    request: `PUT ${ROOM}/send/com.example.cue/TXN`,
    body: { go: true },
  },
  {
    operation: "send_state_event",
    required: { room_id, event_type: "m.room.name", content: { name: "Stage" } },
    optional: { state_key: { default: "", other: "key" } },
    request: `PUT ${ROOM}/state/m.room.name/`,
    body: { name: "Stage" },
  },
  {
    operation: "send_message",
    required: { room_id, content: { msgtype: "m.location", body: "Here", geo_uri: "geo:1,2" } },
    request: `PUT ${ROOM}/send/m.room.message/TXN`,
    body: { msgtype: "m.location", body: "Here", geo_uri: "geo:1,2" },
  },
  {
    operation: "send_text",
    required: { room_id, text: "Go" },
    optional: { html, msgtype: { default: "m.text", other: "m.emote" }, relates_to },
    request: `PUT ${ROOM}/send/m.room.message/TXN`,
    body: { msgtype: "m.text", body: "Go" },
  },
  {
    operation: "send_notice",
    required: { room_id, text: "Go" },
    optional: { html, relates_to },
    request: `PUT ${ROOM}/send/m.room.message/TXN`,
    body: { msgtype: "m.notice", body: "Go" },
  },
  {
    operation: "send_emote",
    required: { room_id, text: "goes" },
    optional: { html, relates_to },
    request: `PUT ${ROOM}/send/m.room.message/TXN`,
    body: { msgtype: "m.emote", body: "goes" },
  },
  {
    operation: "send_file",
    required: { room_id, url },
    optional: {
      info: { other: { size: 7 } },
      file_name,
      file_type: { default: "m.file", other: "m.audio" },
      relates_to,
    },
    request: `PUT ${ROOM}/send/m.room.message/TXN`,
    body: { msgtype: "m.file", body: "file", url },
  },
  {
    operation: "send_image",
    required: { room_id, url },
    optional: { info: { other: { w: 1 } }, file_name, relates_to },
    request: `PUT ${ROOM}/send/m.room.message/TXN`,
    body: { msgtype: "m.image", body: "image", url },
  },
  {
    operation: "send_sticker",
    required: { room_id, url, info: { w: 1 } },
    optional: { text: { default: "", other: "Bravo" }, relates_to },
    request: `PUT ${ROOM}/send/m.sticker/TXN`,
    body: { body: "", url, info: { w: 1 } },
  },
  {
    operation: "react",
    required: { room_id, event_id, key: "👍️" },
    request: `PUT ${ROOM}/send/m.reaction/TXN`,
    body: { "m.relates_to": { rel_type: "m.annotation", event_id, key: "👍️" } },
  },
  {
    operation: "redact",
    required: { room_id, event_id },
    optional: { reason },
    request: `PUT ${ROOM}/redact/${event_id}/TXN`,
    body: {},
  },
  {
    operation: "send_receipt",
    required: { room_id, event_id },
    optional: { receipt_type: { default: "m.read", other: "m.read.private" } },
    request: `POST ${ROOM}/receipt/m.read/${event_id}`,
    body: {},
  },
  {
    operation: "set_fully_read_marker",
    required: { room_id, fully_read: event_id },
    optional: { read_receipt: { other: "$other" } },
    request: `POST ${ROOM}/read_markers`,
    body: { "m.fully_read": event_id },
  },
  {
    operation: "set_typing",
    required: { room_id },
    optional: { timeout: { default: 0, other: 5000 } },
    request: `PUT ${ROOM}/typing/@alice:example.org`,
    body: { typing: false },
  },
  {
    operation: "get_messages",
    required: { room_id, direction: "b", from_token: "t1" },
    optional: { to_token: { other: "t2" }, limit: { other: 5 }, filter_json: { other: '{"types":["m.x"]}' } },
    request: `GET ${ROOM}/messages?dir=b&from=t1`,
  },
];

/** Profile, presence, account data, tags, push rules. */
const user: ContractRow[] = [
  { operation: "get_profile", required: { user_id }, request: `GET ${PROFILE}/${user_id}` },
  { operation: "get_displayname", required: { user_id }, request: `GET ${PROFILE}/${user_id}/displayname` },
  {
    operation: "set_displayname",
    required: { displayname: "Alice" },
    optional: { check_current },
    request: `PUT ${PROFILE}/@alice:example.org/displayname`,
    body: { displayname: "Alice" },
  },
  { operation: "get_avatar_url", required: { user_id }, request: `GET ${PROFILE}/${user_id}/avatar_url` },
  {
    operation: "set_avatar_url",
    required: { avatar_url: url },
    optional: { check_current },
    request: `PUT ${PROFILE}/@alice:example.org/avatar_url`,
    body: { avatar_url: url },
  },
  {
    operation: "get_presence",
    required: { user_id },
    request: `GET /_matrix/client/v3/presence/${user_id}/status`,
  },
  {
    operation: "set_presence",
    optional: { presence: { default: "online", other: "offline" }, status: { other: "Asleep" } },
    request: "PUT /_matrix/client/v3/presence/@alice:example.org/status",
    body: { presence: "online" },
  },
  {
    operation: "get_account_data",
    required: { type: "com.example.settings" },
    optional: { room_id: { other: room_id } },
    request: `GET ${OWN}/account_data/com.example.settings`,
  },
  {
    operation: "set_account_data",
    required: { type: "com.example.settings", data },
    optional: { room_id: { other: room_id } },
    request: `PUT ${OWN}/account_data/com.example.settings`,
    body: data,
  },
  { operation: "get_room_tags", required: { room_id }, request: `GET ${OWN}/rooms/!room/tags` },
  { operation: "get_room_tag", required: { room_id, tag: "u.work" }, request: `GET ${OWN}/rooms/!room/tags` },
  {
    operation: "set_room_tag",
    required: { room_id, tag: "u.work" },
    optional: { info: { other: { order: 0.5 } } },
    request: `PUT ${OWN}/rooms/!room/tags/u.work`,
    body: {},
  },
  {
    operation: "remove_room_tag",
    required: { room_id, tag: "u.work" },
    request: `DELETE ${OWN}/rooms/!room/tags/u.work`,
    body: {},
  },
  {
    operation: "get_push_rule",
    required: { scope: "global", kind: "content", rule_id: "cue" },
    request: `GET ${RULE}`,
  },
  {
    operation: "set_push_rule",
    required: { scope: "global", kind: "content", rule_id: "cue", actions: ["notify"] },
    optional: {
      pattern: { other: "cue" },
      before: { other: "first" },
      after: { other: "last" },
      conditions: { other: [{ kind: "room_member_count", is: "2" }] },
    },
    request: `PUT ${RULE}`,
    body: { actions: ["notify"] },
  },
  {
    operation: "remove_push_rule",
    required: { scope: "global", kind: "content", rule_id: "cue" },
    request: `DELETE ${RULE}`,
    body: {},
  },
  {
    operation: "search_users",
    required: { search_query: "bob" },
    optional: { limit: { default: 10, other: 3 } },
    request: "POST /_matrix/client/v3/user_directory/search",
    body: { search_term: "bob", limit: 10 },
  },
];

/** Aliases and directory. */
const directory: ContractRow[] = [
  {
    operation: "add_room_alias",
    required: { room_id, alias_localpart: "stage" },
    optional: { override: { default: false, other: true } },
    request: `PUT ${ALIAS}`,
    body: { room_id },
    answers: { [`PUT ${ALIAS}`]: refusal(409, "M_UNKNOWN") },
  },
  {
    operation: "remove_room_alias",
    required: { alias_localpart: "stage" },
    optional: { raise_404: { default: false, other: true } },
    request: `DELETE ${ALIAS}`,
    body: {},
    answers: { [`DELETE ${ALIAS}`]: refusal(404, "M_NOT_FOUND") },
  },
  { operation: "get_room_alias", required: { room_alias: "#stage:example.org" }, request: `GET ${ALIAS}` },
  {
    operation: "get_room_directory",
    optional: {
      limit: { other: 5 },
      server: { other: "b.org" },
      since: { other: "t1" },
      search_query: { other: "play" },
      include_all_networks: { default: false, other: true },
      third_party_instance_id: { other: "irc" },
    },
    request: "GET /_matrix/client/v3/publicRooms",
  },
  {
    operation: "get_room_directory_visibility",
    required: { room_id },
    request: "GET /_matrix/client/v3/directory/list/room/!room",
  },
  {
    operation: "set_room_directory_visibility",
    required: { room_id, visibility: "public" },
    request: "PUT /_matrix/client/v3/directory/list/room/!room",
    body: { visibility: "public" },
  },
];

/** Content repository. */
const media: ContractRow[] = [
  {
    operation: "upload_media",
    required: { data: new Uint8Array([1, 2, 3]) },
    optional: {
      mime_type: { other: "audio/ogg" },
      filename: { other: "cue.ogg" },
      // It must agree with the data, so the wrong size is refused.
      size: { other: 4 },
    },
    request: "POST /_matrix/media/v3/upload",
    body: new Uint8Array([1, 2, 3]),
  },
  {
    operation: "download_media",
    required: { url },
    request: "GET /_matrix/client/v1/media/download/example.org/pic",
  },
  {
    operation: "download_thumbnail",
    required: { url },
    optional: {
      width: { other: 32 },
      height: { other: 32 },
      resize_method: { other: "scale" },
      // Servers since version 1.11 do not ask.
      allow_remote: { default: true, other: false },
    },
    request: "GET /_matrix/media/v3/thumbnail/example.org/pic?width=96&height=96&method=crop",
    answers: { "GET /_matrix/client/versions": { versions: ["v1.10"] } },
  },
  { operation: "get_media_repo_config", request: "GET /_matrix/client/v1/media/config" },
  {
    operation: "get_url_preview",
    required: { url: "https://example.org/" },
    optional: { timestamp: { other: 1000 } },
    request: "GET /_matrix/client/v1/media/preview_url?url=https%3A%2F%2Fexample.org%2F",
  },
];

/** Keys and devices. */
const keys: ContractRow[] = [
  {
    operation: "upload_keys",
    optional: {
      one_time_keys: { other: { "signed_curve25519:A": { key: "base64", signatures: {} } } },
      device_keys: { other: { user_id, device_id: "DEV", algorithms: [], keys: {}, signatures: {} } },
    },
    request: "POST /_matrix/client/v3/keys/upload",
    body: {},
  },
  {
    operation: "query_keys",
    required: { device_keys: [user_id] },
    optional: { token: { default: "", other: "t1" }, timeout: { default: 10_000, other: 1 } },
    request: "POST /_matrix/client/v3/keys/query",
    body: { device_keys: { [user_id]: [] }, timeout: 10_000 },
  },
  {
    operation: "claim_keys",
    required: { one_time_keys: { [user_id]: { DEV: "signed_curve25519" } } },
    optional: { timeout: { default: 10_000, other: 1 } },
    request: "POST /_matrix/client/v3/keys/claim",
    body: { one_time_keys: { [user_id]: { DEV: "signed_curve25519" } }, timeout: 10_000 },
  },
  {
    operation: "send_to_device",
    required: { event_type: "com.example.cue", messages: { [user_id]: { "*": { go: true } } } },
    request: "PUT /_matrix/client/v3/sendToDevice/com.example.cue/TXN",
    body: { messages: { [user_id]: { "*": { go: true } } } },
  },
  {
    operation: "send_to_one_device",
    required: { event_type: "com.example.cue", user_id, device_id: "DEV", message: { go: true } },
    request: "PUT /_matrix/client/v3/sendToDevice/com.example.cue/TXN",
    body: { messages: { [user_id]: { DEV: { go: true } } } },
  },
];

/** Filters, sync, discovery, session; `discover` has a table of its own. */
const session: ContractRow[] = [
  {
    operation: "create_filter",
    required: { filter_params: { room: { timeline: { limit: 5 } } } },
    request: `POST ${OWN}/filter`,
    body: { room: { timeline: { limit: 5 } } },
  },
  { operation: "get_filter", required: { filter_id: "f1" }, request: `GET ${OWN}/filter/f1` },
  {
    operation: "sync",
    optional: {
      since: { other: "t1" },
      timeout: { default: 30_000, other: 1 },
      filter_id: { other: "f1" },
      full_state: { default: false, other: true },
      set_presence: { other: "offline" },
    },
    request: "GET /_matrix/client/v3/sync?timeout=30000",
  },
  { operation: "versions", request: "GET /_matrix/client/versions" },
  { operation: "whoami", request: "GET /_matrix/client/v3/account/whoami" },
  { operation: "get_login_flows", request: "GET /_matrix/client/v3/login" },
  {
    operation: "login",
    optional: {
      identifier: { other: "@carol:c.org" },
      login_type: { default: "m.login.password", other: "m.login.token" },
      device_name: { other: "Laptop" },
      device_id: { other: "DEV" },
      password: { other: "another" },
      store_access_token: { default: true, other: false },
      update_hs_url: { default: false, other: true },
    },
    always: { password: "wonderland" },
    request: "POST /_matrix/client/v3/login",
    body: {
      type: "m.login.password",
      identifier: { type: "m.id.user", user: "@alice:example.org" },
      password: "wonderland",
    },
  },
  {
    operation: "logout",
    optional: { clear_access_token },
    request: "POST /_matrix/client/v3/logout",
    body: {},
  },
  {
    operation: "logout_all",
    optional: { clear_access_token },
    request: "POST /_matrix/client/v3/logout/all",
    body: {},
  },
];

/** Every operation on a homeserver. */
export const CONTRACT: readonly ContractRow[] = [
  ...rooms,
  ...events,
  ...user,
  ...directory,
  ...media,
  ...keys,
  ...session,
];

/** An answer that has what any operation looks for. */
export const USUAL_ANSWER = {
  room_id,
  event_id,
  user_id: "@alice:example.org",
  device_id: "NEW",
  access_token: "new-token",
  well_known: { "m.homeserver": { base_url: "https://other.example.org" } },
  type: "m.room.name",
  sender: user_id,
  content: {},
  joined_rooms: [],
  chunk: [],
  joined: {},
  start: "t1",
  presence: "online",
  tags: {},
  rule_id: "cue",
  default: false,
  enabled: true,
  actions: [],
  results: [],
  limited: false,
  servers: [],
  visibility: "public",
  content_uri: url,
  one_time_key_counts: {},
  delay_id: "delay",
  delayed_events: [],
  automatic: false,
  device_keys: {},
  one_time_keys: {},
  failures: {},
  filter_id: "f1",
  next_batch: "t2",
  versions: ["v1.19"],
  flows: [],
  ...{ valid: true, locked: true, suspended: true, notifications: [], sid: "1", contacts: [] },
  ...{ id_server_unbind_result: "success", public_keys: { ed25519: "a".repeat(43) } },
};

/**
 * What of the contract the client has beside the operations on a homeserver: names of the contract,
 * and ours if another.
 */
export const CLIENT_MEMBERS: Readonly<Record<string, string>> = {
  // Part 1: attributes and helpers. The stores can be given as one, and the setter of a read-only
  // property is a method.
  mxid: "mxid",
  device_id: "deviceId",
  api: "api",
  log: "log",
  state_store: "stateStore",
  crypto: "crypto",
  crypto_log: "cryptoLog",
  encryption_blacklist: "encryptionBlacklist",
  set_mxid: "setMxid",
  fill_member_event_callback: "fillMemberEventCallback",
  // Part 4: the syncer.
  start: "start",
  stop: "stop",
  add_event_handler: "addEventHandler",
  remove_event_handler: "removeEventHandler",
  on: "on",
  add_dispatcher: "addDispatcher",
  remove_dispatcher: "removeDispatcher",
  dispatch_event: "dispatchEvent",
  dispatch_internal_event: "dispatchInternalEvent",
  run_internal_event: "runInternalEvent",
  dispatch_manual_event: "dispatchManualEvent",
  handle_sync: "handleSync",
  dispatchers: "dispatchers",
  syncing_task: "syncingTask",
  presence: "presence",
  sync_store: "syncStore",
  // Part 4: encryption.
  encrypt: "encrypt",
  "share a group session": "shareGroupSession",
};

/** What the contract has on the class itself. */
export const CLASS_MEMBERS: Readonly<Record<string, string>> = {
  discover: "discover",
  parse_user_id: "parseUserId",
  parse_mxid: "parseMxid",
};
