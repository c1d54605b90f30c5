// @tags processes embedded long
import packageJson from "../package.json" with { type: "json" }
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs"
import { connect, createServer } from "node:net"
import * as path from "node:path"
import { createDataDirectory } from "./support/createDataDirectory.ts"
import { type RawExchange, requestText, sendBytesTo } from "./support/rawHttp.ts"
import {
  sendJson,
  listening,
  newUser,
  type ServerProcess,
  spawnServer,
  startServer,
  temporaryFolder
} from "./support/ServerProcess.ts"

const createKey = async (
  server: Pick<ServerProcess, "url">,
  { token, workspace }: { readonly token: string; readonly workspace: string }
) => {
  const body = { name: "a key", scopes: ["workspace:read"] }
  const created = await sendJson(server, "POST", `${workspace}/api-keys`, { token, body })
  return created.status === 201 ? String(created.body.key) : undefined
}

const isRefused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1")
      .on("connect", () => {
        socket.destroy()
        resolve(false)
      })
      .on("error", () => resolve(true))
  })

/** Returns the line that the server prints on standard error if it fails to start. */
const failure = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const server = yield* spawnServer(env)
  assert.strictEqual(yield* server.exited, 1)
  const [line = "", ...rest] = server.stderr().split("\n")
  assert.deepStrictEqual(rest, [""], server.stderr())
  return line
})

