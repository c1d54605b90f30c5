// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { type Answer, ask, askRaw, statusAndError, randomIp, signUp } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { cronClientOf } from "../tasks/cron/tasks.ts"
import { endpoints } from "./support/contract.ts"
import { changedRows, readAllRows } from "./support/readAllRows.ts"
import { SharedOwner } from "./support/SharedOwner.ts"

const pathsOf = (answer: Answer): ReadonlyArray<ReadonlyArray<string>> => {
  assert.strictEqual(statusAndError(answer), "422 validation_failed", answer.text)
  return answer.body.detail.issues.map(({ path }: { readonly path: unknown }) => path)
}

const unknown = (name: string, part: string) => ({
  path: [name],
  code: "unknown_field",
  message: `${name} is not a known ${part}.`
})

const unread = [
  ['{"unheard_of":true}', ["unheard_of"]],
  ["[]", []],
  ["unheard_of=true", []]
] as const

layer(SharedOwner.layer.pipe(Layer.provideMerge(testAppLayer())))("Unknown input", (it) => {
  it.effect.each(endpoints)("is rejected without effect: $method $path", (endpoint) =>
    Effect.gen(function* () {
      const { example, method, queryFields, schema } = endpoint
      const { member, pathOf } = yield* SharedOwner
      const path = yield* pathOf(endpoint)
      const token = member.access_token
      const asked = (more: string, body?: unknown) =>
        ask(method, path + more, { token, body, headers: { "x-forwarded-for": randomIp() } })
      const before = yield* readAllRows
      assert.deepInclude(pathsOf(yield* asked("?unheard_of=true", example)), ["unheard_of"])
      if (schema !== undefined) {
        assert.deepInclude(pathsOf(yield* asked("", { ...example, unheard_of: true })), [
          "unheard_of"
        ])
      } else {
        for (const [body, at] of unread) {
          const paths = pathsOf(yield* asked("", body))
          // Missing query parameters are reported first.
          if (paths.every(([name = ""]) => queryFields.includes(name))) continue
          assert.deepStrictEqual(paths, [method === "GET" ? [] : at], body)
        }
      }
      assert.deepStrictEqual(changedRows(yield* readAllRows, before), [])
    })
  )

  it.effect("does not include an empty body, chunked or not, and an empty object", () =>
    Effect.gen(function* () {
      const { access_token: token, ...member } = yield* signUp()
      const { body: task } = yield* cronClientOf({ ...member, access_token: token }).create()
      const path = `${member.workspace}/cron/${task.id}/run?`
      for (const answer of [
        yield* ask("POST", path, { token, body: "" }),
        yield* ask("POST", path, { token, body: "{}" }),
        yield* askRaw("POST", path, [
          "authorization",
          `Bearer ${token}`,
          "transfer-encoding",
          "chunked"
        ])
      ]) {
        assert.strictEqual(answer.status, 202, answer.text)
      }
    })
  )

  it.effect("is reported completely", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { body: task } = yield* cronClientOf(member).create()
      const run = (query: string, body?: unknown) =>
        ask("POST", `${member.workspace}/cron/${task.id}/run${query}`, {
          token: member.access_token,
          body
        })
      const byQuery = yield* run("?input=1&wait_seconds=5&input=2")
      assert.deepStrictEqual(byQuery.body.detail.issues, [
        unknown("input", "parameter"),
        unknown("wait_seconds", "parameter")
      ])
      const byBody = yield* run("", { unheard_of: true, delay: 1 })
      assert.deepStrictEqual(byBody.body.detail.issues, [
        unknown("unheard_of", "field"),
        unknown("delay", "field")
      ])
    })
  )
})
