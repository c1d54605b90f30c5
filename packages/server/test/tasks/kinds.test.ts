import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import {
  type Answer,
  ask,
  statusAndError,
  signUp,
  times,
  runConcurrently
} from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { unknownId } from "../support/routes.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { type chainClientOf, minimalChain as chain } from "./chains/chains.ts"
import { setUpCron, minimalCron as cronTask, runsOf } from "./cron/tasks.ts"
import { minimalDelayed as delayedTask } from "./delayed/tasks.ts"

type Owner = Parameters<typeof chainClientOf>[0]

/** The requests for each task kind. The paths for listing or cancelling a task's runs differ. */
const kinds = [
  { kind: "cron", minimal: cronTask, resource: "task", pauses: true, runs: "executions" },
  { kind: "delayed", minimal: delayedTask, resource: "task", pauses: false, runs: undefined },
  { kind: "chains", minimal: chain, resource: "chain", pauses: true, runs: "runs" }
] as const

type Kind = (typeof kinds)[number]

const tasksOf = ({ kind, minimal }: Kind, { access_token: token, workspace }: Owner) => {
  const path = `${workspace}/${kind}`
  return {
    create: (input: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", path, { token, headers, body: { ...minimal, ...input } }),
    list: (query: Readonly<Record<string, string>> = {}) =>
      ask("GET", `${path}?${new URLSearchParams(query)}`, { token }),
    get: (id: string) => ask("GET", `${path}/${id}`, { token }),
    update: (id: string, changes: object) =>
      ask("PATCH", `${path}/${id}`, { token, body: changes }),
    remove: (id: string) => ask("DELETE", `${path}/${id}`, { token }),
    act: (id: string, action: string, headers: Readonly<Record<string, string>> = {}) =>
      ask("POST", `${path}/${id}/${action}`, { token, headers }),
    read: (id: string, what: string) => ask("GET", `${path}/${id}/${what}`, { token })
  }
}

const setUp = (kind: Kind) =>
  Effect.map(setUpCron, ({ key, member }) => ({
    member,
    tasks: tasksOf(kind, { ...member, access_token: key })
  }))

const idsIn = ({ body }: Answer): ReadonlyArray<string> =>
  body.data.map(({ id }: { readonly id: string }) => id)

layer(testAppLayer())("tasks of every kind", (it) => {
  it.effect.each(kinds)("are listed newest first, page by page: $kind", (kind) =>
    Effect.gen(function* () {
      const { tasks } = yield* setUp(kind)
      const ids: Array<string> = []
      for (let index = 0; index < 5; index++) {
        yield* TestClock.adjust(1)
        ids.unshift((yield* tasks.create({ name: `Task ${index}` })).body.id)
      }
      const seen: Array<string> = []
      let cursor: string | null = null
      do {
        const page: Answer = yield* tasks.list({ limit: "2", ...(cursor !== null && { cursor }) })
        seen.push(...idsIn(page))
        cursor = page.body.next_cursor
      } while (cursor !== null)
      assert.deepStrictEqual(seen, ids)
      assert.deepStrictEqual(idsIn(yield* tasks.list()), ids)
      assert.strictEqual((yield* tasks.list({ limit: "5" })).body.next_cursor, null)
      assert.strictEqual((yield* tasks.list({ limit: "4" })).body.next_cursor === null, false)
    })
  )

  it.effect.each(kinds)("are filtered by a part of the name, wildcards as text: $kind", (kind) =>
    Effect.gen(function* () {
      const { tasks } = yield* setUp(kind)
      for (const name of ["Report 100%", "report_eu", "Invoice", "Rechnung ÄÖ"]) {
        yield* TestClock.adjust(1)
        yield* tasks.create({ name })
      }
      const names = (query: Readonly<Record<string, string>>) =>
        Effect.map(tasks.list(query), ({ body }) =>
          body.data.map((task: { name: string }) => task.name).toSorted()
        )
      assert.deepStrictEqual(yield* names({ name: "REPORT" }), ["Report 100%", "report_eu"])
      assert.deepStrictEqual(yield* names({ name: "%" }), ["Report 100%"])
      assert.deepStrictEqual(yield* names({ name: "_" }), ["report_eu"])
      assert.deepStrictEqual(yield* names({ name: "\\" }), [])
      assert.deepStrictEqual(yield* names({ name: "' OR true --" }), [])
      assert.deepStrictEqual(yield* names({ name: "äö" }), ["Rechnung ÄÖ"])
      if (!kind.pauses) return
      const { body: paused } = yield* tasks.create({ name: "Paused report" })
      yield* tasks.act(paused.id, "pause")
      assert.deepStrictEqual(yield* names({ status: "paused" }), ["Paused report"])
      assert.deepStrictEqual(yield* names({ name: "report", status: "active" }), [
        "Report 100%",
        "report_eu"
      ])
    })
  )

  it.effect.each(kinds)("are not listed by an invalid query: $kind", (kind) =>
    Effect.gen(function* () {
      const { tasks } = yield* setUp(kind)
      for (const [field, value] of [
        ["status", "deleted"],
        ["name", ""],
        ["limit", "0"],
        ["limit", "101"],
        ["cursor", "nowhere"],
        ["sort", "color"]
      ] as const) {
        const answer = yield* tasks.list({ [field]: value })
        assert.strictEqual(statusAndError(answer), "422 validation_failed", field)
        assert.deepStrictEqual(
          answer.body.detail.issues.map(({ path }: { path: unknown }) => path),
          [field === "status" ? [field, 0] : [field]]
        )
      }
    })
  )

  it.effect.each(kinds)("are created once, and run once, for an Idempotency-Key: $kind", (kind) =>
    Effect.gen(function* () {
      const { tasks } = yield* setUp(kind)
      const headers = { "idempotency-key": "deploy-1" }
      const answers = yield* runConcurrently(times(5, () => tasks.create({}, headers)))
      const [first] = answers
      for (const answer of answers) {
        assert.strictEqual(answer.status, 201)
        assert.deepStrictEqual(answer.body, first?.body)
      }
      assert.deepStrictEqual((yield* tasks.list()).body.data, [first?.body])
      const different = yield* tasks.create({ name: "Different" }, headers)
      assert.strictEqual(statusAndError(different), "422 idempotency_mismatch")
      const invalid = yield* tasks.create({}, { "idempotency-key": "with a space" })
      assert.strictEqual(statusAndError(invalid), "422 validation_failed")

      const { body: task } = yield* tasks.create()
      const runs = yield* runConcurrently(times(3, () => tasks.act(task.id, "run", headers)))
      assert.deepStrictEqual(new Set(runs.map(({ status }) => status)), new Set([202]))
      assert.strictEqual(new Set(runs.map(({ body }) => body.id)).size, 1)
      assert.strictEqual((yield* runsOf(task.id)).length, 1)
      assert.strictEqual(
        statusAndError(yield* tasks.act(unknownId, "run", headers)),
        "404 not_found"
      )

      yield* leap("25 hours")
      const nextDay = yield* tasks.create({}, headers)
      assert.strictEqual(nextDay.status, 201)
      assert.notStrictEqual(nextDay.body.id, first?.body.id)
    })
  )

  it.effect.each(kinds)("are not found in another workspace or as another kind: $kind", (kind) =>
    Effect.gen(function* () {
      const { member: theirs, tasks: their } = yield* setUp(kind)
      const { body: task } = yield* their.create()
      const { member, tasks: our } = yield* setUp(kind)
      const another = kinds.find((other) => other !== kind) ?? kind
      const { body: ofAnotherKind } = yield* tasksOf(another, member).create()
      for (const id of [task.id, ofAnotherKind.id, unknownId, "not-an-id"]) {
        const answers = [
          yield* our.get(id),
          yield* our.update(id, { name: "Mine" }),
          yield* our.remove(id),
          yield* our.act(id, "run")
        ]
        if (kind.pauses) answers.push(yield* our.act(id, "pause"), yield* our.act(id, "resume"))
        if (kind.runs !== undefined) answers.push(yield* our.read(id, kind.runs))
        for (const answer of answers) {
          assert.strictEqual(statusAndError(answer), "404 not_found", id)
          assert.strictEqual(answer.body.detail.resource, kind.resource)
        }
      }
      assert.deepStrictEqual((yield* our.list()).body.data, [])
      assert.deepStrictEqual((yield* their.get(task.id)).body, task)
      const stranger = yield* signUp()
      const hidden = yield* tasksOf(kind, { ...theirs, access_token: stranger.access_token }).list()
      assert.strictEqual(hidden.body.detail.resource, "workspace")
    })
  )
})
