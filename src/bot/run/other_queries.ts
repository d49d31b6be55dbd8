/**
 * What other libraries, and habit, call queries, and what to write here.
 *
 * @module
 */

const VERIFICATION = "bot.client.crypto.verificationRequests";
const UNDECRYPTABLE = 'bot.client.on("UNDECRYPTABLE", …)';
const COMMAND = 'bot.command("name", …)';

/** By the name elsewhere. `docs/migration/guesses.md` has the commonest. */
export const OTHER_QUERIES = {
  photo: "message:image",
  document: "message:file",
  voice: "message:audio",
  "message:photo": "message:image",
  "message:document": "message:file",
  "message:voice": "message:audio",
  "message:sticker": "sticker",
  "message:edit": "edit",
  "message:reaction": "reaction",
  msg: "message",
  messages: "message",
  messageCreate: "message",
  "room.message": "message",
  "message.text": "message:text",
  "message.image": "message:image",
  "message.file": "message:file",
  edited: "edit",
  edited_message: "edit",
  messageUpdate: "edit",
  redact: "redaction",
  delete: "redaction",
  messageDelete: "redaction",
  messageReactionAdd: "reaction",
  message_reaction: "reaction",
  "room.invite": "invite",
  "member.join": "member:join",
  "member.leave": "member:leave",
  "room.join": "member:join",
  "room.leave": "member:leave",
  joined: "member:join",
  left: "member:leave",
  guildMemberAdd: "member:join",
  guildMemberRemove: "member:leave",
  poll: "poll:start",
  poll_start: "poll:start",
  poll_end: "poll:end",
  "poll.start": "poll:start",
  "poll.end": "poll:end",
  "poll.response": "poll:vote",
  vote: "poll:vote",
  poll_answer: "poll:vote",
  poll_response: "poll:vote",
  "poll:response": "poll:vote",
  "m.text": "message:text",
  "m.image": "message:image",
  "m.file": "message:file",
  "m.audio": "message:audio",
  "m.video": "message:video",
  verification: VERIFICATION,
  "verification:request": VERIFICATION,
  undecryptable: UNDECRYPTABLE,
  failed_decryption: UNDECRYPTABLE,
  command: COMMAND,
  "message:command": COMMAND,
  interactionCreate: COMMAND,
  error: "bot.catch(…)",
  reminder: "bot.reminder(…)",
  cron: "bot.every(…)",
  schedule: "bot.every(…)",
  ready: "await bot.client.ready",
  start: "await bot.client.ready",
} as const;

/** @internal What other libraries call queries, and what to write, for the compiler's messages. */
export type OtherQueries = typeof OTHER_QUERIES;
