/**
 * The stub homeserver, seen from outside.
 *
 * @module
 */

import { linesOf } from "../../../tests/e2e/support/peer/peer_lines.ts";
import type { Job, PlanName } from "../inputs/plan.ts";

/** A stub homeserver that runs. */
export class Stub implements AsyncDisposable {
  /** Its address. */
  readonly url: string;
  readonly #process: Deno.ChildProcess;
  #groups = 0;

  private constructor(url: string, process: Deno.ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  /** Starts one, and waits until it has its inputs. */
  static async start(args: readonly string[]): Promise<Stub> {
    const script = `${import.meta.dirname ?? "."}/stub.ts`;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", "--allow-net=127.0.0.1", script, ...args],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const lines = linesOf(process.stdout);
    const { value } = await lines.next();
    if (value === undefined) throw new Error("Cannot start the stub homeserver: it has ended");
    return new Stub(value, process);
  }

  /** The jobs of a plan, whose inputs it then has. */
  async jobs(plan: PlanName): Promise<Job[]> {
    return await (await fetch(`${this.url}/bench/${plan}/jobs`)).json();
  }

  /** What the names of clients that are to keep step have in common. */
  newGroup(): number {
    return ++this.#groups;
  }

  /** Forgets a client. Of one that kept step with others, gives the milliseconds that each job took. */
  async forget(token: string): Promise<number[]> {
    return await (await fetch(`${this.url}/bench/${token}/forget`)).json();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill();
    await this.#process.stdout.cancel().catch(() => {}); // its reader holds it until the process has ended
    await this.#process.status;
  }
}
