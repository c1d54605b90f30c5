// @tags processes long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { sendCommand } from "../../../src/controlSocket.ts"
import { createDataDirectory } from "../../support/createDataDirectory.ts"
import { sendJson, newUser, startServer, temporaryFolder } from "../../support/ServerProcess.ts"
import { freshDatabaseUrl, testDatabaseUrl } from "../../support/TestDatabase.ts"

const program = path.resolve(import.meta.dirname, "../../../src/restore.ts")

const restore = (DATA_DIR: string, from: string) =>
  Effect.promise(
    () =>
      new Promise<{ readonly code: number; readonly text: string }>((resolve) =>
        execFile(process.execPath, [program, from], { env: { DATA_DIR } }, (error, out, err) =>
          resolve({ code: Number(error?.code ?? 0), text: `${out}${err}`.trim() })
        )
      )
  )

const backup = (dataDir: string, to: string) =>
  Effect.promise(() => sendCommand(dataDir, ["backup", to]))

describe("npm run backup", () => {
  it.live.skipIf(testDatabaseUrl !== undefined)(
    "contains every write that was acknowledged before it, while other writes continue",
    () =>
      Effect.gen(function* () {
        const DATA_DIR = yield* createDataDirectory("backup")
        const to = path.join(yield* temporaryFolder("backups"), "today")
        const acknowledged: Array<string> = []
        let atBackup: ReadonlyArray<string> = []
        const { token, workspace } = yield* Effect.scoped(
          Effect.gen(function* () {
            const server = yield* startServer({ DATA_DIR, RUNNER: "off" })
            const user = yield* newUser(server)
            const create = async () => {
              const { body, status } = await sendJson(server, "POST", `${user.workspace}/cron`, {
                token: user.token,
                body: { name: "a", url: "https://example.com/", schedule: "0 0 1 1 *" }
              })
              if (status === 201) acknowledged.push(body.id)
            }
            const over = new AbortController()
            const writers = [1, 2, 3].map(async () => {
              while (!over.signal.aborted && acknowledged.length < 500) await create()
            })
            while (acknowledged.length < 30) yield* Effect.sleep("10 millis")
            atBackup = [...acknowledged]
            const taken = yield* backup(DATA_DIR, to)
            over.abort()
            yield* Effect.promise(() => Promise.all(writers))
            assert.isTrue(taken.ok, taken.text)
            assert.deepInclude(yield* backup(DATA_DIR, to), {
              ok: false,
              text: `${to} already exists. Choose a folder that does not exist yet.`
            })
            assert.include((yield* restore(DATA_DIR, to)).text, "is in use by process")
            return user
          })
        )
        assert.sameMembers(fs.readdirSync(to), ["app-secret", "postgres"])
        assert.strictEqual(fs.statSync(to).mode & 0o777, 0o700)

        const elsewhere = yield* temporaryFolder("restored")
        assert.include((yield* restore(elsewhere, path.join(to, ".."))).text, "is not a backup")
        assert.strictEqual((yield* restore(elsewhere, to)).code, 0)
        const again = yield* restore(elsewhere, to)
        assert.match(again.text, /The previous files are in .*before-restore-/)
        const restored = yield* startServer({ DATA_DIR: elsewhere, RUNNER: "off" })
        for (const id of atBackup) {
          const { status } = yield* Effect.promise(() =>
            sendJson(restored, "GET", `${workspace}/cron/${id}`, { token })
          )
          assert.strictEqual(status, 200, id)
        }
      }).pipe(Effect.scoped),
    400_000
  )

  it.live.skipIf(testDatabaseUrl === undefined)(
    "is left to pg_dump on PostgreSQL",
    () =>
      Effect.gen(function* () {
        const DATA_DIR = yield* temporaryFolder("backup")
        yield* startServer({
          DATA_DIR,
          DATABASE_URL: yield* freshDatabaseUrl(testDatabaseUrl ?? ""),
          APP_SECRET: "a secret for tests, thirty-two bytes and more",
          RUNNER: "off"
        })
        const { ok, text } = yield* backup(DATA_DIR, path.join(DATA_DIR, "b"))
        assert.isFalse(ok)
        assert.include(text, "pg_dump")
      }).pipe(Effect.scoped),
    120_000
  )
})
