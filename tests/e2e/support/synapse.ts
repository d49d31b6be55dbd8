/**
 * The Synapse that end-to-end tests run against: the one that the gate has started, or else
 * one for each test file.
 *
 * @module
 */

import { Synapse } from "../../../tools/synapse.ts";
import type { Unlimited } from "../../../tools/synapse/exceptions.ts";
import { liftLimits } from "../../../tools/synapse/lift_limits.ts";
import { findPython, NO_PYTHON } from "../../../tools/python.ts";
import {
  type RegisteredUser,
  registerUser,
  type SynapseServer,
} from "../../../tools/synapse/register_user.ts";

export type { SynapseServer };

/** A user that belongs to one test. */
export interface TestUser extends RegisteredUser {
  /** The part of the user ID before the colon. */
  localpart: string;
  /** The password. */
  password: string;
}

const given = serverFromEnvironment();
const mustRun = Deno.env.get("CI") === "true";
/** Whether Synapse can't be installed, so that the tests against it are skipped. */
export const missing: boolean = given === undefined && !mustRun && await findPython() === undefined;

let server: SynapseServer | undefined = given;

if (missing) {
  console.log(`Skipping the tests against Synapse: ${NO_PYTHON}`);
} else if (given === undefined) {
  let own: Synapse | undefined;
  Deno.test.beforeAll(async () => {
    own = await Synapse.start();
    server = own;
  });
  Deno.test.afterAll(() => own?.stop());
}

/**
 * Defines a test against Synapse. It is skipped where Synapse can't be installed, but never with
 * `CI=true`.
 */
export function synapseTest(name: string, test: (server: SynapseServer) => Promise<void>): void {
  Deno.test({
    name,
    ignore: missing,
    async fn() {
      if (server === undefined) throw new Error("Cannot run the test: Synapse has not been started");
      await test(server);
    },
  });
}

/** What of a user may differ. */
export interface NewUserOptions {
  /** Whether it is an administrator. Default: no. */
  readonly admin?: boolean;
  /** Why it has no rate limits. Default: it has those of Synapse. */
  readonly unlimited?: Unlimited;
}

/**
 * Registers a user that no other test has.
 *
 * @param name The start of the localpart.
 */
export async function newUser(
  server: SynapseServer,
  name: string,
  { admin, unlimited }: NewUserOptions = {},
): Promise<TestUser> {
  const localpart = `${name}-${crypto.randomUUID().slice(0, 8)}`;
  const password = crypto.randomUUID();
  const user = await registerUser(server, { localpart, password, admin });
  if (unlimited !== undefined) await liftLimits(server, user.userId);
  return { ...user, localpart, password };
}

function serverFromEnvironment(): SynapseServer | undefined {
  const [baseUrl, serverName, sharedSecret] = ["URL", "NAME", "SECRET"].map((name) =>
    Deno.env.get(`GREENROOM_SYNAPSE_${name}`)
  );
  if (baseUrl === undefined || serverName === undefined || sharedSecret === undefined) return undefined;
  return { baseUrl, serverName, sharedSecret };
}
