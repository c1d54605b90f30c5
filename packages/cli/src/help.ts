import type { Command, Option } from "./Command.ts"
import { bold } from "./output.ts"

export const environmentLines = [
  "SCHEDULING_URL, SCHEDULING_API_KEY, SCHEDULING_WORKSPACE_ID override the context of `login`.",
  "NO_COLOR turns colors off."
]

export const exitStatusLines = [
  [0, "done"],
  [1, "failed, or rejected"],
  [2, "a plan has changes, or a run could not begin"],
  [64, "the command line is wrong"]
] as const

/** Returns the help for all commands. */
export const helpOverview = (commands: ReadonlyArray<Command>): string => {
  const families = Map.groupBy(commands, ({ name }) => name.split(" ")[0] ?? "")
  const lines = [...families].map(([first, [command, ...others]]) => {
    const summary =
      others.length === 0
        ? (command?.summary ?? "")
        : [command, ...others].map((one) => one?.name.slice(first.length + 1)).join(", ")
    return `  ${first.padEnd(12)} ${summary}`
  })
  return `${bold("scheduling")} – the command line of the Scheduling Service

Usage: scheduling COMMAND [OPTIONS]. Each command has --help.

${bold("Commands")}
${lines.join("\n")}

${bold("Environment")}
${environmentLines.map((line) => `  ${line}`).join("\n")}

${bold("Exit statuses")}
${exitStatusLines.map(([status, meaning]) => `  ${String(status).padEnd(2)} ${meaning}`).join("\n")}
`
}

interface ShownOption {
  /** The option as users write it, with its short form and its value. */
  readonly flags: string
  readonly description: string
}

export const optionsOf = ({ options = {} }: Command): ReadonlyArray<ShownOption> =>
  Object.entries({ ...options, help }).map(([name, { description, short, value }]) => ({
    flags: `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`,
    description
  }))

/** Returns the help for one command. */
export const helpOf = (command: Command): string => {
  const { details, examples, name, summary, usage } = command
  const lines = optionsOf(command).map(({ description, flags }) => {
    const text = flags.startsWith("--") ? `    ${flags}` : flags
    return `  ${text.padEnd(26)} ${description}`
  })
  return `${summary}

Usage: scheduling ${name}${usage === undefined ? "" : ` ${usage}`}
${details === undefined ? "" : `\n${details}\n`}
Options
${lines.join("\n")}

Examples
${examples.map((example) => `  ${example}`).join("\n")}
`
}

const help: Option = { short: "h", description: "Shows this help." }
