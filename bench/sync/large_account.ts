/**
 * A Synapse with an account in many rooms, each with two members and five messages: made once, kept in
 * `.cache/`, and used as a copy. Making it can be broken off, and goes on where it was.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import { Synapse } from "../../tools/synapse.ts";
import { liftLimits } from "../../tools/synapse/lift_limits.ts";
import { type RegisteredUser, registerUser } from "../../tools/synapse/register_user.ts";

const MESSAGES = 5;
/** How many rooms are made at once. */
const AT_ONCE = 4;
/** After how many rooms it is said how far it is. */
const SAID = 100;

/** Who is in the rooms. */
interface Members {
  /** Has made them, and talks. */
  readonly person: RegisteredUser;
  /** Has joined them. */
  readonly bot: RegisteredUser;
}

/** A Synapse with a large account. */
export interface LargeAccount extends Members, AsyncDisposable {
  /** The server. */
  readonly synapse: Synapse;
}

/** Starts a Synapse with a new copy of the account. */
export async function largeAccount(rooms: number): Promise<LargeAccount> {
  const kept = `${import.meta.dirname}/../../.cache/account-of-${rooms}-rooms`;
  const members = await make(kept, rooms);
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "greenroom-account-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  for await (const { name } of Deno.readDir(kept)) {
    if (name.startsWith("homeserver.")) await Deno.copyFile(`${kept}/${name}`, `${folder}/${name}`);
  }
  const synapse = stack.use(await Synapse.start({ folder }));
  const moved = stack.move();
  return { ...members, synapse, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/** Makes what is missing of the account. */
async function make(folder: string, rooms: number): Promise<Members> {
  const file = `${folder}/members.json`;
  const known: Members & { readonly rooms?: number } | undefined = await Deno.readTextFile(file).then(
    JSON.parse,
    () => undefined,
  );
  if (known?.rooms === rooms) return known;
  await using synapse = await Synapse.start({ folder });
  const { baseUrl } = synapse;
  const register = async (localpart: string): Promise<RegisteredUser> => {
    const user = await registerUser(synapse, { localpart, password: crypto.randomUUID() });
    await liftLimits(synapse, user.userId);
    return user;
  };
  const { person, bot } = known ?? { person: await register("alice"), bot: await register("bot") };
  await Deno.writeTextFile(file, JSON.stringify({ person, bot }));
  await using talker = new Client({ baseUrl, accessToken: person.accessToken, log: false });
  await using joiner = new Client({ baseUrl, accessToken: bot.accessToken, log: false });
  let begun = (await joiner.getJoinedRooms()).length;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (begun++ < rooms) {
      if (begun % SAID === 0) console.log(`Making room ${begun} of ${rooms}`);
      const room = await talker.createRoom({ invitees: [bot.userId] });
      for (let message = 0; message < MESSAGES; message++) await talker.sendText(room, `message ${message}`);
      await joiner.joinRoom(room);
    }
  }));
  await Deno.writeTextFile(file, JSON.stringify({ person, bot, rooms }));
  return { person, bot };
}
