import type { Client as Made, ClientOptions } from "@greenroom/matrix";
import { Client } from "@greenroom/matrix";
import { keepsMembers, type MemberWay } from "../../client/sliding/lazy_members.ts";
import { newUser, synapseTest } from "../support/synapse.ts";

const LAZY: MemberWay = ["sliding", "lazy"];
const WAYS: readonly MemberWay[] = [
  ...[LAZY, LAZY, ["sliding", "all"] as const, LAZY],
  ...[["classic", "lazy"], LAZY, ["classic", "all"], ["sliding", "all"]] as const,
];

for (const fillGaps of [true, false]) {
  const how = fillGaps ? "with" : "without";
  synapseTest(
    `Who came or went behind a gap is known when a bot with lazily loaded members encrypts: ${how} what gaps left out`,
    async (server) => {
      const users = new Map<string, ReturnType<typeof newUser>>();
      const user = (name: string): ReturnType<typeof newUser> => {
        const made = users.get(name) ?? newUser(server, name, { unlimited: "people" });
        users.set(name, made);
        return made;
      };
      const { baseUrl } = server;
      await keepsMembers(
        {
          fetch,
          idOf: async (name) => (await user(name)).userId,
          client: async (name: string, options: Partial<ClientOptions>): Promise<Made> =>
            new Client({ baseUrl, accessToken: (await user(name)).accessToken, log: false, ...options }),
        },
        WAYS,
        { fillGaps },
      );
    },
  );
}
