/**
 * What other tests and clients call things, and what to write here.
 *
 * @module
 */

const FAULT = "homeserver.faults.add({ kind, match })";

/** What homeservers of other tests have, and what to write here. */
export const HOMESERVER_HINTS = {
  url: "homeserver.baseUrl",
  homeserverUrl: "homeserver.baseUrl",
  stop: "homeserver.close()",
  shutdown: "homeserver.close()",
  start: "new Homeserver(), which runs; homeserver.listen() for programs of their own",
  register: "homeserver.createUser(localpart)",
  registerUser: "homeserver.createUser(localpart)",
  addUser: "homeserver.createUser(localpart)",
  createClient: "new Client(homeserver.createUser(localpart).clientOptions)",
  createRoom: "homeserver.createUser(localpart), then user.createRoom()",
  sendText: "homeserver.createUser(localpart), then user.sendMessage(roomId, text)",
  waitForEvent: "user.nextMessage(roomId), of a user",
  waitForMessage: "user.nextMessage(roomId), of a user",
  login: "homeserver.createUser(localpart), which has an accessToken",
  user: "homeserver.createUser(localpart)",
  credentials: "homeserver.createUser(localpart), which has clientOptions",
  messages: "homeserver.room(roomId), or room.messages of a BotTester",
  settle: "tester.settle(), of a BotTester",
  idle: "tester.settle(), of a BotTester",
  rateLimitNext: FAULT,
  failNext: FAULT,
  respond: FAULT,
  intercept: FAULT,
} as const;

const CLIENT_OF = "new Client(user.clientOptions)";

/** What clients of a user do. */
export const TEST_USER_HINTS = {
  client: CLIENT_OF,
  createClient: CLIENT_OF,
  send: "user.sendMessage(roomId, text)",
  sendText: "user.sendMessage(roomId, text)",
  say: "user.sendMessage(roomId, text)",
  join: "user.joinRoom(roomId)",
  waitForMessage: "user.nextMessage(roomId)",
  waitForReaction: "room.expectReaction(key), of tester.room(user)",
  setPowerLevel: 'user.request("PUT", path, content), with the state m.room.power_levels',
  mxid: "user.userId",
  token: "user.accessToken",
} as const;

const ROOM = "const room = await tester.room(user), then room.say(text)";

/** What other tests of bots do, and what to write here. */
export const BOT_TESTER_HINTS = {
  say: ROOM,
  send: ROOM,
  sendText: ROOM,
  createUser: ROOM,
  createRoom: ROOM,
  user: ROOM,
  messages: "room.messages, of tester.room(user)",
  sent: "room.messages, of tester.room(user)",
  nextMessage: "room.expect(text), of tester.room(user)",
  waitForMessage: "room.expect(text), of tester.room(user)",
  lastSent: "room.messages.at(-1), of tester.room(user)",
  reactions: "room.expectReaction(key), of tester.room(user)",
  expect: "room.expect(text), of tester.room(user)",
  advance: "tester.pass(ms)",
  tick: "tester.pass(ms)",
} as const;

/** What clients do in rooms, and what to write here. */
export const TEST_ROOM_HINTS = {
  roomId: "room.id",
  sendText: "room.say(text)",
  sendMessage: "room.say(text)",
  reply: "room.say(text, { replyTo })",
  expectReply: "room.expect(text)",
  nextMessage: "room.expect(text)",
  lastMessage: "room.messages.at(-1)",
  invite: "room.as(user).join(), which invites the user",
} as const;
