/**
 * `greenroom completions`: what a shell completes, from the table of commands.
 *
 * @module
 */

import { type CommandSpec, type Input, UsageError } from "../io/mod.ts";

/** Prints the script of a shell. */
export function complete(commands: readonly CommandSpec[], { args, terminal }: Input): Promise<void> {
  const script = new Map(Object.entries({ bash, zsh, fish })).get(args[0] ?? "");
  if (script === undefined) {
    throw new UsageError("Cannot complete for this shell: it is none of bash, zsh and fish");
  }
  terminal.print(script(commands));
  return Promise.resolve();
}

/** What may follow words: the next word of a command, or its options. */
function following(commands: readonly CommandSpec[]): Map<string, string[]> {
  const pairs = commands.flatMap(({ name, options }) => {
    const words = name.split(" ");
    const next = words.map((word, index) => [words.slice(0, index).join(" "), word] as const);
    return [
      ...next,
      ...[...Object.keys(options ?? {}), "help"].map((option) => [name, `--${option}`] as const),
    ];
  });
  const after = Map.groupBy(pairs, ([words]) => words);
  return new Map([...after].map(([words, found]) => [words, [...new Set(found.map(([, next]) => next))]]));
}

function cases(commands: readonly CommandSpec[], line: (words: string, next: string) => string): string {
  return [...following(commands)].map(([words, next]) => line(words, next.join(" "))).join("\n");
}

const bash = (commands: readonly CommandSpec[]): string =>
  `# greenroom completions bash > ~/.local/share/bash-completion/completions/greenroom
_greenroom() {
  local words="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || words="\${words:+$words }$word"
  done
  local next=""
  case "$words" in
${cases(commands, (words, next) => `    "${words}") next="${next}" ;;`)}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _greenroom greenroom`;

const zsh = (commands: readonly CommandSpec[]): string =>
  `#compdef greenroom
# greenroom completions zsh > a folder of $fpath/_greenroom
_greenroom() {
  local given="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || given="\${given:+$given }$word"
  done
  local -a next
  case "$given" in
${cases(commands, (words, next) => `    "${words}") next=(${next}) ;;`)}
  esac
  (( $#next )) && compadd -- $next || _files
}
# The first Tab has loaded this file as the function itself.
if [ "$funcstack[1]" = _greenroom ]; then _greenroom "$@"; else compdef _greenroom greenroom; fi`;

const fish = (commands: readonly CommandSpec[]): string => {
  const lines = commands.flatMap(({ name, summary, options }) => {
    const words = name.split(" ");
    const last = words.at(-1) ?? "";
    const before = words.slice(0, -1).join(" ");
    return [
      ...words.length > 1 ? [`complete -c greenroom -n '__greenroom_after ""' -fa '${words[0]}'`] : [],
      `complete -c greenroom -n '__greenroom_after "${before}"' -fa '${last}' -d '${quoted(summary)}'`,
      ...Object.entries(options ?? {}).map(([option, { about, value }]) =>
        `complete -c greenroom -n '__greenroom_after "${name}"' -l '${option}'${
          value === undefined ? "" : " -r"
        } -d '${quoted(about)}'`
      ),
    ];
  });
  return `# greenroom completions fish > ~/.config/fish/completions/greenroom.fish
function __greenroom_after
  set -l words (commandline -opc | string match -v -- '-*')
  test "$words[2..]" = "$argv[1]"
end
${[...new Set(lines)].join("\n")}`;
};

function quoted(text: string): string {
  return text.replaceAll("'", "\\'");
}
