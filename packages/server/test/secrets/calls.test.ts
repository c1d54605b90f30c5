import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../engine/runner/support/tasks.ts"
import { ask, createKey, statusAndError } from "../support/http.ts"
import { signalledNodesLayer } from "../support/TestApp.ts"
import { setUpSecrets, canary, headerCanary } from "./setUpSecrets.ts"

layer(signalledNodesLayer, { excludeTestServices: true })("a call with values", (it) => {
  describe("of secrets", () => {
    it.effect("arrives with them in its URL, headers and body, and nothing shows them", () =>
      Effect.gen(function* () {
        const { member, run, setSecrets, target, token } = yield* setUpSecrets
        yield* setSecrets
        const execution = yield* run({
          url: `${target.origin}/a/{{ secrets.CANARY }}?token={{ secrets.CANARY }}`,
          headers: { "x-token": "Token {{ secrets.HEADER }}" },
          body: '{"secret":"{{ secrets.CANARY }}","whole":{{ secrets.CANARY }}}'
        })
        const [request] = target.arrived
        const encoded = encodeURIComponent(canary)
        assert.strictEqual(request?.path, `/a/${encoded}?token=${encoded.replace("'", "%27")}`)
        assert.strictEqual(request?.headers["x-token"], `Token ${headerCanary}`)
        assert.deepStrictEqual(JSON.parse(request?.body ?? ""), { secret: canary, whole: canary })

        assert.strictEqual(execution.status, "succeeded", JSON.stringify(execution))
        const text = JSON.stringify(execution)
        for (const form of ["8dK2", encoded, headerCanary, "4711"]) assert.notInclude(text, form)
        assert.strictEqual(execution.attempts[0].request.headers["x-token"], "•••")
        assert.strictEqual(execution.attempts[0].request.url, `${target.origin}/a/•••?token=•••`)
        const list = yield* ask("GET", `${member.workspace}/secrets`, { token })
        assert.deepStrictEqual(
          list.body.data.map(({ name, used_by }: { name: string; used_by: Array<object> }) => ({
            name,
            used_by: used_by.length
          })),
          [
            { name: "HEADER", used_by: 1 },
            { name: "CANARY", used_by: 1 }
          ]
        )
        assert.notInclude(list.text, headerCanary)
      })
    )

    it.effect("fails without them, and calls nobody", () =>
      Effect.gen(function* () {
        const { putSecret, run, target } = yield* setUpSecrets
        const missing = yield* run({ url: `${target.origin}/{{ secrets.NONE }}`, retry_count: 3 })
        assert.deepStrictEqual(missing.error, {
          code: "secret_missing",
          message: "the workspace has no secret named NONE"
        })
        yield* putSecret("ELSEWHERE", { value: "x", allowed_hosts: ["api.example.com"] })
        const refused = yield* run({ url: `${target.origin}/{{ secrets.ELSEWHERE }}` })
        assert.strictEqual(refused.error.code, "secret_refused")
        assert.strictEqual(target.arrived.length, 0)
      })
    )

    it.effect("uses the new value as soon as it is set, on whichever node", () =>
      Effect.gen(function* () {
        const { putSecret, run, target } = yield* setUpSecrets
        for (const value of ["one", "two", "three"]) {
          yield* putSecret("CHANGING", { value, allowed_hosts: [target.origin] }, "otherUrl")
          yield* run({ url: target.origin, headers: { "x-v": "{{ secrets.CHANGING }}" } })
        }
        assert.deepStrictEqual(
          target.arrived.map(({ headers }) => headers["x-v"]),
          ["one", "two", "three"]
        )
      })
    )
  })

  it.effect("of the run, the task and the time has them, and shows what it sent", () =>
    Effect.gen(function* () {
      const { run, target } = yield* setUpSecrets
      const execution = yield* run(
        {
          key: "nightly:1",
          url: `${target.origin}/{{ now.date }}/{{ task.key }}?n={{ input.list[1] }}`,
          headers: { "x-id": "{{ run.id }}", "x-uuid": "{{ uuid }}" },
          body: '{"attempt":{{ run.attempt }},"at":"{{ run.scheduled_for }}","unix":{{ now.unix }},"name":{{ task.name }},"uuid":{{ uuid }},"braces":"{{ "{{" }}"}'
        },
        { input: { list: [1, 2] } }
      )
      const [request] = target.arrived
      const [attempt] = execution.attempts
      assert.strictEqual(execution.status, "succeeded", JSON.stringify(execution))
      assert.strictEqual(request?.headers["x-id"], execution.id)
      assert.match(
        request?.headers["x-uuid"] as string,
        /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
      )
      const sent = JSON.parse(request?.body ?? "")
      assert.strictEqual(sent.at, execution.scheduled_for)
      assert.strictEqual(sent.attempt, 1)
      assert.strictEqual(sent.name, "Nightly")
      assert.strictEqual(sent.braces, "{{")
      assert.notStrictEqual(sent.uuid, request?.headers["x-uuid"])
      assert.strictEqual(
        request?.path,
        `/${attempt.started_at.slice(0, 10)}/nightly:1?n=2`.replace(":", "%3A")
      )
      assert.strictEqual(attempt.request.body, request?.body)
      assert.strictEqual(attempt.request.headers["x-uuid"], request?.headers["x-uuid"])
    })
  )

  it.effect("has them masked in what its job reports later", () =>
    Effect.gen(function* () {
      const { member, setSecrets, target, token } = yield* setUpSecrets
      yield* setSecrets
      const { body: task } = yield* ask("POST", `${member.workspace}/cron`, {
        token,
        body: {
          name: "Job",
          schedule: "0 0 1 1 *",
          url: target.origin,
          headers: { "x-token": "{{ secrets.HEADER }}" },
          completion: "callback"
        }
      })
      const { body: started } = yield* ask("POST", `${member.workspace}/cron/${task.id}/run`, {
        token
      })
      yield* eventually(
        Effect.sync(() => target.arrived.length),
        (count) => count === 1
      )
      const url = String(target.arrived[0]?.headers["scheduling-complete-url"])
      const report = (path: string) =>
        Effect.promise(() =>
          fetch(url + path, { method: "POST", body: `used ${headerCanary} for it` })
        )
      assert.strictEqual((yield* report("/log")).status, 200)
      assert.strictEqual((yield* report("")).status, 200)
      const ended = yield* ask(
        "GET",
        `${member.workspace}/executions/${started.id}?wait_seconds=30`,
        { token }
      )
      assert.strictEqual(ended.body.status, "succeeded")
      assert.include(ended.text, "used ••• for it")
      assert.notInclude(ended.text, headerCanary)
    })
  )

  it.effect("with basic or bearer auth has its header, and shows none", () =>
    Effect.gen(function* () {
      const { run, setSecrets, target } = yield* setUpSecrets
      yield* setSecrets
      const basic = yield* run({
        url: target.origin,
        auth: { kind: "basic", username: "robot", password: "{{ secrets.HEADER }}" }
      })
      const bearer = yield* run({
        url: target.origin,
        auth: { kind: "bearer", token: "{{ secrets.HEADER }}" }
      })
      const pair = btoa(`robot:${headerCanary}`)
      assert.deepStrictEqual(
        target.arrived.map(({ headers }) => headers["authorization"]),
        [`Basic ${pair}`, `Bearer ${headerCanary}`]
      )
      for (const execution of [basic, bearer]) {
        const text = JSON.stringify(execution)
        assert.notInclude(text, headerCanary)
        assert.notInclude(text, pair)
        assert.strictEqual(execution.attempts[0].request.headers.authorization, "•••")
      }
    })
  )
})

