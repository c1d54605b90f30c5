/**
 * Checks the package before it is published: builds and packs it, installs the tarball into an
 * empty project, type-checks and runs programs there in every supported setup, and measures the
 * bundle size.
 *
 * --offline   skips everything that needs the registry: TypeScript 5.9, Jest, linters, frameworks
 */
import { existsSync } from "node:fs"
import { mkdtemp, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import { startServer } from "../test/support/server.ts"
import { checkFrameworks } from "./check-package/frameworks.ts"
import { folders, runConsumers, runReadme, writePrograms } from "./check-package/programs.ts"
import { readBlocks } from "./check-package/readme.ts"
import { typeCheck } from "./check-package/typescript.ts"
import { npmInstall, run, printLine, writeFiles } from "./command.ts"

const sdk = fileURLToPath(new URL("..", import.meta.url))
const root = join(sdk, "../..")
const isOffline = process.argv.includes("--offline")

/** Packs the package as for a release and installs it into an empty project. */
const install = async (project: string): Promise<string> => {
  run("The build", process.execPath, [join(sdk, "scripts/build.ts")], sdk)
  const packed = run(
    "npm pack",
    "npm",
    ["pack", "--json", "--pack-destination", project],
    join(sdk, "dist")
  )
  const [tarball] = JSON.parse(packed) as ReadonlyArray<{
    readonly filename: string
    readonly size: number
    readonly entryCount: number
  }>
  if (tarball === undefined) throw new Error("npm packed nothing")
  printLine(`packed ${tarball.entryCount} files, ${tarball.size} bytes`)
  await writeFiles(project, {
    "package.json": { private: true, type: "module" },
    "cjs/package.json": { type: "commonjs" },
    "cjs-effect/package.json": { type: "commonjs" }
  })
  const options = ["--offline", "--no-audit", "--no-fund"]
  run("npm install", "npm", ["install", ...options, tarball.filename], project)
  if (existsSync(join(project, "node_modules/effect"))) throw new Error("effect is not optional")
  return join(project, tarball.filename)
}

/**
 * The imports of a program from an entry point, and their maximum size in bytes, minified and
 * gzipped.
 */
const budgets = [
  { entry: ".", exported: "{ SchedulingClient }", bytes: 12_288 },
  { entry: ".", exported: "*", bytes: 14_848 },
  { entry: "./webhooks", exported: "*", bytes: 2_000 }
]

const weigh = async (
  project: string,
  entry: string,
  external: ReadonlyArray<string>,
  exported = "*"
) => {
  const input = join(project, "entry.js")
  const source = `export ${exported} from "${join("@scheduling/sdk", entry)}"`
  await writeFiles(project, { "entry.js": source })
  const bundle = await rolldown({ input, platform: "browser", external: [...external] })
  const { output } = await bundle.generate({ minify: true })
  const code = output.map((chunk) => (chunk.type === "chunk" ? chunk.code : "")).join("")
  if (/^import .* from ["'](?!effect)/m.test(code)) {
    throw new Error(`${entry} has unbundled imports`)
  }
  const sizes = { minified: Buffer.byteLength(code), gzipped: gzipSync(code).length }
  const what = external.length > 0 ? ` without ${external.join(", ")}` : ""
  printLine(
    `${exported} of ${entry}${what}: ${sizes.minified} bytes minified, ${sizes.gzipped} gzipped`
  )
  return sizes
}

/** The previous major version of TypeScript, in addition to the one used here. */
const older = "typescript@5.9.3"
const tools = ["jest@30.5.2", "publint@0.3.25", "@arethetypeswrong/cli@0.18.5"]

const jestTest = `
const { SchedulingClient } = require("@scheduling/sdk")
const { verify } = require("@scheduling/sdk/webhooks")

test("the package can be required", async () => {
  await expect(new SchedulingClient({ tokens: undefined }).cron.list()).rejects.toThrow("needs a credential")
  await expect(verify("", {}, "whsec_")).rejects.toThrow("cannot be trusted")
})
`

/** Runs established package linters, which check that tools find the package and its types. */
const lint = (project: string, tarball: string): void => {
  const bin = (name: string) => join(project, "node_modules/.bin", name)
  run("publint", bin("publint"), ["run", tarball, "--strict"], project)
  // Effect and its entry point are ES modules only. node10 ignores `exports`.
  const ignored = ["--profile", "node16", "--exclude-entrypoints", "./effect"]
  run("attw", bin("attw"), [tarball, ...ignored], project)
  printLine("publint and attw find nothing wrong")
}

const runJest = async (project: string): Promise<void> => {
  await writeFiles(project, { "cjs/sdk.test.js": jestTest })
  const jest = join(project, "node_modules/jest/bin/jest.js")
  run("Jest", process.execPath, [jest, "--rootDir", join(project, "cjs")], project)
  printLine("runs in Jest")
}

const project = await mkdtemp(join(tmpdir(), "scheduling-sdk-package-"))
try {
  const tarball = await install(project)
  // Effect is not installed yet, so a successful bundle proves that the entry point does not need
  // it.
  for (const { bytes, entry, exported } of budgets) {
    const { gzipped } = await weigh(project, entry, [], exported)
    if (gzipped > bytes) throw new Error(`${exported} of ${entry} is heavier than ${bytes} bytes`)
  }
  await symlink(join(root, "node_modules/effect"), join(project, "node_modules/effect"))
  await weigh(project, "./effect", ["effect", "effect/http", "effect/http-api"])
  await weigh(project, "./effect", [])

  const { programs, recipes } = await readBlocks(sdk)
  await writePrograms(sdk, project, programs)
  await typeCheck(project, folders, join(root, "node_modules/.bin/tsc"))
  await runConsumers(project)
  {
    await using server = await startServer()
    await runReadme(project, server.url, programs)
  }
  if (!isOffline) {
    await checkFrameworks(recipes, tarball)
    const others = join(project, "others")
    await writeFiles(others, { "package.json": { private: true } })
    npmInstall(others, [older, ...tools, tarball])
    lint(others, tarball)
    await runJest(others)
    await typeCheck(project, folders, join(others, "node_modules/typescript/bin/tsc"))
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(project, { recursive: true, force: true })
}
