import { IS_ANSWERED } from "../../../src/api/http/http_options.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import * as account from "../../../src/errors/account_errcodes.ts";
import * as request from "../../../src/errors/errcodes.ts";
import * as room from "../../../src/errors/errcodes.ts";
import { messagesAPI } from "../../../src/api/messages/messages.ts";
import { MatrixError, MatrixRequestError, RedirectError, ValueError } from "@greenroom/matrix/errors";
import { readSharedJson, sharedSchemasPresent } from "../../types/shared_schemas.ts";
import { type Answer, refusal, scripted } from "../../support/scripted_fetch.ts";

/** Every class of `*_errcodes.ts` by the error code that its documentation begins with. */
const EXPECTED: Record<string, typeof MatrixRequestError> = {
  M_FORBIDDEN: request.ForbiddenError,
  M_UNKNOWN_TOKEN: account.UnknownTokenError,
  M_MISSING_TOKEN: account.MissingTokenError,
  M_USER_LOCKED: account.UserLockedError,
  M_USER_SUSPENDED: account.UserSuspendedError,
  M_USER_DEACTIVATED: account.UserDeactivatedError,
  M_BAD_JSON: request.BadJsonError,
  M_NOT_JSON: request.NotJsonError,
  M_NOT_FOUND: request.NotFoundError,
  M_LIMIT_EXCEEDED: request.LimitExceededError,
  M_UNRECOGNIZED: request.UnrecognizedError,
  M_UNKNOWN: request.UnknownError,
  M_UNAUTHORIZED: account.UnauthorizedError,
  M_USER_IN_USE: account.UserInUseError,
  M_INVALID_USERNAME: account.InvalidUsernameError,
  M_ROOM_IN_USE: room.RoomInUseError,
  M_INVALID_ROOM_STATE: room.InvalidRoomStateError,
  M_THREEPID_IN_USE: account.ThreepidInUseError,
  M_THREEPID_NOT_FOUND: account.ThreepidNotFoundError,
  M_THREEPID_AUTH_FAILED: account.ThreepidAuthFailedError,
  M_THREEPID_DENIED: account.ThreepidDeniedError,
  M_THREEPID_MEDIUM_NOT_SUPPORTED: account.ThreepidMediumNotSupportedError,
  M_SERVER_NOT_TRUSTED: account.ServerNotTrustedError,
  M_UNSUPPORTED_ROOM_VERSION: room.UnsupportedRoomVersionError,
  M_INCOMPATIBLE_ROOM_VERSION: room.IncompatibleRoomVersionError,
  M_BAD_STATE: room.BadStateError,
  M_GUEST_ACCESS_FORBIDDEN: account.GuestAccessForbiddenError,
  M_CAPTCHA_NEEDED: account.CaptchaNeededError,
  M_CAPTCHA_INVALID: account.CaptchaInvalidError,
  M_MISSING_PARAM: request.MissingParamError,
  M_INVALID_PARAM: request.InvalidParamError,
  M_TOO_LARGE: request.TooLargeError,
  M_EXCLUSIVE: request.ExclusiveError,
  M_RESOURCE_LIMIT_EXCEEDED: request.ResourceLimitExceededError,
  M_USER_LIMIT_EXCEEDED: account.UserLimitExceededError,
  M_CANNOT_LEAVE_SERVER_NOTICE_ROOM: room.CannotLeaveServerNoticeRoomError,
  M_WEAK_PASSWORD: account.WeakPasswordError,
  M_INVITE_BLOCKED: room.InviteBlockedError,
  M_UNABLE_TO_AUTHORISE_JOIN: room.UnableToAuthoriseJoinError,
  M_UNABLE_TO_GRANT_JOIN: room.UnableToGrantJoinError,
  M_BAD_ALIAS: room.BadAliasError,
  M_NOT_YET_UPLOADED: request.NotYetUploadedError,
  M_CANNOT_OVERWRITE_MEDIA: request.CannotOverwriteMediaError,
  M_DUPLICATE_ANNOTATION: room.DuplicateAnnotationError,
  M_WRONG_ROOM_KEYS_VERSION: request.WrongRoomKeysVersionError,
  M_INVALID_SIGNATURE: request.InvalidSignatureError,
  M_UNKNOWN_DEVICE: account.UnknownDeviceError,
  M_PROFILE_TOO_LARGE: account.ProfileTooLargeError,
  M_KEY_TOO_LARGE: account.KeyTooLargeError,
  M_APPSERVICE_LOGIN_UNSUPPORTED: account.AppserviceLoginUnsupportedError,
  M_CONNECTION_FAILED: request.ConnectionFailedError,
  M_CONNECTION_TIMEOUT: request.ConnectionTimeoutError,
  M_BAD_STATUS: request.BadStatusError,
  M_URL_NOT_SET: request.UrlNotSetError,
  M_SESSION_NOT_VALIDATED: account.SessionNotValidatedError,
  M_SESSION_EXPIRED: account.SessionExpiredError,
  M_NO_VALID_SESSION: account.NoValidSessionError,
  M_UNKNOWN_ENDPOINT: request.UnknownEndpointError,
  M_ALREADY_JOINED: room.AlreadyJoinedError,
  M_NOT_JOINED: room.NotJoinedError,
  M_INSUFFICIENT_POWER: room.InsufficientPowerError,
};

