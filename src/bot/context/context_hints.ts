/**
 * What other libraries call members of contexts and rooms, and what to write here.
 *
 * @module
 */

const COUNT = "(await c.room.getMembers()).size";

/** Of a room, in a context or not, by the name elsewhere. */
export const ROOM_HINTS = {
  kickUser: "kick(userId, reason)",
  banUser: "ban(userId, reason)",
  unbanUser: "unban(userId)",
  inviteUser: "invite(userId)",
  setRoomTopic: "setTopic(topic)",
  setRoomName: "setName(name)",
  sendText: "send(text)",
  sendMessage: "send(text)",
  sendMarkdown: "send(text)",
  sendHtml: 'send(html, { format: "html" })',
  sendHtmlText: 'send(html, { format: "html" })',
  sendNotice: "send(text), which is a notice",
  sendReaction: "reactTo(eventId, key)",
  sendPhoto: "sendImage(data)",
  sendVoice: "sendAudio(data)",
  sendDocument: "sendFile(data)",
  editMessage: "edit(eventId, text)",
  deleteMessage: "redact(eventId)",
  redactEvent: "redact(eventId)",
  mute: "room.setPowerLevel(userId, -1), of a context",
  setAvatar: 'client.sendStateEvent(roomId, "m.room.avatar", { url })',
} as const;

/** Of a function's room, by the name elsewhere. */
export const ROOM_CONTEXT_HINTS = {
  setTyping: "c.typing(() => work())",
  sendTyping: "c.typing(() => work())",
  chat: "c.room",
  chatId: "c.roomId",
} as const;

/** Of the room in a context, by the name elsewhere. */
export const CONTEXT_ROOM_HINTS = {
  displayName: "(await c.room.getMember(userId))?.displayname",
  encrypted: "c.room.isEncrypted",
  isDirect: `${COUNT} === 2`,
  isDM: `${COUNT} === 2`,
  members: "await c.room.getMembers()",
  memberCount: COUNT,
  powerLevel: "await c.room.getPowerLevel(userId)",
  storage: "await c.session(definition)",
  state: "await c.session(definition), or c.client.stateStore",
  messages: 'c.client.iterateMessages(c.roomId, "b")',
  alias: 'await c.client.stateStore.getState(c.roomId, "m.room.canonical_alias")',
} as const;

/**
 * Of an event's context, by the name elsewhere; none that a plugin may well add, such as `user` or `store`: a
 * function may read it before another has set it.
 */
export const EVENT_HINTS = {
  message: "c.event, or c.text",
  msg: "c.event, or c.text",
  body: "c.text",
  from: "c.sender",
  author: "c.sender",
  replyText: "c.reply(text)",
  replyMarkdown: "c.reply(text)",
  replyNotice: "c.reply(text), which is a notice",
  replyHtml: 'c.reply(html, { format: "html" })',
  replyHtmlText: 'c.reply(html, { format: "html" })',
  replyImage: "c.sendImage(data, { replyTo: c.event.event_id })",
  replyFile: "c.sendFile(data, { replyTo: c.event.event_id })",
  replyWithPhoto: "c.sendImage(data)",
  replyWithDocument: "c.sendFile(data)",
  replyWithAudio: "c.sendAudio(data)",
  replyWithVideo: "c.sendVideo(data)",
  replyWithPoll: "c.sendPoll(question, answers)",
  replyWithChatAction: "c.typing(() => work())",
  editMessageText: "c.edit(eventId, text)",
  banChatMember: "c.ban(userId)",
  getFile: "c.download()",
  downloadThumbnail: "c.client.downloadThumbnail(url)",
  delete: "c.redact(c.event.event_id)",
  dm: "c.client.createRoom({ isDirect: true, invitees: [userId] })",
  encrypted: "c.room.isEncrypted, or c.encryption of the event",
  isEncrypted: "c.room.isEncrypted, or c.encryption of the event",
  hasText: "c.is(query)",
  userId: "c.sender",
  eventId: "c.event.event_id",
  timestamp: "c.event.origin_server_ts",
  username: "c.displayName",
  senderName: "c.displayName",
  threadId: "c.thread",
  argText: "c.args",
  commandArgs: "c.args",
  channel: "c.room",
  roomName: "c.room.name",
  member: "await c.room.getMember(c.sender)",
  members: "await c.room.getMembers()",
  getMembers: "c.room.getMembers()",
  setPowerLevel: "c.room.setPowerLevel(userId, level)",
  enableEncryption: "c.room.enableEncryption()",
  file: "c.media, and await c.download()",
  attachments: "c.media, and await c.download()",
  withTyping: "c.typing(() => work())",
  waitFor: "c.wait({ filter, accept })",
  waitForReaction: 'c.wait({ filter: "reaction", accept }), or c.menu(question, choices)',
  awaitMessages: "c.wait({ filter, accept })",
  choose: "c.menu(question, choices)",
  poll: "c.sendPoll(question, answers)",
  replyWithMarkdown: "c.reply(text)",
  replyWithHTML: 'c.reply(html, { format: "html" })',
} as const;

