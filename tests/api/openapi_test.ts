import { assert, assertEquals } from "@std/assert";
import { clientAPI, plainOperations } from "../../src/api/api.ts";
import { MatrixError, ValueError } from "@greenroom/matrix/errors";
import { contentProblems } from "../support/event_schemas.ts";
import { describedOperations, operationOf, requestProblems } from "../support/openapi.ts";
import { recordingFetch } from "../support/recording_fetch.ts";
import { type Rule, scripted, type ScriptedRequest, untilSettled } from "../support/scripted_fetch.ts";
import { sharedSchemasPresent } from "../types/shared_schemas.ts";
import { OPERATIONS, wantsPassword } from "./operations.ts";

type Operation = (...args: unknown[]) => Promise<unknown> | AsyncGenerator<unknown>;

const ignore = !sharedSchemasPresent();

/** Operations that make no request of their own. */
const SILENT = ["fillMemberEvent", "withUia"];

/**
 * Calls an operation on a new session; what it requests is all that counts. Undefined if it refused
 * its arguments.
 */
async function requestsOf(
  name: string,
  args: readonly unknown[],
  answers?: Readonly<Record<string, Rule>>,
): Promise<ScriptedRequest[] | undefined> {
  const { session, requests, clock } = scripted(wantsPassword(answers), { retry: false });
  const operation = clientAPI(session)[name as "getState"] as Operation;
  const called = operation(...args);
  const outcome = "next" in called ? called.next() : called;
  const error = await untilSettled<unknown>(clock, outcome).then(() => undefined, (error) => error);
  assert(error === undefined || error instanceof MatrixError, `${name}: ${error}`);
  return error instanceof ValueError ? undefined : requests;
}

function checked({ method, path, query, headers, body }: ScriptedRequest): string[] {
  return requestProblems({ method, url: `https://hs.example.org${path}?${query}`, headers, body });
}

for (const [name, calls, answers] of OPERATIONS) {
  Deno.test({
    name: `${name}() makes requests as the specification describes them (${calls.length} calls)`,
    ignore,
    async fn() {
      for (const args of calls) {
        const requests = await requestsOf(name, args, answers);
        if (requests === undefined) continue;
        assert(
          SILENT.includes(name) || requests.length > 0,
          `${name}(${Deno.inspect(args)}) made no request`,
        );
        assertEquals(requests.flatMap(checked), [], `${name}(${Deno.inspect(args)})`);
      }
    },
  });
}

Deno.test({
  name: "Operations fall back to named deprecated endpoints where the server is old",
  ignore,
  async fn() {
    const media = "mxc://example.org/pic";
    const calls: [string, unknown[], string][] = [
      ["downloadMedia", [media], "/_matrix/media/v3/download/example.org/pic"],
      ["downloadMediaStream", [media], "/_matrix/media/v3/download/example.org/pic"],
      ["downloadThumbnail", [media, { allowRemote: false }], "/_matrix/media/v3/thumbnail/example.org/pic"],
      ["getMediaRepoConfig", [], "/_matrix/media/v3/config"],
      ["getUrlPreview", ["https://example.org"], "/_matrix/media/v3/preview_url"],
    ];
    const answers = { "GET /_matrix/client/versions": { versions: ["r0.6.1", "v1.10"] } };
    for (const [name, args, path] of calls) {
      const requests = await requestsOf(name, args, answers) ?? [];
      assertEquals(requests.map((request) => request.path), ["/_matrix/client/versions", path]);
      assertEquals(requests.flatMap(checked), []);
    }
  },
});

Deno.test({
  name: "Every operation of the specification is called, or stands on the page with the reason why not",
  ignore,
  async fn() {
    const called = new Set<string | undefined>();
    for (const [name, calls, answers] of OPERATIONS) {
      for (const args of calls) {
        for (const { method, path } of await requestsOf(name, args, answers) ?? []) {
          called.add(operationOf(method, path));
        }
      }
    }
    const page = await Deno.readTextFile("docs/reference/specification.md");
    const listed = [...page.matchAll(/^\| `([A-Z]+ \/\S+)` +\|/gm)].map(([, operation = ""]) => operation);
    const described = describedOperations();
    assert(described.length > 150);
    assertEquals(described.filter((operation) => !called.has(operation)).sort(), listed.sort());
  },
});

