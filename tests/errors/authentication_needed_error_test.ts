import { assert, assertEquals } from "@std/assert";
import { AuthenticationNeededError } from "@greenroom/matrix/errors";
import { requestError } from "../../src/errors/errcodes.ts";
import { ForbiddenError } from "@greenroom/matrix";
import type { JsonObject } from "@greenroom/matrix/types";

const refused = (body: JsonObject, status = 401) =>
  requestError({ operation: "register", method: "POST", path: "/register", status, body });

Deno.test("A malformed challenge is reported as far as it is valid", () => {
  const challenges = [{ flows: [] }, { flows: [7, null] }, {
    flows: [{ stages: "x" }],
    session: 7,
    params: [],
  }];
  for (const body of challenges) {
    const error = refused(body);
    assert(error instanceof AuthenticationNeededError);
    assertEquals([error.challenge.session, error.challenge.params], [undefined, {}]);
  }
});

Deno.test("A refusal with an error code is of that class, and what names no ways is no challenge", () => {
  assert(refused({ errcode: "M_FORBIDDEN", flows: [] }) instanceof ForbiddenError);
  for (const error of [refused({}), refused({ flows: "x" }), refused({ flows: [] }, 400)]) {
    assert(!(error instanceof AuthenticationNeededError));
  }
});

Deno.test("The words for a challenge are bounded, however many ways it names", () => {
  const flows = Array.from({ length: 10_000 }, () => ({ stages: ["m.login.dummy"] }));
  assert(refused({ flows }).message.length < 1_000);
});
