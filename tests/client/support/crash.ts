/**
 * Processes that crash at a chosen operation, or in which a chosen operation fails.
 *
 * @module
 */

import type { Store } from "@greenroom/matrix";
import { StoreError } from "@greenroom/matrix/errors";
import { generalPathOf, kindsOf, subjectOf } from "./operation_names.ts";

/** An operation of a process that others can observe: a commit, a request, or a sync request. */
export type Operation = "commit" | "request" | "sync";

/** Which operation a fault hits, and what the fault is. */
export interface FaultPlan {
  /** The kind of operation. */
  readonly operation: Operation;
  /** Which of them, counted from 1. 0: none. */
  readonly at: number;
  /** Whether the operation takes effect, so that only its answer is lost. */
  readonly takesEffect: boolean;
  /** Whether the process crashes, or the operation fails and the process goes on. Default: a crash. */
  readonly kind?: "crash" | "error";
  /** Counts only operations with this subject. */
  readonly subject?: string;
}

/** The plan of a process without a fault. */
export const NO_FAULT: FaultPlan = { operation: "commit", at: 0, takesEffect: false };

/** The operations of one process, or of several in a row. */
export class OperationLog {
  readonly #counts = new Map<string, number>();
  /** By kind of operation, the subjects of the operations so far, in order. */
  readonly subjects: Readonly<Record<Operation, string[]>> = { commit: [], request: [], sync: [] };
  /** The same with their names: requests with their methods and paths. */
  readonly names: Readonly<Record<Operation, string[]>> = { commit: [], request: [], sync: [] };

  /** How many operations of a kind, or with a subject, have begun. */
  count(operation: Operation, subject?: string): number {
    return subject === undefined
      ? this.subjects[operation].length
      : this.#counts.get(`${operation} ${subject}`) ?? 0;
  }

  /** Adds an operation that begins. */
  add(operation: Operation, subject: string, name = subject): void {
    this.subjects[operation].push(subject);
    this.names[operation].push(name);
    this.#counts.set(`${operation} ${subject}`, this.count(operation, subject) + 1);
  }
}

/** A process of a bot, as far as its store and its server can tell. */
export class TestProcess {
  readonly #plan: FaultPlan;
  readonly #ended = Promise.withResolvers<string>();
  #hasNoMoreFaults = false;
  /** Its operations. */
  readonly log: OperationLog;
  /** The operation that it crashed at; undefined while it runs. */
  crash: string | undefined;
  /** The operation that its fault hit; undefined before. */
  fault: string | undefined;
  /** The subject of that operation. */
  faultSubject: string | undefined;
  /** Called with each commit that the process begins after one of its commits has failed. */
  onCommitAfterFault: (name: string) => void = () => {};

  /**
   * @param plan Its fault.
   * @param log The operations of earlier processes, to which it adds its own.
   */
  constructor(plan: FaultPlan, log: OperationLog = new OperationLog()) {
    this.#plan = plan;
    this.log = log;
  }

  /** Whether it has not crashed. */
  get isRunning(): boolean {
    return this.crash === undefined;
  }

  /** Resolves when it has crashed, with the operation. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** Cancels a fault that has not happened yet. */
  cancelFault(): void {
    this.#hasNoMoreFaults = true;
  }

  /** Crashes it now. */
  kill(): void {
    this.crash ??= "killed";
    this.#ended.resolve(this.crash);
  }

  /** The store as the process sees it: each use fails when the process has crashed. */
  store(inner: Store): Store {
    return {
      getMany: (keys) => this.run(() => inner.getMany(keys)),
      list: (prefix, options) => inner.list(prefix, options),
      commit: (mutations, checks) =>
        this.perform("commit", () => kindsOf(mutations), () => inner.commit(mutations, checks)),
      close: () => {},
    };
  }

  /** `fetch` as the process sees it: each request fails when the process has crashed. */
  fetch(inner: typeof fetch): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init);
      const { pathname } = new URL(request.url);
      const operation = pathname.endsWith("/sync") ? "sync" : "request";
      const name = () => `${request.method} ${generalPathOf(pathname)}`;
      return await this.perform(operation, name, () => inner(request));
    };
  }

  /** Runs something that no fault hits; fails if the process has crashed. */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    await this.#running();
    const result = await work();
    await this.#running();
    return result;
  }

  /** Performs an operation, unless the fault hits it. */
  async perform<T>(operation: Operation, name: () => string, work: () => Promise<T>): Promise<T> {
    const { takesEffect, kind = "crash", operation: faulty } = this.#plan;
    if (operation === "commit" && faulty === "commit" && kind === "error" && this.fault !== undefined) {
      this.onCommitAfterFault(name());
    }
    await this.#running();
    const subject = subjectOf(name());
    this.log.add(operation, subject, name());
    if (!this.#isFaultDue(operation, subject)) return await this.run(work);
    this.faultSubject = subject;
    this.fault = `${kind} ${takesEffect ? "after" : "before"} ${operation} ${
      this.log.count(operation)
    }: ${name()}`;
    if (kind === "crash") this.crash = this.fault;
    if (takesEffect) await work();
    if (kind === "error") {
      const Failure = operation === "commit" ? StoreError : TypeError; // as stores and `fetch` fail
      throw new Failure(`the answer to a ${operation} got lost`);
    }
    this.#ended.resolve(this.fault);
    return await this.#running() as T;
  }

  #isFaultDue(begun: Operation, begunSubject: string): boolean {
    const { operation, at, subject } = this.#plan;
    if (operation !== begun || this.fault !== undefined || this.#hasNoMoreFaults) return false;
    return subject === undefined
      ? this.log.count(operation) === at
      : subject === begunSubject && this.log.count(operation, subject) === at;
  }

  /** Rejects if the process has crashed. */
  #running(): Promise<void> {
    return this.isRunning ? Promise.resolve() : Promise.reject(new TypeError("the process has ended"));
  }
}
