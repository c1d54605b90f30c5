import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const root = join(import.meta.dirname, "../../../..")

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}

/** The real server as a process with its own embedded store. */
export class Service {
  readonly url: string
  readonly #port: number
  readonly #data = mkdtempSync(join(tmpdir(), "panel-data-"))
  readonly #environment: NodeJS.ProcessEnv
  #process: ChildProcess | undefined

  private constructor(port: number, environment: NodeJS.ProcessEnv, hostname: string) {
    this.#port = port
    this.#environment = { ...environment }
    this.url = `http://${hostname}:${port}`
  }

  /**
   * Passkeys work only with a host name, such as `localhost`. Creating the store takes 4 s of CPU
   * time, unless an existing store's files are provided.
   */
  static async start(
    environment: NodeJS.ProcessEnv = {},
    hostname = "127.0.0.1",
    storeFiles?: string
  ): Promise<Service> {
    const service = new Service(await freePort(), environment, hostname)
    if (storeFiles !== undefined) {
      cpSync(storeFiles, join(service.#data, "postgres"), { recursive: true })
    }
    await service.start()
    return service
  }

  /** Starts the process. `settings` are added to the settings of earlier starts. */
  async start(settings: NodeJS.ProcessEnv = {}): Promise<void> {
    Object.assign(this.#environment, settings)
    let output = ""
    const child = spawn(process.execPath, ["packages/server/src/main.ts"], {
      cwd: root,
      env: {
        PATH: process.env["PATH"],
        HOST: "127.0.0.1",
        PORT: String(this.#port),
        DATA_DIR: this.#data,
        EGRESS_ALLOW: "127.0.0.0/8",
        PUBLIC_URL: this.url,
        // Each account is created from a different address, because registrations are limited per
        // address.
        TRUST_PROXY: "127.0.0.0/8",
        RATE_LIMIT: "0",
        ...this.#environment
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.#process = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => (output += text))
    }
    for (let tries = 0; tries < 600; tries++) {
      if (child.exitCode !== null) throw new Error(`the service did not start: ${output}`)
      const isReady = await fetch(`${this.url}/v1/ready`).then(
        ({ ok }) => ok,
        () => false
      )
      if (isReady) return
      await sleep(200)
    }
    throw new Error(`the service was not ready within two minutes: ${output}`)
  }

  async stop(): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, "exit")
    child.kill("SIGTERM")
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    rmSync(this.#data, { recursive: true, force: true })
  }
}