/** Scalar's script contains the URLs of its fonts, but uses them only with `withDefaultFonts`. */
const assertSelfContained = (html: string) => {
  assert.include(html, "Scheduling Service")
  const tags = html.match(/<(?:script|link|img|iframe|source|base|object|embed)\b[^>]*>/gi) ?? []
  assert.isNotEmpty(tags)
  for (const tag of tags) assert.notMatch(tag, /(?:src|href|data)\s*=\s*["']?(?:https?:)?\/\//i)
  assert.include(html, '"withDefaultFonts":false')
  assert.include(html, '"telemetry":false')
}

/** Sends half a request, stops the server, and then sends the rest. */
const finishAfter = (server: ServerProcess, token: string, signal: NodeJS.Signals) =>
  Effect.gen(function* () {
    const idle = connect(server.port, "127.0.0.1").on("error", () => {})
    const idleEnded = new Promise((resolve) => idle.on("close", resolve).resume())
    idle.write(requestText("GET /v1/health"))
    const body = JSON.stringify({ name: "finished" })
    const headers = {
      authorization: `Bearer ${token}`,
      "content-length": String(body.length),
      expect: "100-continue"
    }
    return yield* sendBytesTo(server.url, requestText("POST /v1/workspaces", headers), {
      afterwards: (socket) => {
        socket.once("data", async () => {
          server.kill(signal)
          await idleEnded
          while (!(await isRefused(server.port)));
          socket.write(body)
        })
      }
    })
  })

const assertFinished = ({ answers }: RawExchange) => {
  assert.deepStrictEqual(
    answers.map(({ status }) => status),
    [100, 201]
  )
  assert.strictEqual(answers[1]?.headers.get("connection"), "close")
}

const assertLogLines = (stdout: string) => {
  for (const text of stdout.trimEnd().split("\n")) {
    const line = JSON.parse(text)
    assert.isFalse(Number.isNaN(Date.parse(line.time)))
    assert.include(["debug", "info", "warn", "error"], line.level)
    assert.isString(line.message)
  }
}

const messagesOf = (server: ServerProcess, level: string): ReadonlyArray<string> =>
  server
    .stdout()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
    .filter((line) => line.level === level)
    .map(({ message }) => String(message))

const { version } = packageJson

/** Each test starts processes with their own stores, which takes 30 seconds on a busy machine. */
const timeout = 180_000

describe("The process", { concurrent: true }, () => {
  it.live(
    "needs no variable, locks its store, and finishes open requests on SIGTERM",
    () =>
      Effect.gen(function* () {
        const DATA_DIR = path.join(yield* temporaryFolder("data"), "not", "yet")
        const server = yield* startServer({ DATA_DIR, RATELIMIT: "5", DATABASE_URI: "" })
        const ready = yield* Effect.promise(() => sendJson(server, "GET", "/v1/ready"))
        assert.deepStrictEqual([ready.status, ready.body], [200, { status: "ok" }])
        const health = yield* Effect.promise(() => sendJson(server, "GET", "/v1/health"))
        assert.deepStrictEqual([health.status, health.body], [200, { status: "ok", version }])
        const document = yield* Effect.promise(() => sendJson(server, "GET", "/v1/openapi.json"))
        assert.match(document.body.openapi, /^3\./)
        const html = yield* Effect.promise(async () => (await fetch(`${server.url}/docs`)).text())
        assertSelfContained(html)
        assert.strictEqual(fs.statSync(DATA_DIR).mode & 0o777, 0o700)
        assert.strictEqual(fs.statSync(path.join(DATA_DIR, "app-secret")).mode & 0o777, 0o600)

        assert.include(
          yield* failure({ DATA_DIR }),
          `cannot start: The data directory ${DATA_DIR} is in use by process ${server.pid} on `
        )

        const user = yield* newUser(server)
        const key = yield* Effect.promise(() => createKey(server, user))
        assertFinished(yield* finishAfter(server, user.token, "SIGTERM"))
        assert.strictEqual(yield* server.exited, 0)
        assert.strictEqual(server.stderr(), "")
        assertLogLines(server.stdout())
        assert.deepStrictEqual(messagesOf(server, "warn"), [
          "RATELIMIT is not a setting; did you mean RATE_LIMIT?"
        ])
        const messages = messagesOf(server, "info")
        assert.include(
          messages.find((message) => message.includes("listening on")),
          `version ${version} is listening on ${server.url}`
        )
        assert.include(messages, "stopping (SIGTERM)")
        assert.strictEqual(messages.at(-1), "stopped")
        assert.isString(key)
        assert.notInclude(server.stdout(), String(key))
      }),
    timeout
  )

  it.live(
    "loses no acknowledged write to kill -9, and keeps its secret",
    () =>
      Effect.gen(function* () {
        const DATA_DIR = yield* createDataDirectory("data")
        const server = yield* startServer({ DATA_DIR })
        const users = yield* Effect.all([newUser(server), newUser(server), newUser(server)])
        const acknowledged: Array<{ readonly key: string; readonly workspace: string }> = []
        const writers = users.map(async (user) => {
          for (;;) {
            const key = await createKey(server, user).catch(() => undefined)
            if (key === undefined) return
            acknowledged.push({ key, workspace: user.workspace })
            if (acknowledged.length === 60) server.kill("SIGKILL")
          }
        })
        yield* Effect.promise(() => Promise.all(writers))
        assert.isNull(yield* server.exited)
        assert.isAtLeast(acknowledged.length, 60)

        const again = yield* startServer({ DATA_DIR, LOG_FORMAT: "pretty" })
        const statuses = yield* Effect.promise(() =>
          Promise.all(
            acknowledged.map(async ({ key, workspace }) => {
              const { status } = await sendJson(again, "GET", workspace, { token: key })
              return status
            })
          )
        )
        assert.deepStrictEqual(
          statuses,
          acknowledged.map(() => 200)
        )
        const [{ token }] = users
        assertFinished(yield* finishAfter(again, token, "SIGINT"))
        assert.strictEqual(yield* again.exited, 0)
        assert.match(again.stdout(), /INFO.*listening on/)
        assert.match(again.stdout(), /INFO.*stopping \(SIGINT\)\n[^]*INFO.*stopped\n$/)

        const file = path.join(DATA_DIR, "app-secret")
        fs.writeFileSync(file, "another secret, of thirty-two bytes or more")
        assert.include(
          yield* failure({ DATA_DIR }),
          `cannot start: the secret in ${file} is not the secret of this database`
        )
      }),
    timeout
  )

  it.live(
    "says in one line which variable is wrong, without its value, or what else prevents the start",
    () =>
      Effect.gen(function* () {
        const other = createServer()
        yield* Effect.addFinalizer(() => Effect.sync(() => other.close()))
        const port = yield* listening(other)
        assert.strictEqual(
          yield* failure({ DATA_DIR: yield* createDataDirectory("data"), PORT: String(port) }),
          `cannot start: cannot listen on HOST 127.0.0.1, PORT ${port}: the port is already in use by another process`
        )
        const DATABASE_URL = "postgres://user:hunter2@localhost/app"
        const missing = yield* failure({ DATABASE_URL })
        assert.match(missing, /^cannot start: APP_SECRET is required with DATABASE_URL/)
        assert.notInclude(missing, "hunter2")
        const short = yield* failure({ APP_SECRET: "hunter2" })
        assert.match(short, /^cannot start: APP_SECRET: /)
        assert.notInclude(short, "hunter2")
      }),
    timeout
  )
})
