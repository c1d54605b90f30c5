import { readFileSync } from "node:fs"
import { createInterface } from "node:readline/promises"
import { Writable } from "node:stream"
import { parse, stringify } from "yaml"
import { CommandError } from "./Command.ts"

/** Reads a file, or standard input for `-`. */
export const readText = (path: string): string => {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8")
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Parses YAML. JSON is also valid YAML. */
export const parseYaml = (text: string, path: string): unknown => {
  try {
    return parse(text, { maxAliasCount: 100 })
  } catch (error) {
    throw new CommandError(`${path} is not valid YAML: ${(error as Error).message.split("\n")[0]}`)
  }
}

export const parseObject = (text: string, path: string): Readonly<Record<string, unknown>> => {
  const value = parseYaml(text, path)
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new CommandError(`${path} must contain an object`)
  }
  return value as Readonly<Record<string, unknown>>
}

export const toYaml = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })

const lines = (() => {
  let rest: Array<string> | undefined
  return (): string | undefined => {
    rest ??= readText("-").split("\n")
    return rest.shift()?.replace(/\r$/, "")
  }
})()

/**
 * Prompts for a line at a terminal. A secret is not echoed. Without a terminal, reads a line of
 * standard input.
 */
export const askForLine = async (question: string, isSecret = false): Promise<string> => {
  const answer = process.stdin.isTTY === true ? await askPerson(question, isSecret) : lines()
  if (answer === undefined || answer.trim() === "") {
    throw new CommandError(`${question.replace(/:? *$/, "")} is missing on standard input.`)
  }
  return answer.trim()
}

const askPerson = async (question: string, isSecret: boolean): Promise<string> => {
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const output = isSecret ? silent : process.stderr
  const reader = createInterface({ input: process.stdin, output, terminal: true })
  const answer = await reader.question("")
  reader.close()
  if (isSecret) process.stderr.write("\n")
  return answer
}
