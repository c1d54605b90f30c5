// @tags processes long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { sendCommand } from "../../../src/controlSocket.ts"
import { follow } from "../../live/streams.ts"
import { createDataDirectory } from "../../support/createDataDirectory.ts"
import { sendJson, eventually, newUser, startServer } from "../../support/ServerProcess.ts"
import { TestApp } from "../../support/TestApp.ts"
import { freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"

const program = path.resolve(import.meta.dirname, "../../../src/operator.ts")

/** Runs the command as an operator would type it. */
const typed = (DATA_DIR: string, ...words: ReadonlyArray<string>) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number; readonly out: string; readonly err: string }>(
        (resolve) =>
          execFile(
            process.execPath,
            [program, ...words],
            { env: { DATA_DIR } },
            (error, out, err) =>
              resolve({ code: Number(error?.code ?? 0), out: out.trim(), err: err.trim() })
          )
      )
  )

/** Sends the command to the server as the program does, but without starting the program. */
const account = (DATA_DIR: string, ...words: ReadonlyArray<string>) =>
  Effect.map(
    Effect.promise(() => sendCommand(DATA_DIR, words)),
    ({ ok, text }) => ({ code: ok ? 0 : 1, out: ok ? text : "", err: ok ? "" : text })
  )

const store = Effect.gen(function* () {
  const DATA_DIR = yield* createDataDirectory("account")
  if (testDatabaseUrl === undefined) return { DATA_DIR }
  return {
    DATA_DIR,
    DATABASE_URL: yield* freshDatabaseUrl(testDatabaseUrl),
    APP_SECRET: "a secret for tests, thirty-two bytes and more"
  }
})

const email = "ada@example.com"
const password = "correct horse battery staple"

describe("npm run account", () => {
  it.live(
    "creates, lists, resets and disables accounts beside the running server",
    () =>
      Effect.gen(function* () {
        const env = yield* store
        const before = yield* typed(env.DATA_DIR, "list")
        assert.strictEqual(before.code, 1)
        assert.include(before.err, "no server responds")

        const server = yield* startServer({ ...env, REGISTRATION: "closed", RUNNER: "off" })
        const post = (at: string, body: unknown) =>
          Effect.promise(() => sendJson(server, "POST", at, { body }))
        const logIn = Effect.map(
          post("/v1/auth/login", { email, password }),
          ({ status }) => status
        )
        const setPassword = (token: string, new_password = password) =>
          Effect.map(
            post("/v1/auth/password/reset", { token, new_password }),
            ({ status }) => status
          )
        const socket = path.join(env.DATA_DIR, "control.sock")
        yield* eventually("the socket", async () => fs.existsSync(socket), 10_000)
        assert.strictEqual(fs.statSync(socket).mode & 0o777, 0o600)

        assert.strictEqual((yield* typed(env.DATA_DIR, "list")).out, "There are no accounts.")
        const created = yield* account(env.DATA_DIR, "create", "Ada@Example.com")
        assert.strictEqual(created.code, 0, created.err)
        const [token = ""] = created.out.split("\n")
        assert.strictEqual(yield* logIn, 401)
        assert.strictEqual(yield* setPassword(token), 204)
        assert.strictEqual(yield* logIn, 200)
        assert.match(
          (yield* account(env.DATA_DIR, "list")).out,
          /^ada@example\.com {2}since 20\S+Z$/
        )
        assert.strictEqual((yield* typed(env.DATA_DIR, "create", email)).code, 1)

        const login = yield* post("/v1/auth/login", { email, password })
        const accessToken = String(login.body.access_token)
        const { body: workspaces } = yield* Effect.promise(() =>
          sendJson(server, "GET", "/v1/workspaces", { token: accessToken })
        )
        const stream = yield* follow({
          workspace: `/v1/workspaces/${workspaces.data[0].id}`,
          token: accessToken
        }).pipe(Effect.provideService(TestApp, { url: server.url, otherUrl: server.url, logs: [] }))
        const disabled = yield* account(env.DATA_DIR, "disable", email)
        assert.match(disabled.out, /2 sessions were ended/)
        yield* eventually("the end of the stream", async () => stream.end() === "ended", 10_000)
        assert.strictEqual(yield* logIn, 401)
        const me = yield* Effect.promise(() =>
          sendJson(server, "GET", "/v1/auth/me", { token: accessToken })
        )
        assert.strictEqual(me.status, 401)
        assert.match((yield* account(env.DATA_DIR, "list")).out, /disabled at/)
        yield* account(env.DATA_DIR, "enable", email)
        assert.strictEqual(yield* logIn, 200)

        const link = yield* account(env.DATA_DIR, "reset-link", email)
        assert.strictEqual(
          yield* setPassword(link.out.split("\n")[0] ?? "", "another password!"),
          204
        )
        assert.strictEqual(yield* logIn, 401)

        const verifying = yield* account(env.DATA_DIR, "verify-link", email)
        assert.include(verifying.out, `This token verifies ${email} within a week`)
        const verified = yield* post("/v1/auth/email/verify", {
          token: verifying.out.split("\n")[0]
        })
        assert.strictEqual(verified.status, 204)
        const again = yield* account(env.DATA_DIR, "verify-link", email)
        assert.deepInclude(again, { code: 1, err: `${email} is already verified.` })

        const factor = yield* account(env.DATA_DIR, "remove-second-factor", email)
        assert.deepInclude(factor, { code: 1, err: `${email} has no second factor.` })
        for (const words of [[], ["nonsense"], ["disable"], ["disable", "nobody@example.com"]]) {
          const refused = yield* account(env.DATA_DIR, ...words)
          assert.strictEqual(refused.code, 1, words.join(" "))
          assert.isNotEmpty(refused.err)
        }
      }),
    300_000
  )

  it.live(
    "finds the server that was started after another server was killed",
    () =>
      Effect.gen(function* () {
        const env = yield* store
        const killed = yield* startServer({ ...env, RUNNER: "off" })
        yield* newUser(killed)
        killed.kill("SIGKILL")
        yield* killed.exited
        const server = yield* startServer({ ...env, RUNNER: "off" })
        // The server accepts requests shortly before it accepts operator commands.
        const { out } = yield* Effect.repeat(typed(env.DATA_DIR, "list"), {
          until: ({ code }) => code === 0,
          times: 20
        })
        assert.match(out, /@example\.com {2}since/)
        const { token, workspace } = yield* newUser(server)
        yield* Effect.promise(() =>
          sendJson(server, "PATCH", workspace, { token, body: { name: "ours" } })
        )
        const verified = yield* account(env.DATA_DIR, "verify-audit")
        assert.match(verified.out, /^\d+ events are intact\. The last event/, verified.err)
        const hash = verified.out.slice(-43)
        const compared = yield* account(env.DATA_DIR, "verify-audit", hash)
        assert.match(compared.out, /^\d+ events are intact\./, compared.err)
        const missing = yield* account(env.DATA_DIR, "verify-audit", "x".repeat(43))
        assert.match(missing.err, /^no event has the hash x{43}: /)
        const id = workspace.split("/").at(-1) ?? ""
        const exported = yield* account(env.DATA_DIR, "export-audit", id)
        assert.deepStrictEqual(
          exported.out.split("\n").map((line) => JSON.parse(line).action),
          ["workspace.created", "workspace.renamed"]
        )
      }),
    300_000
  )
})
