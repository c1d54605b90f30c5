import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { AppConfig } from "../../src/core/config/Config.ts"
import { type KeyPurpose, seal, Secrets, unseal } from "../../src/core/Secrets.ts"
import { testConfig } from "../support/TestApp.ts"

const purposes: ReadonlyArray<KeyPurpose> = ["api-key", "jwt", "signing-secret", "login-throttle"]

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "scheduling-secrets-"))),
  (folder) => Effect.sync(() => fs.rmSync(folder, { recursive: true }))
)

const secretsIn = (dataDir: string, overrides: Partial<AppConfig["Service"]> = {}) =>
  Secrets.pipe(
    Effect.provide(Secrets.layer),
    Effect.provideService(AppConfig, { ...testConfig, appSecret: undefined, dataDir, ...overrides })
  )

const keyBytes = (secrets: Secrets["Service"], purpose: KeyPurpose) =>
  secrets.keys(purpose).map(({ secret }) => secret.export().toString("hex"))

const redacted = (name: string) => Redacted.make(name.padEnd(32, "."))

const ringOf = (current: string, ...retired: ReadonlyArray<string>) =>
  Effect.map(
    Effect.provide(Secrets, Secrets.layerFrom(redacted(current), ...retired.map(redacted))),
    (secrets) => secrets.keys("signing-secret")
  )

describe("Secrets", () => {
  describe("kept beside the data", () => {
    it.effect("are created once, in a file that nobody else can read", () =>
      Effect.gen(function* () {
        const dataDir = path.join(yield* temporaryFolder, "new", "data")
        const first = yield* secretsIn(dataDir)
        const file = path.join(dataDir, "app-secret")
        assert.strictEqual(fs.statSync(file).mode & 0o777, 0o600)
        assert.strictEqual(fs.statSync(dataDir).mode & 0o777, 0o700)
        assert.match(fs.readFileSync(file, "utf8"), /^[A-Za-z0-9_-]{64}$/)
        const second = yield* secretsIn(dataDir)
        assert.deepStrictEqual(keyBytes(second, "jwt"), keyBytes(first, "jwt"))
      })
    )

    it.effect("differ between two data directories", () =>
      Effect.gen(function* () {
        const one = yield* secretsIn(yield* temporaryFolder)
        const other = yield* secretsIn(yield* temporaryFolder)
        assert.notDeepEqual(keyBytes(one, "jwt"), keyBytes(other, "jwt"))
      })
    )

    it.effect("are the same if two processes create them simultaneously", () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        const all = yield* Effect.all(
          Array.from({ length: 8 }, () => secretsIn(dataDir)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(all.map((secrets) => keyBytes(secrets, "jwt")[0])).size, 1)
      })
    )

    it.effect.each(["", "short"])("are refused if the file contains only %j", (content) =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        const file = path.join(dataDir, "app-secret")
        fs.writeFileSync(file, content)
        const { message } = yield* Effect.flip(secretsIn(dataDir))
        assert.strictEqual(
          message,
          `cannot read or create the application secret ${file}: it is shorter than 32 bytes`
        )
      })
    )

    it.effect("name the file that cannot be read", () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        fs.mkdirSync(path.join(dataDir, "app-secret"))
        const { message } = yield* Effect.flip(secretsIn(dataDir))
        assert.include(message, path.join(dataDir, "app-secret"))
      })
    )

    it.effect("are not created if APP_SECRET is set", () =>
      Effect.gen(function* () {
        const dataDir = yield* temporaryFolder
        yield* secretsIn(dataDir, { appSecret: Redacted.make("x".repeat(32)) })
        assert.deepStrictEqual(fs.readdirSync(dataDir), [])
      })
    )
  })

  it.effect(
    "give every purpose a key of its own, under an id that reveals nothing about the key",
    () =>
      Effect.gen(function* () {
        const secrets = yield* Effect.provide(
          Secrets,
          Secrets.layerFrom(redacted("a"), redacted("b"))
        )
        const keys = purposes.flatMap((purpose) => secrets.keys(purpose))
        assert.strictEqual(
          new Set(keys.map(({ secret }) => secret.export().toString("hex"))).size,
          8
        )
        assert.strictEqual(new Set(keys.map(({ id }) => id)).size, 8)
        for (const { id, secret } of keys) {
          const bytes = secret.export()
          assert.strictEqual(bytes.length, 32)
          assert.notInclude(bytes.toString("hex"), id)
        }
      })
  )

  it.effect("open values that a retired secret sealed, and seal them with the current secret", () =>
    Effect.gen(function* () {
      const sealed = seal(yield* ringOf("old"), "a workspace", "whsec_1")
      const rotated = yield* ringOf("new", "old")
      assert.strictEqual(unseal(rotated, "a workspace", sealed), "whsec_1")
      assert.strictEqual(seal(rotated, "a", "b").split(".")[0], rotated[0].id)
      const forgotten = yield* ringOf("new")
      assert.throws(() => unseal(forgotten, "a workspace", sealed), /APP_SECRET_PREVIOUS/)
    })
  )

  it.effect("open no value that was moved, cut or altered", () =>
    Effect.gen(function* () {
      const ring = yield* ringOf("secret")
      const sealed = seal(ring, "a workspace", "whsec_1")
      assert.notStrictEqual(sealed, seal(ring, "a workspace", "whsec_1"))
      assert.throws(() => unseal(ring, "another workspace", sealed))
      const [id = "", data = ""] = sealed.split(".")
      const bytes = Buffer.from(data, "base64url")
      for (let index = 0; index < bytes.length; index++) {
        const altered = Buffer.from(bytes)
        altered[index] = (altered[index] ?? 0) ^ 1
        assert.throws(() => unseal(ring, "a workspace", `${id}.${altered.toString("base64url")}`))
        const cut = bytes.subarray(0, index).toString("base64url")
        assert.throws(() => unseal(ring, "a workspace", `${id}.${cut}`))
      }
    })
  )
})
