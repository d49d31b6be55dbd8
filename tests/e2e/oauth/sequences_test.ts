/**
 * Logins, refreshes, uses and revocations in any order, from seeds: the in-process homeserver and Synapse
 * answer alike.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Homeserver, type TestUser } from "@greenroom/matrix/testing";
import { oneOf, seeded } from "../../../bench/kill/random.ts";
import { type LoginScene, PlainClient } from "../../homeserver/oauth/plain_client.ts";
import { oauthTest } from "./oauth_synapse.ts";

const SEEDS = 30;
const STEPS = 14;

/** The tokens of one answer, and whose they are. */
interface Given {
  readonly client: PlainClient;
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Plays the sequence of a seed, and returns what was done, with the answers. */
async function play(
  scene: LoginScene,
  seed: number,
): Promise<string[]> {
  const random = seeded(seed);
  const clients = [await PlainClient.register(scene), await PlainClient.register(scene, "Other")] as const;
  const given: Given[] = [];
  const steps: string[] = [];
  while (steps.length < STEPS) {
    const client = oneOf(random, clients);
    const [first, ...more] = given;
    const tokens = first === undefined || random() < 0.15 ? undefined : oneOf(random, [first, ...more]);
    if (tokens === undefined) {
      given.push({ client, ...await client.logIn() });
      steps.push(`${clients.indexOf(client)} logs in`);
      continue;
    }
    const what = `${given.indexOf(tokens)}`;
    const kind = random();
    const sender = random() < 0.9 ? tokens.client : client;
    if (kind < 0.4) {
      const { status, body } = await sender.refresh(tokens.refresh_token);
      if (status === 200) given.push({ client: sender, ...body });
      steps.push(`refresh ${what}: ${status} ${body.error}`);
    } else if (kind < 0.8) {
      steps.push(`use ${what}: ${(await client.whoami(tokens.access_token)).status}`);
    } else {
      const name = oneOf(random, ["access_token", "refresh_token"] as const);
      const hint = oneOf(random, ["access_token", "refresh_token", ""]);
      const form = { token: tokens[name], ...(hint !== "" && { token_type_hint: hint }) };
      const { status } = await tokens.client.form("revocation", form);
      steps.push(`revoke ${name} ${what} as ${hint}: ${status}`);
    }
  }
  return steps;
}

oauthTest(
  `${SEEDS} sequences from seeds have the same answers in the process and on Synapse`,
  async ({ synapse, oauth }) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      await using homeserver = new Homeserver({ oauth: true });
      const users = new Map<string, TestUser>();
      const userOf = (localpart: string): TestUser => {
        const user = users.get(localpart) ?? homeserver.createUser(localpart);
        users.set(localpart, user);
        return user;
      };
      const here = await play({
        baseUrl: homeserver.baseUrl,
        fetch: homeserver.fetch,
        approve: (request, localpart) => homeserver.oauth.approve(request, userOf(localpart).userId),
      }, seed);
      const there = await play({
        baseUrl: synapse.baseUrl,
        fetch,
        approve: (request, localpart) => oauth.approve(request, localpart),
      }, seed);
      assertEquals(here, there, `seed ${seed}`);
    }
  },
);
