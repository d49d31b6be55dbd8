import { assert, assertEquals, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
import { knock, notification, SECRET, wakeScene } from "./scene.ts";

/** What a bot answers, without having asked the server for what is new. */
async function answerOf(request: (pushkey: string) => Request): Promise<[number, unknown, string | null]> {
  await using scene = await wakeScene();
  const { stage, instances: [bot] } = scene;
  const pushkey = (await bot?.getPushers())?.[0]?.pushkey ?? "";
  const syncs = (): number => stage.homeserver.requests.filter("GET", "/sync").length;
  const before = syncs();
  const response = await bot?.fetch(request(pushkey)) as Response;
  assertEquals(syncs(), before);
  const text = await response.text();
  assert(!text.includes(pushkey) || text.includes("rejected"));
  return [response.status, text === "" ? "" : JSON.parse(text), response.headers.get("allow")];
}

const path = "https://bot.example/bots/one";
const cases: [string, (pushkey: string) => Request, number, unknown, (string | null)?][] = [
  ["an unknown path", () => new Request(`${path}/elsewhere`), 404, "M_UNRECOGNIZED"],
  ["the root", () => new Request("https://bot.example/"), 404, "M_UNRECOGNIZED"],
  ["GET of the gateway", () => new Request(`${path}/_matrix/push/v1/notify`), 405, "M_UNRECOGNIZED", "POST"],
  [
    "POST to health",
    () => new Request(`${path}/health`, { method: "POST" }),
    405,
    "M_UNRECOGNIZED",
    "GET, HEAD",
  ],
  ["no JSON", () => knock("{"), 400, "M_NOT_JSON"],
  ["nothing", () => knock(""), 400, "M_NOT_JSON"],
  ["a list", () => knock([]), 400, "M_BAD_JSON"],
  ["no notification", () => knock({}), 400, "M_BAD_JSON"],
  ["no devices", () => knock({ notification: { event_id: "$a" } }), 400, "M_BAD_JSON"],
  [
    "a device without a key",
    () => knock({ notification: { event_id: "$a", devices: [{}] } }),
    400,
    "M_BAD_JSON",
  ],
  [
    "9 devices",
    () => knock({ notification: { devices: Array(9).fill({ pushkey: "a" }) } }),
    400,
    "M_BAD_JSON",
  ],
  [
    "a body of a gigabyte, by its length",
    (key) =>
      new Request(`${path}/_matrix/push/v1/notify`, {
        method: "POST",
        body: JSON.stringify(notification(key)),
        headers: { "content-length": "1073741824" },
      }),
    413,
    "M_TOO_LARGE",
  ],
  [
    "a body that is too large, as it comes",
    () => knock(`{"a":"${"x".repeat(200_000)}"}`),
    413,
    "M_TOO_LARGE",
  ],
];
for (const [name, request, status, errcode, allow = null] of cases) {
  Deno.test(`fetch() refuses ${name} with ${status}, and makes no pass`, async () => {
    const [got, body, header] = await answerOf(request);
    assertEquals([got, (body as { errcode?: string }).errcode, header], [status, errcode, allow]);
  });
}

Deno.test("A wake for another account makes no pass, and the homeserver is told to forget the key", async () => {
  for (const key of ["another", "", SECRET, "x".repeat(600)]) {
    assertEquals(await answerOf(() => knock(notification(key))), [200, { rejected: [key] }, null]);
  }
});

Deno.test("A wake for several devices makes a pass for the own one, and rejects the others", async () => {
  await using scene = await wakeScene();
  const { stage, instances: [bot] } = scene;
  const pushkey = (await bot?.getPushers())?.[0]?.pushkey ?? "";
  const before = stage.homeserver.requests.filter("GET", "/sync").length;
  const devices = [{ pushkey: "other" }, { pushkey }];
  const response = await bot?.fetch(
    knock({ notification: { event_id: "$a", devices } }, "/any/prefix/_matrix/push/v1/notify"),
  );
  assertEquals([response?.status, await response?.json()], [200, { rejected: ["other"] }]);
  assertEquals(stage.homeserver.requests.filter("GET", "/sync").length, before + 1);
});

Deno.test("A wake that only tells how much is unread makes no pass", async () => {
  assertEquals(await answerOf((key) => knock(notification(key, ""))), [200, { rejected: [] }, null]);
});

Deno.test("A body of a gigabyte is refused after its first part, and nothing more is read of it", async () => {
  await using scene = await wakeScene();
  const { instances: [bot] } = scene;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent >= 2 ** 30) return controller.close();
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const response = await bot?.fetch(
    new Request("https://bot.example/_matrix/push/v1/notify", { method: "POST", body }),
  );
  assertEquals(response?.status, 413);
  assert(sent < 2 ** 20);
});

