/**
 * The in-process homeserver as a host of stories. Its restart is that of the machine in front of
 * it, since it keeps nothing on a disk.
 *
 * @module
 */

import { createRegistration } from "@greenroom/matrix/appservice";
import { InProcessHost } from "../operations/support/in_process.ts";
import { Door } from "./transports/door.ts";
import type { BotAccount, Transport } from "./transports/transport.ts";
import type { StoryHost } from "./world.ts";

/** A homeserver in this process, which reaches bots through functions. */
export class InProcessStories extends InProcessHost implements StoryHost {
  readonly #doors: Map<string, Door>;

  /** @param unstableFeatures What it says that it has. */
  constructor(unstableFeatures: Readonly<Record<string, boolean>>) {
    const doors = new Map<string, Door>();
    super({
      unstableFeatures,
      pushFetch: async (input, init) =>
        await doors.get(new URL(input).origin)?.answer(new Request(input, init)) ??
          new Response(null, { status: 502 }),
    });
    this.#doors = doors;
  }

  restart(): Promise<void> {
    return Promise.resolve();
  }

  async bot(transport: Transport): Promise<BotAccount> {
    if (transport === "polling") return await this.register("bot");
    if (transport === "sliding") return { ...await this.register("bot"), sync: transport };
    const name = `bot-${crypto.randomUUID().slice(0, 8)}`;
    const door = new Door(`https://${name}.example`);
    this.#doors.set(door.url, door);
    if (transport === "wake") return { ...await this.register("bot"), door };
    const { serverName } = this;
    const registration = createRegistration({ id: name, url: door.url, serverName, encryption: true });
    this.homeserver.addAppservice(registration, door.answer);
    return accountOf(registration, door, serverName);
  }
}

/** The account of an application service's own user. */
export function accountOf(
  registration: ReturnType<typeof createRegistration>,
  door: Door,
  serverName: string,
): BotAccount {
  const { id, as_token: accessToken } = registration;
  return {
    userId: `@${id}:${serverName}`,
    deviceId: "GREENROOM",
    accessToken,
    password: "",
    door,
    registration,
  };
}