async function refused(answer: Answer): Promise<MatrixRequestError> {
  const { session: { http } } = scripted({ "GET /x/y": answer }, { retry: false });
  return await assertRejects(() => http.request("GET", "/x/{z}", { path: { z: "y" } }), MatrixRequestError);
}

Deno.test("Every error code has its class, and every class its error code", async () => {
  for (const [errcode, Class] of Object.entries(EXPECTED)) {
    const error = await refused(refusal(400, errcode));
    assertEquals([error.constructor, error.errcode, error.code, error.name], [
      Class,
      errcode,
      errcode,
      Class.name,
    ]);
    assert(error instanceof MatrixError);
  }
  const classes = Object.values({ ...account, ...request, ...room }).filter((value) =>
    value.prototype instanceof MatrixRequestError
  );
  assertEquals(classes.filter((value) => !Object.values(EXPECTED).some((Class) => Class === value)), []);
});

Deno.test({
  name: "Every error code that the specification's API names has a class",
  ignore: !sharedSchemasPresent(),
  fn() {
    const text = JSON.stringify(readSharedJson("client-server.json"));
    const named = new Set(text.match(/\bM_[A-Z][A-Z_]+[A-Z](?![A-Z_…])/g));
    assert(named.size > 25);
    assertEquals([...named].filter((errcode) => !(errcode in EXPECTED)), []);
  },
});

Deno.test("The experimental reason for a refusal goes before its general error code", async () => {
  const error = await refused(
    refusal(403, "M_FORBIDDEN", { "org.matrix.msc3848.unstable.errcode": "M_ALREADY_JOINED" }),
  );
  assert(error instanceof room.AlreadyJoinedError && error instanceof request.ForbiddenError);
});

Deno.test("An unknown error code, one of a wrong type or none, makes the base class", async () => {
  const cases: [unknown, string][] = [["ORG_EXAMPLE", "ORG_EXAMPLE"], [7, "M_UNKNOWN"], [null, "M_UNKNOWN"], [
    "",
    "M_UNKNOWN",
  ], ["constructor", "constructor"]];
  for (const [errcode, expected] of cases) {
    const error = await refused(Response.json({ errcode }, { status: 418 }));
    assertEquals([error.constructor, error.errcode, error.status], [MatrixRequestError, expected, 418]);
  }
});

