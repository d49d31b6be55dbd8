import { assert } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** What README says is never lost, never twice and never silent, each with the test that shows it. */
const CLAIMS: readonly (readonly [sentence: string, file: string, test: string])[] = [
  [
    "what the server limits (`429`) waits as long as it says and arrives in order",
    "api/http/rate_limit_test.ts",
    "Thirty messages at once arrive in order, with one request refused for each that has to wait",
  ],
  [
    "each message arrives once.",
    "client/delivery/crash_test.ts",
    "A bot that crashes after any commit, and after the next similar one, sends and receives everything once",
  ],
  [
    "An event that can't be decrypted is reported as `UNDECRYPTABLE`, with the reason, and delivered in order as soon as its key arrives",
    "client/encryption/late_keys_test.ts",
    "An event whose key comes late is reported immediately, and delivered when the key comes",
  ],
  [
    "plain messages are refused and reported",
    "client/encryption/encryption_test.ts",
    "A message that comes in clear into an encrypted room is not handled, unless that was asked for",
  ],
  [
    "the client delivers again exactly those events whose handlers had not finished",
    "client/delivery/delivery_test.ts",
    "A restart delivers what was cut off, at-most-once does not, and a stop in between loses nothing",
  ],
  [
    "What a handler sends again, the server stores once",
    "client/delivery/repeated_sends_test.ts",
    "Two equal sends are two messages, and the same two when the handler runs again",
  ],
  [
    "If an event ends the process again and again, the client sets it aside and reports it",
    "client/delivery/killed_process_test.ts",
    "A message that kills every process with SIGKILL is quarantined, and tried again later; the others are handled",
  ],
  [
    "tried again after 10 seconds, a minute, and so on up to a day",
    "client/delivery/quarantine_test.ts",
    "A quarantined event is stored, and tried again after growing waits, with a report each time",
  ],
  [
    "A slow handler, or a host that stops the process with `stop()` or `close()`, does not cause this",
    "client/delivery/killed_process_test.ts",
    "A handler of 20 seconds that is killed by SIGKILL five times completes in the end",
  ],
  [
    "an event that the server shows again, in a later sync or in a gap, is not delivered again, also after a restart",
    "client/delivery/shown_again_test.ts",
    "An event that comes twice in one response is handled once, in the very first response too",
  ],
  [
    "It says nothing of the events around it: each of those is handled",
    "client/delivery/event_order_test.ts",
    "Whatever is shown again among new events, each new one is heard once",
  ],
  [
    "What is still missing is logged, and a `GAP` event says where to read it",
    "client/delivery/shown_again_test.ts",
    "What a bound leaves out is reported as a gap, with which it can be read",
  ],
  [
    "a counter counts each event once, whatever crashes",
    "client/delivery/shown_again_test.ts",
    "A session counts exactly, across crashes and restarts",
  ],
  [
    "what was said before its very first start",
    "bot/updates_test.ts",
    "What was said before the bot's very first start is not answered, what was said while it was away is",
  ],
  [
    "warnings and errors go to the console, one line each",
    "base/log_test.ts",
    "Without LogTape, warnings and errors are a line each on the console, with their reason and place",
  ],
  [
    "If a handler throws, the error is reported and the others continue",
    "client/life/speaking_test.ts",
    "A handler that throws is printed on the console: the event, the reason, and the place",
  ],
  [
    "before anything is published that needs it; later starts read it",
    "bot/first_hour_test.ts",
    "Nothing is published before the recovery key is in its file; when it can be, the same start completes it",
  ],
];

Deno.test("Each claim of README about what is never lost, twice or silent has a test of that name", async () => {
  const readme = (await Deno.readTextFile(new URL("README.md", ROOT))).replaceAll(/\s+/g, " ");
  for (const [sentence, file, test] of CLAIMS) {
    assert(readme.includes(sentence), `README does not say any more: ${sentence}`);
    const text = await Deno.readTextFile(new URL(`tests/${file}`, ROOT));
    assert(
      text.includes(`Deno.test("${test}`) || text.includes(`Deno.test(\`${test}`),
      `${file} has no: ${test}`,
    );
  }
});
