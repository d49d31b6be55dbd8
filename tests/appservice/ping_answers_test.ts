import { assertEquals, assertRejects } from "@std/assert";
import type { HTTPAPI } from "@greenroom/matrix";
import { type MatrixError, NetworkError } from "@greenroom/matrix/errors";
import { pingAppservice } from "../../src/appservice/registration.ts";
import { AppservicePingError } from "@greenroom/matrix/appservice";
import { requestError } from "../../src/errors/errcodes.ts";
import { registration } from "./scene.ts";

const BEGUN = 1_000;
const ENDED = 1_250;

/** A ping that the homeserver answers with an error, after it has got through or not. */
function ping(error: Error, { hasPinged = false } = {}): Promise<number | undefined> {
  const times = [BEGUN, ENDED];
  const http = {
    clock: { now: () => times.shift() },
    request: () => Promise.reject(error),
  } as unknown as HTTPAPI;
  return pingAppservice(http, registration, () => hasPinged);
}

function refused(status: number, errcode: string, more: object = {}): MatrixError {
  const about = { operation: "ping", method: "POST", path: "/ping" };
  return requestError({ ...about, status, body: { errcode, ...more }, retryAfter: undefined });
}

Deno.test("A homeserver that knows no pings answers nothing", async () => {
  assertEquals(await ping(refused(404, "M_UNRECOGNIZED")), undefined);
});

Deno.test("A ping that came has got through, also if the homeserver's answer is an error, but not if there is none", async () => {
  assertEquals(await ping(refused(500, "M_UNKNOWN"), { hasPinged: true }), ENDED - BEGUN);
  const broken = new NetworkError("Cannot ping: the connection broke");
  assertEquals(await assertRejects(() => ping(broken, { hasPinged: true })), broken);
});

Deno.test("A ping that does not get through says what to mend, if the homeserver says why", async () => {
  for (
    const [error, mend] of [
      [refused(401, "M_UNKNOWN_TOKEN"), "does not know its as_token"],
      [refused(403, "M_FORBIDDEN"), "belongs to another registration"],
      [refused(400, "M_URL_NOT_SET"), "has no url"],
      [refused(502, "M_CONNECTION_FAILED"), "could not connect to"],
      [refused(504, "M_CONNECTION_TIMEOUT"), "nothing answered the homeserver in time"],
      [refused(502, "M_BAD_STATUS", { status: 401 }), "refused the homeserver's hs_token"],
      [refused(502, "M_BAD_STATUS", { status: 403 }), "refused the homeserver's hs_token"],
      [refused(502, "M_BAD_STATUS", { status: 404 }), "said 404"],
    ] as const
  ) {
    const told = await assertRejects(() => ping(error), AppservicePingError, mend);
    assertEquals(told.cause, error);
  }
  const other = refused(500, "M_UNKNOWN");
  assertEquals(await assertRejects(() => ping(other)), other);
});
