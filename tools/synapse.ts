/**
 * A Synapse for tests: `Synapse.start()` in code, `deno task synapse` by hand.
 *
 * It is installed on first use, listens on a free loopback port, keeps its data in a temporary
 * folder, and leaves nothing behind when it is stopped, unless it is given a folder.
 *
 * @module
 */

import { freePort } from "./free_port.ts";
import { OAuthServer } from "./oauth_server.ts";
import { ROOT } from "./process.ts";
import { installPython } from "./python.ts";
import { randomSecret, synapseConfig, synapseLogConfig } from "./synapse/config.ts";
import { registerUser, type SynapseServer } from "./synapse/register_user.ts";
import { SynapseProcess } from "./synapse/synapse_process.ts";

/** How a Synapse for tests is started. */
export interface SynapseOptions {
  /**
   * The name in its user IDs.
   *
   * @default {"localhost"}
   */
  serverName?: string;
  /**
   * How long an access token lives that came with a refresh token:
   * a number and a unit, `"5m"`. Default: eight seconds.
   */
  refreshableAccessTokenLifetime?: string;
  /**
   * The files with the registrations of its application services.
   *
   * @default {[]}
   */
  appservices?: readonly string[];
  /**
   * Whether it talks with other homeservers, on this machine, whatever their certificates.
   *
   * @default {false}
   */
  federates?: boolean;
  /**
   * Proposals that are off by default and are on here, by the names of Synapse's `experimental_features`.
   *
   * @default {[]}
   */
  proposals?: readonly string[];
  /**
   * More of its configuration, as Synapse names it: what a test is about.
   *
   * @default {{}}
   */
  settings?: Readonly<Record<string, unknown>>;
  /** The authorization server where its users log in. Default: none; they log in at Synapse itself. */
  oauth?: OAuthServer;
  /** A folder that keeps its data: a later start with it goes on. Default: a temporary one. */
  folder?: string;
  /**
   * Takes what is worth telling: that Synapse is being installed.
   *
   * @default {console.log}
   */
  print?: (line: string) => void;
}

/** The members of a configuration that later starts with the same data need. */
const SECRETS = ["signing_key", "macaroon_secret_key", "form_secret", "registration_shared_secret"] as const;

/** The environment variable with the Python that has Synapse, where a test may not install it. */
export const INSTALLED_SYNAPSE = "GREENROOM_SYNAPSE_PYTHON";

/**
 * Installs Synapse if it has to.
 *
 * @param print Takes what is worth telling.
 * @returns The path of the Python that has it.
 */
export async function installSynapse(print: (line: string) => void): Promise<string> {
  return await installPython({ name: "synapse", package: "matrix-synapse" }, print);
}

/** A running Synapse. */
export class Synapse implements SynapseServer, AsyncDisposable {
  readonly baseUrl: string;
  readonly serverName: string;
  readonly sharedSecret: string;
  readonly #process: SynapseProcess;
  readonly #stack: AsyncDisposableStack;

  private constructor(server: SynapseServer, process: SynapseProcess, stack: AsyncDisposableStack) {
    this.baseUrl = server.baseUrl;
    this.serverName = server.serverName;
    this.sharedSecret = server.sharedSecret;
    this.#process = process;
    this.#stack = stack;
  }

  /** The ID of its process. */
  get pid(): number {
    return this.#process.pid;
  }

