/** The differences that stay, each with its reason and with requests that show it. */

import { type Answer, asObject, type Compared, type Step } from "./step.ts";
import { v3 } from "./world.ts";

/** A difference that stays. */
export interface Difference {
  /** Why it stays. */
  readonly reason: string;
  /** Whether a difference is this one. */
  readonly covers: (compared: Compared) => boolean;
  /** Requests, the last of which is answered so: when it no longer is, the entry is to go. */
  readonly shownBy: readonly Step[];
}

const register: Step = {
  id: 0,
  method: "POST",
  path: v3("register"),
  body: { username: "alice-{{run}}", password: "secret", auth: { type: "m.login.dummy" } },
};
const token = "{{0.access_token}}";

/** All of them. */
export const DIFFERENCES: readonly Difference[] = [
  {
    reason: "Synapse says 400, 404 or 405 to what it does not know, by where in its code it finds out",
    covers: ({ ours, theirs }) =>
      errcodeOf(ours) === "M_UNRECOGNIZED" && errcodeOf(theirs) === "M_UNRECOGNIZED",
    shownBy: [register, { id: 1, token, method: "PUT", path: v3("pushrules", "") }],
  },
  {
    reason:
      "The Synapse of the tests may not speak to other servers, and says so in other ways than one that " +
      "does not reach them",
    covers: ({ step, ours, theirs }) =>
      ((ours.status >= 400 && [403, 502].includes(theirs.status)) || step.path.includes("keys")) &&
      JSON.stringify([step.path, step.query, step.body]).includes("away.example"),
    shownBy: [
      register,
      { id: 1, token, method: "POST", path: v3("publicRooms"), query: { server: "away.example" }, body: {} },
    ],
  },
  {
    reason: "Which errcode stands for a malformed request depends on which of Synapse's checkers sees it " +
      "first: a model of pydantic, a schema, or a line of code",
    covers: ({ ours, theirs }) =>
      ours.status === 400 && theirs.status === 400 && isMalformed(ours) && isMalformed(theirs),
    shownBy: [{ id: 0, method: "POST", path: v3("login"), body: { type: [1] } }],
  },
  {
    reason: "Synapse fails inside, where its checks let through what its code then trips over",
    covers: ({ ours, theirs }) => theirs.status === 500 && ours.status < 500,
    shownBy: [
      register,
      { id: 1, token, method: "POST", path: v3("createRoom"), body: {} },
      { id: 2, token, method: "POST", path: v3("rooms", "{{1.room_id}}", "invite"), body: { user_id: null } },
    ],
  },
];

/** Whether a difference is listed. */
export function isListed(compared: Compared): boolean {
  return DIFFERENCES.some(({ covers }) => covers(compared));
}

const MALFORMED = ["M_UNKNOWN", "M_BAD_JSON", "M_INVALID_PARAM", "M_MISSING_PARAM", "M_NOT_JSON"];

function isMalformed(answer: Answer): boolean {
  return MALFORMED.includes(errcodeOf(answer));
}

function errcodeOf({ body }: Answer): string {
  return String(asObject(body).errcode);
}
