import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, createKey, statusAndError, signUp } from "../../support/http.ts"
import { runningNodeLayer } from "../../support/TestApp.ts"

interface Arrived {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly was: string | undefined
  readonly body: string
}

/** Starts a server that responds with a token and a day, and records its requests. */
const target = Effect.gen(function* () {
  const arrived: Array<Arrived> = []
  const port = yield* httpTarget((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => {
      const { headers, method, url: path } = request
      arrived.push({ method, path, was: headers["x-was"]?.toString(), body })
      response.end(JSON.stringify({ token: 't"1', days: [{ day: "2 Feb" }] }))
    })
  })
  return { url: `http://127.0.0.1:${port}`, arrived }
})

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const { arrived, url } = yield* target
  const token = member.access_token
  const chains = `${member.workspace}/chains`
  const steps = [
    { name: "login", url: `${url}/login`, body: '{"user":"me"}' },
    {
      name: "close",
      url: `${url}/days/{{ steps.login.body.days[0].day }}/close`,
      headers: { "x-was": "{{ steps.login.status }}" },
      body: '{"token":"{{ steps.login.body.token }}","all":{{ steps.login.body.days }}}'
    },
    { name: "look", method: "GET", url: `${url}/days` },
    { name: "fails", url: `${url}/{{ steps.login.body.nothing }}` },
    { name: "alarm", url, run_if: "success" }
  ]
  const { body: chain } = yield* ask("POST", chains, { token, body: { name: "Close", steps } })
  const at = `${chains}/${chain.id}`
  const { body: run } = yield* ask("POST", `${at}/run`, { token })
  const ended = yield* ask("GET", `${at}/runs/${run.id}?wait_seconds=30`, { token })
  assert.strictEqual(ended.body.status, "failed")
  const requestOf = (name: string, credential = token) => {
    const { execution } = ended.body.steps.find(
      (step: { readonly name: string }) => step.name === name
    )
    return ask("GET", `${at}/runs/${run.id}/executions/${execution.id}/request`, {
      token: credential
    })
  }
  return { arrived, at, member, requestOf, steps, token, url }
})

layer(runningNodeLayer(), { excludeTestServices: true })("the request of a step", (it) => {
  it.effect("is the request that arrived", () =>
    Effect.gen(function* () {
      const { arrived, requestOf, url } = yield* setUp
      const asked = yield* Effect.forEach(["login", "close", "look"], (step) => requestOf(step))
      const asArrived = asked.map(({ body: { body, headers, method, url: to } }) => ({
        method,
        path: to.slice(url.length),
        was: headers["x-was"],
        body: body ?? ""
      }))
      assert.deepStrictEqual(asArrived, arrived)
      assert.deepStrictEqual(asked[1]?.body, {
        method: "POST",
        url: `${url}/days/2%20Feb/close`,
        headers: { "x-was": "200" },
        body: '{"token":"t\\"1","all":[{"day":"2 Feb"}]}'
      })
      assert.isNull(asked[2]?.body.body)
    })
  )

  it.effect("does not exist if nothing was sent", () =>
    Effect.gen(function* () {
      const { requestOf } = yield* setUp
      const failed = yield* requestOf("fails")
      assert.strictEqual(statusAndError(failed), "409 conflict")
      assert.match(
        failed.body.detail.message,
        /^The step sent no request: url: steps\.login\.body\.nothing is missing/
      )
      const skipped = yield* requestOf("alarm")
      assert.strictEqual(statusAndError(skipped), "404 not_found")
      assert.strictEqual(skipped.body.detail.resource, "execution")
    })
  )

  it.effect("is not known once the chain was changed", () =>
    Effect.gen(function* () {
      const { at, requestOf, steps, token } = yield* setUp
      yield* ask("PATCH", at, { token, body: { steps: steps.slice(0, 2) } })
      assert.strictEqual(statusAndError(yield* requestOf("login")), "409 conflict")
    })
  )

  it.effect("is for members, because keys have scopes for what it shows", () =>
    Effect.gen(function* () {
      const { member, requestOf } = yield* setUp
      const { key } = yield* createKey(member, { scopes: ["tasks:read", "executions:read"] })
      assert.strictEqual(statusAndError(yield* requestOf("login", key)), "403 jwt_only")
    })
  )
})
