/** libolm, by way of python-olm: `pip install python-olm`. */

/** The Python to use: that of `PYTHON_OLM`, or `python3`. */
const PYTHON = Deno.env.get("PYTHON_OLM") ?? "python3";

/** Whether it has python-olm; with `CI=true` it must have. */
export async function hasLibolm(): Promise<boolean> {
  const check = new Deno.Command(PYTHON, { args: ["-c", "import olm"], stderr: "null" });
  let installed = false;
  try {
    installed = (await check.output()).success;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  if (!installed && Deno.env.get("CI") === "true") {
    throw new Error(`Cannot test interoperability: ${PYTHON} has no olm`);
  }
  return installed;
}

/** A running libolm. */
export class Libolm implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers: ReadableStreamDefaultReader<string>;
  #rest = "";

  private constructor(process: Deno.ChildProcess) {
    this.#process = process;
    this.#input = process.stdin.getWriter();
    this.#answers = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** Starts it. */
  static start(): Libolm {
    const script = new URL("./libolm.py", import.meta.url).pathname;
    return new Libolm(new Deno.Command(PYTHON, { args: [script], stdin: "piped", stdout: "piped" }).spawn());
  }

  /** Calls a method of the script on an object of this name. */
  async call<T = string>(object: string, method: string, ...args: unknown[]): Promise<T> {
    await this.#input.write(new TextEncoder().encode(JSON.stringify([object, method, ...args]) + "\n"));
    while (!this.#rest.includes("\n")) {
      const { value, done } = await this.#answers.read();
      if (done) throw new Error("libolm has ended");
      this.#rest += value;
    }
    const end = this.#rest.indexOf("\n");
    const { value, error } = JSON.parse(this.#rest.slice(0, end));
    this.#rest = this.#rest.slice(end + 1);
    if (error !== undefined) throw new Error(error);
    return value;
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    await this.#answers.cancel();
    await this.#process.status;
  }
}