Deno.test("Every operation of the client is called by one of the tables", () => {
  const called = new Set(OPERATIONS.map(([name]) => name));
  const { names } = plainOperations();
  assertEquals(names.filter((name) => !called.has(name) && !SILENT.includes(name)), []);
});

Deno.test({
  name: "The check of requests finds what is wrong",
  ignore,
  fn() {
    const base = "https://hs.example.org/_matrix";
    const token = { authorization: "Bearer x" };
    const json = { ...token, "content-type": "application/json" };
    const cases: [string, string, Record<string, string>, unknown, string | undefined][] = [
      ["GET", "/client/v3/joined_rooms", token, undefined, undefined],
      ["GET", "/client/v3/joined_rooms", {}, undefined, "no token"],
      ["GET", "/client/v3/login", token, undefined, "sends a token"],
      ["GET", "/client/v3/joined_rooms?limit=1", token, undefined, "limit is unknown"],
      ["GET", "/client/v3/joined_room", token, undefined, "no such endpoint"],
      ["POST", "/client/v3/joined_rooms", token, {}, "no such endpoint"],
      ["GET", "/client/v3/initialSync", token, undefined, "deprecated"],
      ["GET", "/client/v3/rooms/!r:x/messages", token, undefined, "dir is missing"],
      ["GET", "/client/v3/rooms/!r:x/messages?dir=x", token, undefined, "allowed values"],
      ["GET", "/client/v3/rooms/!r:x/messages?dir=b&limit=many", token, undefined, "integer"],
      ["GET", "/client/v3/rooms/nowhere/state", token, undefined, "path parameter roomId"],
      ["POST", "/client/v3/rooms/!r:x/invite", json, { user: "@a:b" }, "user_id"],
      ["POST", "/client/v3/createRoom", json, { naem: "x" }, "naem is unknown"],
      ["POST", "/client/v3/createRoom", token, { name: "x" }, "application/json"],
      ["POST", "/client/v3/createRoom", json, { name: 1 }, "string"],
      [
        "POST",
        "/client/v3/createRoom",
        json,
        { initial_state: [{ type: "m.room.topic", content: {} }] },
        "m.room.topic",
      ],
      ["POST", "/client/v3/logout", json, { all: true }, "body where none"],
      [
        "PUT",
        "/client/v3/rooms/!r:x/send/m.room.message/1",
        json,
        { msgtype: "m.image", body: "x", info: 1 },
        "m.room.message",
      ],
      ["PUT", "/client/v3/rooms/!r:x/state/m.room.name/", json, {}, undefined],
      ["PUT", "/client/v3/rooms/!r:x/state/m.room.name/", json, { name: 1 }, "m.room.name"],
      ["PUT", "/client/v3/user/@a:b/account_data/m.direct", json, { "@b:c": "!r" }, "m.direct"],
      [
        "PUT",
        "/client/v3/sendToDevice/m.room_key/1",
        json,
        { messages: { "@b:c": { D: {} } } },
        "m.room_key",
      ],
      ["POST", "/media/v3/upload", token, new Uint8Array(), "no content type"],
    ];
    for (const [method, path, headers, body, expected] of cases) {
      const problems = requestProblems({ method, url: base + path, headers: new Headers(headers), body })
        .join("; ");
      assertEquals(problems === "", expected === undefined, `${method} ${path}: ${problems}`);
      assert(problems.includes(expected ?? ""), `${method} ${path}: ${problems}`);
    }
    assertEquals(contentProblems("com.example.anything", { at: "all" }), []);
  },
});

Deno.test({
  name: "recordingFetch() checks what passes, and passes it",
  ignore,
  async fn() {
    const { fetch: send, problems, seen } = recordingFetch((_, init) =>
      Promise.resolve(new Response(init?.method))
    );
    const url = "https://hs.example.org/_matrix/client/v3/logout";
    const headers = { authorization: "Bearer x", "content-type": "application/json" };
    assertEquals(await (await send(url, { method: "POST", headers, body: "{}" })).text(), "POST");
    assertEquals(problems, []);
    await send(url, { method: "POST", headers, body: '{"all":true}' });
    assertEquals([problems.length, seen.length], [1, 2]);
  },
});
