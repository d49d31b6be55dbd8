import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { type Client, ValueError } from "@greenroom/matrix";
import { PolicyLists, serverAcl, updateServerAcl } from "@greenroom/matrix/bot";
import { NotFoundError } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";

const OWN = { ownServer: "own.example" };
const ROOM = "!room:own.example" as RoomID;
const MAX_BYTES = 60_000;

/** What is denied beside policy lists. */
const denied = (...deny: unknown[]) =>
  serverAcl(new PolicyLists(), { ...OWN, base: { deny: deny as string[] } }).content.deny;

Deno.test("An ACL may have as many bytes as fit, and not one more", () => {
  const sized = (length: number) =>
    serverAcl(new PolicyLists(), { ...OWN, base: { allow: ["*", "x".repeat(length)] } }).content;
  const around = JSON.stringify(sized(0)).length;
  assertEquals(JSON.stringify(sized(MAX_BYTES - around)).length, MAX_BYTES);
  assertThrows(() => sized(MAX_BYTES - around + 1), ValueError, "it would have 60001 bytes");
});

Deno.test("What is no text in a base is left out", () => {
  assertEquals(denied(7, null, "Spam.example"), ["spam.example"]);
});

Deno.test("A name stays that no glob covers", () => {
  const deny = ["*.spam.example", "evil?.example", "good.example"];
  assertEquals(denied(...deny, "evil1.example"), deny);
});

Deno.test("A name that no server can have does not use up what is compared of the others", () => {
  const long = "a".repeat(20_000); // it comes first
  assertEquals(denied("*.bad.org", "spam.bad.org", long), ["*.bad.org", long]);
});

Deno.test("Names are compared with globs as far as that takes a fraction of a second; the others stay", () => {
  const ends = Array.from({ length: 1_600 }, (_, at) => `${`${at}`.padStart(242, "x")}.spam.example`);
  const atEnd = denied("*.spam.example", ...ends).length;
  assert(atEnd > 1 && atEnd < 300, `${atEnd} are left`);
  const middle = "a".repeat(200);
  const names = Array.from({ length: 1_100 }, (_, at) => `${`${at}`.padStart(40, "x")}${middle}z`);
  const within = denied(`*${middle}?`, ...names).length;
  assert(within > 1 && within < 300, `${within} are left`);
  assertEquals(
    denied("*.spam.example", `*${middle}?`, ends[0], names[0]),
    [`*${middle}?`, "*.spam.example"].sort(),
  );
});

/** A client in a room with an ACL, or with an error in its place. */
function clientOf(now: object | Error, mxid = "@mod:own.example") {
  const sent: object[] = [];
  const client = {
    mxid,
    getStateEvent: () => now instanceof Error ? Promise.reject(now) : Promise.resolve(now),
    sendStateEvent: (_room: RoomID, _type: string, content: object) => Promise.resolve(sent.push(content)),
  } as unknown as Client;
  return { client, sent };
}

/** What is sent in place of an ACL. */
async function updated(now: object | Error, base?: object): Promise<object[]> {
  const { client, sent } = clientOf(now);
  await updateServerAcl(client, ROOM, new PolicyLists(), { base });
  return sent;
}

const OPEN = { allow_ip_literals: true, allow: ["*"], deny: [] };
const notFound = new NotFoundError({
  ...{ operation: "get state", method: "GET", path: "/", status: 404 },
  body: {},
  retryAfter: undefined,
});

Deno.test("An ACL is sent if it lets in others than before, in whatever of its parts", async () => {
  assertEquals(await updated(OPEN), []);
  assertEquals(await updated({ allow: ["*"] }), [], "which is what is meant where nothing is said");
  for (const base of [{ allow_ip_literals: false }, { allow: ["*.example"] }, { deny: ["spam.test"] }]) {
    assertEquals(await updated(OPEN, base), [{ ...OPEN, ...base }]);
  }
});

Deno.test("A room without an ACL, or with one that lets nobody in, gets one that lets all in", async () => {
  assertEquals(await updated(notFound), [OPEN]);
  assertEquals(await updated({ deny: ["spam.example"] }), [OPEN]);
});

Deno.test("Nothing is sent if the ACL of now can't be read, or the user is unknown, or an option is", async () => {
  await assertRejects(() => updated(new TypeError("away")), TypeError, "away");
  const { client } = clientOf(OPEN, "");
  await assertRejects(
    () => updateServerAcl(client, ROOM, new PolicyLists()),
    ValueError,
    "does not know its user",
  );
  const wrong = { bas: {} } as object;
  await assertRejects(
    () => updateServerAcl(clientOf(OPEN).client, ROOM, new PolicyLists(), wrong),
    ValueError,
    "did you mean base?",
  );
  assertThrows(() => serverAcl(new PolicyLists(), { ...OWN, ...wrong }), ValueError, "did you mean base?");
});
