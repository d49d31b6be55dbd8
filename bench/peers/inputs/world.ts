/**
 * What the stub homeserver has for the clients of a plan.
 *
 * @module
 */

import { EncryptedInputs } from "./encrypted_inputs.ts";
import { makeInputs } from "./inputs.ts";
import { type Job, jobsOf, type PlanName, planOf } from "./plan.ts";
import type { InputEvent } from "./room_inputs.ts";
import type { Step } from "../stub/in_step.ts";
import { StubKeys } from "../stub/stub_keys.ts";
import { PacedSession } from "../stub/paced_session.ts";
import { StubSession } from "../stub/stub_session.ts";

/** A client, as the stub sees it. */
export interface StubClient {
  readonly session: StubSession | PacedSession;
  readonly keys: StubKeys;
  readonly world: World;
  /** The messages it has sent, by the types of the events. */
  readonly sent: Map<string, number>;
  /** What keeps it in step with others. Default: nothing does. */
  readonly step: Step | undefined;
}

/** A plan with its inputs. */
export interface World {
  readonly jobs: readonly Job[];
  /** Where what a client sends goes. */
  readonly roomId: string;
  /** Who is in a room, as state. */
  members(roomId: string): InputEvent[];
  /** A new user. */
  client(step?: Step): StubClient;
}

/** Makes the inputs of a plan. */
export async function makeWorld(
  name: PlanName,
  { quick, seed }: { readonly quick: boolean; readonly seed: number },
): Promise<World> {
  const plan = planOf(name, { quick });
  const jobs = jobsOf(plan);
  const syncJobs = jobs.filter((job) => job.name !== "send");
  if (plan.encrypted) {
    const inputs = await EncryptedInputs.make(plan.sizes, seed);
    const world: World = {
      jobs,
      roomId: inputs.rooms[0]?.roomId ?? "",
      members: (roomId) => inputs.members(roomId),
      client(step) {
        const keys = new StubKeys(inputs.people);
        const bodies = () => inputs.responsesFor(keys.recipient);
        const session = plan.paced ? new PacedSession(bodies) : new StubSession(bodies, syncJobs);
        return { world, session, keys, sent: new Map(), step };
      },
    };
    return world;
  }
  const bodies = makeInputs(plan.sizes, seed);
  const [first] = bodies;
  const { rooms } = JSON.parse(new TextDecoder().decode(first));
  const world: World = {
    jobs,
    roomId: Object.keys(rooms.join)[0] ?? "",
    members: () => [],
    client(step) {
      const session = plan.paced
        ? new PacedSession(() => bodies)
        : new StubSession(bodies, syncJobs, plan.atOnce ? bodies.length : 0);
      return { world, session, keys: new StubKeys(), sent: new Map(), step };
    },
  };
  return world;
}
