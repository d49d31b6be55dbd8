/**
 * Runs the workload, and records what it hands to the disk.
 *
 * @module
 */

import { equals } from "@std/bytes/equals";
import { Disk, type Files } from "./disk.ts";
import { type Before, readFolder, readRecording, type Recording } from "./recording.ts";
import type { Plan } from "./rounds.ts";
import type { DiskStore } from "./store_kind.ts";

/** What a process is to do; processes are named by letters. */
export type Step = readonly [
  process: string,
  action: "commit" | "together" | "close" | "die",
  count?: number,
];

/** What is recorded. */
export interface Workload {
  readonly name: string;
  readonly kind: DiskStore;
  readonly plan: Plan;
  readonly steps: readonly Step[];
}

/** How long a sync takes, in microseconds: so that commits come during one. */
const SYNC_US = 1_500;

const HERE = new URL(".", import.meta.url).pathname;

/** Records processes by a library that is loaded into them. */
export class Recorder {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Compiles it.
   *
   * @param folder Where its files are put.
   * @throws {Error} If there is no compiler of C.
   */
  static async make(folder: string): Promise<Recorder> {
    const args = [
      "-O2",
      "-Wall",
      "-Werror",
      "-shared",
      "-fPIC",
      "-o",
      `${folder}/recorder.so`,
      `${HERE}recorder.c`,
    ];
    const { success, stderr } = await new Deno.Command("cc", { args: [...args, "-ldl", "-lpthread"] })
      .output();
    if (!success) throw new Error(`Cannot compile the recorder: ${new TextDecoder().decode(stderr)}`);
    return new Recorder(folder);
  }

  /**
   * Records a workload.
   *
   * @param start What is on the disk before.
   */
  async record(workload: Workload, start: Files): Promise<Recording> {
    const place = await Deno.makeTempDir({ dir: this.#folder });
    const folder = `${place}/data`;
    await Deno.mkdir(folder);
    for (const [name, bytes] of start) await Deno.writeFile(`${folder}/${name}`, bytes);
    const before = await readFolder(folder);
    const env = {
      LD_PRELOAD: `${this.#folder}/recorder.so`,
      GREENROOM_DISK_FOLDER: folder,
      GREENROOM_DISK_LOG: `${place}/log`,
      GREENROOM_DISK_SYNC_US: String(SYNC_US),
    };
    await play(workload, folder, env);
    const recording = readRecording(await Deno.readFile(`${place}/log`), before);
    assertComplete(recording, await readFolder(folder));
    await Deno.remove(place, { recursive: true });
    return recording;
  }
}

/** Throws if the files have anything else than what was recorded: a call was missed then. */
function assertComplete(recording: Recording, { files }: Before): void {
  const disk = new Disk(recording);
  recording.events.forEach((event, index) => disk.take(event, index));
  const recorded = disk.after({ name: "all", kept: disk.pending.map(() => true) });
  const isSame = recorded.size === files.length &&
    files.every(({ name, bytes }) => equals(bytes, recorded.get(name) ?? new Uint8Array()));
  if (!isSame) {
    throw new Error("The recording is not complete: the files differ from what it says was written");
  }
}

async function play(
  { kind, plan, steps }: Workload,
  folder: string,
  env: Record<string, string>,
): Promise<void> {
  const processes = new Map<string, Writer>();
  try {
    for (const [name, action, count = 0] of steps) {
      const writer = processes.get(name) ?? new Writer([kind, folder, plan], env);
      processes.set(name, writer);
      await writer.order(`${action} ${count}`, { ends: action === "die" });
      if (action === "die") processes.delete(name);
    }
  } finally {
    for (const writer of processes.values()) await writer.kill();
  }
}

/** A process that runs `writer.ts`. */
class Writer {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #output: ReadableStreamDefaultReader<string>;

  constructor(args: readonly string[], env: Record<string, string>) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", "--quiet", "--unstable-kv", `${HERE}writer.ts`, ...args],
      stdin: "piped",
      stdout: "piped",
      env,
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#output = this.#child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  async order(line: string, { ends }: { ends: boolean }): Promise<void> {
    await this.#input.write(new TextEncoder().encode(`${line}\n`));
    let said = "";
    while (!said.endsWith("\n")) {
      const { value, done } = await this.#output.read();
      if (done) break;
      said += value;
    }
    if (ends) await this.kill();
    else if (said !== `${line}\n`) throw new Error(`The recorded process ended during "${line}"`);
  }

  async kill(): Promise<void> {
    await this.#input.close().catch(() => {});
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // it has ended
    }
    await this.#output.cancel();
    await this.#child.status;
  }
}
