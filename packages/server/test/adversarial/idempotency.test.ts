import { scopes } from "@scheduling/domain/api-keys/Scope"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, createKey, outcome, signUp, together } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { type Endpoint, endpoints, isInWorkspace, pathWith, placesIn } from "./contract.ts"
import { acquire, type Holdings, settle } from "./holdings.ts"

/** What they make has no id of its own. They have tests of their own. */
const ofMany = new Set([
  "/v1/workspaces/:workspace_id/cron/batch",
  "/v1/workspaces/:workspace_id/delayed/batch",
  "/v1/workspaces/:workspace_id/chains/batch",
  "/v1/workspaces/:workspace_id/executions/rerun"
])

const repeatable = endpoints.filter(
  ({ path, takesIdempotencyKey }) => takesIdempotencyKey && !ofMany.has(path)
)
const runs = repeatable.filter(({ path }) => placesIn(path).length > 0)
const creates = repeatable.filter(({ example }) => example !== undefined)

const headers = { "idempotency-key": "the-same-for-everybody" }

type Settled = Pick<Effect.Success<typeof settle>, "pathOf">

/** The example. What it refers to exists where it is sent. */
const exampleAt = ({ example }: Endpoint, { pathOf }: Settled) => {
  if (example === undefined || !("worker_id" in example)) return example
  const path = "/v1/workspaces/:workspace_id/workers/:worker_id"
  return { ...example, worker_id: pathOf({ path }).split("/").at(-1) }
}

const bodyOf = (endpoint: Endpoint, settled: Settled) => {
  const body = exampleAt(endpoint, settled)
  return body === undefined ? {} : { body }
}

/** The same member at another of their workspaces. */
const elsewhere = Effect.fnUntraced(function* (member: Effect.Success<typeof settle>["member"]) {
  const { body } = yield* ask("POST", "/v1/workspaces", {
    token: member.access_token,
    body: { name: "elsewhere" }
  })
  return { ...member, workspace: `/v1/workspaces/${body.id}`, workspace_id: String(body.id) }
})

