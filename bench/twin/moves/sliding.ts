/** Sliding sync, in the form that Synapse has, as clients of ours ask for it. */

import { type Login, type Move, SLIDING_PATH, type World } from "../world.ts";

const EXTENSIONS = ["to_device", "e2ee", "account_data", "receipts", "typing"] as const;
/** How many events of a room come, always as many: if a connection asks for more than before, more come. */
const LIMIT = 5;
/** The last room of a window. */
const LAST = [0, 1, 19, 99_999] as const;

/** Goes on with a connection, or begins one. */
function slide(world: World): Move {
  const login = world.login(world.person());
  const { random } = world;
  const pos = random.chance(80)
    ? login.positions.at(-1)
    : random.chance(30)
    ? world.pick(...login.positions, "garbage", `7/${login.batches.at(-1)}`)
    : undefined;
  return slideOf(login, { pos, last: world.pick(...LAST) });
}

/** A request whose position is kept. */
export function slideOf(
  login: Login,
  { pos, last = 99_999 }: { readonly pos?: string | undefined; readonly last?: number } = {},
): Move {
  const since = pos?.startsWith("{{")
    ? pos.replace(".pos}}", ".extensions.to_device.next_batch}}")
    : undefined;
  return {
    token: login.token,
    method: "POST",
    path: SLIDING_PATH,
    query: { timeout: "0", ...(pos !== undefined && { pos }) },
    body: {
      conn_id: "connection",
      lists: { rooms: { ranges: [[0, last]], timeline_limit: LIMIT, required_state: [["*", "*"]] } },
      extensions: Object.fromEntries(EXTENSIONS.map((name) => [name, {
        enabled: true,
        ...(name === "to_device" && { limit: 100, ...(since !== undefined && { since }) }),
      }])),
    },
    isAsItIs: true,
    done: (id) => void login.positions.push(`{{${id}.pos}}`),
  };
}

/** The moves of this file, with how often each comes. */
export const slidingMoves: readonly (readonly [number, (world: World) => Move])[] = [[1, slide]];
