/**
 * The lives of bots that do not poll, on a Synapse of its own: it wakes them, or sends them
 * transactions. What holds of them is what holds of a bot that polls (`polling.ts`).
 *
 * @module
 */

import { createRegistration, registrationToYaml } from "@greenroom/matrix/appservice";
import { Synapse } from "../../../tools/synapse.ts";
import { accountOf } from "../../lives/in_process_host.ts";
import { stories } from "../../lives/stories/all.ts";
import { casesOf } from "../../lives/story.ts";
import { Door } from "../../lives/transports/door.ts";
import type { Transport } from "../../lives/transports/transport.ts";
import { type StoryHost, tell } from "../../lives/world.ts";
import { synapseHost } from "../support/host.ts";
import { missing, newUser, synapseTest } from "../support/synapse.ts";

/** A Synapse that knows some application services, and reaches bots on loopback. */
class Host implements AsyncDisposable {
  readonly #synapse: Synapse;
  readonly #folder: string;
  readonly #stack: AsyncDisposableStack;
  /** Accounts that no story has had. */
  readonly #unused: ReturnType<typeof accountOf>[];

  private constructor(
    synapse: Synapse,
    folder: string,
    { stack, unused }: { stack: AsyncDisposableStack; unused: ReturnType<typeof accountOf>[] },
  ) {
    this.#synapse = synapse;
    this.#folder = folder;
    this.#stack = stack;
    this.#unused = unused;
  }

  /** Starts it, with so many application services. */
  static async start(count: number): Promise<Host> {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "greenroom-transports-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const unused = [];
    for (let number = 0; number < count; number++) {
      const door = listening(stack);
      const id = `bot-${number}`;
      const registration = createRegistration({
        id,
        url: door.url,
        serverName: "localhost",
        encryption: true,
      });
      await Deno.writeTextFile(`${folder}/${id}.yaml`, registrationToYaml(registration));
      unused.push(accountOf(registration, door, "localhost"));
    }
    const synapse = stack.use(
      await Synapse.start({
        appservices: unused.map(({ registration }) => `${folder}/${registration?.id}.yaml`),
        print() {},
      }),
    );
    return new Host(synapse, folder, { stack: stack.move(), unused });
  }

  /** What a story is told on. */
  get stories(): StoryHost {
    return {
      ...synapseHost(this.#synapse),
      restart: () => this.#synapse.restart(),
      bot: (transport, unlimited) => this.#bot(transport, unlimited),
      keepsBack: true,
    };
  }

  async #bot(...[transport, unlimited]: Parameters<StoryHost["bot"]>): ReturnType<StoryHost["bot"]> {
    const account = this.#unused.pop();
    if (account === undefined) throw new Error(`Synapse knows no more application services: ${this.#folder}`);
    const { door } = account;
    return transport === "wake" ? { ...await newUser(this.#synapse, "bot", { unlimited }), door } : account;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** A door that a homeserver reaches. */
function listening(stack: AsyncDisposableStack): Door {
  let answer: Door["answer"] = () => Promise.resolve(new Response(null, { status: 502 }));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => answer(request),
  );
  const door = new Door(`http://127.0.0.1:${server.addr.port}`);
  answer = door.answer;
  stack.defer(() => server.shutdown());
  return door;
}

/** Defines tests of all stories by a transport. */
export function tellBy(transport: Exclude<Transport, "polling" | "sliding">): void {
  const cases = casesOf(stories).filter((each) => each.transport === transport);
  let host: Host | undefined;
  if (!missing) {
    Deno.test.beforeAll(async () => void (host = await Host.start(cases.length)));
    Deno.test.afterAll(async () => await host?.[Symbol.asyncDispose]());
  }
  for (const { story, rooms, kind, name } of cases) {
    synapseTest(`Synapse: ${name}`, async () => {
      await using own = story.restarts === true ? await Host.start(1) : undefined;
      const used = own ?? host;
      if (used === undefined) throw new Error("Cannot tell the story: Synapse has not been started");
      await tell(story, { encrypted: rooms === "encrypted", transport, kind }, used.stories);
    });
  }
}