  /**
   * Installs Synapse if it has to, starts one, and waits until it answers.
   *
   * @throws {Error} If it does not come up: with the end of its log.
   */
  static async start(options: SynapseOptions = {}): Promise<Synapse> {
    const {
      serverName = "localhost",
      refreshableAccessTokenLifetime,
      appservices = [],
      federates = false,
      proposals = [],
      settings,
      oauth,
      print = console.log,
    } = options;
    const python = Deno.env.get(INSTALLED_SYNAPSE) ?? await installSynapse(print);
    await using stack = new AsyncDisposableStack();
    const folder = options.folder ?? await Deno.makeTempDir({ prefix: "greenroom-synapse-" });
    if (options.folder === undefined) stack.defer(() => Deno.remove(folder, { recursive: true }));
    else await Deno.mkdir(folder, { recursive: true });
    const port = freePort();
    const file = `${folder}/homeserver.json`;
    const { secrets, sharedSecret } = await secretsIn(file);
    const config = synapseConfig({
      folder,
      port,
      serverName,
      sharedSecret,
      refreshableAccessTokenLifetime,
      appservices,
      federates,
      proposals,
      settings,
      oauth,
    });
    await Deno.writeTextFile(`${folder}/log.json`, JSON.stringify(synapseLogConfig));
    await Deno.writeTextFile(file, JSON.stringify({ ...config, ...secrets }));
    const url = `http://127.0.0.1:${port}`;
    const log = `${folder}/output.log`;
    const process = stack.use(
      await SynapseProcess.start({ python, app: "homeserver", configs: [file], log, url }),
    );
    if (oauth !== undefined) oauth.homeserver = url;
    return new Synapse({ baseUrl: url, serverName, sharedSecret }, process, stack.move());
  }

  /** The last lines that Synapse wrote to its log. */
  logTail(): Promise<string> {
    return this.#process.logTail();
  }

  /** Ends its process, and starts another with the same data at the same address. */
  restart(): Promise<void> {
    return this.#process.restart();
  }

  /** Stops it, with force if it takes too long, and removes its data. */
  stop(): Promise<void> {
    return this.#stack.disposeAsync();
  }

  /** {@linkcode Synapse.prototype.stop} at the end of a block with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** The secrets that a configuration has; or a new one for the registration of users, if there is none yet. */
async function secretsIn(file: string): Promise<{ secrets: Record<string, string>; sharedSecret: string }> {
  try {
    const config: Record<string, string> = JSON.parse(await Deno.readTextFile(file));
    const secrets = Object.fromEntries(SECRETS.map((name) => [name, config[name] ?? ""]));
    return { secrets, sharedSecret: secrets.registration_shared_secret ?? "" };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return { secrets: {}, sharedSecret: randomSecret(16) };
  }
}

if (import.meta.main) {
  const isDelegating = Deno.args.includes("--oauth");
  await using oauth = isDelegating ? await OAuthServer.start() : undefined;
  await using synapse = await Synapse.start({ oauth });
  const stopped = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, stopped.resolve);
  console.log(oauth === undefined ? await users(synapse) : hint(synapse, oauth));
  await stopped.promise;
}

async function users(synapse: Synapse): Promise<string> {
  const { accessToken } = await registerUser(synapse, { localpart: "admin", password: "admin", admin: true });
  for (const name of ["bot", "you"]) await registerUser(synapse, { localpart: name, password: name });
  const alias = `alias greenroom="${Deno.execPath()} run -A ${ROOT}src/cli/mod.ts"`;
  return `Synapse at ${synapse.baseUrl}, until Ctrl-C, which deletes all that is in it. Its users, and their passwords:

  @bot:localhost    bot
  @you:localhost    you
  @admin:localhost  admin (access token: ${accessToken})

Make a bot in a second terminal, in a folder of yours:

  ${alias}
  greenroom new bot --user @bot:localhost --admin @you:localhost --homeserver ${synapse.baseUrl} && cd bot
  greenroom login
  greenroom run

Talk to it in a third one, in the folder that holds bot/:

  ${alias}
  mkdir you && cd you
  greenroom login --user @you:localhost --homeserver ${synapse.baseUrl}
  greenroom chat @bot:localhost`;
}

function hint({ baseUrl }: Synapse, { issuer }: OAuthServer): string {
  return `Synapse at ${baseUrl}, until Ctrl-C. Its users log in at ${issuer}: the page there takes any name.`;
}
