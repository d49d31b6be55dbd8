/**
 * Sample calls of the operations that Greenroom has beyond the contract: each with and without its
 * options.
 *
 * @module
 */

const room = "!room:example.org";
const user = "@bob:b.org";
const event = "$event";
const authentication = { password: "secret" };
const signatures = { "@alice:example.org": { "ed25519:DEV": "c2lnbmF0dXJl" } };

const crossSigningKey = (usage: string) => ({
  user_id: "@alice:example.org",
  usage: [usage],
  keys: { "ed25519:key": "a2V5" },
  signatures,
});

/** Device keys as they are uploaded. */
export const deviceKeys = {
  user_id: "@alice:example.org",
  device_id: "DEV",
  algorithms: ["m.olm.v1.curve25519-aes-sha2"],
  keys: { "ed25519:DEV": "a2V5" },
  signatures,
};

const backup = {
  algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
  auth_data: { public_key: "a2V5", signatures },
};
const session = { roomId: room, sessionId: "a/b+c" };
const roomKey = {
  first_message_index: 0,
  forwarded_count: 0,
  is_verified: false,
  session_data: { ephemeral: "a2V5", ciphertext: "dGV4dA", mac: "bWFjbWFjbWE" },
};

const dehydrated = {
  device_id: "a/b+c",
  device_data: { algorithm: "org.matrix.msc3814.v2", device_pickle: "cGlja2xl", nonce: "bm9uY2U" },
  device_keys: { ...deviceKeys, dehydrated: true },
  initial_device_display_name: "Dehydrated device",
};

const validation = { sid: "1", client_secret: "s" };
const address = { medium: "email", address: "a@b.org" };

const pusher = {
  pushkey: "key",
  kind: "http",
  app_id: "org.example.app",
  app_display_name: "App",
  device_display_name: "Phone",
  lang: "en",
  data: { url: "https://push.example.org/_matrix/push/v1/notify" },
};

