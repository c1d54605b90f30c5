import { SchedulingClient } from "@scheduling/sdk"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { cp, readFile } from "node:fs/promises"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { run, printLine, writeFiles } from "../command.ts"
import { asCommonJs, type Block, readDocExamples } from "./readme.ts"
import { startStub } from "./stub.ts"
import type { Folder } from "./typescript.ts"

const usesEffect = ({ code }: Block) => code.includes('from "effect')

const dom = ["ES2023", "DOM", "DOM.Iterable"]
export const folders: ReadonlyArray<Folder> = [
  { name: "esm", setups: ["node16", "node18", "nodenext", "bundler"], lib: dom },
  { name: "cjs", setups: ["node16", "node18", "nodenext", "bundler"], lib: dom },
  { name: "cjs-effect", setups: ["nodenext"], lib: dom }
]

/** Writes the programs of the tests and of the README, as ES modules and as CommonJS. */
export const writePrograms = async (
  sdk: string,
  project: string,
  programs: ReadonlyArray<Block>
): Promise<void> => {
  const examples = await readDocExamples(sdk)
  await cp(join(sdk, "test/consumer"), join(project, "esm"), { recursive: true })
  for (const { code, name } of [...programs, examples]) {
    await writeFiles(project, { [`esm/${name}`]: code })
  }
  for (const file of ["promise.ts", "webhooks.ts", "effect.ts"]) {
    const code = await readFile(join(sdk, "test/consumer", file), "utf8")
    const folder = usesEffect({ name: file, code }) ? "cjs-effect" : "cjs"
    await writeFiles(project, { [`${folder}/${file}`]: code })
  }
  for (const program of programs) {
    const { code, name } = asCommonJs(program)
    const folder = usesEffect(program) ? "cjs-effect" : "cjs"
    await writeFiles(project, { [`${folder}/${name}`]: code })
  }
  await writeFiles(project, { "cjs/examples.ts": examples.code })
  // Declares only `process`, because all of Node's types would hide what the package does not
  // declare.
  const declared = "declare const process: { env: Record<string, string | undefined> }"
  for (const { name } of folders) await writeFiles(project, { [`${name}/node.d.ts`]: declared })
}

/** This Node, and the machine's own if it is a different one. */
const nodes = (): ReadonlyArray<string> => {
  const directories = (process.env["PATH"] ?? "").split(delimiter)
  const own = directories
    .filter((directory) => !directory.includes("node_modules"))
    .map((directory) => join(directory, "node"))
    .find((file) => existsSync(file))
  return own === undefined ? [process.execPath] : [process.execPath, own]
}

const outputs: Readonly<Record<string, string>> = {
  promise: "Nightly report,task,019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41,2026-02-01T03:00:00.000Z,r1,1",
  webhooks: "e1,true,no_matching_signature,w1",
  effect: "Nightly report,Acme production"
}

/** Effect needs Node 22.19, however it is loaded. */
const hasEffect = (version: string) => Number(/\d+/.exec(version)) >= 22

/** Runs each test program against each build of the package, and compares what it prints. */
export const runConsumers = async (project: string): Promise<void> => {
  await using stub = await startStub()
  const names = Object.entries(outputs)
  await onEachNode(project, async (node, version) => {
    for (const { folder, name } of built(
      project,
      names.map(([name]) => name),
      version
    )) {
      const call = `import("./${folder}/out/${name}.js").then((it) => it.main("${stub.url}"))`
      const args = ["-e", `${call}.then(String).then(console.log)`]
      const { stdout } = await promisify(execFile)(node, args, { cwd: project })
      if (stdout.trim() !== outputs[name]) {
        throw new Error(`${folder}/${name} on Node ${version} said ${stdout}, not ${outputs[name]}`)
      }
    }
    return "the programs of the tests"
  })
}

/** Runs the programs of the README unchanged, each with a key of its own workspace. */
export const runReadme = async (
  project: string,
  url: string,
  programs: ReadonlyArray<Block>
): Promise<void> => {
  const names = programs.map(({ name }) => name.replace(".ts", ""))
  const env = { ...process.env, SCHEDULING_URL: url, SCHEDULING_API_KEY: await newKey(url) }
  await onEachNode(project, async (node, version) => {
    for (const { folder, name } of built(project, names, version)) {
      run(`${folder}/${name} on Node ${version}`, node, [`${folder}/out/${name}.js`], project, env)
    }
    return `${names.length} programs of the README`
  })
}

const onEachNode = async (
  project: string,
  check: (node: string, version: string) => Promise<string>
): Promise<void> => {
  for (const node of nodes()) {
    const version = run("node", node, ["--version"], project).trim().replace("v", "")
    printLine(
      `runs ${await check(node, version)} on Node ${version}, as ES modules and as CommonJS`
    )
  }
}

/** The compiled file of each program, if this Node can run it. */
const built = (project: string, names: ReadonlyArray<string>, version: string) =>
  folders.flatMap(({ name: folder }) =>
    names
      .filter((name) => existsSync(join(project, folder, "out", `${name}.js`)))
      .filter(
        (name) => hasEffect(version) || !existsSync(join(project, "cjs-effect", `${name}.ts`))
      )
      .map((name) => ({ folder, name }))
  )

const newKey = async (baseUrl: string): Promise<string> => {
  const account = { email: `${crypto.randomUUID()}@example.com`, password: "a password for tests" }
  const person = await SchedulingClient.register({ ...account, baseUrl })
  const scopes = ["tasks:read", "tasks:write", "executions:read", "workspace:read"] as const
  const { key } = await person.apiKeys.create({ name: "readme", scopes: [...scopes] })
  return key
}
