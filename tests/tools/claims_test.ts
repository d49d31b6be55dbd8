import { assert } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** What pages of `docs/` say is never lost, never twice and never silent, each with the test that shows it. */
const CLAIMS: readonly (readonly [page: string, sentence: string, file: string, test: string])[] = [
  [
    "client/delivery.md",
    "What the server limits (`429`) waits as long as it says and arrives in order",
    "api/http/rate_limit_test.ts",
    "Thirty messages at once arrive in order, with one request refused for each that has to wait",
  ],
  [
    "encryption/overview.md",
    "each message arrives once.",
    "client/delivery/crash_test.ts",
    "A bot that crashes after any commit, and after the next similar one, sends and receives everything once",
  ],
  [
    "encryption/overview.md",
    "An event that can't be decrypted is reported as `UNDECRYPTABLE`, with the reason. It is delivered in order as soon as its key arrives",
    "client/encryption/late_keys_test.ts",
    "An event whose key comes late is reported immediately, and delivered when the key comes",
  ],
  [
    "encryption/overview.md",
    "plain messages are refused and reported",
    "client/encryption/encryption_test.ts",
    "A message that comes in clear into an encrypted room is not handled, unless that was asked for",
  ],
  [
    "client/delivery.md",
    "the client delivers again exactly those events whose handlers had not finished",
    "client/delivery/delivery_test.ts",
    "A restart delivers what was cut off, at-most-once does not, and a stop in between loses nothing",
  ],
  [
    "client/delivery.md",
    "What a handler sends again, the server stores once",
    "client/delivery/repeated_sends_test.ts",
    "Two equal sends are two messages, and the same two when the handler runs again",
  ],
  [
    "client/delivery.md",
    "If an event ends the process again and again, the client sets it aside and reports it",
    "client/delivery/killed_process_test.ts",
    "A message that kills every process with SIGKILL is quarantined, and tried again later; the others are handled",
  ],
  [
    "client/delivery.md",
    "tried again after 10 seconds, a minute, and so on up to a day",
    "client/delivery/quarantine_test.ts",
    "A quarantined event is stored, and tried again after growing waits, with a report each time",
  ],
  [
    "client/delivery.md",
    "A slow handler, or a host that stops the process with `stop()` or `close()`, does not cause this",
    "client/delivery/killed_process_test.ts",
    "A handler of 20 seconds that is killed by SIGKILL five times completes in the end",
  ],
  [
    "client/delivery.md",
    "an event that the server shows again, in a later sync or in a gap, is not delivered again, also after a restart",
    "client/delivery/shown_again_test.ts",
    "60 ${kind} messages that come after a graceful stop are handled once, ${server}",
  ],
  [
    "client/delivery.md",
    "It says nothing of the events around it: each of those is handled",
    "client/delivery/event_order_test.ts",
    "Whatever is shown again among new events, each new one is heard once",
  ],
  [
    "client/delivery.md",
    "What is still missing is logged, and a `GAP` event says where to read it",
    "client/delivery/shown_again_test.ts",
    "What a bound leaves out is reported as a gap, with which it can be read",
  ],
  [
    "client/delivery.md",
    "a counter counts each event once, whatever crashes",
    "client/delivery/shown_again_test.ts",
    "A session counts exactly, across crashes and restarts",
  ],
  [
    "bots/answers.md",
    "sent before the bot's very first start",
    "bot/updates_test.ts",
    "What was said before the bot's very first start is not answered, what was said while it was away is",
  ],
  [
    "client/logs.md",
    "warnings and errors go to the console, one line each",
    "base/log_test.ts",
    "Without LogTape, warnings and errors are a line each on the console, with their reason and place",
  ],
  [
    "client/events.md",
    "the error is reported as `HANDLER_ERROR` and in the log, and the others continue",
    "client/life/speaking_test.ts",
    "A handler that throws is printed on the console: the event, the reason, and the place",
  ],
  [
    "encryption/trusted_bot.md",
    "before anything is published that needs it; later starts read it",
    "bot/first_hour_test.ts",
    "Nothing is published before the recovery key is in its file; when it can be, the same start completes it",
  ],
  [
    "client/errors.md",
    "retries reuse the transaction ID",
    "api/http/telling_test.ts",
    "A repeated send carries the same transaction ID, and the next send another",
  ],
  [
    "client/events.md",
    "nothing uses the store any more",
    "client/life/ending_test.ts",
    "When start() resolves after ${name}, nothing uses the store any more",
  ],
  [
    "client/logs.md",
    "There is never a token, a key or the text of a message in a log",
    "crypto/threats/secrets/t57_test.ts",
    "T57: no key, token or text is in any log",
  ],
  [
    "client/events.md",
    "A warning says so after five seconds",
    "api/http/silence_test.ts",
    "Where nobody answers at first, a warning says so in a few seconds, once, and the request goes on",
  ],
  [
    "bots/conversations.md",
    "What the function does then is committed together with the record that the answer was handled",
    "bot/conversations/crash_test.ts",
    "A conversation and a reminder in a ${where} room survive a crash ${when}: each step once",
  ],
  [
    "encryption/overview.md",
    "No server can make it plain again",
    "actors/store/store_actor_test.ts",
    "A room stays encrypted as it was when m.room.encryption is ${name}",
  ],
  [
    "encryption/overview.md",
    "once more after a sync that failed",
    "client/encryption/restored_server_test.ts",
    "A client whose sync has failed asks once more whether a room is encrypted",
  ],
  [
    "encryption/overview.md",
    "If it can't find out, it does not send",
    "client/encrypting_api_test.ts",
    "sendMessageEvent() sends nothing when asking whether the room is encrypted ${what}",
  ],
  [
    "encryption/overview.md",
    "Without a sync (in a script, at the start of a process, while the sync fails), the client asks the server for members and devices before it encrypts",
    "client/encryption/unfollowed_test.ts",
    "Without a sync, a new member can decrypt the next event, and a former one does not get the key",
  ],
  [
    "encryption/overview.md",
    "A user who has left gets no more keys",
    "crypto/sharing/outbound_record_test.ts",
    "the new session goes to the users who stayed, and not to the one who left",
  ],
  [
    "encryption/overview.md",
    "what a server adds gets nothing. A device that is left out gets the reason",
    "crypto/threats/devices/t17_share_test.ts",
    "T17: with ${sendTo}, a device that the server has put in gets no key, but a notice",
  ],
  [
    "client/delivery.md",
    "If the content differs the second time",
    "client/delivery/repeated_sends_test.ts",
    "A send with a key is sent once, whatever it says when the handler runs again",
  ],
  [
    "client/delivery.md",
    "a bot deployed twice by mistake answers once",
    "actors/dispatcher/delivery_scope_test.ts",
    "The ID of what is sent in clear is the same in another store, and not that of the same encrypted",
  ],
  [
    "encryption/secrets.md",
    "If the process ends in the middle, call it again",
    "encryption/secrets/completed_change_test.ts",
    "SecretStorage.changeKey() is complete when it is called again with the key that was handed out",
  ],
  [
    "appservices.md",
    "A transaction is durable before it is answered",
    "appservice/transactions_test.ts",
    "An application service that is started answers when the transaction is durable, and handles it then",
  ],
  [
    "appservices.md",
    "each event is handled once, in the order of its room, through crashes and restarts",
    "appservice/transactions_test.ts",
    "A repeated transaction is answered 200, and handled once",
  ],
];

Deno.test("Each claim of docs/ about what is never lost, twice or silent has a test of that name", async () => {
  for (const [path, sentence, file, test] of CLAIMS) {
    const page = (await Deno.readTextFile(new URL(`docs/${path}`, ROOT))).replaceAll(/\s+/g, " ");
    assert(page.includes(sentence), `docs/${path} does not say any more: ${sentence}`);
    const text = await Deno.readTextFile(new URL(`tests/${file}`, ROOT));
    assert(
      text.includes(`Deno.test("${test}`) || text.includes(`Deno.test(\`${test}`),
      `${file} has no: ${test}`,
    );
  }
});
