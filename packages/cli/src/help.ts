import type { Command, Option } from "./Command.ts"
import { bold } from "./output.ts"

/** Renders the help of all commands. */
export const overview = (commands: ReadonlyArray<Command>): string => {
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
  SCHEDULING_URL, SCHEDULING_API_KEY, SCHEDULING_WORKSPACE_ID win over the context of \`login\`.
  NO_COLOR turns colors off.

${bold("Exit statuses")}
  0  done        1  failed, or rejected
  2  a plan has changes, or a run could not begin
  64 the command line is wrong
`
}

/** Renders the help of one command. */
export const helpOf = ({
  details,
  examples,
  name,
  options = {},
  summary,
  usage
}: Command): string => {
  const lines = Object.entries({ ...options, help }).map(
    ([option, { description, short, value }]) => {
      const text = `${short === undefined ? "    " : `-${short}, `}--${option}${value === undefined ? "" : ` ${value}`}`
      return `  ${text.padEnd(26)} ${description}`
    }
  )
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
