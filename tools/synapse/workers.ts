/**
 * A Synapse with two workers that sync, behind a balancer: what one of them knows, the other may not
 * know yet.
 *
 * @module
 */

import { freePort } from "../free_port.ts";
import { installPython } from "../python.ts";
import { balancer } from "./balancer.ts";
import { randomSecret, synapseConfig, synapseLogConfig } from "./config.ts";
import { installServices, startPostgres, startRedis } from "./debian_services.ts";
import type { SynapseServer } from "./register_user.ts";
import { SynapseProcess } from "./synapse_process.ts";

const SYNC_WORKERS = 2;

/**
 * Installs what it takes, and starts it all.
 *
 * @param stack What ends it.
 * @param print Takes what is worth telling: that something is being installed.
 */
export async function startWorkers(
  stack: AsyncDisposableStack,
  print: (line: string) => void,
): Promise<SynapseServer> {
  const programs = await installServices(print);
  const python = await installPython({ name: "synapse_workers", package: "matrix-synapse" }, print);
  const folder = await Deno.makeTempDir({ prefix: "greenroom-workers-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const [postgres, redis] = [await startPostgres(stack, programs), await startRedis(stack)];
  const [main, replication] = [freePort(), freePort()];
  const syncs = Array.from({ length: SYNC_WORKERS }, freePort);
  const sharedSecret = randomSecret(16);
  const serverName = "localhost";
  const listening = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    balancer({ main: urlOf(main), syncs: syncs.map(urlOf) }),
  );
  stack.defer(() => listening.shutdown());
  const { port } = listening.addr;
  const write = async (name: string, config: object): Promise<string> => {
    const path = `${folder}/${name}.json`;
    await Deno.writeTextFile(path, JSON.stringify(config));
    return path;
  };
  await write("log", synapseLogConfig);
  const shared = await write("homeserver", {
    ...synapseConfig({
      folder,
      port,
      serverName,
      sharedSecret,
      appservices: [],
      federates: false,
    }),
    // What two processes that sync need.
    database: {
      name: "psycopg2",
      args: { user: "synapse", dbname: "postgres", host: "127.0.0.1", port: postgres.port, cp_max: 10 },
    },
    redis: { enabled: true, host: "127.0.0.1", port: redis.port },
    worker_replication_secret: randomSecret(16),
    instance_map: { main: { host: "127.0.0.1", port: replication } },
    listeners: [listener(main, "client"), listener(replication, "replication")],
  });
  const start = async (name: string, at: number, { app = "generic_worker", configs = [shared] } = {}) =>
    stack.use(
      await SynapseProcess.start({ python, app, configs, log: `${folder}/${name}.log`, url: urlOf(at) }),
    );
  await start("main", main, { app: "homeserver" });
  await Promise.all(syncs.map(async (at, index) => {
    const name = `sync_${index + 1}`;
    const worker = await write(name, {
      worker_app: "synapse.app.generic_worker",
      worker_name: name,
      worker_log_config: `${folder}/log.json`,
      worker_listeners: [listener(at, "client")],
    });
    await start(name, at, { configs: [shared, worker] });
  }));
  return { baseUrl: urlOf(port), serverName, sharedSecret };
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

function listener(port: number, resource: "client" | "replication"): object {
  return { port, bind_addresses: ["127.0.0.1"], type: "http", resources: [{ names: [resource] }] };
}
