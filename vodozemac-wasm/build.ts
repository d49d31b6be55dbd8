/**
 * Builds `vodozemac.wasm` from the Rust sources: `deno task build`.
 *
 * It needs Debian 12's rustc-web, cargo-web, rust-web-src and lld, and nothing else but crates and
 * binaryen, all at pinned versions. `--check` builds elsewhere and compares bytes with the
 * committed file; where the toolchain is absent or of another version it compares the recorded hash
 * of the sources instead, and says so. `--variant=name` builds one of the configurations of the
 * table in README.md into `--out=path`.
 *
 * @module
 */

import binaryen from "binaryen";

const here = import.meta.dirname ?? ".";
const record = `${here}/vodozemac.build.json`;
const wasm = `${here}/vodozemac.wasm`;

/** The toolchain whose output is the committed file. */
const RUSTC = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)";

/** A configuration: what differs from the shipped one. */
interface Variant {
  readonly optLevel: string;
  readonly features: string;
  readonly flags?: readonly string[];
  readonly tables?: boolean;
  /** The levels of wasm-opt for speed and for size; none at all if undefined. */
  readonly wasmOpt: readonly [number, number] | undefined;
}

const shipped: Variant = { optLevel: "3", features: "+simd128,+bulk-memory", wasmOpt: [3, 0] };

const variants: Record<string, Variant> = {
  shipped,
  "no-wasm-opt": { ...shipped, wasmOpt: undefined },
  "wasm-opt-O4": { ...shipped, wasmOpt: [4, 0] },
  "no-simd": { ...shipped, features: "+bulk-memory" },
  "no-tables": { ...shipped, tables: false },
  "opt-s": { ...shipped, optLevel: "s", wasmOpt: [2, 1] },
  "opt-2": { ...shipped, optLevel: "2" },
  "aes-32": { ...shipped, flags: ["--cfg", 'cpubits="32"'] },
  wide: {
    ...shipped,
    features: "+simd128,+bulk-memory,+wide-arithmetic",
    flags: ["--cfg", 'curve25519_dalek_bits="64"'],
  },
};

async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const { success, stdout } = await new Deno.Command(command, { args, env, cwd: here, stderr: "inherit" })
    .output();
  if (!success) throw new Error(`Cannot build vodozemac.wasm: ${command} ${args[0]} failed`);
  return new TextDecoder().decode(stdout).trim();
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(line + "\n"));
}

/** The version of Debian's compiler, or undefined where it is not installed. */
async function compiler(): Promise<string | undefined> {
  try {
    return await run("/usr/bin/rustc", ["--version"]);
  } catch {
    return undefined;
  }
}

async function build(variant: Variant, out: string): Promise<void> {
  const home = Deno.env.get("CARGO_HOME") ?? `${Deno.env.get("HOME")}/.cargo`;
  const target = Deno.env.get("CARGO_TARGET_DIR") ?? `${here}/target`;
  const flags = [
    "--cfg",
    'getrandom_backend="custom"',
    "-Ctarget-feature=" + variant.features,
    // No panic messages and no paths: smaller, and the same wherever it is built.
    "-Zunstable-options",
    "-Cpanic=immediate-abort",
    "-Zlocation-detail=none",
    `--remap-path-prefix=${home}=/cargo`,
    `--remap-path-prefix=${here}=/vodozemac-wasm`,
    // The engine wipes the stack: it has to know where it is, and the less there is the sooner it
    // is done.
    "-Clink-arg=--export=__stack_pointer",
    "-Clink-arg=-zstack-size=131072",
    ...variant.flags ?? [],
  ];
  await run("/usr/bin/cargo", [
    "build",
    "--release",
    "--locked",
    "--target=wasm32-unknown-unknown",
    "-Zbuild-std=std,panic_abort",
    ...variant.tables === false ? ["--no-default-features"] : [],
  ], {
    PATH: `/usr/bin:${Deno.env.get("PATH")}`,
    RUSTC: "/usr/bin/rustc",
    RUSTC_BOOTSTRAP: "1",
    CARGO_ENCODED_RUSTFLAGS: flags.join("\x1f"),
    CARGO_PROFILE_RELEASE_OPT_LEVEL: variant.optLevel,
    CARGO_TARGET_DIR: target,
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: "wasm-ld",
    CARGO_INCREMENTAL: "0",
  });
  const linked = `${target}/wasm32-unknown-unknown/release/vodozemac_wasm.wasm`;
  const bytes = await Deno.readFile(linked);
  await Deno.writeFile(out, variant.wasmOpt === undefined ? bytes : optimize(bytes, variant.wasmOpt));
}

