/**
 * What the first answer of sliding sync costs with all members, and with those who said something lately:
 * `deno run -A bench/sync/lazy.ts [MEMBERS]`.
 *
 * On Synapse, in a room with so many members, 800 if nothing is said, of whom one has said the last ten
 * messages. Measured is a client's first start with a store in memory, up to its first event.
 *
 * @module
 */

import { Client, MemoryStore } from "@greenroom/matrix";
import { Synapse } from "../../tools/synapse.ts";
import { liftLimits } from "../../tools/synapse/lift_limits.ts";
import { registerUser } from "../../tools/synapse/register_user.ts";

const MESSAGES = 10;

async function measure(members: number): Promise<void> {
  await using synapse = await Synapse.start();
  const { baseUrl } = synapse;
  const [person, bot] = await Promise.all(["alice", "bot"].map(async (localpart) => {
    const user = await registerUser(synapse, { localpart, password: crypto.randomUUID() });
    await liftLimits(synapse, user.userId);
    return user;
  }));
  if (person === undefined || bot === undefined) throw new Error("Cannot make the room: no users");
  await using talker = new Client({ baseUrl, accessToken: person.accessToken, log: false });
  await using joiner = new Client({ baseUrl, accessToken: bot.accessToken, log: false });
  // As state that the room begins with they are stored at once; a ban takes as much as another membership.
  const initialState = Array.from({ length: members - 2 }, (_, member) => ({
    type: "m.room.member",
    state_key: `@member-${member}:localhost`,
    content: { membership: "ban", displayname: `Member ${member}` },
  }));
  const options = { name: "Hall", invitees: [bot.userId], initialState };
  const room = await talker.createRoom({ ...options, requestTimeout: 600_000 });
  await joiner.joinRoom(room);
  for (let message = 0; message < MESSAGES; message++) await talker.sendText(room, `message ${message}`);
  for (const lazyLoadMembers of [false, true]) {
    await synapse.restart();
    let bytes = 0;
    const counting: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const response = await fetch(request);
      if (bytes > 0 || !request.url.includes("simplified_msc3575/sync?")) return response;
      const answer = await response.text();
      bytes = answer.length;
      return new Response(answer, response);
    };
    await using client = new Client({
      ...{ baseUrl, accessToken: bot.accessToken, log: false, sync: "sliding", store: new MemoryStore() },
      fetch: counting,
    });
    const first = Promise.withResolvers<void>();
    client.on("m.room.message", () => first.resolve());
    const began = performance.now();
    client.start({ lazyLoadMembers }).catch(first.reject);
    await first.promise;
    const milliseconds = Math.round(performance.now() - began);
    console.log({ lazyLoadMembers, kilobytes: Math.round(bytes / 1000), milliseconds });
  }
}

if (import.meta.main) await measure(Number(Deno.args[0] ?? 800));
