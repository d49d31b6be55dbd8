/**
 * What other libraries call a client's members, and what to write here.
 *
 * @module
 */

import type { WriteInstead } from "../errors/hints.ts";

/** Options of other libraries' clients; the compiler names the own one. */
export interface ClientOptionHints {
  /** @deprecated The option is `homeserver`. */
  homeserverUrl?: WriteInstead<"homeserver">;
  /** @deprecated The option is `accessToken`. */
  token?: WriteInstead<"accessToken">;
  /** @deprecated The option is `mxid`. */
  userId?: WriteInstead<"mxid">;
  /** @deprecated The option is `mxid`. */
  user?: WriteInstead<"mxid">;
  /** @deprecated Only a login takes it. */
  password?: WriteInstead<"client.login({ identifier, password })">;
  /** @deprecated Only a login takes it. */
  deviceName?: WriteInstead<"client.login({ identifier, password, deviceName })">;
}

/** By the name elsewhere. `docs/migration/guesses.md` has them by library. */
export const CLIENT_HINTS = {
  userId: "client.mxid",
  getUserId: "client.mxid",
  user: "client.mxid",
  homeserver: "client.api.baseUrl",
  startClient: "client.start()",
  startSync: "client.start()",
  run: "client.start()",
  stopClient: "client.stop() or client.close()",
  stopSync: "client.stop()",
  destroy: "client.close()",
  disconnect: "client.close()",
  initRustCrypto: "the option encryption: true",
  getCrypto: "client.crypto",
  off: "client.removeEventHandler(type, handler)",
  removeListener: "client.removeEventHandler(type, handler)",
  removeEventListener: "client.removeEventHandler(type, handler)",
  addListener: "client.on(type, handler)",
  addEventListener: "client.on(type, handler)",
  once: "client.ready for the first sync, or client.on(type, handler)",
  emit: "client.dispatchEvent(event)",
  sendHtmlText: "client.sendText(roomId, text, { html })",
  sendHtmlMessage: "client.sendText(roomId, text, { html })",
  sendTextMessage: "client.sendText(roomId, text)",
  sendHtmlNotice: "client.sendNotice(roomId, text, { html })",
  sendEmoteMessage: "client.sendEmote(roomId, text)",
  sendEvent: "client.sendMessageEvent(roomId, type, content)",
  sendReaction: "client.react(roomId, eventId, key)",
  sendReadReceipt: "client.sendReceipt(roomId, eventId)",
  sendTyping: "client.setTyping(roomId, { timeout })",
  reply: "client.sendText(roomId, text, { replyTo })",
  replyText: "client.sendText(roomId, text, { replyTo })",
  replyNotice: "client.sendNotice(roomId, text, { replyTo })",
  editText: "client.edit(roomId, eventId, text)",
  editMessage: "client.edit(roomId, eventId, text)",
  redactEvent: "client.redact(roomId, eventId)",
  deleteMessage: "client.redact(roomId, eventId)",
  upload: "client.uploadMedia(data, { mimeType, filename })",
  uploadContent: "client.uploadMedia(data, { mimeType, filename })",
  uploadFile: "client.uploadMedia(data), or client.sendFile(roomId, data)",
  download: "client.downloadMedia(url)",
  downloadContent: "client.downloadMedia(url)",
  getThumbnail: "client.downloadThumbnail(url)",
  mxcToHttp: "client.downloadMedia(url): media need the token",
  mxcUrlToHttp: "client.downloadMedia(url): media need the token",
  join: "client.joinRoom(roomId)",
  leave: "client.leaveRoom(roomId)",
  forget: "client.forgetRoom(roomId)",
  invite: "client.inviteUser(roomId, userId)",
  kick: "client.kickUser(roomId, userId)",
  ban: "client.banUser(roomId, userId)",
  unban: "client.unbanUser(roomId, userId)",
  getRoom: "client.room(roomId)",
  getRooms: "client.getJoinedRooms()",
  getRoomMembers: "client.getMembers(roomId)",
  getJoinedRoomMembers: "client.getJoinedMembers(roomId)",
  getRoomState: "client.getState(roomId)",
  getRoomStateEvent: "client.getStateEvent(roomId, type)",
  setRoomName: 'client.sendStateEvent(roomId, "m.room.name", { name })',
  setRoomTopic: 'client.sendStateEvent(roomId, "m.room.topic", { topic })',
  userHasPowerLevelFor: "client.stateStore.hasPowerLevel(roomId, userId, action)",
  resolveRoom: "client.getRoomAlias(alias)",
  resolveAlias: "client.getRoomAlias(alias)",
  rooms: "client.getJoinedRooms()",
  waitForSync: "client.ready",
  whenReady: "client.ready",
  stopped: "client.done, or the promise of client.start()",
  lastSyncAt: 'client.on("SYNC_SUCCESSFUL", handler)',
  sendMarkdown: "client.sendText(roomId, text, { html })",
  markAsRead: "client.sendReceipt(roomId, eventId)",
  addTag: "client.setRoomTag(roomId, tag)",
  search: "client.searchMessages(searchTerm)",
  getAllState: "client.getState(roomId)",
  media: "client.uploadMedia(data) and client.downloadMedia(url)",
  createDirectRoom: "client.createRoom({ isDirect: true, invitees })",
  setServerAcl: 'client.sendStateEvent(roomId, "m.room.server_acl", content)',
  setTopic: 'client.sendStateEvent(roomId, "m.room.topic", { topic })',
  waitFor: "client.on(type, handler)",
  publicRooms: "client.getRoomDirectory()",
  getPublicRooms: "client.getRoomDirectory()",
  dms: "client.createRoom({ isDirect: true, invitees })",
  openDirect: "client.createRoom({ isDirect: true, invitees })",
  createDm: "client.createRoom({ isDirect: true, invitees })",
  getUserProfile: "client.getProfile(userId)",
  getProfileInfo: "client.getProfile(userId)",
  getDisplayName: "client.getDisplayname(userId)",
  setDisplayName: "client.setDisplayname(name)",
  fetchRoomEvent: "client.getEvent(roomId, eventId)",
  scrollback: 'client.iterateMessages(roomId, "b")',
  relations: "client.getRelations(roomId, eventId)",
  doRequest: "client.request(method, path)",
} as const;

/** Of a client, for the compiler alone: they are called, and a call of what is not there fails anyway. */
export const COMPILED_CLIENT_HINTS = {
  setState: "client.sendStateEvent(roomId, type, content)",
  sendState: "client.sendStateEvent(roomId, type, content)",
  getRoomAccountData: "client.getAccountData(type, { roomId })",
  setRoomAccountData: "client.setAccountData(type, content, { roomId })",
  sendHtml: "client.sendText(roomId, text, { html })",
  pinMessage: 'client.sendStateEvent(roomId, "m.room.pinned_events", { pinned })',
  endPoll: "client.sendMessageEvent(roomId, type, content) of pollEnd(), or c.endPoll(poll) of a bot",
  messages: "client.getMessages(roomId, direction)",
  markRead: "client.sendReceipt(roomId, eventId)",
} as const;