Deno.test("A caller that sends a byte a second is cut off after ten seconds", async () => {
  await using scene = await wakeScene();
  const { stage, instances: [bot] } = scene;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await stage.clock.delay(1_000).catch(() => {});
      if (!isCancelled) controller.enqueue(new Uint8Array([32]));
    },
    cancel: () => void (isCancelled = true),
  });
  const answer = bot?.fetch(
    new Request("https://bot.example/_matrix/push/v1/notify", { method: "POST", body }),
  );
  for (let second = 0; second < 11; second++) await stage.clock.tick(1_000);
  assertEquals([(await answer)?.status, isCancelled], [408, true]);
});

Deno.test("A caller that breaks off is answered, and one that has many others beside it is told to come again", async () => {
  await using scene = await wakeScene();
  const { stage, instances: [bot] } = scene;
  const url = "https://bot.example/_matrix/push/v1/notify";
  const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError("gone")) });
  assertEquals((await bot?.fetch(new Request(url, { method: "POST", body: broken })))?.status, 400);
  const statuses: (number | undefined)[] = [];
  for (let n = 0; n < 200; n++) {
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(100_000)) });
    bot?.fetch(new Request(url, { method: "POST", body })).then(({ status }) => statuses.push(status));
  }
  await stage.settle();
  assert(statuses.length > 100);
  assertEquals(new Set(statuses), new Set([503]));
  await stage.clock.tick(10_000);
  await stage.until(() => statuses.length === 200);
  assertEquals((await bot?.fetch(knock("{")))?.status, 400);
});

Deno.test("fetch() answers for a client that nobody wakes: health by one name, and no gateway", async () => {
  await using scene = await wakeScene();
  const bot = scene.instance({ wake: undefined });
  const { fetch } = bot;
  for (
    const [end, status] of [["/health", 200], ["/ready", 404], ["/healthz", 404], [
      "/a/b/health",
      200,
    ]] as const
  ) {
    assertEquals((await fetch(new Request(`https://bot.example${end}`))).status, status);
  }
  assertEquals((await fetch(knock(notification("x")))).status, 404);
  await bot.close();
  assertEquals((await fetch(new Request("https://bot.example/health"))).status, 503);
});

Deno.test("Nothing secret is logged, whatever comes", async () => {
  await using scene = await wakeScene();
  const { stage, alice, roomId, instances: [bot], answered } = scene;
  const pushkey = (await bot?.getPushers())?.[0]?.pushkey ?? "";
  for (const body of ["{", notification("stranger's key"), notification(pushkey), { notification: 1 }]) {
    await bot?.fetch(knock(body, "/secret-of-the-path/_matrix/push/v1/notify"));
  }
  stage.homeserver.faults.add({
    kind: "status",
    status: 500,
    match: { path: "/sync", user: "@bot:localhost" },
  });
  await alice.sendText(roomId, "hello");
  await stage.until(() => answered.length === 1);
  const logged = JSON.stringify(stage.log.lines);
  for (const secret of [pushkey, SECRET, "stranger's key", "secret-of-the-path"]) {
    assert(!logged.includes(secret));
  }
});

for (
  const wake of [
    { secret: "short" },
    { secret: SECRET, passTimeout: 99 },
    { secret: SECRET, passTimeout: NaN },
    {},
  ]
) {
  Deno.test(`A client with wake ${JSON.stringify(wake)} is refused`, () => {
    assertThrows(
      () => new Client({ baseUrl: "https://a.example", wake: wake as never }),
      ValueError,
      "wake.",
    );
  });
}