layer(signalledNodesLayer, { excludeTestServices: true })("secrets", (it) => {
  it.effect("are for editors and not for API keys", () =>
    Effect.gen(function* () {
      const { member, token } = yield* setUpSecrets
      const key = yield* createKey(member, { scopes: ["tasks:write"] })
      const asKey = yield* ask("GET", `${member.workspace}/secrets`, { token: key.key })
      assert.strictEqual(statusAndError(asKey), "403 jwt_only")
      const asOwner = yield* ask("GET", `${member.workspace}/secrets`, { token })
      assert.deepStrictEqual(asOwner.body, { data: [], next_cursor: null })
    })
  )

  it.effect("have names of upper-case letters, digits and _", () =>
    Effect.gen(function* () {
      const { putSecret } = yield* setUpSecrets
      for (const name of ["lower", "1ST", "A-B", "A".repeat(64)]) {
        const refused = yield* putSecret(name, { value: "x", allowed_hosts: ["api.example.com"] })
        assert.strictEqual(statusAndError(refused), "422 validation_failed")
        assert.include(refused.text, "1 to 63 upper-case letters, digits and _")
      }
    })
  )

  it.effect("of another workspace are not there", () =>
    Effect.gen(function* () {
      const { member, setSecrets, token } = yield* setUpSecrets
      yield* setSecrets
      const other = yield* setUpSecrets
      const foreign = yield* ask("DELETE", `${other.member.workspace}/secrets/CANARY`, {
        token: other.token
      })
      assert.strictEqual(statusAndError(foreign), "404 not_found")
      const own = yield* ask("DELETE", `${member.workspace}/secrets/CANARY`, { token })
      assert.strictEqual(own.status, 204)
    })
  )

  it.effect("keep their value when it is left out, unless a host is added", () =>
    Effect.gen(function* () {
      const { putSecret, run, target } = yield* setUpSecrets
      const missing = yield* putSecret("KEPT", { allowed_hosts: [target.origin] })
      assert.strictEqual(statusAndError(missing), "422 validation_failed")
      yield* putSecret("KEPT", {
        value: headerCanary,
        allowed_hosts: [target.origin, "api.example.com"]
      })
      const fewer = yield* putSecret("KEPT", { allowed_hosts: [target.origin], description: "x" })
      assert.strictEqual(fewer.status, 200)
      yield* run({ url: target.origin, headers: { "x-v": "{{ secrets.KEPT }}" } })
      assert.strictEqual(target.arrived[0]?.headers["x-v"], headerCanary)
      const more = yield* putSecret("KEPT", { allowed_hosts: [target.origin, "evil.example.com"] })
      assert.strictEqual(statusAndError(more), "422 validation_failed")
      assert.include(more.text, "is required to add a host to allowed_hosts")
    })
  )
})
