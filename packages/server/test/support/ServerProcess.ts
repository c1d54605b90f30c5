import { Effect, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { type AddressInfo, createServer, type Server } from "node:net"
import * as os from "node:os"
import * as path from "node:path"

const main = path.resolve(import.meta.dirname, "../../src/main.ts")

export interface ServerProcess {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  /** The exit code, or null if a signal ended the process. */
  readonly exited: Effect.Effect<number | null>
}

export const listening = (server: Server) =>
  Effect.promise(async () => {
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    return (server.address() as AddressInfo).port
  })

export const freePort = Effect.suspend(() => {
  const server = createServer()
  return Effect.tap(
    listening(server),
    Effect.sync(() => server.close())
  )
})

export const temporaryFolder = (name: string) =>
  Effect.acquireRelease(
    Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), `scheduling-${name}-`))),
    (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true, force: true }))
  )

const textOf = (stream: ChildProcess["stdout"]) => {
  let text = ""
  stream?.setEncoding("utf8").on("data", (chunk) => {
    text += chunk
  })
  return () => text
}

/**
 * Starts the real server in exactly this environment, without a rate limit. It is killed when the
 * scope closes.
 */
export const spawnServer = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string>>
): Effect.fn.Return<ServerProcess, never, Scope.Scope> {
  const port = env["PORT"] === undefined ? yield* freePort : Number(env["PORT"])
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [main], {
        env: { PORT: String(port), RATE_LIMIT: "0", ...env },
        cwd: os.tmpdir(),
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const exit = once(child, "close").then(([code]: Array<number | null>) => code ?? null)
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    stdout: textOf(child.stdout),
    stderr: textOf(child.stderr),
    kill: (signal) => void child.kill(signal),
    exited: Effect.promise(() => exit)
  }
})

/** Checks the condition every 50 ms until it is met. A condition that throws is not met yet. */
export const eventually = <A>(
  what: string,
  condition: () => Promise<A | false | undefined>,
  withinMs = 120_000
) =>
  Effect.promise(async () => {
    const deadline = performance.now() + withinMs
    let last: unknown
    while (performance.now() < deadline) {
      try {
        const value = await condition()
        if (value !== false && value !== undefined) return value
      } catch (error) {
        last = error
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`timed out waiting for ${what}`, { cause: last })
  })

export const startServer = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const server = yield* spawnServer(env)
  yield* eventually(
    "a server that answers",
    async () => (await fetch(`${server.url}/v1/health`)).ok
  )
  return server
})

export interface JsonResponse {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- the assertions check the body
  readonly body: any
}

export const sendJson = async (
  server: Pick<ServerProcess, "url">,
  method: string,
  at: string,
  options: {
    readonly token?: string
    readonly body?: unknown
    readonly headers?: Readonly<Record<string, string>>
    /** How long to wait for the response. By default, there is no limit. */
    readonly timeoutMs?: number
  } = {}
): Promise<JsonResponse> => {
  const response = await fetch(server.url + at, {
    method,
    headers: {
      "content-type": "application/json",
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...options.headers
    },
    ...(options.timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(options.timeoutMs) }),
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) })
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? null : JSON.parse(text)
  }
}

/** Registers a user. Returns the access token and the workspace's path. */
export const newUser = (server: Pick<ServerProcess, "url">) =>
  Effect.promise(async () => {
    const account = {
      email: `${crypto.randomUUID()}@example.com`,
      password: "correct horse battery staple"
    }
    const registered = await sendJson(server, "POST", "/v1/auth/register", { body: account })
    const login = await sendJson(server, "POST", "/v1/auth/login", { body: account })
    return {
      token: String(login.body.access_token),
      workspace: `/v1/workspaces/${registered.body.workspace.id}`
    }
  })
