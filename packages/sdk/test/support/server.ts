import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../../server/src/main.ts", import.meta.url))

/** Starting takes a few seconds, or more than a minute if many tests share slow cores. */
const startTimeoutMs = 180_000

export interface Server extends AsyncDisposable {
  readonly url: string
}

/**
 * Starts the service as users do, in a separate process with its own embedded store. Creating the
 * store takes seconds, unless an existing store's files are provided.
 */
export const startServer = async (
  env: NodeJS.ProcessEnv = {},
  storeFiles?: string
): Promise<Server> => {
  const dataDir = await mkdtemp(join(tmpdir(), "scheduling-sdk-"))
  if (storeFiles !== undefined) {
    await cp(storeFiles, join(dataDir, "postgres"), { recursive: true })
  }
  const port = await freePort()
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env["PATH"],
      DATA_DIR: dataDir,
      PORT: String(port),
      // The servers that the tests' tasks call listen on loopback addresses, which tasks are not
      // allowed to call by default.
      EGRESS_ALLOW: "127.0.0.0/8",
      LOG_FORMAT: "json",
      ...env
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await listening(child, AbortSignal.timeout(startTimeoutMs))
  } catch (error) {
    await stop("SIGKILL")
    throw error
  }
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => stop("SIGTERM") }
}

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (typeof address === "object" && address !== null) return address.port
  throw new Error("There is no free port")
}

const listening = async (child: ChildProcess, signal: AbortSignal): Promise<void> => {
  const { stderr, stdout } = child
  if (stdout === null || stderr === null) throw new Error("The server has no output")
  const said: Array<string> = []
  stderr.setEncoding("utf8").on("data", (text: string) => said.push(text))
  for await (const line of createInterface({ input: stdout, signal })) {
    said.push(line)
    if (line.includes("listening on")) {
      // The pipe must be read, because the server would block if it were full.
      stdout.resume()
      return
    }
  }
  throw new Error(`The server did not start:\n${said.join("\n")}`)
}
