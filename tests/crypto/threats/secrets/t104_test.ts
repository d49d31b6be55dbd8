/**
 * A homeserver or proxy repeats in its responses what it was sent: tokens, passwords, texts.
 *
 * Attacker: a server that is careless or hostile, and a network that breaks off at any byte. What
 * must hold: errors and logs show none of it, in whichever way the response is bad: a refusal, a
 * code, a challenge, a redirect, no JSON, another shape, an error of `fetch`. The class of mistake:
 * text of the other side is shown as it came, although it may contain our own.
 */

import { assert, assertEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { TestClock } from "@greenroom/matrix/testing";
import { recordingLogger } from "../../../actors/kernel/support.ts";
import { Planted, seen } from "../planted.ts";

const ROOM = "!room:example.org";
const planted = new Planted();
const secret = Object.fromEntries(
  [
    "password",
    "newPassword",
    "registration",
    "answer",
    "login",
    "body",
    "html",
    "topic",
    "device",
    "data",
    "query",
  ]
    .map((name) => [name, planted.text(name)]),
) as Record<string, string>;
const token = planted.token("access token");
const refreshToken = planted.token("refresh token");
const proxyToken = planted.token("a proxy's token");
planted.add("short password", "xq%7Z");

const authentication = { password: secret.password, registrationToken: secret.registration };

/** Everything that sends a secret, by itself or in what it says. */
const operations: Record<string, (client: Client) => Promise<unknown>> = {
  login: (client) => client.login({ identifier: "alice", password: secret.password }),
  "login with a short password": (client) => client.login({ identifier: "alice", password: "xq%7Z" }),
  "login with a token": (client) => client.login({ loginType: "m.login.token", loginToken: secret.login }),
  "login otherwise": (client) =>
    client.login({ loginType: "org.example", extraFields: { proof: { response: secret.answer } } }),
  register: (client) => client.register({ username: "alice", password: secret.password, authentication }),
  changePassword: (client) => client.changePassword(secret.newPassword ?? "", { authentication }),
  deactivateAccount: (client) => client.deactivateAccount({ authentication }),
  deleteDevices: (client) =>
    client.deleteDevices(["D"], {
      authentication: { stages: { "org.example": () => ({ answer: secret.answer }) } },
    }),
  uploadCrossSigningKeys: (client) => client.raw.uploadCrossSigningKeys({ authentication }),
  getLoginToken: (client) => client.getLoginToken({ authentication }),
  whoami: (client) => client.whoami(),
  sync: (client) => client.sync(),
  logout: (client) => client.logout(),
  getOpenIdToken: (client) => client.getOpenIdToken(),
  getTurnServer: (client) => client.getTurnServer(),
  sendText: (client) => client.sendText(ROOM, secret.body ?? "", { html: `<b>${secret.html}</b>` }),
  sendStateEvent: (client) => client.sendStateEvent(ROOM, "m.room.topic", { topic: secret.topic ?? "" }),
  sendToDevice: (client) =>
    client.sendToDevice("org.example.secret", { "@bob:example.org": { D: { secret: [secret.device] } } }),
  setAccountData: (client) => client.setAccountData("org.example", { kept: { deeply: secret.data } }),
  request: (client) =>
    client.request("GET", "/_matrix/client/v3/x", {
      query: { access_token: secret.query },
      headers: { "x-proxy-token": proxyToken },
    }),
};

/** Ways to answer badly, all with what was sent. */
const answers: Record<
  string,
  (sent: string, url: string, signal: AbortSignal) => Response | Promise<Response>
> = {
  "a refusal": (sent) =>
    Response.json({ errcode: "M_FORBIDDEN", error: `No: ${sent}`, more: { [sent]: [sent] } }, {
      status: 403,
    }),
  "a code": (sent) => Response.json({ errcode: sent, error: "No" }, { status: 400 }),
  "an unstable code": (sent) =>
    Response.json({ "org.matrix.msc4155.errcode": sent, errcode: 7, error: [sent] }, { status: 400 }),
  "a dead token": (sent) =>
    Response.json({ errcode: "M_UNKNOWN_TOKEN", error: sent, soft_logout: true }, { status: 401 }),
  "a challenge": (sent) =>
    Response.json({
      errcode: "M_FORBIDDEN",
      error: sent,
      flows: [{ stages: ["m.login.password"] }, { stages: ["m.login.registration_token"] }, {
        stages: ["org.example"],
      }, { stages: [sent] }],
      params: { [sent]: { sent } },
      completed: [sent],
      session: sent,
    }, { status: 401 }),
  "a wait": (sent) =>
    Response.json({ errcode: "M_LIMIT_EXCEEDED", error: sent, retry_after_ms: sent }, {
      status: 429,
      headers: { "retry-after": encodeURIComponent(sent) },
    }),
  "a page": (sent) =>
    new Response(`<h1>${sent}</h1>`, { status: 502, headers: { "content-type": "text/html" } }),
  "a redirect": (sent) =>
    new Response(null, {
      status: 307,
      headers: {
        location: `https://elsewhere.example/${encodeURIComponent(sent)}?q=${encodeURIComponent(sent)}`,
      },
    }),
  "a redirect to a host of that name": (sent) => {
    const [, word = "x"] = /Bearer syt_([a-z0-9]+)/i.exec(sent) ?? /([a-z0-9_-]{16})"/i.exec(sent) ?? [];
    return new Response(null, { status: 301, headers: { location: `https://${word}.example/` } });
  },
  "a redirect to a file": (sent) =>
    new Response(null, { status: 302, headers: { location: `data:text/plain,${encodeURIComponent(sent)}` } }),
  "broken JSON": (sent) =>
    new Response(`{"access_token":${JSON.stringify(sent)}`, {
      headers: { "content-type": `text/${encodeURIComponent(sent).slice(-90)}` },
    }),
  "a content type": (sent) =>
    new Response("?", { headers: { "content-type": /Bearer (\S+?)[,"]/.exec(sent)?.[1] ?? "none" } }),
  "another shape": (sent) =>
    Response.json([{ [sent]: sent, access_token: [sent], next_batch: { sent }, versions: sent }]),
  "wrong members": (sent) => Response.json({ access_token: [sent], next_batch: [sent], event_id: [sent] }),
  "a part": (sent) => new Response(sent, { headers: { "content-length": "999999" } }),
  "an error in the middle": (sent) =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(`{"a":"${sent.slice(0, 9)}`));
          controller.error(new TypeError(`error reading a body from ${sent}`));
        },
      }),
    ),
  silence: (_, __, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  "an error of fetch": (_, url) =>
    Promise.reject(
      new TypeError(`error sending request for url (${url}): client error (Connect): no route`, {
        cause: new Error(`no route to ${url}`),
      }),
    ),
};

for (const [how, answer] of Object.entries(answers)) {
  Deno.test(`T104: nothing that was sent shows in an error or a log when the server answers with ${how}`, async () => {
    const log = recordingLogger();
    const fetch: typeof globalThis.fetch = async (input, init = {}) => {
      const sent = [String(input), JSON.stringify(init.headers), init.body ?? ""].join("\n");
      await Promise.resolve();
      return await answer(sent.replaceAll(/\n/g, " "), String(input), init.signal ?? AbortSignal.abort());
    };
    const leaks: Record<string, string[]> = {};
    let errors = 0;
    for (const [name, run] of Object.entries(operations)) {
      const clock = new TestClock();
      const client = new Client({
        baseUrl: "https://hs.example",
        mxid: "@alice:example.org",
        deviceId: "ALICE",
        accessToken: token,
        refreshToken,
        fetch,
        log,
        clock,
        retry: { maxRetries: 1, maxLimitWait: 60_000 },
        requestTimeout: 5_000,
      });
      let [isOver, error]: [boolean, unknown] = [false, undefined];
      const ended = run(client).catch((reason) => error = reason).finally(() => isOver = true);
      for (let turn = 0; turn < 300 && !isOver; turn++) await clock.tick(1_000);
      await ended;
      if (error !== undefined) errors++;
      const found = planted.leaksIn([seen(error), seen(log.lines.splice(0)), seen(client)].join("\n"));
      if (found.length > 0) leaks[name] = found;
      await client.close();
    }
    assertEquals(leaks, {});
    assert(errors >= 10, `only ${errors} errors`);
  });
}
