/**
 * What a library prints.
 *
 * @module
 */

/** Takes what is printed from now on, and keeps it from the console: the method, a space and the line. */
export function printed(): Disposable & { readonly lines: string[] } {
  const lines: string[] = [];
  const methods = ["debug", "log", "info", "warn", "error"] as const;
  const before = methods.map((method) => [method, console[method]] as const);
  for (const method of methods) console[method] = (...words) => lines.push(`${method} ${words.join(" ")}`);
  return {
    lines,
    [Symbol.dispose]() {
      for (const [method, print] of before) console[method] = print;
    },
  };
}
