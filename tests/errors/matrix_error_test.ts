import { assertEquals } from "@std/assert";
import { MatrixError, MatrixRequestError } from "@greenroom/matrix/errors";

/** What a program reads of an error of which it knows nothing but that it is of Greenroom. */
function read(error: unknown): unknown {
  return error instanceof MatrixError ? [error.errcode, error.status] : error;
}

Deno.test("Each error has the errcode and status of a homeserver's refusal, or none", () => {
  const body = { errcode: "M_FORBIDDEN" };
  const refusal = new MatrixRequestError({
    ...{ operation: "joinRoom", method: "POST", path: "/_matrix/client/v3/join/!a" },
    ...{ status: 403, body },
  });
  assertEquals(read(refusal), ["M_FORBIDDEN", 403]);
  const other = new MatrixError("Cannot join");
  assertEquals([read(other), Object.keys(other)], [[undefined, undefined], ["name", "code"]]);
});
