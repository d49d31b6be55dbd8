/**
 * What other libraries call members of contexts and rooms, and what to write here.
 *
 * @module
 */

const REDACT_ALL = "redactMessages(c.client, c.roomId, userId) of @greenroom/matrix/bot";
const PARTS = "c.text, c.eventId, c.replyTo, c.thread, c.media, or c.event, which has the rest";
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
  redactUser: REDACT_ALL,
  purge: REDACT_ALL,
  reminders: "await bot.reminders.list({ roomId: c.roomId })",
} as const;

/** What a bot without the option `session` has not, for the compiler: the member itself says so in a run. */
export const SESSION_HINT = {
  session: "the type of the bot: Bot.fromEnv({ session: { initial } }), or Bot<Context & WithSession<State>>",
} as const;

/** Of the room in a context, by the name elsewhere. */
export const CONTEXT_ROOM_HINTS = {
  displayName: "(await c.room.getMember(userId))?.displayname",
  encrypted: "c.room.isEncrypted",
  isDirect: `${COUNT} === 2`,
  isDM: `${COUNT} === 2`,
  members: "await c.room.getMembers()",
  memberCount: COUNT,
  member: "await c.room.getMember(userId)",
  membership: '(await c.room.getMember(userId))?.membership === "join"',
  powerLevelOf: "await c.room.getPowerLevel(userId)",
  powerLevels: 'await c.client.getStateEvent(c.roomId, "m.room.power_levels")',
  powerLevel: "await c.room.getPowerLevel(userId)",
  storage: "bot.store, or await c.getSession(definition)",
  state: "await c.getSession(definition), or c.client.stateStore",
  messages: 'c.client.iterateMessages(c.roomId, "b")',
  alias: 'await c.client.stateStore.getState(c.roomId, "m.room.canonical_alias")',
} as const;

/**
 * Of an event's context, by the name elsewhere; none that a plugin may well add, such as `user` or `store`: a
 * function may read it before another has set it.
 */
export const EVENT_HINTS = {
  message: PARTS,
  msg: PARTS,
  mention: "mention(userId, name) of @greenroom/matrix/bot in the text, or the option mentions",
  body: "c.text",
  from: "c.sender",
  author: "c.sender",
  replyText: "c.reply(text)",
  replyMarkdown: "c.reply(text)",
  replyNotice: "c.reply(text), which is a notice",
  replyHtml: 'c.reply(html, { format: "html" })',
  replyHtmlText: 'c.reply(html, { format: "html" })',
  replyImage: "c.sendImage(data, { replyTo: c })",
  replyFile: "c.sendFile(data, { replyTo: c })",
  replyWithPhoto: "c.sendImage(data)",
  replyWithDocument: "c.sendFile(data)",
  replyWithAudio: "c.sendAudio(data)",
  replyWithVideo: "c.sendVideo(data)",
  replyWithPoll: "c.sendPoll(question, answers)",
  replyWithImage: "c.sendImage(data, { replyTo: c })",
  replyWithFile: "c.sendFile(data, { replyTo: c })",
  sendLocation: 'c.client.sendMessage(c.roomId, { msgtype: "m.location", body, geo_uri })',
  location: "c.event.content.geo_uri",
  getFile: "c.download()",
  downloadThumbnail: "c.client.downloadThumbnail(url)",
  delete: "c.redact()",
  dm: "c.client.createRoom({ isDirect: true, invitees: [userId] })",
  encrypted: "c.room.isEncrypted, or c.encryption of the event",
  isEncrypted: "c.room.isEncrypted, or c.encryption of the event",
  membership: "c.event.content.membership",
  hasText: "c.is(query)",
  escape: "escapeMarkdown(text)",
  rest: 'c.args, which is a list of words; or "<rest...>" in the pattern',
  repliedTo: "await c.replyTo?.getEvent()",
  getReply: "await c.replyTo?.getEvent()",
  targetId: "c.reaction, which has an eventId",
  redacts: "c.event, or c.event.content from room version 11 on, which has redacts",
  editedId: "readText(c.event.content).edits",
  newText: "c.text",
  vote: "c.event.content, and await c.getPollResults(poll)",
  pollResults: "await c.getPollResults(poll)",
  senderPowerLevel: "await c.room.getPowerLevel(c.sender)",
  getPowerLevel: "await c.room.getPowerLevel(userId)",
  conversation: "c.ask(question), which waits for the answer",
  schedule: "c.remind(when, data), or bot.every(pattern, handler)",
  sleep: "c.remind(when, data), which outlives the process",
  userId: "c.sender",
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
  replyStream: "c.stream(text)",
  enter: "c.ask(question), which waits for the answer",
  isEdit: 'bot.on("edit", handler), or readText(c.event.content).edits',
  canBan: 'await c.client.stateStore.hasPowerLevel(c.roomId, c.client.mxid, "ban")',
  senderVerified: "c.encryption, which has senderTrust",
} as const;

