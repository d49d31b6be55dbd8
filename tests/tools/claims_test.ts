/**
 * Over 300 lines because it is one table.
 *
 * @module
 */

import { assert } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/**
 * What README.md and pages of `docs/` say is never lost, never twice and never silent, each with the test
 * that shows it.
 */
const CLAIMS: readonly (readonly [page: string, sentence: string, file: string, test: string])[] = [
  [
    "docs/client/delivery.md",
    "What the server limits (`429`) waits as long as it says and arrives in order",
    "api/http/rate_limit_test.ts",
    "Thirty messages at once arrive in order, with one request refused for each that has to wait",
  ],
  [
    "docs/login.md",
    "A new pair is in the store before it is used",
    "oauth/refresh_test.ts",
    "An access token is refreshed before it expires, and the new pair is in the store before it is used",
  ],
  [
    "docs/login.md",
    "If several processes share a store, one of them refreshes",
    "oauth/refresh_test.ts",
    "Of two processes one refreshes, and the other takes what has come of it",
  ],
  [
    "docs/encryption/overview.md",
    "each message arrives once.",
    "client/delivery/crash_test.ts",
    "A bot that crashes after any commit, and after the next similar one, sends and receives everything once",
  ],
  [
    "docs/encryption/overview.md",
    "An event that can't be decrypted is reported as `UNDECRYPTABLE`, with the reason. It is delivered in order as soon as its key arrives",
    "client/encryption/late_keys_test.ts",
    "An event whose key comes late is reported immediately, and delivered when the key comes",
  ],
  [
    "docs/encryption/overview.md",
    "plain messages are refused and reported",
    "client/encryption/encryption_test.ts",
    "A message that comes in clear into an encrypted room is not handled, unless that was asked for",
  ],
  [
    "docs/client/delivery.md",
    "the client delivers again exactly those events whose handlers had not finished",
    "client/delivery/delivery_test.ts",
    "A restart delivers what was cut off, at-most-once does not, and a stop in between loses nothing",
  ],
  [
    "docs/client/delivery.md",
    "What a handler sends again, the server stores once",
    "client/delivery/repeated_sends_test.ts",
    "Two equal sends are two messages, and the same two when the handler runs again",
  ],
  [
    "docs/client/delivery.md",
    "If an event ends the process again and again, the client sets it aside and reports it",
    "client/delivery/killed_process_test.ts",
    "A message that kills every process with SIGKILL is quarantined, and tried again later; the others are handled",
  ],
  [
    "docs/client/delivery.md",
    "tried again after 10 seconds, a minute, and so on up to a day",
    "client/delivery/quarantine_test.ts",
    "A quarantined event is stored, and tried again after growing waits, with a report each time",
  ],
  [
    "docs/client/delivery.md",
    "A slow handler, or a host that stops the process with `stop()` or `close()`, does not cause this",
    "client/delivery/killed_process_test.ts",
    "A handler of 20 seconds that is killed by SIGKILL five times completes in the end",
  ],
  [
    "docs/client/delivery.md",
    "an event that the server shows again, in a later sync or in a gap, is not delivered again, also after a restart",
    "client/delivery/shown_again_test.ts",
    "60 ${kind} messages that come after a graceful stop are handled once, ${server}",
  ],
  [
    "docs/client/delivery.md",
    "The events around it are still handled",
    "client/delivery/event_order_test.ts",
    "Whatever is shown again among new events, each new one is heard once",
  ],
  [
    "docs/client/delivery.md",
    "What is still missing is logged, and a `GAP` event says where to read it",
    "client/delivery/shown_again_test.ts",
    "What a bound leaves out is reported as a gap, with which it can be read",
  ],
  [
    "docs/client/delivery.md",
    "a counter counts each event once, whatever crashes",
    "client/delivery/shown_again_test.ts",
    "A session counts exactly, across crashes and restarts",
  ],
  [
    "docs/bots/answers.md",
    "sent before the bot's very first start",
    "bot/updates_test.ts",
    "What was said before the bot's very first start is not answered, what was said while it was away is",
  ],
  [
    "docs/bots/answers.md",
    "nothing, and a warning names the sender, once",
    "bot/unread_test.ts",
    "What comes in clear into an encrypted room is in a bot's log, with the mend, once for each sender",
  ],
  [
    "docs/bots/answers.md",
    "nothing; a warning names the room, once",
    "bot/unread_test.ts",
    "A bot without encryption says once for each room that it can't read, and what to do",
  ],
  [
    "docs/client/delivery.md",
    "unless `fillGaps` is `false`: then `client.getState()` reads a room's state again",
    "client/delivery/redacted_state_test.ts",
    "With fillGaps: false, state that was redacted in a gap stays until it is read, which a GAP says",
  ],
  [
    "docs/client/logs.md",
    "warnings and errors go to the console, one line each",
    "base/log_test.ts",
    "Without LogTape, warnings and errors are a line each on the console, with their reason and place",
  ],
  [
    "docs/client/events.md",
    "the error is reported as `HANDLER_ERROR` and in the log, and the others continue",
    "client/life/speaking_test.ts",
    "A handler that throws is printed on the console: the event, the reason, and the place",
  ],
  [
    "docs/encryption/trusted_bot.md",
    "before anything is published that needs it; later starts read it",
    "bot/first_hour_test.ts",
    "Nothing is published before the recovery key is in its file; when it can be, the same start completes it",
  ],
  [
    "docs/client/errors.md",
    "retries reuse the transaction ID",
    "api/http/telling_test.ts",
    "A repeated send carries the same transaction ID, and the next send another",
  ],
  [
    "docs/client/events.md",
    "nothing uses the store any more",
    "client/life/ending_test.ts",
    "When start() resolves after ${name}, nothing uses the store any more",
  ],
  [
    "docs/client/logs.md",
    "There is never a token, a key or the text of a message in a log",
    "crypto/threats/secrets/t57_test.ts",
    "T57: no key, token or text is in any log",
  ],
  [
    "docs/client/events.md",
    "A warning says so after five seconds",
    "api/http/silence_test.ts",
    "Where nobody answers at first, a warning says so in a few seconds, once, and the request goes on",
  ],
  [
    "docs/bots/conversations.md",
    "What the function does then is committed together with the record that the answer was handled",
    "bot/conversations/crash_test.ts",
    "A conversation and a reminder in ${where} room survive a crash at any moment: each step once",
  ],
  [
    "docs/encryption/overview.md",
    "No server can make it plain again",
    "actors/store/store_actor_test.ts",
    "A room stays encrypted as it was when m.room.encryption is ${name}",
  ],
  [
    "docs/encryption/overview.md",
    "asks again after a failed sync",
    "client/encryption/restored_server_test.ts",
    "A client whose sync has failed asks once more whether a room is encrypted",
  ],
  [
    "docs/encryption/overview.md",
    "If it can't find out, it does not send",
    "client/encrypting_api_test.ts",
    "sendMessageEvent() sends nothing when asking whether the room is encrypted ${what}",
  ],
  [
    "docs/encryption/overview.md",
    "Without a sync (in a script, at the start of a process, while the sync fails), the client asks the server for members and devices before it encrypts",
    "client/encryption/unfollowed_test.ts",
    "Without a sync, a new member can decrypt the next event, and a former one does not get the key",
  ],
  [
    "docs/encryption/overview.md",
    "A user who has left gets no more keys",
    "crypto/sharing/outbound_record_test.ts",
    "the new session goes to the users who stayed, and not to the one who left",
  ],
  [
    "docs/encryption/overview.md",
    "a device that a server adds gets nothing. A device that is left out learns the reason",
    "crypto/threats/devices/t17_share_test.ts",
    "T17: with ${sendTo}, a device that the server has put in gets no key, but a notice",
  ],
  [
    "docs/client/delivery.md",
    "If the content differs the second time",
    "client/delivery/repeated_sends_test.ts",
    "A send with a key is sent once, whatever it says when the handler runs again",
  ],
  [
    "docs/client/delivery.md",
    "a bot deployed twice by mistake answers once",
    "actors/dispatcher/delivery_scope_test.ts",
    "The ID of what is sent in clear is the same in another store, and not that of the same encrypted",
  ],
  [
    "docs/encryption/secrets.md",
    "If the process ends in the middle, call it again",
    "encryption/secrets/completed_change_test.ts",
    "SecretStorage.changeKey() is complete when it is called again with the key that was handed out",
  ],
  [
    "docs/appservices.md",
    "A transaction is durable before it is answered",
    "appservice/transactions_test.ts",
    "An application service that is started answers when the transaction is durable, and handles it then",
  ],
  [
    "docs/appservices.md",
    "each event is handled once, in the order of its room, through crashes and restarts",
    "appservice/transactions_test.ts",
    "A repeated transaction is answered 200, and handled once",
  ],
  [
    "README.md",
    "you may kill a bot at any moment: nothing is lost, and nothing is sent twice",
    "client/delivery/crash_test.ts",
    "A bot that crashes after any commit, and after the next similar one, sends and receives everything once",
  ],
  [
    "README.md",
    "a bot that has lost its disk is trusted again and reads its history",
    "encryption/identity/verified_backup_test.ts",
    "A new process that has nothing but the recovery key reads history by the backup that the first one made",
  ],
  [
    "README.md",
    "After a crash, exactly what was cut off comes again",
    "client/delivery/redelivery_test.ts",
    "After a crash only events that had not settled are delivered again, though they held the checkpoint back",
  ],
  [
    "README.md",
    "what is sent again arrives once",
    "client/delivery/delivery_test.ts",
    "A handler's message is sent once, though the handler runs again after a crash",
  ],
  [
    "README.md",
    "waits for days, through restarts and deployments",
    "bot/conversations/crash_test.ts",
    "A conversation and a reminder in ${where} room survive a crash at any moment: each step once",
  ],
  [
    "README.md",
    "Reminders and schedules that run once each, however often the bot was restarted",
    "bot/timers/timers_test.ts",
    "every() does its work once each time, once for all that were missed, and never for the time before it was added",
  ],
  [
    "README.md",
    "A signed device from the first upload on",
    "encryption/identity/ensure_verified_test.ts",
    "A bot that is given nothing but a recovery key is signed from its first upload on, and so is the next one",
  ],
  [
    "README.md",
    "each threat has a number and a test",
    "tools/threats_test.ts",
    "SECURITY.md lists every threat that has a test, as the head of its test says, and names no file that is not there",
  ],
  [
    "README.md",
    "Late keys are waited for, and the message is delivered in order",
    "client/encryption/late_keys_test.ts",
    "An event whose key comes late is reported immediately, and delivered when the key comes",
  ],
  [
    "docs/bots/answers.md",
    "handled once, when it is back",
    "client/delivery/shown_again_test.ts",
    "60 ${kind} messages that come after a graceful stop are handled once, ${server}",
  ],
  [
    "docs/bots/answers.md",
    "nothing; a warning names the room, once",
    "bot/unread_test.ts",
    "A bot without encryption says once for each room that it can't read, and what to do",
  ],
  [
    "docs/bots/access.md",
    "What was said slowly while the bot was away is handled, up to 1,000 messages",
    "bot/bounds/rate_limit_test.ts",
    "What was said slowly while the bot was away is all answered, in whichever rooms",
  ],
  [
    "docs/bots/access.md",
    "The bot says once to a user that it ignores their commands",
    "bot/updates_test.ts",
    "A user who floods is told once, and heard again later; others are not concerned",
  ],
  [
    "docs/bots/sessions.md",
    "A function that throws changes nothing",
    "client/delivery/tasks_test.ts",
    "A handler that throws changes no session, also not by updateSession()",
  ],
  [
    "docs/bots/reminders.md",
    "Each time comes once, also after a restart",
    "bot/timers/timers_test.ts",
    "A reminder is said once, as a reply to who asked for it, also when the bot was restarted meanwhile",
  ],
  [
    "docs/bots/reminders.md",
    "A schedule that was missed several times runs once, for all of them",
    "bot/timers/timers_test.ts",
    "every() does its work once each time, once for all that were missed, and never for the time before it was added",
  ],
  [
    "docs/bots/assistants.md",
    "the last one is always sent",
    "bot/streams/stream_test.ts",
    "stream() grows one message by edits of whole Markdown, no more often than its interval, and sends the last",
  ],
  [
    "docs/start.md",
    "Greenroom never replaces a key",
    "bot/first_hour_test.ts",
    "A recovery key in the file is never replaced, and the file is not beside MATRIX_RECOVERY_KEY",
  ],
  [
    "docs/hosts/deploy.md",
    "Nothing is lost",
    "client/life/pass_overlap_test.ts",
    "A pass that comes while another process has the device leaves in time, and the other makes one more round",
  ],
  [
    "docs/hosts/kubernetes.md",
    "the second waits for as long as the first runs, and its log says so",
    "store/device/lease_test.ts",
    "T60: a device that another holds is waited for until its lease has passed, and the log names the other",
  ],
  [
    "docs/reference/limits.md",
    "nothing is lost, and sends wait in their order",
    "api/http/rate_limit_test.ts",
    "Thirty messages at once arrive in order, with one request refused for each that has to wait",
  ],
  [
    "docs/reference/options.md",
    "Every constructor and function that takes options refuses a name that it does not have",
    "client/unknown_options_test.ts",
    "Whatever takes options refuses one that there is not, by its name",
  ],
  [
    "docs/encryption/secrets.md",
    "never replaces a key that is there",
    "encryption/secrets/secret_storage_test.ts",
    "SecretStorage.create() refuses if there is a default key, and changes nothing",
  ],
  [
    "docs/encryption/trusted_bot.md",
    "An existing identity is never replaced by itself",
    "encryption/identity/ensure_verified_test.ts",
    "With an identity there and nothing that opens its secrets, nothing is changed, and that is said",
  ],
  [
    "docs/encryption/overview.md",
    "A room that you make encrypted counts as encrypted from that call on, even if its answer is lost",
    "client/encryption_sends_test.ts",
    "A room is taken for encrypted if the send that encrypts it ${what}: it may have arrived",
  ],
  [
    "docs/client/media.md",
    "You get an encrypted file only after all of it has arrived and its hash was checked",
    "crypto/attachments/attachment_test.ts",
    "A file that was changed in any byte, cut or lengthened gives an AttachmentError, and no byte",
  ],
  [
    "docs/client/errors.md",
    "log entry never contains a token",
    "crypto/threats/secrets/t57_test.ts",
    "T57: no key, token or text is in any log",
  ],
  [
    "docs/client/delivery.md",
    "nothing comes again, and what was cut off is lost",
    "client/delivery/redelivery_test.ts",
    "At most once delivers nothing twice, whatever had settled, and loses nothing that comes later",
  ],
  [
    "docs/client/delivery.md",
    "Give it a `key`",
    "client/delivery/repeated_sends_test.ts",
    "A send with a key is sent once, whatever it says when the handler runs again",
  ],
  [
    "docs/client/events.md",
    "share nothing, and never disturb each other",
    "client/life/many_clients_test.ts",
    "20 clients in one process share nothing",
  ],
  [
    "docs/hosts/laptop.md",
    "A second Ctrl-C ends it",
    "client/life/signals_test.ts",
    "A second signal ends a process immediately, and its handler is run again",
  ],
];

Deno.test("Each claim of README.md and docs/ about what is never lost, twice or silent has a test of that name", async () => {
  for (const [path, sentence, file, test] of CLAIMS) {
    const page = (await Deno.readTextFile(new URL(path, ROOT))).replaceAll(/\s+/g, " ");
    assert(page.includes(sentence), `${path} does not say any more: ${sentence}`);
    const text = await Deno.readTextFile(new URL(`tests/${file}`, ROOT));
    assert(
      text.includes(`Deno.test("${test}`) || text.includes(`Deno.test(\`${test}`),
      `${file} has no: ${test}`,
    );
  }
});