/** Lists of arguments by operation. */
export const BEYOND_CONTRACT: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  edit: [[room, "$edited", "Go"], [room, "$edited", null, { html: "<b>Go</b>", msgtype: "m.notice" }]],
  knockRoom: [[room], ["#stage:b.org", { servers: ["b.org", "c.org"], reason: "Please" }]],
  getRoomAliases: [[room]],
  getProfileField: [[user, "m.tz"]],
  setProfileField: [["m.tz", "Europe/Berlin"]],
  deleteProfileField: [["m.tz"]],
  getDehydratedDevice: [[]],
  uploadDehydratedDevice: [[dehydrated]],
  deleteDehydratedDevice: [[]],
  getDehydratedDeviceEvents: [["a/b+c"], ["a/b+c", { from: "d17" }]],
  getPushRules: [[]],
  isPushRuleEnabled: [["global", "content", "cue"]],
  setPushRuleEnabled: [["global", "content", "cue", true]],
  getPushRuleActions: [["global", "content", "cue"]],
  setPushRuleActions: [["global", "content", "cue", ["notify"]]],
  register: [[], [{
    kind: "user",
    username: "carol",
    password: "secret",
    deviceId: "DEV",
    deviceName: "Phone",
    withRefreshToken: true,
    inhibitLogin: true,
    authentication: { registrationToken: "token" },
  }]],
  isUsernameAvailable: [["carol"]],
  changePassword: [["new"], ["new", { logoutDevices: false, authentication }]],
  deactivateAccount: [[], [{ erase: true, idServer: "id.example.org", authentication }]],
  getThirdPartyIds: [[]],
  getKeyChanges: [["s1", "s2"]],
  uploadKeys: [[{
    deviceKeys,
    oneTimeKeys: { "signed_curve25519:AAAA": { key: "a2V5", signatures } },
    fallbackKeys: { "signed_curve25519:BBBB": { key: "a2V5", fallback: true, signatures } },
  }]],
  uploadCrossSigningKeys: [[], [{
    masterKey: crossSigningKey("master"),
    selfSigningKey: crossSigningKey("self_signing"),
    userSigningKey: crossSigningKey("user_signing"),
    authentication,
  }]],
  uploadSignatures: [[{ "@alice:example.org": { DEV: deviceKeys } }]],
  listAccountData: [[]],
  createDelayedEvent: [
    [room, "m.room.message", { msgtype: "m.text", body: "a" }, { delay: 1_000 }],
    [room, "m.room.topic", { topic: "a" }, { delay: 1_000, stateKey: "" }],
  ],
  listDelayedEvents: [[]],
  cancelDelayedEvent: [["delay"]],
  restartDelayedEvent: [["delay"]],
  sendDelayedEvent: [["delay"]],
  getMutualRooms: [[user]],
  isRegistrationTokenValid: [["a/b+c"]],
  getInvitePermissions: [[]],
  setInvitePermissions: [[{}], [{ default_action: "block" }]],
  getNotifications: [[], [{ from: "n1", limit: 5, only: "highlight" }]],
  requestEmailToken: [["a@b.org"], ["a@b.org", {
    clientSecret: "s",
    sendAttempt: 2,
    nextLink: "https://b.org",
  }]],
  requestPhoneToken: [["7700900123", { country: "GB" }]],
  addThirdPartyId: [[validation], [validation, { authentication }]],
  bindThirdPartyId: [[validation, { idServer: "id.b.org", idAccessToken: "token" }]],
  unbindThirdPartyId: [[address], [address, { idServer: "id.b.org" }]],
  removeThirdPartyId: [[address], [address, { idServer: "id.b.org" }]],
  isUserLocked: [[user]],
  setUserLocked: [[user, true]],
  isUserSuspended: [[user]],
  setUserSuspended: [[user, false]],
  getSupport: [[], [{ serverName: "b.org" }]],
  getPolicyServer: [["b.org:8448"]],
  getThreadSubscription: [[room, event]],
  setThreadSubscription: [[room, event], [room, event, { automatic: event }]],
  removeThreadSubscription: [[room, event]],
  deleteAccountData: [["com.example.a"], ["com.example.a", { roomId: room }]],
  supports: [["v1.11"], ["org.matrix.msc4140"]],
  getKeyBackupVersion: [[], [{ version: "1" }]],
  createKeyBackupVersion: [[backup]],
  updateKeyBackupVersion: [["1", backup]],
  deleteKeyBackupVersion: [["1"]],
  uploadRoomKeys: [["1", { rooms: { [room]: { sessions: { session: roomKey } } } }]],
  getRoomKey: [["1", session]],
  deleteRoomKey: [["1", session]],
  downloadRoomKeys: [["1"], ["1", { roomId: room }]],
  getDevices: [[]],
  getDevice: [["DEV"]],
  updateDevice: [["DEV", "Phone"]],
  deleteDevice: [["DEV"], ["DEV", { authentication }]],
  deleteDevices: [[["DEV", "OLD"]], [["DEV"], { authentication }]],
  login: [[{ password: "secret", withRefreshToken: true }], [{ loginType: "m.login.application_service" }]],
  getLoginToken: [[], [{ authentication }]],
  sync: [[{ useStateAfter: true, filterId: { room: { timeline: { limit: 1 } } } }]],
  createMedia: [[]],
  uploadMediaTo: [["mxc://example.org/pic", new Uint8Array(3), {
    filename: "a b.png",
    mimeType: "image/png",
  }]],
  uploadMedia: [[new ReadableStream({ start: (stream) => stream.close() }), { filename: "ü" }]],
  downloadMedia: [["mxc://example.org:8448/pic", { timeout: 5_000 }]],
  downloadMediaStream: [["mxc://example.org/pic"], ["mxc://[::1]:80/pic", { timeout: 5_000 }]],
  downloadThumbnail: [["mxc://example.org/pic", { animated: true, timeout: 5_000 }]],
  getRelations: [
    [room, event],
    [room, event, { from: "t1", to: "t2", limit: 5, direction: "f", recurse: true }],
    [room, event, { relType: "m.thread" }],
    [room, event, { relType: "m.annotation", eventType: "m.reaction" }],
  ],
  getThreads: [[room], [room, { include: "participated", limit: 5, from: "t1" }]],
  getSpaceHierarchy: [[room], [room, { suggestedOnly: true, limit: 5, maxDepth: 2, from: "t1" }]],
  upgradeRoom: [[room, "11"], [room, "12", { additionalCreators: [user] }]],
  getEventContext: [[room, event], [room, event, { limit: 4, filter: { types: ["m.room.message"] } }]],
  timestampToEvent: [[room, 1_700_000_000_000, "b"]],
  getRoomSummary: [[room], ["#stage:b.org", { servers: ["b.org", "c.org"] }]],
  reportEvent: [[room, event], [room, event, { reason: "Spam" }]],
  reportRoom: [[room], [room, { reason: "Spam" }]],
  reportUser: [[user], [user, { reason: "Spam" }]],
  searchMessages: [["ghost"], ["ghost", {
    nextBatch: "t1",
    criteria: { keys: ["content.body"], order_by: "recent", event_context: { include_profile: true } },
  }]],
  getCapabilities: [[]],
  getPushers: [[]],
  setPusher: [[pusher], [{ ...pusher, append: true, profile_tag: "day" }]],
  removePusher: [["key", "org.example.app"]],
  getThirdPartyProtocols: [[]],
  getThirdPartyProtocol: [["irc"]],
  getThirdPartyLocations: [["irc"], ["irc", { fields: { network: "libera", channel: "#stage" } }]],
  getThirdPartyLocationsOfAlias: [["#stage:b.org"]],
  getThirdPartyUsers: [["irc"], ["irc", { fields: { nick: "bob" } }]],
  getThirdPartyUsersOfId: [[user]],
  getOpenIdToken: [[]],
  getTurnServer: [[]],
  iterateMessages: [[room, "b"], [room, "f", { fromToken: "t1", limit: 5 }]],
  iterateRelations: [[room, event, { relType: "m.thread", limit: 5 }]],
  iterateThreads: [[room]],
  iterateSpaceRooms: [[room]],
  iterateRoomDirectory: [[{ limit: 5 }], [{ searchQuery: "stage", since: "t1" }]],
};
