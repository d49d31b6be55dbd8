import { assert, assertEquals } from "@std/assert";
import { metrics, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Client, type Logger, MemoryStore } from "@greenroom/matrix";
import { Appservice, createRegistration } from "@greenroom/matrix/appservice";
import { Bot } from "@greenroom/matrix/bot";
import { Homeserver } from "@greenroom/matrix/testing";

/** All that is told while something is done: what is logged, spans, what is counted. */
async function telling(work: (log: Logger) => Promise<void>): Promise<string> {
  const told: string[] = [];
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const note = (...all: unknown[]): void =>
    void told.push(Deno.inspect(all, { depth: 20, iterableLimit: 1_000, strAbbreviateSize: 100_000 }));
  const instrument = () => ({ add: note, record: note, addCallback: () => {}, removeCallback: () => {} });
  const meter = new Proxy({}, { get: () => instrument });
  trace.setGlobalTracerProvider(provider);
  metrics.setGlobalMeterProvider({ getMeter: () => meter as never });
  try {
    await work({ debug: note, info: note, warn: note, error: note });
  } finally {
    trace.disable();
    metrics.disable();
  }
  for (const { name, attributes, events, status, links } of exporter.getFinishedSpans()) {
    note(name, attributes, events, status, links);
  }
  return told.join("\n");
}

const WAKE = "the secret of the wakes, long enough";
const PATHS = [
  ...["/", "/health", "/ready", "/healthz", "/_matrix/push/v1/notify", "/_matrix/app/v1/ping"],
  ...["/_matrix/app/v1/transactions/1", "/transactions/2", "/_matrix/app/v1/transactions/%ff"],
  ...["/_matrix/app/v1/users/@_echo_a:localhost", "/_matrix/app/v1/rooms/%23a:localhost"],
  ...["/_matrix/app/v1/thirdparty/protocol/irc", "/_matrix/app/v1/thirdparty/user?userid=@a:b"],
  "/_matrix/app/v1/thirdparty/location",
];
const BODIES = [
  "",
  "{",
  "{}",
  '{"events":[]}',
  '{"events":[{"type":"m.room.message","event_id":"$a","room_id":"!a","sender":"@a:b","content":{}}]}',
  '{"transaction_id":"knock"}',
];

/** Asks for everything, with a token as header and in the query, and with a pusher's notification. */
async function askAll(
  fetch: (request: Request) => Promise<Response>,
  { tokens, pushkey }: { readonly tokens: readonly string[]; readonly pushkey: string },
): Promise<Set<number>> {
  const statuses = new Set<number>();
  const notification = JSON.stringify({
    notification: { event_id: "$a", room_id: "!a", devices: [{ app_id: "greenroom", pushkey }] },
  });
  for (const path of PATHS) {
    for (const method of ["GET", "PUT", "POST", "DELETE"]) {
      for (const body of method === "GET" ? [undefined] : [...BODIES, notification]) {
        for (const token of tokens) {
          for (const isHeader of [true, false]) {
            const url = new URL(path, "https://bot.example");
            if (!isHeader) url.searchParams.set("access_token", token);
            const headers: Record<string, string> = isHeader ? { authorization: `Bearer ${token}` } : {};
            const response = await fetch(new Request(url, { method, body, headers }));
            statuses.add(response.status);
            await response.body?.cancel();
          }
        }
      }
    }
  }
  return statuses;
}

for (const where of ["a client", "a bot of the kit", "an application service", "a bot in one"] as const) {
  for (const isDown of [false, true]) {
    const when = isDown ? "while store and homeserver fail" : "with and without errors";
    Deno.test(`Whatever is asked of ${where} ${when}, no span, metric or log has a secret`, async () => {
      await using homeserver = new Homeserver();
      const { baseUrl, fetch } = homeserver;
      const { accessToken: token } = homeserver.createUser("bot");
      const registration = {
        ...createRegistration({ id: "echo", url: "https://bot.example", serverName: "localhost" }),
        as_token: "the-secret-token-of-the-appservice",
        hs_token: "the-secret-token-of-the-homeserver",
      };
      const isService = where === "an application service" || where === "a bot in one";
      const store = new MemoryStore();
      let pushkey = "";
      const told = await telling(async (log) => {
        const given = { baseUrl, fetch, store, log, retry: false } as const;
        const appservice = new Appservice({ ...given, registration, serverName: "localhost" });
        homeserver.addAppservice(registration, appservice.fetch);
        const options = { ...given, accessToken: token, wake: { secret: WAKE, passTimeout: 100 } };
        const client = isService ? appservice : new Client(options);
        const bot = where === "a bot in one"
          ? new Bot({ appservice })
          : where === "a bot of the kit"
          ? new Bot(options)
          : undefined;
        const asked = bot ?? client;
        const serving = asked.fetch;
        if (!isService) {
          const own = bot?.client ?? client as Client;
          await own.syncOnce();
          await own.registerWake("https://bot.example");
          pushkey = (await own.getPushers())[0]?.pushkey ?? "";
          assert(pushkey !== "");
        }
        if (isDown) {
          store.commit = () => Promise.reject(new Error("the disk is full"));
          homeserver.faults.add({ kind: "drop" });
        }
        const tokens = [registration.hs_token, `${registration.hs_token}x`];
        const statuses = await askAll(serving, { tokens, pushkey });
        assert(statuses.size >= 2, [...statuses].join());
        await Promise.all([client.close(), bot?.close(), appservice.close()]);
      });
      assert(told.length > 100, "something is told");
      const secrets = [WAKE, token, registration.as_token, registration.hs_token, pushkey];
      assertEquals(secrets.filter((secret) => secret !== "" && told.includes(secret)), []);
    });
  }
}
