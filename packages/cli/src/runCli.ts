import { ApiError, SchedulingError } from "@scheduling/sdk"
import { parseArgs } from "node:util"
import manifest from "../package.json" with { type: "json" }
import {
  type Command,
  CommandError,
  exitStatus,
  type CommandArguments,
  type Option,
  UsageError
} from "./Command.ts"
import { commands } from "./commands.ts"
import { helpOf, helpOverview } from "./help.ts"
import { printError } from "./output.ts"

/** Runs a command line and returns its exit status. */
export const runCli = async (args: ReadonlyArray<string>): Promise<number> => {
  const [first] = args
  if (first === undefined || first === "help" || first === "--help" || first === "-h") {
    process.stdout.write(helpOverview(commands))
    return first === undefined ? exitStatus.usage : exitStatus.success
  }
  if (first === "--version" || first === "version") {
    process.stdout.write(`${manifest.version}\n`)
    return exitStatus.success
  }
  try {
    const command = find(args)
    const own = args.slice(command.name.split(" ").length)
    const given = read(command, own)
    if (given === "help") {
      process.stdout.write(helpOf(command))
      return exitStatus.success
    }
    return await command.run(given)
  } catch (error) {
    return report(error)
  }
}

const find = (args: ReadonlyArray<string>): Command => {
  const longestFirst = commands.toSorted((a, b) => b.name.length - a.name.length)
  const found = longestFirst.find(({ name }) => {
    const words = name.split(" ")
    return words.every((word, index) => args[index] === word)
  })
  if (found !== undefined) return found
  const [first = ""] = args
  const family = commands.filter(({ name }) => name.startsWith(`${first} `))
  if (family.length === 0) {
    throw new UsageError(`There is no command "${first}". See: scheduling --help`)
  }
  const actions = family.map(({ name }) => name.slice(first.length + 1))
  throw new UsageError(`"${first}" must be followed by one of: ${actions.join(", ")}`)
}

const read = (command: Command, args: ReadonlyArray<string>): CommandArguments | "help" => {
  const { name, options = {}, usage = "", words: [least, most] = [0, 0] } = command
  const end = args.indexOf("--")
  const own = end === -1 ? args : args.slice(0, end)
  const { positionals, values } = parse(options, own)
  if (values["help"] === true) return "help"
  if (positionals.length < least || positionals.length > most) {
    throw new UsageError(`Use: scheduling ${name}${usage === "" ? "" : ` ${usage}`}`)
  }
  const listOf = (option: string) => [values[option] ?? []].flat().map(String)
  return {
    words: positionals,
    rest: end === -1 ? [] : args.slice(end + 1),
    value: (option) => listOf(option).at(-1),
    values: listOf,
    has: (option) => values[option] === true
  }
}

const parse = (options: Readonly<Record<string, Option>>, args: ReadonlyArray<string>) => {
  const known = Object.entries(options).map(
    ([name, { multiple = false, short, value }]) =>
      [
        name,
        {
          type: value === undefined ? ("boolean" as const) : ("string" as const),
          multiple,
          ...(short !== undefined && { short })
        }
      ] as const
  )
  const help = { type: "boolean" as const, short: "h" }
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(known), help },
      allowPositionals: true
    })
    return { positionals, values: values as Readonly<Record<string, unknown>> }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    // The further sentences explain how Node reads options.
    const [problem] = error.message.split(/\.\s/)
    throw new UsageError(`${problem}. See: --help of the command`)
  }
}

/** Prints an error in one line, with the request id that the operator needs to find it. */
const report = (error: unknown): number => {
  if (error instanceof UsageError) {
    printError(error.message)
    return exitStatus.usage
  }
  if (error instanceof ApiError) {
    printError(
      `${explain(error)}${error.requestId === undefined ? "" : ` (request ${error.requestId})`}`
    )
    return exitStatus.failure
  }
  if (error instanceof CommandError || error instanceof SchedulingError) {
    printError(error.message.replace(/^baseUrl\b/, "--url or SCHEDULING_URL"))
    return exitStatus.failure
  }
  throw error
}

const explain = ({ detail, message }: ApiError): string => {
  const issues = "issues" in detail && Array.isArray(detail.issues) ? detail.issues : []
  const texts = issues.map(
    (issue: { readonly message: string; readonly path: ReadonlyArray<unknown> }) => {
      const path = issue.path.join(".")
      return issue.path.length > 1 ? `${path}: ${issue.message}` : issue.message
    }
  )
  return texts.length === 0 ? message : texts.join(" ")
}
