/** One WebAssembly instance: its memory, its calls, its death. */

import { type Operation, OPERATIONS } from "./operations.ts";
import { codeOfStatus, VodozemacError } from "./error.ts";
import { Reader } from "./reader.ts";

/** The longest input of one call, in bytes. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/**
 * What a call reads: bytes as they are, text as UTF-8, a number as four bytes, the lowest first.
 */
export type Input = Uint8Array | string | number;

/** What the module exports. */
export type Exports =
  & Readonly<Record<Operation, (handle: number, length: number, number: number) => number>>
  & {
    readonly memory: WebAssembly.Memory;
    readonly __stack_pointer: WebAssembly.Global;
    input_reserve(length: number): number;
    output_pointer(): number;
    output_length(): number;
    object_free(handle: number): number;
  };

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** `crypto.getRandomValues` takes no more at once. */
const MAX_RANDOM_BYTES = 65536;

/** An instance, behind the classes of the public surface. */
export class Engine {
  readonly #exports: Exports;
  readonly #finalizers: FinalizationRegistry<number>;
  #view: Uint8Array<ArrayBuffer>;
  #input = 0;
  #capacity = 0;
  #death: { readonly cause: unknown } | undefined;

  private constructor(exports: Exports) {
    this.#exports = exports;
    this.#view = new Uint8Array(exports.memory.buffer as ArrayBuffer);
    this.#finalizers = new FinalizationRegistry((handle) => this.free(handle));
  }

  /**
   * A new instance of a module.
   *
   * @param module The module.
   * @param adapt Sees the exports and may put others in their place: for tests.
   */
  static async instantiate(
    module: WebAssembly.Module,
    adapt: (exports: Exports) => Exports = (exports) => exports,
  ): Promise<Engine> {
    const host = {
      random: (pointer: number, length: number) => {
        const bytes = new Uint8Array(exports.memory.buffer, pointer, length);
        for (let start = 0; start < length; start += MAX_RANDOM_BYTES) {
          crypto.getRandomValues(bytes.subarray(start, start + MAX_RANDOM_BYTES));
        }
      },
    };
    const instance = await WebAssembly.instantiate(module, { host });
    const exports = instance.exports as Exports;
    return new Engine(adapt(exports));
  }

  /** Whether it takes no more calls. */
  get dead(): boolean {
    return this.#death !== undefined;
  }

  /**
   * Runs an operation on its input.
   *
   * @param operation Which one.
   * @param handle The object, or 0.
   * @param input What it reads, in order.
   * @param number One more argument.
   * @returns The status, which is not negative.
   * @throws {VodozemacError} What the operation says; `instance_dead` if it trapped.
   */
  call(operation: Operation, handle: number, input: readonly Input[] = [], number = 0): number {
    if (this.#death !== undefined) {
      throw new VodozemacError("instance_dead", OPERATIONS[operation], { cause: this.#death.cause });
    }
    const bound = this.#bound(operation, input);
    let status;
    try {
      if (bound > this.#capacity) this.#reserve(bound);
      status = this.#exports[operation](handle, this.#write(input), number);
    } catch (cause) {
      this.#die(cause);
      throw new VodozemacError("instance_dead", OPERATIONS[operation], { cause });
    }
    if (status < 0) throw this.#failure(operation, status);
    return status;
  }

  /** Takes the answer of the last call as bytes. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#take((answer) => answer.slice());
  }

  /** Takes the answer of the last call as unpadded Base64. */
  base64(): string {
    return this.#take((answer) => answer.toBase64({ omitPadding: true }));
  }

  /** Takes the answer of the last call as text. */
  text(): string {
    return this.#take((answer) => decoder.decode(answer));
  }

  /** Frees the object when its owner is garbage. */
  guard(owner: object, handle: number): void {
    this.#finalizers.register(owner, handle, owner);
  }

  /** Leaves the object to someone else. */
  unguard(owner: object): void {
    this.#finalizers.unregister(owner);
  }

  /**
   * Drops an object; what it was is wiped from the heap and the stack. Should that trap, the next
   * call tells.
   */
  free(handle: number): void {
    if (this.dead) return;
    try {
      this.#exports.object_free(handle);
    } catch (cause) {
      return this.#die(cause);
    }
    // The stack lies below everything else, and grows down.
    this.#memory().fill(0, 0, this.#exports.__stack_pointer.value);
  }

  /** Wipes the whole memory; nothing works afterwards. */
  close(): void {
    this.#die(undefined);
  }

  /** After a trap the memory is undefined, and contains secrets. */
  #die(cause: unknown): void {
    this.#death ??= { cause };
    this.#memory().fill(0);
  }

  #bound(operation: Operation, input: readonly Input[]): number {
    let bound = 0;
    for (const part of input) {
      // UTF-8 takes at most three bytes for a UTF-16 unit.
      bound += typeof part === "number" ? 4 : typeof part === "string" ? part.length * 3 : part.length;
      if (typeof part === "string" && !part.isWellFormed()) {
        throw new VodozemacError("malformed", OPERATIONS[operation]);
      }
    }
    if (bound > MAX_INPUT_BYTES) throw new VodozemacError("too_long", OPERATIONS[operation]);
    return bound;
  }

  #reserve(bound: number): void {
    const capacity = Math.max(4096, 2 ** Math.ceil(Math.log2(bound)));
    this.#input = this.#exports.input_reserve(capacity);
    this.#capacity = capacity;
  }

  #write(input: readonly Input[]): number {
    if (input.length === 0) return 0;
    const memory = this.#memory();
    let end = this.#input;
    for (const part of input) {
      if (typeof part === "string") {
        end += encoder.encodeInto(part, memory.subarray(end)).written;
      } else if (typeof part === "number") {
        for (let shift = 0; shift < 32; shift += 8) memory[end++] = part >>> shift;
      } else {
        memory.set(part, end);
        end += part.length;
      }
    }
    return end - this.#input;
  }

  #memory(): Uint8Array<ArrayBuffer> {
    // A memory that has grown has a new buffer.
    if (this.#view.length === 0) this.#view = new Uint8Array(this.#exports.memory.buffer as ArrayBuffer);
    return this.#view;
  }

  #take<T>(convert: (answer: Uint8Array<ArrayBuffer>) => T): T {
    const start = this.#exports.output_pointer();
    const answer = this.#memory().subarray(start, start + this.#exports.output_length());
    const result = convert(answer);
    answer.fill(0);
    return result;
  }

  #failure(operation: Operation, status: number): VodozemacError {
    const code = codeOfStatus(status);
    if (code !== "unknown_index") return new VodozemacError(code, OPERATIONS[operation]);
    const answer = new Reader(this.bytes());
    return new VodozemacError(code, OPERATIONS[operation], {
      firstKnownIndex: answer.number(),
      messageIndex: answer.number(),
    });
  }
}