/** Of a bot, by the name elsewhere. */
export const BOT_HINTS = {
  send: "bot.in(roomId).send(text)",
  sendText: "bot.in(roomId).send(text)",
  sendMessage: "bot.in(roomId).send(text)",
  sendHtml: 'bot.in(roomId).send(html, { format: "html" })',
  reply: "bot.in(roomId).send(text)",
  sendImage: "bot.in(roomId).sendImage(data)",
  sendFile: "bot.in(roomId).sendFile(data)",
  redact: "bot.in(roomId).redact(eventId)",
  kick: "bot.in(roomId).kick(userId)",
  ban: "bot.in(roomId).ban(userId)",
  room: "bot.in(roomId)",
  user: "bot.userId",
  mxid: "bot.userId",
  api: "bot.client",
  crypto: "bot.client, which has crypto with the option encryption",
  deviceId: "await bot.client.whoami(), where it is device_id",
  help: "nothing: !help is there unless the option help says false",
  ready: "await bot.client.ready",
  run: "bot.start()",
  launch: "bot.start()",
  login: "the options mxid and password, or accessToken",
  destroy: "bot.close()",
  schedule: "bot.every(pattern, handler), or c.remind(when, data) for once",
  cron: "bot.every(pattern, handler)",
  daily: "bot.every(pattern, handler)",
  onReminder: "bot.reminder(name, handler)",
  onCommand: "bot.command(pattern, handler)",
  addCommand: "bot.command(pattern, handler)",
  conversation: "bot.command(pattern, handler), where c.ask(question) waits",
  handleRequest: "bot.fetch",
  handleUpdate: "bot.fetch",
  once: "bot.on(query, handler)",
  onError: "bot.catch(handler)",
  onMessage: 'bot.on("message", handler)',
  onText: 'bot.on("message:text", handler)',
  onReaction: 'bot.on("reaction", handler)',
  onMention: 'bot.on("message:text", handler), and read c.mentions',
  hear: "bot.hears(pattern, handler)",
  direct: "bot.client.createRoom({ isDirect: true, invitees: [userId] })",
  getRoom: "bot.in(roomId)",
  joinRoom: "bot.client.joinRoom(roomIdOrAlias)",
  storage: "bot.session(definition, key), or c.session(definition)",
  setCommands: "nothing: commands are listed by !help",
} as const;

/** Of options of text, by the name elsewhere. */
export const WRITE_HINTS = {
  markdown: "format, which is Markdown by default",
  html: 'format: "html", and give the HTML as the text',
  parse_mode: 'format: "html"',
  parseMode: 'format: "html"',
  notice: 'msgtype: "m.notice", which is the default',
  reply_to: "c.reply(text)",
  thread: "c.replyInThread(text), or bot.in(roomId, { thread }).send(text)",
  threadId: "c.replyInThread(text), or bot.in(roomId, { thread }).send(text)",
  inThread: "c.replyInThread(text)",
} as const;
