/**
 * Checks that third-party generators produce working clients from our OpenAPI document. Generates
 * two clients, type-checks a program with each, and runs both against a server. Requires the npm
 * registry.
 */
import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { rolldown } from "rolldown"
import { startServer } from "../test/support/server.ts"
import { npmInstall, run } from "./command.ts"
import { heyApi, openapiFetch, output } from "./check-clients/programs.ts"

const document = fileURLToPath(new URL("../../openapi/openapi.json", import.meta.url))

const packages = [
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "@hey-api/openapi-ts@0.99.0",
  "typescript@5.9.3"
]

const clients = [
  {
    name: "openapi-fetch",
    program: openapiFetch,
    generator: "openapi-typescript/bin/cli.js",
    args: [document, "-o", "openapi-typescript/contract.d.ts"]
  },
  {
    name: "hey-api",
    program: heyApi,
    generator: "@hey-api/openapi-ts/bin/run.js",
    args: ["-i", document, "-o", "hey-api", "-c", "@hey-api/client-fetch"]
  }
] as const

type Client = (typeof clients)[number]

/** Without `exactOptionalPropertyTypes`, which hey-api's generated code does not satisfy. */
const tsconfig = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "ES2022",
    module: "ESNext",
    moduleResolution: "bundler",
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: []
  }
}

const install = async (project: string): Promise<void> => {
  await writeFile(join(project, "package.json"), `{ "private": true, "type": "module" }`)
  // Declares only `process` instead of all Node types.
  await writeFile(join(project, "node.d.ts"), "declare const process: { argv: Array<string> }\n")
  npmInstall(project, packages)
}

const generate = ({ args, generator, name }: Client, project: string): void => {
  const file = join(project, "node_modules", generator)
  run(`The generator of ${name}`, process.execPath, [file, ...args], project)
}

const typeCheck = async ({ name, program }: Client, project: string): Promise<void> => {
  await writeFile(join(project, `${name}-program.ts`), program)
  const config = { ...tsconfig, files: ["node.d.ts", `${name}-program.ts`] }
  await writeFile(join(project, "tsconfig.json"), JSON.stringify(config))
  const tsc = join(project, "node_modules/typescript/bin/tsc")
  run(`TypeScript on the program of ${name}`, process.execPath, [tsc, "-p", "."], project)
}

/** Bundles the program first, because hey-api's code imports files without extensions. */
const runProgram = async ({ name }: Client, project: string, url: string): Promise<void> => {
  const bundle = await rolldown({ input: join(project, `${name}-program.ts`), platform: "node" })
  const file = join(project, `${name}-program.js`)
  await bundle.write({ file })
  const { stdout } = await promisify(execFile)(process.execPath, [file, url], { cwd: project })
  if (stdout.trim() !== output) throw new Error(`${name} said ${stdout}, not ${output}`)
}

const project = await mkdtemp(join(tmpdir(), "scheduling-clients-"))
try {
  await install(project)
  await using server = await startServer()
  for (const client of clients) {
    generate(client, project)
    await typeCheck(client, project)
    await runProgram(client, project, server.url)
    process.stdout.write(`${client.name}: generates, type-checks and runs\n`)
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(project, { recursive: true, force: true })
}