function optimize(bytes: Uint8Array, [speed, size]: readonly [number, number]): Uint8Array {
  const { Features } = binaryen;
  const module = binaryen.readBinary(bytes);
  module.setFeatures(
    Features.MutableGlobals | Features.NontrappingFPToInt | Features.SIMD128 | Features.BulkMemory |
      Features.BulkMemoryOpt | Features.SignExt | Features.ReferenceTypes | Features.Multivalue |
      Features.WideArithmetic,
  );
  binaryen.setOptimizeLevel(speed);
  binaryen.setShrinkLevel(size);
  module.optimize();
  return module.emitBinary();
}

async function sha256(...files: string[]): Promise<string> {
  const parts = await Promise.all(files.map((file) => Deno.readFile(file)));
  const digest = await crypto.subtle.digest("SHA-256", await new Blob(parts).bytes());
  return new Uint8Array(digest).toHex();
}

/** Every file below a directory, in a fixed order. */
async function filesIn(directory: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(directory));
  const files = entries.map(({ name, isDirectory }) => {
    const path = `${directory}/${name}`;
    return isDirectory ? filesIn(path) : [path];
  });
  return (await Promise.all(files)).flat().sort();
}

/** Everything that decides the bytes of the artifact. */
async function sources(): Promise<string[]> {
  return [`${here}/Cargo.toml`, `${here}/Cargo.lock`, `${here}/build.ts`, ...await filesIn(`${here}/rust`)];
}

interface Recorded {
  rustc: string;
  sources: string;
  wasm: string;
}

async function check(): Promise<void> {
  const recorded: Recorded = JSON.parse(await Deno.readTextFile(record));
  if (recorded.sources !== await sha256(...await sources())) {
    throw new Error("Cannot trust vodozemac.wasm: its sources have changed; run deno task build");
  }
  if (recorded.wasm !== await sha256(wasm)) {
    throw new Error("Cannot trust vodozemac.wasm: it is not the file that was built; run deno task build");
  }
  const found = await compiler();
  if (found !== recorded.rustc) {
    say(
      `vodozemac.wasm: hashes of sources and artifact match; not rebuilt, rustc is ${found ?? "absent"}`,
    );
    return;
  }
  const out = await Deno.makeTempFile({ suffix: ".wasm" });
  try {
    await build(shipped, out);
    if (await sha256(out) !== recorded.wasm) {
      throw new Error("Cannot reproduce vodozemac.wasm: the bytes differ");
    }
    say("vodozemac.wasm: rebuilt, every byte is the same");
  } finally {
    await Deno.remove(out);
  }
}

function option(name: string): string | undefined {
  return Deno.args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
}

if (import.meta.main) {
  const name = option("variant");
  if (Deno.args.includes("--check")) {
    await check();
  } else if (name !== undefined) {
    const variant = variants[name];
    const out = option("out");
    if (variant === undefined || out === undefined) {
      throw new Error(`Cannot build variant ${name}: choose one of ${Object.keys(variants)}, and --out=path`);
    }
    await build(variant, out);
  } else {
    const found = await compiler();
    if (found !== RUSTC) {
      throw new Error(`Cannot build vodozemac.wasm: it needs ${RUSTC}; found ${found ?? "none"}`);
    }
    await build(shipped, wasm);
    const content: Recorded = {
      rustc: RUSTC,
      sources: await sha256(...await sources()),
      wasm: await sha256(wasm),
    };
    await Deno.writeTextFile(record, JSON.stringify(content, null, 2) + "\n");
  }
}
