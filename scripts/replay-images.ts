/**
 * Builds both container images without Docker and starts them: the server with its embedded store,
 * and the agent for a worker on that server. Checks the server's health endpoint and panel. The
 * argument is the project folder, `.` by default.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout } from "node:timers/promises"
import { printLine } from "../packages/sdk/scripts/command.ts"
import { freePort } from "../packages/sdk/test/support/server.ts"
import { buildImage, environmentOf, type Image } from "./image/buildImage.ts"
import { workerToken } from "./workerToken.ts"

const context = resolve(process.argv[2] ?? ".")
const folder = await mkdtemp(join(tmpdir(), "scheduling-image-"))

class Container implements AsyncDisposable {
  readonly #image: Image
  readonly #env: NodeJS.ProcessEnv
  readonly #process: ChildProcess
  #said = ""

  constructor(image: Image, env: NodeJS.ProcessEnv) {
    this.#image = image
    this.#env = { ...environmentOf(image), ...env }
    const [program = "", ...args] = [...image.entrypoint, ...image.command]
    this.#process = spawn(program, args, { cwd: image.workdir, env: this.#env })
    this.#process.on("error", ({ message }) => (this.#said += message))
    for (const output of [this.#process.stdout, this.#process.stderr]) {
      output?.setEncoding("utf8").on("data", (text: string) => (this.#said += text))
    }
  }

  async untilHealthy(): Promise<void> {
    const [program = "", ...args] = this.#image.healthcheck
    for (let attempt = 0; attempt < 240; attempt++) {
      const { workdir: cwd } = this.#image
      if (spawnSync(program, args, { cwd, env: this.#env, timeout: 20_000 }).status === 0) return
      if (this.#process.exitCode !== null) break
      await setTimeout(500)
    }
    throw new Error(`the container is not healthy. It said:\n${this.#said}`)
  }

  /** Stops the program as a container engine does, and checks that it exits with 0. */
  async stop(): Promise<void> {
    this.#process.kill("SIGTERM")
    const [code] = await once(this.#process, "exit", { signal: AbortSignal.timeout(40_000) })
    if (code !== 0) throw new Error(`the container stopped with ${code}. It said:\n${this.#said}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.kill("SIGKILL")) {
      await once(this.#process, "exit")
    }
  }
}

const get = async (url: string): Promise<string> => {
  const answer = await fetch(url, { headers: { accept: "text/html, */*" } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} responded with ${answer.status}: ${text}`)
  return text
}

/** Fetches the panel's page and all files that it refers to. */
const checkPanel = async (url: string): Promise<void> => {
  const page = await get(`${url}/`)
  const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, file = ""]) => file)
  if (!files.some((file) => file.endsWith(".js"))) throw new Error(`this is no panel:\n${page}`)
  for (const file of files) await get(url + file)
  printLine(`the panel and its ${files.length} files are there`)
}

/** Runs another command from the image while the container is running. */
const checkCommand = (
  { entrypoint, ...image }: Image,
  args: ReadonlyArray<string>,
  env: object
) => {
  const [program = "", ...words] = [...entrypoint, ...args]
  const { status, stderr, stdout } = spawnSync(program, words, {
    cwd: image.workdir,
    encoding: "utf8",
    env: { ...environmentOf({ entrypoint, ...image }), ...env },
    timeout: 60_000
  })
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`)
}

try {
  const server = await buildImage(context, "Dockerfile", join(folder, "server"))
  const agent = await buildImage(context, "packages/agent/Dockerfile", join(folder, "agent"))
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  await using running = new Container(server, { PORT: port, HOST: "127.0.0.1" })
  await running.untilHealthy()
  printLine(`the server is healthy: ${await get(`${url}/v1/health`)}`)
  await checkPanel(url)
  await get(`${url}/docs`)
  checkCommand(server, ["node", "start.cjs", "account", "list"], {})

  const settings = { SCHEDULING_URL: url, SCHEDULING_WORKER_TOKEN: await workerToken(url) }
  checkCommand(agent, ["check"], settings)
  await using worker = new Container(agent, settings)
  await worker.untilHealthy()
  await worker.stop()
  printLine("the agent takes runs of that server")
  await running.stop()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true })
}
