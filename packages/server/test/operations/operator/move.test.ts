// @tags processes
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as path from "node:path"
import { sendCommand } from "../../../src/controlSocket.ts"
import { createDataDirectory } from "../../support/createDataDirectory.ts"
import {
  sendJson,
  eventually,
  newUser,
  startServer,
  temporaryFolder
} from "../../support/ServerProcess.ts"
import { freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"

const program = path.resolve(import.meta.dirname, "../../../src/move.ts")

/** Runs the command as an operator would type it. */
const typed = (env: Readonly<Record<string, string>>, ...words: ReadonlyArray<string>) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number; readonly text: string }>((resolve) =>
        execFile(process.execPath, [program, ...words], { env }, (error, out, err) =>
          resolve({ code: Number(error?.code ?? 0), text: `${out}${err}`.trim() })
        )
      )
  )

describe("npm run move", () => {
  it.live.skipIf(testDatabaseUrl === undefined)(
    "moves a service to PostgreSQL, where it continues with all its data",
    () =>
      Effect.gen(function* () {
        const DATA_DIR = yield* createDataDirectory("move")
        const url = yield* freshDatabaseUrl(testDatabaseUrl ?? "")
        const called: Array<string> = []
        const port = yield* httpTarget((request, response) => {
          called.push(String(request.headers["webhook-signature"] ?? ""))
          response.end("ok")
        })
        const here = yield* Effect.scoped(
          Effect.gen(function* () {
            const env = { DATA_DIR, RUNNER: "off", EGRESS_ALLOW: "127.0.0.0/8" }
            const server = yield* startServer(env)
            const { token, workspace } = yield* newUser(server)
            const post = (at: string, body?: unknown) =>
              Effect.promise(() =>
                sendJson(server, "POST", `${workspace}${at}`, {
                  token,
                  ...(body === undefined ? {} : { body })
                })
              )
            const task = yield* post("/delayed", {
              url: `http://127.0.0.1:${port}/`,
              delay_seconds: 0
            })
            const key = yield* post("/api-keys", { name: "a", scopes: ["tasks:read"] })
            const heartbeat = yield* post("/monitors/heartbeat", {
              name: "a",
              period_seconds: 3_600
            })
            const secret = yield* post("/signing-secrets/rotate")
            assert.deepStrictEqual(
              [task, key, heartbeat, secret].map(({ status }) => Math.floor(status / 100)),
              [2, 2, 2, 2]
            )
            const running = yield* typed({ DATA_DIR }, "--to", url)
            assert.strictEqual(running.code, 1)
            assert.match(running.text, /in use by process \d+.*Stop the server first/)
            server.kill("SIGTERM")
            assert.strictEqual(yield* server.exited, 0)
            return {
              token,
              workspace,
              key: String(key.body.key),
              ping: new URL(String(heartbeat.body.ping_url)).pathname,
              task: String(task.body.id)
            }
          })
        )
        for (const words of [[], ["--to"], ["--to", "mysql://a"], ["--from", url]]) {
          const refused = yield* typed({ DATA_DIR }, ...words)
          assert.deepStrictEqual([refused.code, refused.text.split(" -- ")[0]], [1, "npm run move"])
        }
        const moved = yield* typed({ DATA_DIR, DATABASE_URL: url })
        assert.strictEqual(moved.code, 0, moved.text)
        assert.match(moved.text, /^1\tusers$/m)
        const secretFile = /APP_SECRET_FILE=(\S+)\./.exec(moved.text)?.[1] ?? ""
        assert.strictEqual(secretFile, path.join(DATA_DIR, "app-secret"))

        const elsewhere = yield* temporaryFolder("moved")
        const server = yield* startServer({
          DATA_DIR: elsewhere,
          DATABASE_URL: url,
          APP_SECRET_FILE: secretFile,
          EGRESS_ALLOW: "127.0.0.0/8"
        })
        const status = (method: string, at: string, token?: string) =>
          Effect.promise(async () => {
            const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
            return (await fetch(server.url + at, { method, headers })).status
          })
        const { key, ping, task, token, workspace } = here
        assert.strictEqual(yield* status("GET", "/v1/auth/me", token), 200)
        assert.strictEqual(yield* status("GET", `${workspace}/delayed/${task}`, key), 200)
        assert.strictEqual(yield* status("POST", ping), 200)
        yield* eventually("the call of a task from before", async () => called.length === 1, 20_000)
        assert.isNotEmpty(called[0])
        const audit = yield* Effect.promise(() => sendCommand(elsewhere, ["verify-audit"]))
        assert.match(audit.text, /events are intact/)
      }).pipe(Effect.scoped),
    300_000
  )
})