Deno.test("The whole body of a refusal is kept, and the message names request, status and reason", async () => {
  const body = {
    errcode: "M_FORBIDDEN",
    error: "Go away",
    flows: [{ stages: ["m.login.dummy"] }],
    session: "s",
    soft_logout: true,
  };
  const error = await refused(Response.json(body, { status: 403 }));
  assertEquals([error.body, error.operation, error.status], [body, "request /x/{z}", 403]);
  assertEquals(
    error.message,
    "Cannot request /x/{z} (GET /x/y): the homeserver answered 403 M_FORBIDDEN: Go away",
  );
});

Deno.test("A refusal's text can't move a terminal's cursor or flood it", async () => {
  const error = await refused(
    refusal(400, "M_UNKNOWN\u001b[2J", { error: `\u001b[31mred\n${"x".repeat(5_000)}` }),
  );
  assert(!/\p{Cc}/u.test(error.message));
  assert(error.message.length < 1_500);
});

Deno.test("A refusal whose body is no JSON object keeps its status", async () => {
  for (const body of ["<html>Bad gateway</html>", "", "[1]", "null", '{"errcode":', "\0\xff"]) {
    const error = await refused(new Response(body, { status: 502 }));
    assertEquals([error.status, error.errcode, error.body], [502, "M_UNKNOWN", {}]);
    assert(error.message.includes("GET /x/y"));
  }
});

Deno.test("A refusal's body is read up to a megabyte", async () => {
  let given = 0;
  const endless = new ReadableStream({
    pull(controller) {
      given += 1 << 16;
      controller.enqueue(new Uint8Array(1 << 16).fill(32));
    },
  });
  const error = await refused(new Response(endless, { status: 400 }));
  assertEquals([error.status, error.body], [400, {}]);
  // The test's own fetch copies answers, and reads ahead.
  assert(given <= 4 << 20, `${given} bytes were taken`);
});

Deno.test("413 of a proxy is a TooLargeError, and names the size and the proxy", async () => {
  const proxy = new Response("<html>413</html>", { status: 413 });
  const { session } = scripted({ "*": proxy }, { checked: false });
  const error = await assertRejects(
    () => session.http.request("PUT", "/x", { body: { text: "hello" } }),
    request.TooLargeError,
    "a proxy in front of the homeserver takes no body as large as this (16 bytes)",
  );
  assertEquals([error.status, session.http[IS_ANSWERED]], [413, false]);
  const withoutBody = await assertRejects(() => session.http.request("GET", "/x"), request.TooLargeError);
  assert(
    withoutBody.message.includes("takes no body as large as this; raise its limit"),
    withoutBody.message,
  );
  const { session: { http } } = scripted({ "*": refusal(413, "M_TOO_LARGE") }, { checked: false });
  const own = await assertRejects(() => http.request("PUT", "/x", { body: {} }), request.TooLargeError);
  assertEquals(own.body.error, "No");
});

Deno.test("A redirect to a path is told with it", async () => {
  const location = "https://new.example.org/matrix/_matrix/client/v3/x";
  const moved = new Response(null, { status: 308, headers: { location } });
  const { session } = scripted({ "*": moved }, { checked: false });
  const error = await assertRejects(
    () => session.http.request("PUT", "/_matrix/client/v3/x"),
    RedirectError,
    "the homeserver redirects it to https://new.example.org/matrix; set baseUrl",
  );
  assertEquals(error.origin, "https://new.example.org/matrix");
});

Deno.test("A send whose query asks for a delay is refused before it is sent: its answer has no event ID", async () => {
  const { session, requests } = scripted({ "*": { delay_id: "d" } }, { checked: false });
  const options = { query: { "org.matrix.msc4140.delay": 5_000 } };
  const send = () =>
    messagesAPI(session).sendMessageEvent(
      "!a:x",
      "m.room.message",
      { msgtype: "m.text", body: "x" },
      options,
    );
  await assertRejects(send, ValueError, "org.matrix.msc4140.delay");
  assertEquals(requests.length, 0);
});
