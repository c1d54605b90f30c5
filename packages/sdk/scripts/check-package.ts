/**
 * Is what would be published what a user needs? Builds and packs it, installs the tarball into an
 * empty project, type-checks and runs programs there, and weighs what a bundler makes of it.
 *
 *   --offline   leave out TypeScript 5.9, which comes from the registry
 */
import { Api } from "@scheduling/domain/Api"
import { openApiDocument } from "@scheduling/domain/OpenApiDocument"
import { execFile, execFileSync } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"

const sdk = fileURLToPath(new URL("..", import.meta.url))
const root = join(sdk, "../..")

const run = (command: string, args: ReadonlyArray<string>, cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })

const say = (text: string) => process.stdout.write(`${text}\n`)

const install = async (project: string): Promise<void> => {
  run(process.execPath, [join(sdk, "scripts/build.ts")], sdk)
  const [packed] = JSON.parse(
    run("npm", ["pack", "--json", "--pack-destination", project], join(sdk, "dist"))
  ) as ReadonlyArray<{
    readonly filename: string
    readonly size: number
    readonly entryCount: number
  }>
  if (packed === undefined) throw new Error("npm packed nothing")
  say(`packed ${packed.entryCount} files, ${packed.size} bytes`)
  await writeFile(join(project, "package.json"), `{ "private": true, "type": "module" }`)
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", packed.filename], project)
  if (existsSync(join(project, "node_modules/effect"))) throw new Error("effect is not optional")
}

const tsconfig = (moduleResolution: string) => ({
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: "ES2022",
    module: moduleResolution === "bundler" ? "ESNext" : "NodeNext",
    moduleResolution,
    lib: ["ES2023", "DOM", "DOM.Iterable"],
    types: [],
    outDir: "out"
  },
  include: ["*.ts"]
})

const typeCheck = async (project: string, tsc: string): Promise<void> => {
  const version = run(process.execPath, [tsc, "--version"], project).trim()
  for (const moduleResolution of ["NodeNext", "bundler"]) {
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(tsconfig(moduleResolution)))
    try {
      run(process.execPath, [tsc, "-p", "."], project)
    } catch (error) {
      const output = error instanceof Error && "stdout" in error ? String(error.stdout) : ""
      throw new Error(`${version}, ${moduleResolution}:\n${output}`, { cause: error })
    }
  }
  say(`type-checks with TypeScript ${version.replace("Version ", "")}`)
}

/** As much of the service as the programs use, with the records of the OpenAPI document. */
const startStub = async () => {
  const { schemas } = openApiDocument(Api).components
  const example = (name: string): unknown => [schemas[name]?.examples].flat()[0]
  const task = example("CronTask")
  const answers: ReadonlyArray<readonly [RegExp, number, unknown]> = [
    [/^GET .*whoami$/, 200, { kind: "api_key", workspace_id: "ws", key_prefix: "p", scopes: [] }],
    [/ .*workspaces.other/, 404, { detail: { error: "not_found", message: "", resource: "task" } }],
    [/^GET .*cron$/, 200, { data: [task], next_cursor: null }],
    [/^POST .*cron$/, 201, task],
    [/^GET .*cron./, 200, task],
    [/^GET .*workspaces.[^/]+$/, 200, example("Workspace")]
  ]
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost")
    const line = `${request.method} ${pathname}`
    const [, status = 500, body] = answers.find(([pattern]) => pattern.test(line)) ?? []
    response.writeHead(status, { "content-type": "application/json", "x-request-id": "r1" })
    response.end(JSON.stringify(body))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new Error("The stub has no port")
  return { url: `http://127.0.0.1:${address.port}`, close: () => server.close() }
}

/** This Node, and the machine's own where that is another one. */
const nodes = (): ReadonlyArray<string> => {
  const folders = (process.env["PATH"] ?? "").split(delimiter)
  const own = folders
    .filter((folder) => !folder.includes("node_modules"))
    .map((folder) => join(folder, "node"))
    .find((file) => existsSync(file))
  return own === undefined ? [process.execPath] : [process.execPath, own]
}

const runPrograms = async (project: string): Promise<void> => {
  const stub = await startStub()
  try {
    for (const node of nodes()) {
      const version = run(node, ["--version"], project).trim()
      // Effect itself needs 22.19.
      const programs = Number(/\d+/.exec(version)) < 22 ? ["promise", "webhooks"] : everything
      for (const program of programs) {
        const call = `import("./out/${program}.js").then((it) => it.main("${stub.url}")).then(String)`
        const args = ["-e", `${call}.then(console.log)`]
        const { stdout } = await promisify(execFile)(node, args, { cwd: project })
        const expected = outputs[program]
        if (stdout.trim() !== expected) {
          throw new Error(`${program} on Node ${version} said ${stdout}, not ${expected}`)
        }
      }
      say(`runs ${programs.join(", ")} on Node ${version}`)
    }
  } finally {
    stub.close()
  }
}

const outputs: Readonly<Record<string, string>> = {
  promise: "Nightly report,task,019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41,2026-02-01T03:00:00.000Z,r1,1",
  webhooks: "e1,true,no_matching_signature",
  effect: "Nightly report,Acme production"
}
const everything = Object.keys(outputs)

/** The most that each entry may weigh, minified and gzipped, in bytes. */
const budgets = { ".": 9_000, "./webhooks": 2_000 }

const weigh = async (project: string, entry: string, external: ReadonlyArray<string>) => {
  const input = join(project, "entry.js")
  await writeFile(input, `export * from "${join("@scheduling/sdk", entry)}"`)
  const bundle = await rolldown({ input, platform: "browser", external: [...external] })
  const { output } = await bundle.generate({ minify: true })
  const code = output.map((chunk) => (chunk.type === "chunk" ? chunk.code : "")).join("")
  if (/^import .* from ["'](?!effect)/m.test(code))
    throw new Error(`${entry} has unbundled imports`)
  const sizes = { minified: Buffer.byteLength(code), gzipped: gzipSync(code).length }
  const what = external.length > 0 ? ` without ${external.join(", ")}` : ""
  say(`${entry}${what}: ${sizes.minified} bytes minified, ${sizes.gzipped} gzipped`)
  return sizes
}

const project = await mkdtemp(join(tmpdir(), "scheduling-sdk-package-"))
try {
  await install(project)
  // Effect is not there yet: what bundles now does not need it.
  for (const [entry, budget] of Object.entries(budgets)) {
    const { gzipped } = await weigh(project, entry, [])
    if (gzipped > budget) throw new Error(`${entry} is heavier than ${budget} bytes`)
  }
  await symlink(join(root, "node_modules/effect"), join(project, "node_modules/effect"))
  await weigh(project, "./effect", ["effect", "effect/http", "effect/http-api"])
  await weigh(project, "./effect", [])

  await cp(join(sdk, "test/consumer"), project, { recursive: true })
  await typeCheck(project, join(root, "node_modules/.bin/tsc"))
  if (!process.argv.includes("--offline")) {
    const older = join(project, "older")
    await mkdir(older)
    await writeFile(join(older, "package.json"), "{}")
    run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "typescript@5.9"], older)
    await typeCheck(project, join(older, "node_modules/typescript/bin/tsc"))
  }
  await runPrograms(project)
} finally {
  await rm(project, { recursive: true, force: true })
}
