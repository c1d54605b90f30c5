import { globSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"

/** A block of code in the README: a whole program, or a file if its first line names one. */
export interface Block {
  readonly name: string
  readonly code: string
}

/** The blocks of the README in TypeScript, as programs and as files of recipes. */
export const readBlocks = async (sdk: string) => {
  const readme = await readFile(join(sdk, "README.md"), "utf8")
  const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ""]) => code)
  const programs: Array<Block> = []
  const recipes: Array<Block> = []
  for (const code of blocks) {
    const [, file] = /^\/\/ (\S+\.tsx?)\n/.exec(code) ?? []
    if (file === undefined) programs.push({ name: `readme-${programs.length + 1}.ts`, code })
    else recipes.push({ name: file, code })
  }
  return { programs, recipes }
}

const isImport = /^import (?:[^"]*from )?"[^"]+"\n/gm

/** The same program for CommonJS, which has no top-level await. */
export const asCommonJs = ({ code, name }: Block): Block => ({
  name,
  code: `${(code.match(isImport) ?? []).join("")}
void (async () => {
${code.replaceAll(isImport, "")}
})()
`
})

/**
 * The examples in the comments of the generated methods, each wrapped in a function that takes a
 * client.
 */
export const readDocExamples = async (sdk: string): Promise<Block> => {
  const files = [
    ...globSync("generated/*.ts", { cwd: join(sdk, "src") }).toSorted(),
    "Client.ts",
    "reading/pagination.ts",
    "reading/waiting.ts"
  ]
  const sources = await Promise.all(files.map((file) => readFile(join(sdk, "src", file), "utf8")))
  const examples = sources.flatMap((source) =>
    [...source.matchAll(/^ *\/\*\*\n(.*?)\*\/$/gms)].flatMap(([, comment = ""]) => {
      const text = comment.replaceAll(/^ *\* ?/gm, "")
      return text
        .split(/^@example\n/m)
        .slice(1)
        .map((part) => part.split(/^@/m)[0] ?? "")
    })
  )
  const functions = examples.map(
    (example, index) =>
      `export const example${index + 1} = async (client: SchedulingClient) => {{\n${example}}}\n`
  )
  return {
    name: "examples.ts",
    code: `import { SchedulingClient } from "@scheduling/sdk"\n${functions.join("\n")}`
  }
}
