// @tags processes embedded long
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { createDataDirectory } from "./support/createDataDirectory.ts"
import { makePostgresCluster, clusterSkipReason } from "./support/PostgresCluster.ts"
import {
  sendJson,
  eventually,
  type ServerProcess,
  spawnServer,
  startServer,
  temporaryFolder
} from "./support/ServerProcess.ts"

const email = "ada@example.com"
const password = randomBytes(12).toString("hex")

/** Returns the settings for a first account, whose files are in a separate folder. */
const settings = Effect.map(temporaryFolder("bootstrap"), (folder) => {
  const passwordFile = path.join(folder, "password")
  fs.writeFileSync(passwordFile, `${password}\n`)
  return {
    keyFile: path.join(folder, "key"),
    env: {
      BOOTSTRAP_EMAIL: email,
      BOOTSTRAP_PASSWORD_FILE: passwordFile,
      BOOTSTRAP_WORKSPACE: "Acme production",
      BOOTSTRAP_API_KEY_FILE: path.join(folder, "key")
    }
  }
})

const logIn = (server: ServerProcess) =>
  Effect.promise(async () => {
    const { body, status } = await sendJson(server, "POST", "/v1/auth/login", {
      body: { email, password }
    })
    assert.strictEqual(status, 200)
    return String(body.access_token)
  })

const get = (server: ServerProcess, at: string, token: string) =>
  Effect.map(
    Effect.promise(() => sendJson(server, "GET", at, { token })),
    ({ body, status }) => {
      assert.strictEqual(status, 200, at)
      return body
    }
  )

const stop = (server: ServerProcess) =>
  Effect.suspend(() => {
    server.kill("SIGTERM")
    return server.exited
  })

const timeout = 180_000

describe("The first start", () => {
  it.live(
    "creates the account, the workspace and the key that the settings name, and the next does nothing",
    () =>
      Effect.gen(function* () {
        const { env, keyFile } = yield* settings
        const DATA_DIR = yield* createDataDirectory("data")
        const server = yield* startServer({ DATA_DIR, ...env, REGISTRATION: "closed" })
        const token = yield* logIn(server)
        const me = yield* get(server, "/v1/auth/me", token)
        assert.deepStrictEqual([me.email, me.email_verified], [email, true])
        const { data } = yield* get(server, "/v1/workspaces", token)
        assert.deepStrictEqual(
          data.map(({ name }: { readonly name: string }) => name),
          ["Acme production"]
        )
        const key = fs.readFileSync(keyFile, "utf8").trimEnd()
        assert.strictEqual(fs.statSync(keyFile).mode & 0o777, 0o600)
        const whoami = yield* get(server, "/v1/whoami", key)
        assert.deepStrictEqual([whoami.kind, whoami.workspace_id], ["api_key", data[0].id])
        const audit = yield* get(server, `/v1/workspaces/${data[0].id}/audit`, token)
        assert.include(
          audit.data.map(({ action }: { readonly action: string }) => action),
          "api_key.created"
        )
        assert.notInclude(server.stdout(), key)
        assert.notInclude(server.stdout(), password)
        yield* stop(server)

        fs.rmSync(keyFile)
        const again = yield* startServer({ DATA_DIR, ...env, BOOTSTRAP_EMAIL: "eve@example.com" })
        assert.strictEqual((yield* get(again, "/v1/auth/me", yield* logIn(again))).email, email)
        assert.isFalse(fs.existsSync(keyFile))
      }),
    timeout
  )

  it.live(
    "does not happen, and leaves no account, if the key file cannot be written",
    () =>
      Effect.gen(function* () {
        const { env, keyFile } = yield* settings
        const DATA_DIR = yield* createDataDirectory("data")
        const refusal = Effect.fnUntraced(function* (more: Readonly<Record<string, string>>) {
          const server = yield* spawnServer({ DATA_DIR, ...env, ...more })
          assert.strictEqual(yield* server.exited, 1)
          return server.stderr()
        })
        assert.match(
          yield* refusal({ BOOTSTRAP_API_KEY_FILE: "/nowhere/key" }),
          /^cannot start: BOOTSTRAP_API_KEY_FILE: cannot write \/nowhere\/key: ENOENT[^\n]*\n$/
        )
        fs.writeFileSync(keyFile, "notes of somebody")
        assert.strictEqual(
          yield* refusal({}),
          `cannot start: BOOTSTRAP_API_KEY_FILE: cannot write ${keyFile}: the file exists and contains something other than an API key\n`
        )
        assert.strictEqual(fs.readFileSync(keyFile, "utf8"), "notes of somebody")
        fs.writeFileSync(env.BOOTSTRAP_PASSWORD_FILE, "password1234")
        assert.strictEqual(
          yield* refusal({}),
          "cannot start: BOOTSTRAP_PASSWORD: password is one of the most common passwords; choose another.\n"
        )

        // A key from an earlier database is replaced.
        fs.writeFileSync(env.BOOTSTRAP_PASSWORD_FILE, password)
        const earlier = `pak_${randomBytes(32).toString("base64url")}\n`
        fs.writeFileSync(keyFile, earlier)
        const server = yield* startServer({ DATA_DIR, ...env })
        const key = fs.readFileSync(keyFile, "utf8")
        assert.notStrictEqual(key, earlier)
        yield* get(server, "/v1/whoami", key.trimEnd())
      }),
    timeout
  )

  it.live.skipIf(clusterSkipReason !== undefined)(
    "creates one account if two nodes start at once",
    () =>
      Effect.gen(function* () {
        const { env, keyFile } = yield* settings
        const postgres = yield* makePostgresCluster(60)
        yield* postgres.start
        const nodes = yield* Effect.all(
          ["one", "other"].map(() =>
            spawnServer({
              DATABASE_URL: postgres.ownerUrl,
              APP_SECRET: "a secret for tests, thirty-two bytes and more",
              RUNNER: "off",
              ...env
            })
          )
        )
        for (const node of nodes) {
          yield* eventually(
            "a ready node",
            async () => (await sendJson(node, "GET", "/v1/ready")).status === 200
          )
          const { data } = yield* get(node, "/v1/workspaces", yield* logIn(node))
          assert.lengthOf(data, 1)
          yield* get(node, "/v1/whoami", fs.readFileSync(keyFile, "utf8").trimEnd())
        }
        const created = nodes.filter((node) =>
          node.stdout().includes("the first account and its workspace are created")
        )
        assert.lengthOf(created, 1)
      }),
    timeout
  )
})
