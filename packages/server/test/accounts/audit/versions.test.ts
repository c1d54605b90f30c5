import { assert, layer } from "@effect/vitest"
import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { makeSecrets, unseal } from "../../../src/core/Secrets.ts"
import { ask, createKey, type Member, statusAndError, signUp, times } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { testSecret } from "../../support/testSecret.ts"
import { workerClientOf } from "../../workers/workers.ts"
import { recordKinds, type RecordKind, seededRandom } from "./definitions.ts"

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const scopes = ["tasks:write", "monitors:write", "notifications:write"]
  const key = yield* createKey(member, { name: "CI", scopes })
  const worker: string = (yield* workerClientOf(member).create()).body.id
  const queue = yield* ask("POST", `${member.workspace}/queues`, {
    token: member.access_token,
    body: { name: "Imports", max_concurrency: 1 }
  })
  return { member, key, references: { worker, queues: [String(queue.body.id)] } }
})

const recordsOf = (member: Member, { path }: Pick<RecordKind, "path">) => {
  const at = `${member.workspace}/${path}`
  const { access_token: token } = member
  return {
    create: (body: object) => ask("POST", at, { token, body }),
    get: (id: string) => ask("GET", `${at}/${id}`, { token }),
    update: (id: string, body: object) => ask("PATCH", `${at}/${id}`, { token, body }),
    remove: (id: string) => ask("DELETE", `${at}/${id}`, { token }),
    versions: (id: string) => ask("GET", `${at}/${id}/versions`, { token }),
    version: (id: string, version: number) =>
      ask("GET", `${at}/${id}/versions/${version}`, { token }),
    restore: (id: string, version: number, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${at}/${id}/versions/${version}/restore`, { token, headers })
  }
}

const ring = makeSecrets([testSecret]).keys("notification-channel")

/** Reads a record's stored credentials, which responses never contain. */
const credentialsOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const tasks = yield* sql`
    SELECT
      headers,
      (
        SELECT json_agg(headers ORDER BY step_index)
        FROM chain_steps
        WHERE chain_steps.version_id = tasks.version_id
      ) AS steps
    FROM tasks
    WHERE id = ${id}`
  const monitors = yield* sql`SELECT target FROM checked_monitors WHERE monitor_id = ${id}`
  const channels = yield* sql<{ readonly sealed_secrets: string }>`
    SELECT sealed_secrets
    FROM notification_channels
    WHERE id = ${id}`
  const secrets = channels.map(({ sealed_secrets }) => unseal(ring, id, sealed_secrets))
  return JSON.parse(JSON.stringify({ tasks, monitors, secrets }))
})

const definitionIn = ({ fields }: RecordKind, record: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(fields.map((name) => [name, record[name] ?? null]))

layer(testAppLayer(), { timeout: "60 seconds" })("the versions of a record", (it) => {
  it.effect.each(recordKinds)(
    "are kept with their authors, and each is restored: $path",
    (family) =>
      Effect.gen(function* () {
        const random = seededRandom(7)
        const { key, member, references } = yield* setUp
        const records = recordsOf(member, family)
        const { body: created } = yield* records.create(family.define(random, references))
        const known = new Map<number, { readonly definition: object; readonly stored: object }>()
        const see = Effect.gen(function* () {
          const { body } = yield* records.get(created.id)
          const stored = yield* credentialsOf(created.id)
          known.set(body.version, { definition: definitionIn(family, body), stored })
          return body.version as number
        })
        yield* see
        for (const step of times(6, (index) => index)) {
          yield* TestClock.adjust("1 second")
          const definition = {
            ...Struct.omit(family.define(random, references) as { readonly kind?: string }, [
              "kind"
            ]),
            name: `Step ${step}`
          }
          const paused = family.pauses && step === 3 ? { paused: true } : {}
          const token = step % 2 === 0 ? member.access_token : key.key
          const changed = yield* ask("PATCH", `${member.workspace}/${family.path}/${created.id}`, {
            token,
            body: { ...definition, ...paused }
          })
          assert.strictEqual(changed.status, 200, changed.text)
          yield* see
        }

        const { body: list } = yield* records.versions(created.id)
        assert.deepStrictEqual(
          list.data.map(({ version }: { readonly version: number }) => version),
          [...known.keys()].toReversed()
        )
        assert.deepStrictEqual(list.data[0].updated_by, {
          kind: "api_key",
          id: key.id,
          name: "CI"
        })
        assert.strictEqual(list.data[1].updated_by.kind, "user")
        assert.deepStrictEqual(list.data.at(-1).changes, [])

        for (const [version, { definition, stored }] of [...known].toReversed()) {
          const { body } = yield* records.version(created.id, version)
          assert.deepStrictEqual(body.definition, definition)
          const restored = yield* records.restore(created.id, version)
          assert.strictEqual(restored.status, 200, restored.text)
          assert.deepStrictEqual(definitionIn(family, restored.body), definition)
          assert.deepStrictEqual(yield* credentialsOf(created.id), stored)
        }
        const last = yield* see
        assert.strictEqual(
          statusAndError(yield* records.restore(created.id, 1, { "if-match": `"${last - 1}"` })),
          "412 stale"
        )
        assert.strictEqual(
          statusAndError(yield* records.version(created.id, last + 1)),
          "404 not_found"
        )
        const all = yield* records.versions(created.id)
        assert.notMatch(all.text, /secret\d/)

        yield* records.remove(created.id)
        if (family.path === "delayed") return
        const sql = yield* SqlClient.SqlClient
        const left = yield* sql`
        SELECT version
        FROM definition_versions
        WHERE subject_id = ${created.id}`
        assert.deepStrictEqual(left, [])
      })
  )

  it.effect("are the last hundred, with 4 MiB of values", () =>
    Effect.gen(function* () {
      const { member } = yield* setUp
      const queues = recordsOf(member, { path: "queues" })
      const { body: queue } = yield* queues.create({ name: "Queue", max_concurrency: 1 })
      for (const index of times(105, (one) => one)) {
        yield* queues.update(queue.id, { name: `Queue ${index}` })
      }
      const { body: list } = yield* queues.versions(queue.id)
      assert.strictEqual(list.data.length, 100)
      assert.strictEqual(list.data[0].version, 106)
      assert.deepStrictEqual(list.data.at(-1).changes, [])
      assert.strictEqual(statusAndError(yield* queues.restore(queue.id, 3)), "404 not_found")

      const cron = recordsOf(member, { path: "cron" })
      const { body: task } = yield* cron.create({
        name: "Large",
        url: "https://example.com",
        schedule: "0 3 * * *"
      })
      for (const index of times(20, (one) => one)) {
        yield* cron.update(task.id, { body: String(index % 10).repeat(256 * 1024) })
      }
      const { body: large } = yield* cron.versions(task.id)
      assert.isBelow(large.data.length, 18)
      const oldest = large.data.at(-1).version
      const restored = yield* cron.restore(task.id, oldest)
      assert.strictEqual(restored.body.body, String((oldest - 2) % 10).repeat(256 * 1024))
    })
  )

  it.effect("are restored only if the definition is still possible", () =>
    Effect.gen(function* () {
      const { member, references } = yield* setUp
      const cron = recordsOf(member, { path: "cron" })
      const input = { name: "Task", url: "https://example.com", schedule: "0 3 * * *" }
      const [queue_id] = references.queues
      const { body: task } = yield* cron.create({ ...input, key: "nightly", queue_id })
      yield* cron.update(task.id, { key: null, queue_id: null })
      const { body: other } = yield* cron.create({ ...input, key: "nightly" })
      const taken = yield* cron.restore(task.id, 1)
      assert.strictEqual(statusAndError(taken), "409 conflict")
      assert.strictEqual(taken.body.detail.existing_id, other.id)
      yield* cron.remove(other.id)
      yield* recordsOf(member, { path: "queues" }).remove(queue_id ?? "")
      assert.strictEqual(statusAndError(yield* cron.restore(task.id, 1)), "422 validation_failed")
      assert.strictEqual((yield* cron.get(task.id)).body.version, 2)
      const same = yield* cron.restore(task.id, 2)
      assert.strictEqual(same.body.version, 2)
    })
  )
})
