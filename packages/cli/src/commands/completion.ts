import { type Command, exitStatus, UsageError, requiredArgument } from "../Command.ts"
import { print } from "../output.ts"

interface CompletionWords {
  readonly commands: ReadonlyArray<string>
  /**
   * Returns the words that can follow a command: its subcommands, or its options if it has no
   * subcommands.
   */
  readonly wordsAfter: (command: string) => ReadonlyArray<string>
}

const scripts: Readonly<Record<string, (words: CompletionWords) => string>> = {
  bash: ({ wordsAfter, commands }) => `_scheduling() {
  local current=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.join(" ")}" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map((name) => `    ${name}) COMPREPLY=($(compgen -W "${wordsAfter(name).join(" ")}" -- "$current")) ;;`).join("\n")}
  esac
}
complete -o default -F _scheduling scheduling`,
  zsh: ({ wordsAfter, commands }) => `#compdef scheduling
_scheduling() {
  if (( CURRENT == 2 )); then
    compadd -- ${commands.join(" ")}
    return
  fi
  case "$words[2]" in
${commands.map((name) => `    ${name}) compadd -- ${wordsAfter(name).join(" ")} ;;`).join("\n")}
  esac
}
compdef _scheduling scheduling`,
  fish: ({ wordsAfter, commands }) =>
    [
      `complete -c scheduling -n __fish_use_subcommand -f -a "${commands.join(" ")}"`,
      ...commands.map(
        (name) =>
          `complete -c scheduling -n "__fish_seen_subcommand_from ${name}" -a "${wordsAfter(name).join(" ")}"`
      )
    ].join("\n")
}

/**
 * Creates the command that prints completion scripts. `commands` returns all commands, including
 * this one.
 */
export const makeCompletionCommand = (commands: () => ReadonlyArray<Command>): Command => ({
  name: "completion",
  summary: "Prints a script that completes commands in bash, zsh or fish.",
  usage: "bash|zsh|fish",
  words: [1, 1],
  examples: ["scheduling completion bash", "scheduling completion zsh > _scheduling"],
  run: (given) => {
    const script = scripts[requiredArgument(given, 0)]
    if (script === undefined) throw new UsageError("The shell must be bash, zsh or fish.")
    const families = Map.groupBy(commands(), ({ name }) => name.split(" ")[0] ?? "")
    const wordsAfter = (name: string) =>
      (families.get(name) ?? []).flatMap((command) => {
        const [, ...rest] = command.name.split(" ")
        return rest.length > 0 ? rest : Object.keys(command.options ?? {}).map((one) => `--${one}`)
      })
    print(script({ commands: [...families.keys()], wordsAfter }))
    return exitStatus.success
  }
})