layer(testAppLayer())("An Idempotency-Key", (it) => {
  describe.each(repeatable)("of $method $path", (endpoint) => {
    const { access, method } = endpoint

    it.effect("gives the first answer again, and no second one", () =>
      Effect.gen(function* () {
        const settled = yield* settle
        const { member, pathOf } = settled
        const options = { ...bodyOf(endpoint, settled), headers, token: member.access_token }
        const [first, ...more] = yield* together(
          Array.from({ length: 5 }, () => ask(method, pathOf(endpoint), options))
        )
        assert.include([201, 202], first?.status, first?.text)
        for (const answer of more) assert.strictEqual(answer.text, first?.text)
      })
    )

    it.effect("is another one for every caller, also in the same workspace", () =>
      Effect.gen(function* () {
        const settled = yield* settle
        const { member, pathOf } = settled
        const keys = yield* Effect.forEach([1, 2], () => createKey(member, { scopes }))
        const tokens = [
          member.access_token,
          ...(access.kind === "scope" ? keys.map(({ key }) => key) : [])
        ]
        const stranger = yield* settle
        const answers = yield* Effect.forEach(tokens, (token) =>
          ask(method, pathOf(endpoint), { ...bodyOf(endpoint, settled), headers, token })
        )
        answers.push(
          yield* ask(method, stranger.pathOf(endpoint), {
            ...bodyOf(endpoint, stranger),
            headers,
            token: stranger.member.access_token
          })
        )
        assert.include([201, 202], answers[0]?.status)
        // A task that has begun cannot be run by the next.
        const made = answers.filter((answer) => outcome(answer) !== "409 conflict")
        assert.isAtLeast(made.length, 2)
        for (const { status, text } of made) assert.include([201, 202], status, text)
        assert.strictEqual(new Set(made.map(({ body }) => body.id)).size, made.length)
      })
    )
  })

  it.effect.each(repeatable.filter(isInWorkspace))(
    "is another one in every workspace: $path",
    (endpoint) =>
      Effect.gen(function* () {
        const { method, path } = endpoint
        const settled = yield* settle
        const { member, pathOf } = settled
        const other = yield* elsewhere(member)
        const holdings: Holdings = yield* acquire(other)
        const token = member.access_token
        const options = { headers, token }
        const here = yield* ask(method, pathOf(endpoint), {
          ...options,
          ...bodyOf(endpoint, settled)
        })
        const idAt = (place: string) => holdings[place]?.[0] ?? assert.fail(place)
        const otherPath = (at: { readonly path: string }) =>
          pathWith(at.path, other.workspace_id, idAt)
        const there = yield* ask(method, pathWith(path, other.workspace_id, idAt), {
          ...options,
          ...bodyOf(endpoint, { pathOf: otherPath })
        })
        assert.strictEqual(there.status, here.status, there.text)
        assert.notStrictEqual(there.body.id, here.body.id)
        if ("workspace_id" in there.body) {
          assert.strictEqual(there.body.workspace_id, other.workspace_id)
        }
      })
  )

  it.effect.each(runs)("is another one for everything else it runs: $path", (endpoint) =>
    Effect.gen(function* () {
      const { method, path } = endpoint
      const { member, pathOf } = yield* settle
      const sibling: Holdings = yield* acquire(member)
      const options = { headers, token: member.access_token }
      const one = yield* ask(method, pathOf(endpoint), options)
      const idAt = (place: string) => sibling[place]?.[0] ?? assert.fail(place)
      const other = yield* ask(method, pathWith(path, member.workspace_id, idAt), options)
      assert.deepStrictEqual([one.status, other.status], [202, 202])
      assert.notStrictEqual(other.body.id, one.body.id)
    })
  )

  it.effect.each(creates)("with another body is refused, and makes nothing: $path", (endpoint) =>
    Effect.gen(function* () {
      const settled = yield* settle
      const { member, pathOf } = settled
      const example = exampleAt(endpoint, settled)
      const token = member.access_token
      const [path, { method }] = [pathOf(endpoint), endpoint]
      const create = (body: object) => ask(method, path, { token, headers, body })
      const first = yield* create({ ...example })
      assert.strictEqual(first.status, 201, first.text)
      const before = (yield* ask("GET", path, { token })).text
      const bodies = [{ name: "another" }, { name: "Another" }, { name: first.body.id }]
      for (const change of bodies) {
        const answer = yield* create({ ...example, ...change })
        assert.strictEqual(outcome(answer), "409 idempotency_conflict")
        assert.notInclude(answer.text, first.body.id)
      }
      assert.strictEqual((yield* ask("GET", path, { token })).text, before)
    })
  )

  it.effect("is not used up by a request that was refused", () =>
    Effect.gen(function* () {
      const settled = yield* settle
      const { member, pathOf } = settled
      const token = member.access_token
      for (const endpoint of creates) {
        const path = pathOf(endpoint)
        const body = exampleAt(endpoint, settled)
        for (const refused of [
          yield* ask(endpoint.method, path, { token, headers, body: { ...body, name: 7 } }),
          yield* ask(endpoint.method, path, { token, headers, body: "{" }),
          yield* ask(endpoint.method, path, { headers, body }),
          yield* ask(endpoint.method, path, { token: `${token}x`, headers, body })
        ]) {
          assert.include([400, 401, 422], refused.status)
        }
        assert.strictEqual(
          (yield* ask(endpoint.method, path, { token, headers, body })).status,
          201
        )
      }
    })
  )

  it.effect("opens nothing to whom the endpoint is closed, whatever it would answer again", () =>
    Effect.gen(function* () {
      const settled = yield* settle
      const { member, pathOf } = settled
      const { key } = yield* createKey(member, { scopes })
      const reader = yield* createKey(member, { scopes: ["tasks:read"] })
      const { access_token: strangers } = yield* signUp()
      for (const endpoint of repeatable.filter(isInWorkspace)) {
        const repeat = (token: string | undefined) =>
          ask(endpoint.method, pathOf(endpoint), { ...bodyOf(endpoint, settled), headers, token })
        const takesKeys = endpoint.access.kind === "scope"
        const first = yield* repeat(takesKeys ? key : member.access_token)
        assert.include([201, 202], first.status, first.text)
        assert.strictEqual(outcome(yield* repeat(undefined)), "401 missing_credentials")
        assert.strictEqual(outcome(yield* repeat(strangers)), "404 not_found")
        const refusal = takesKeys ? "403 insufficient_scope" : "403 jwt_only"
        assert.strictEqual(outcome(yield* repeat(reader.key)), refusal)
      }
    })
  )
})