/**
 * Of an event's context, for the compiler alone: they are called, and a call of what is not there fails in a
 * run anyway. One that a condition may read, such as `isEdit`, must throw in a run: a hint lets it compile.
 */
export const COMPILED_EVENT_HINTS = {
  cancelQuestion: "nothing: users end a question by !cancel",
  replyWithMarkdown: "c.reply(text)",
  replyWithHTML: 'c.reply(html, { format: "html" })',
  editMessageText: "c.edit(eventId, text)",
  replyWithChatAction: "c.typing(() => work())",
  banChatMember: "c.ban(userId)",
  unmute: "c.room.setPowerLevel(userId, 0)",
  warn: "c.send(text, { mentions: [userId] }), and a count in bot.store",
  markAsRead: "c.markRead()",
  sendReceipt: "c.markRead()",
  pinMessage: "c.pin()",
  unpinMessage: "c.unpin(message)",
} as const;

/** Of a bot, for the compiler alone: they are called. */
export const COMPILED_BOT_HINTS = {
  init: "await bot.client.ready, once bot.start() was called",
} as const;

/** Of a bot, by the name elsewhere. */
export const BOT_HINTS = {
  sendText: "bot.send(roomId, text)",
  sendMessage: "bot.send(roomId, text)",
  sendMarkdown: "bot.send(roomId, text)",
  sendHtml: 'bot.send(roomId, html, { format: "html" })',
  reply: "bot.send(roomId, text, { replyTo })",
  edit: "bot.in(roomId).edit(eventId, text)",
  react: "bot.in(roomId).reactTo(eventId, key)",
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
  job: "bot.reminder<Data>(name, handler), and c.remind(when, { name, data })",
  timers: "bot.reminder<Data>(name, handler), and c.remind(when, { name, data })",
  unschedule: "bot.reminders.cancel(id), with what c.remind() returns",
  sendNotice: "bot.send(roomId, text), which is a notice",
  rooms: "await bot.client.getJoinedRooms()",
  onStart: "await bot.client.ready",
  isRunning: "await bot.client.ready, or the promise of bot.start()",
  log: "bot.client.log",
  logger: "bot.client.log",
  kill: "bot.close(), or tester.restart() of a BotTester",
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
  mention: 'bot.on("message:text", handler), and read c.mentions',
  unknownCommand: 'the option unknownCommands: "answer"',
  polls: "c.getPollResults(poll) and c.endPoll(poll)",
  hear: "bot.hears(pattern, handler)",
  direct: "bot.client.createRoom({ isDirect: true, invitees: [userId] })",
  getRoom: "bot.in(roomId)",
  joinRoom: "bot.client.joinRoom(roomIdOrAlias)",
  storage: "bot.store",
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
  mentionRoom: 'mentions: ["room"]',
  inThread: "c.replyInThread(text)",
} as const;
