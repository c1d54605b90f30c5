import type { AppliedDefinitions, DefinitionsDocument } from "@scheduling/sdk"
import { globSync, statSync } from "node:fs"
import { join } from "node:path"
import { env } from "node:process"
import { type Command, CommandError, exitStatus, type CommandArguments } from "../Command.ts"
import {
  bold,
  formatCell,
  dim,
  green,
  printNote,
  print,
  printJson,
  red,
  yellow
} from "../output.ts"
import { askForLine, parseObject, readText, toYaml } from "../readInput.ts"
import { makeClient } from "../session.ts"

type Document = Readonly<Record<string, unknown>>

/** Replaces `${NAME}` with the environment variable of that name. `$${` is an escaped `${`. */
const withVariables = (value: unknown, path: string): unknown => {
  if (typeof value === "string") {
    return value.replaceAll(/\$(\$\{)|\$\{(\w+)\}/g, (_, escaped?: string, name = "") => {
      if (escaped !== undefined) return escaped
      const given = env[name]
      if (given === undefined) throw new CommandError(`${path}: the variable ${name} is not set.`)
      return given
    })
  }
  if (Array.isArray(value)) return value.map((one) => withVariables(one, path))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withVariables(field, path)])
  )
}

const filesOf = (paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  paths.flatMap((path) => {
    if (path === "-" || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path]
    const found = globSync("**/*.{yaml,yml,json}", { cwd: path }).toSorted()
    if (found.length === 0) throw new CommandError(`${path} contains no .yaml, .yml or .json file.`)
    return found.map((name) => join(path, name))
  })

/** Merges all files' documents. Lists are concatenated, and other fields must occur only once. */
const readDocument = (given: CommandArguments): DefinitionsDocument => {
  const paths = given.words.length === 0 ? ["scheduling.yaml"] : given.words
  const whole: Record<string, unknown> = { version: 1 }
  for (const path of filesOf(paths)) {
    const document = withVariables(parseObject(readText(path), path), path) as Document
    for (const [name, value] of Object.entries(document)) {
      const known = whole[name]
      if (Array.isArray(known) && Array.isArray(value)) whole[name] = [...known, ...value]
      else if (known === undefined || known === value) whole[name] = value
      else throw new CommandError(`${path}: ${name} differs from an earlier file.`)
    }
  }
  return whole as object as DefinitionsDocument
}

const actionSigns = {
  create: green("+ create"),
  update: yellow("~ update"),
  delete: red("- delete"),
  unchanged: "  unchanged"
} as const

const printPlan = (given: CommandArguments, plan: AppliedDefinitions): void => {
  if (given.has("json")) return printJson(plan)
  for (const { action, changes, key, kind, section } of plan.data) {
    if (action === "unchanged") continue
    print(
      `${actionSigns[action]} ${bold([section, kind, key].filter((part) => part !== null).join(" "))}`
    )
    for (const one of changes) {
      print(`    ${one.field}: ${dim(formatCell(one.old))} → ${formatCell(one.new)}`)
    }
  }
  for (const { code, message, path } of plan.findings) {
    print(
      `${code === "refused" ? red("! rejected") : yellow(`? ${code}`)} ${path.join(".")} ${message}`
    )
  }
  const { create, delete: deleted, unchanged, update } = plan.counts
  print(`${create} to create, ${update} to change, ${deleted} to delete, ${unchanged} unchanged`)
}

const isRejected = ({ findings }: AppliedDefinitions) =>
  findings.some(({ code }) => code === "refused")

const options = {
  prune: { description: "Deletes records of the document's owner that it does not contain." },
  adopt: { description: "Takes over records of other owners." },
  json: { description: "Prints the service's response as JSON." }
}

const details =
  "FILE is YAML or JSON, a folder of such files, or - for standard input; scheduling.yaml\n" +
  "when absent. ${NAME} in a string is replaced by the value of the environment\nvariable, and $${ stands for ${."

const queryOf = (given: CommandArguments, dry_run: boolean) => ({
  dry_run,
  prune: given.has("prune"),
  adopt: given.has("adopt")
})

const plan: Command = {
  name: "plan",
  summary: "Shows the changes that applying a document would make. Exit status 2 if there are any.",
  usage: "[FILE...]",
  words: [0, 100],
  options,
  details,
  examples: ["scheduling plan", "scheduling plan scheduling.yaml --prune --json"],
  run: async (given) => {
    const document = readDocument(given)
    const planned = await makeClient({ timeoutMs: 60_000 }).definitions.apply(
      document,
      queryOf(given, true)
    )
    printPlan(given, planned)
    if (isRejected(planned)) return exitStatus.failure
    const { create, delete: deleted, update } = planned.counts
    return create + deleted + update > 0 ? exitStatus.different : exitStatus.success
  }
}

const applyDocument = async (given: CommandArguments, prune: boolean): Promise<number> => {
  const document = readDocument(given)
  const client = makeClient({ timeoutMs: 60_000 })
  const query = { ...queryOf(given, false), prune }
  if (prune && !given.has("yes")) {
    const planned = await client.definitions.apply(document, { ...query, dry_run: true })
    if (planned.counts.delete > 0) {
      printPlan(given, planned)
      if (process.stdin.isTTY !== true) {
        throw new CommandError(
          `${planned.counts.delete} records would be deleted. Add --yes to do so.`
        )
      }
      const answer = await askForLine(`Delete ${planned.counts.delete} records? [y/N] `)
      if (!/^y(?:es)?$/i.test(answer)) throw new CommandError("Nothing was changed.")
    }
  }
  const applied = await client.definitions.apply(document, query)
  printPlan(given, applied)
  if (!given.has("json")) printNote("Applied.")
  return exitStatus.success
}

const yes = { short: "y", description: "Deletes without asking." }

const apply: Command = {
  name: "apply",
  summary: "Applies a document of definitions: all of it or nothing.",
  usage: "[FILE...]",
  words: [0, 100],
  options: { ...options, yes },
  details,
  examples: ["scheduling apply", "scheduling apply scheduling.yaml --prune --yes"],
  run: (given) => applyDocument(given, given.has("prune"))
}

const prune: Command = {
  name: "prune",
  summary: "Applies a document and deletes other records of its owner, like apply --prune.",
  usage: "[FILE...]",
  words: [0, 100],
  options: { adopt: options.adopt, json: options.json, yes },
  details,
  examples: ["scheduling prune --yes", "scheduling prune scheduling.yaml --yes --json"],
  run: (given) => applyDocument(given, true)
}

const exportCommand: Command = {
  name: "export",
  summary: "Prints the definitions of the workspace as a document.",
  options: {
    owner: { value: "OWNER", description: "Only the records of this owner." },
    json: { description: "Prints JSON instead of YAML." }
  },
  examples: ["scheduling export > workspace.yaml", "scheduling export --owner billing --json"],
  run: async (given) => {
    const owner = given.value("owner")
    const exported = await makeClient().definitions.export(owner === undefined ? {} : { owner })
    const { owner: of, version, without_key, ...content } = exported
    const own = { version, ...(of !== null && { owner: of }), ...content }
    if (given.has("json")) printJson(own)
    else print(toYaml(own).trimEnd())
    if (without_key > 0) printNote(`${without_key} records without a key are left out.`)
    return exitStatus.success
  }
}

export const definitionCommands = [plan, apply, prune, exportCommand]
