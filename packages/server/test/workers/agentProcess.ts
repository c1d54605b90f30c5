import { inject } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import * as path from "node:path"
import { text } from "node:stream/consumers"
import {
  sendJson,
  eventually,
  listening,
  newUser,
  type ServerProcess,
  startServer,
  temporaryFolder
} from "../support/ServerProcess.ts"
import { freshDatabaseUrl, testDatabaseUrl } from "../support/TestDatabase.ts"

const main = path.resolve(import.meta.dirname, "../../../agent/src/main.ts")

/** Starts a server with its own database, and creates an account. */
export const startFixture = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string>> = {}
) {
  const folder = yield* temporaryFolder("agents")
  if (testDatabaseUrl === undefined) {
    fs.cpSync(inject("storeFiles"), path.join(folder, "postgres"), { recursive: true })
  }
  const store: Record<string, string> =
    testDatabaseUrl === undefined
      ? {}
      : {
          DATABASE_URL: yield* freshDatabaseUrl(testDatabaseUrl),
          APP_SECRET: "a secret for tests, thirty-two bytes and more"
        }
  const server = yield* startServer({ DATA_DIR: folder, ...store, ...env })
  const user = yield* newUser(server)
  const ask = (method: string, at: string, body?: object) =>
    sendJson(server, method, user.workspace + at, { token: user.token, body })
  return { folder, server, user, ask, databaseUrl: store["DATABASE_URL"] }
})

export type Fixture = Effect.Success<ReturnType<typeof startFixture>>

export const createWorker = ({ ask }: Fixture) =>
  Effect.promise(async () => {
    const { body } = await ask("POST", "/workers", { name: "Office", labels: ["office"] })
    return { id: String(body.id), token: String(body.token) }
  })

export interface AgentProcess {
  readonly output: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  readonly exited: Effect.Effect<number | null>
}

const statusFileOf = (folder: string, token: string) =>
  path.join(folder, `status-${token.slice(-8)}`)

/** Returns the status command's output for an agent that this fixture started. */
export const statusOf = ({ folder }: Pick<Fixture, "folder">, token: string) =>
  Effect.promise(async () => {
    const words = [main, "status", "--status-file", statusFileOf(folder, token)]
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] })
    const said = [text(child.stdout), text(child.stderr)]
    const [code]: Array<number | null> = await once(child, "close")
    return { code, said: (await Promise.all(said)).join("") }
  })

/** Starts the real agent with these flags, in an empty environment. */
export const startAgent = Effect.fnUntraced(function* (
  { folder, server }: { readonly folder: string; readonly server: Pick<ServerProcess, "url"> },
  token: string,
  flags: ReadonlyArray<string> = ["--allow", "127.0.0.0/8"],
  /** A command used to run the agent, such as `ip netns exec`. */
  within: ReadonlyArray<string> = []
): Effect.fn.Return<AgentProcess, never, Scope.Scope> {
  const file = statusFileOf(folder, token)
  const command = [...within, process.execPath, main, "run", "--status-file", file, ...flags]
  const child: ChildProcess = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(command[0] ?? "", command.slice(1), {
        env: {
          PATH: process.env["PATH"],
          SCHEDULING_URL: server.url,
          SCHEDULING_WORKER_TOKEN: token
        },
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  let output = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk) => {
      output += chunk
    })
  }
  const exit = once(child, "close").then(([code]: Array<number | null>) => code ?? null)
  yield* eventually("an agent that is online", async () => output.includes("is online"))
  return {
    output: () => output,
    kill: (signal) => void child.kill(signal),
    exited: Effect.promise(() => exit)
  }
})

export const createCronTask = ({ ask }: Fixture, url: string, options: object = {}) =>
  Effect.promise(async () => {
    const task = { name: "job", url, schedule: "0 0 1 1 *", run_on: { labels: ["office"] } }
    const { body } = await ask("POST", "/cron", { ...task, overlap: "allow", ...options })
    return String(body.id)
  })

export const runTask = ({ ask }: Fixture, id: string) =>
  Effect.promise(async () => String((await ask("POST", `/cron/${id}/run`)).body.id))

export const waitForEnd = ({ ask }: Fixture, runId: string) =>
  eventually("the end of a run", async () => {
    const { body } = await ask("GET", `/executions/${runId}?wait_seconds=30`)
    return body.finished_at === null ? undefined : body
  })

/**
 * Starts a proxy to the server that can be cut like a cable: connections stay open, but no data
 * passes until the cable is restored.
 */
export const startCuttableProxy = Effect.fnUntraced(function* ({
  port
}: Pick<ServerProcess, "port">) {
  let isCut = false
  const ends = new Set<Socket>()
  const through = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createServer((near) => {
        const far = connect(port, "127.0.0.1")
        for (const [end, other] of [
          [near, far],
          [far, near]
        ] as const) {
          ends.add(end)
          end.on("error", () => other.destroy())
          end.on("close", () => {
            ends.delete(end)
            if (!isCut) other.destroy()
          })
          end.on("data", (chunk) => {
            if (!isCut) other.write(chunk)
          })
        }
      })
    ),
    (server) =>
      Effect.sync(() => {
        server.close()
        for (const end of ends) end.destroy()
      })
  )
  const url = `http://127.0.0.1:${yield* listening(through)}`
  return {
    url,
    cut: () => {
      isCut = true
    },
    mend: () => {
      isCut = false
      for (const end of ends) end.destroy()
    }
  }
})
