/**
 * The benchmark: `deno task bench [--rounds=5] [--variants]`.
 *
 * This binding, vodozemac without WebAssembly, `npm:vodozemac-wasm-bindings` and python-olm run the
 * same workloads, in turn, each in a fresh process, copying included. Printed are the medians and
 * the best of all chunks in microseconds, and the ratios of the medians. A contestant that is not
 * installed is left out, with a line that says so; with `CI=true` it is an error.
 *
 * @module
 */

type Results = Map<string, number[]>;

interface Contestant {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const here = import.meta.dirname ?? ".";
const python = Deno.env.get("PYTHON_OLM") ?? "python3";

function option(name: string, byDefault: string): string {
  return Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? byDefault;
}

async function output(command: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { success, stdout } = await new Deno.Command(command, {
      args: [...args],
      cwd: here,
      stderr: "inherit",
    })
      .output();
    return success ? new TextDecoder().decode(stdout) : undefined;
  } catch {
    return undefined;
  }
}

function parse(text: string): Results {
  return new Map(
    text.trim().split("\n").map((line) => {
      const [name = "", ...samples] = line.split(" ");
      return [name, samples.map(Number)];
    }),
  );
}

function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[sorted.length >> 1] ?? NaN;
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(line + "\n"));
}

/** Where cargo puts the baseline. */
async function buildNative(): Promise<string> {
  const target = Deno.env.get("CARGO_TARGET_DIR") ?? `${here}/native/target`;
  await output("cargo", ["build", "--release", "--quiet", "--locked", "--manifest-path=native/Cargo.toml"]);
  return `${target}/release/native-baseline`;
}

async function contestants(): Promise<Contestant[]> {
  const deno = (script: string, ...args: string[]) => ["run", "--quiet", "--allow-all", script, ...args];
  const list: Contestant[] = [
    { name: "native", command: await buildNative(), args: [] },
    { name: "ours", command: Deno.execPath(), args: deno("ours.ts") },
  ];
  if (Deno.args.includes("--variants")) {
    for await (const { name } of Deno.readDir(option("directory", "/tmp/variants"))) {
      const flags = name.startsWith("wide") ? ["--v8-flags=--experimental-wasm-wide-arithmetic"] : [];
      const args = ["--no-host", `--wasm=${option("directory", "/tmp/variants")}/${name}`];
      const [run = "", ...rest] = deno("ours.ts", ...args);
      list.push({
        name: name.replace(".wasm", ""),
        command: Deno.execPath(),
        args: [run, ...flags, ...rest],
      });
    }
  } else {
    list.push(
      { name: "ours, wasm alone", command: Deno.execPath(), args: deno("ours.ts", "--no-host") },
      { name: "bindings 0.8.1", command: Deno.execPath(), args: deno("bindings.ts") },
      { name: "python-olm", command: python, args: ["libolm.py"] },
    );
  }
  return list;
}

function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** Cold starts, each in a fresh process: import, load, first use, all of it. */
async function coldStart(): Promise<void> {
  const runs: number[][] = [];
  for (let run = 0; run < 11; run++) {
    const text = await output(Deno.execPath(), ["run", "--quiet", "cold.ts"]);
    runs.push((text ?? "").trim().split(" ").map(Number));
  }
  const column = (index: number) => {
    const samples = runs.map((times) => times[index] ?? NaN);
    return `${median(samples).toFixed(1)} (${Math.min(...samples).toFixed(1)})`;
  };
  say(
    `cold start, ms, median (best): import ${column(0)}, load ${column(1)}, first use ${column(2)}, all ${
      column(3)
    }`,
  );
}

if (import.meta.main) {
  await coldStart();
  const all = new Map<string, Results>();
  const list = await contestants();
  for (let round = Number(option("rounds", "5")); round > 0; round--) {
    for (const { name, command, args } of list) {
      const text = await output(command, args);
      if (text === undefined) {
        if (Deno.env.get("CI") === "true") {
          throw new Error(`Cannot compare with ${name}: it is not installed`);
        }
        say(`${name}: not installed, left out`);
        continue;
      }
      const results = all.get(name) ?? new Map<string, number[]>();
      for (const [operation, samples] of parse(text)) {
        results.set(operation, [...results.get(operation) ?? [], ...samples]);
      }
      all.set(name, results);
    }
  }
  const native = all.get("native") ?? new Map<string, number[]>();
  const names = [...all.keys()];
  const others = names.filter((name) => name !== "native");
  say(
    `| µs, median (best) | ${names.join(" | ")} | ${others.map((name) => `${name} / native`).join(" | ")} |`,
  );
  say(`|---|${"---:|".repeat(names.length + others.length)}`);
  const cell = (samples: readonly number[] | undefined) =>
    samples === undefined ? "–" : `${median(samples).toFixed(1)} (${Math.min(...samples).toFixed(1)})`;
  const ratio = (name: string, operation: string, baseline: string, of = median) => {
    const [one, other] = [all.get(name)?.get(operation), native.get(baseline)];
    return one === undefined || other === undefined ? undefined : of(one) / of(other);
  };
  for (const operation of all.get("ours")?.keys() ?? []) {
    // A batch is compared with single messages.
    const baseline = operation.replace("_all", "");
    const ratios = others.map((name) => ratio(name, operation, baseline)?.toFixed(2) ?? "–");
    say(
      `| ${operation} | ${names.map((name) => cell(all.get(name)?.get(operation))).join(" | ")} | ${
        ratios.join(" | ")
      } |`,
    );
  }
  const best = (samples: readonly number[]) => Math.min(...samples);
  for (const [title, of] of [["medians", median], ["best", best]] as const) {
    const means = others.map((name) => {
      const ratios = [...native.keys()].flatMap((operation) => ratio(name, operation, operation, of) ?? []);
      return `${geometricMean(ratios).toFixed(2)} (${ratios.length})`;
    });
    say(`| geometric mean of ${title} (operations) |${" |".repeat(names.length)} ${means.join(" | ")} |`);
  }
}
