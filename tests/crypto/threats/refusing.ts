/** A homeserver that does not take what has to do with one user. */

import type { ClientStage } from "../../client/support/stage.ts";

/** What it does not take. */
export interface Refusal {
  /** What is in the path of the requests. */
  readonly path: RegExp;
  /** A user who is named in them. */
  readonly user: string;
  readonly status: number;
}

/** A fetch of which requests fail that name a user; `count` says how many did. */
export function refusing(stage: ClientStage, { path, user, status }: Refusal): {
  fetch: typeof globalThis.fetch;
  count: () => number;
} {
  let count = 0;
  return {
    count: () => count,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const isMeant = path.test(new URL(request.url).pathname) &&
        (await request.clone().text()).includes(user);
      if (!isMeant) return await stage.homeserver.fetch(request);
      count++;
      return Response.json({ errcode: "M_UNKNOWN", error: "no" }, { status });
    },
  };
}
