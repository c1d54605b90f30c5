// @tags slow
import { scopes } from "@scheduling/domain/api-keys/Scope"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Store } from "../../src/store/index.ts"
import {
  ask,
  createKey,
  type Member,
  statusAndError,
  signUp,
  times,
  runConcurrently
} from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { type Endpoint, endpoints, isInWorkspace, idPositionsIn } from "./support/contract.ts"
import { type Owner, recordPathsOf, createOwner } from "./support/createOwner.ts"

/** These endpoints create records without returning an id, so separate tests cover them. */
const ofMany = new Set([
  "/v1/workspaces/:workspace_id/cron/batch",
  "/v1/workspaces/:workspace_id/delayed/batch",
  "/v1/workspaces/:workspace_id/chains/batch",
  "/v1/workspaces/:workspace_id/executions/rerun",
  "/v1/workspaces/:workspace_id/cron/:task_id/backfill",
  "/v1/workspaces/:workspace_id/chains/:chain_id/backfill"
])

const repeatable = endpoints.filter(
  ({ path, takesIdempotencyKey }) => takesIdempotencyKey && !ofMany.has(path)
)
const runs = repeatable.filter(({ path }) => idPositionsIn(path).length > 0)
const withBody = repeatable.filter(({ example }) => example !== undefined)

const headers = { "idempotency-key": "the-same-for-everybody" }

/** Returns the example body with references to existing records. */
const exampleAt = Effect.fnUntraced(function* ({ example }: Endpoint, pathOf: Owner["pathOf"]) {
  if (example === undefined || !("worker_id" in example)) return example
  const worker = yield* pathOf({ path: "/v1/workspaces/:workspace_id/workers/:worker_id" })
  return { ...example, worker_id: worker.split("/").at(-1) }
})

/** Returns a function that sends the same request with any credential. */
const requestTo = Effect.fnUntraced(function* (endpoint: Endpoint, pathOf: Owner["pathOf"]) {
  const path = yield* pathOf(endpoint)
  const body = yield* exampleAt(endpoint, pathOf)
  return (token: string | undefined) =>
    ask(endpoint.method, path, { ...(body === undefined ? {} : { body }), headers, token })
})

/** Returns the same member in another workspace. */
const elsewhere = Effect.fnUntraced(function* (member: Member) {
  const { body } = yield* ask("POST", "/v1/workspaces", {
    token: member.access_token,
    body: { name: "elsewhere" }
  })
  return { ...member, workspace: `/v1/workspaces/${body.id}`, workspace_id: String(body.id) }
})

layer(testAppLayer())("An Idempotency-Key", (it) => {
  describe.each(repeatable)("of $method $path", (endpoint) => {
    it.effect("gives the first response again, and no second one", () =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const request = yield* requestTo(endpoint, pathOf)
        const answers = yield* runConcurrently(times(5, () => request(member.access_token)))
        const [first] = answers
        assert.include([201, 202], first?.status, first?.text)
        for (const { headers: given, text } of answers) {
          assert.strictEqual(text, first?.text)
          assert.strictEqual(given.get("location"), first?.headers.get("location"))
        }
        const replayed = answers.filter((one) => one.headers.get("idempotent-replayed") === "true")
        assert.lengthOf(replayed, 4)
      })
    )

    it.effect("is separate for each client, also in the same workspace", () =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const keys = yield* Effect.forEach([1, 2], () => createKey(member, { scopes }))
        const tokens = [
          member.access_token,
          ...(endpoint.access.kind === "scope" ? keys.map(({ key }) => key) : [])
        ]
        const request = yield* requestTo(endpoint, pathOf)
        const answers = yield* Effect.forEach(tokens, request)
        const stranger = yield* createOwner
        const strangers = yield* requestTo(endpoint, stranger.pathOf)
        answers.push(yield* strangers(stranger.member.access_token))
        assert.include([201, 202], answers[0]?.status)
        // A later request cannot run a task that has already started.
        const made = answers.filter((answer) => statusAndError(answer) !== "409 conflict")
        assert.isAtLeast(made.length, 2)
        for (const { status, text } of made) assert.include([201, 202], status, text)
        assert.strictEqual(new Set(made.map(({ body }) => body.id)).size, made.length)
      })
    )
  })

  it.effect.each(repeatable.filter(isInWorkspace))(
    "is separate in each workspace: $path",
    (endpoint) =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const other = yield* elsewhere(member)
        const here = yield* (yield* requestTo(endpoint, pathOf))(member.access_token)
        const there = yield* (yield* requestTo(endpoint, recordPathsOf(other)))(member.access_token)
        assert.strictEqual(there.status, here.status, there.text)
        assert.notStrictEqual(there.body.id, here.body.id)
        if ("workspace_id" in there.body) {
          assert.strictEqual(there.body.workspace_id, other.workspace_id)
        }
      })
  )

  it.effect.each(runs)("is separate for each record that it runs: $path", (endpoint) =>
    Effect.gen(function* () {
      const { member, pathOf } = yield* createOwner
      const one = yield* (yield* requestTo(endpoint, pathOf))(member.access_token)
      const other = yield* (yield* requestTo(endpoint, recordPathsOf(member)))(member.access_token)
      assert.deepStrictEqual([one.status, other.status], [202, 202])
      assert.notStrictEqual(other.body.id, one.body.id)
    })
  )

  it.effect.each(withBody)(
    "with another body is rejected, and creates nothing: $path",
    (endpoint) =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const example = yield* exampleAt(endpoint, pathOf)
        const token = member.access_token
        const path = yield* pathOf(endpoint)
        const create = (body: object) => ask(endpoint.method, path, { token, headers, body })
        const isRun = runs.includes(endpoint)
        const list = isRun ? `${member.workspace}/executions` : path
        const made = Effect.map(ask("GET", list, { token }), ({ body, text }) => {
          assert.isNotEmpty(body.data)
          // The state of runs changes on its own, so only their ids are compared.
          return isRun ? body.data.map(({ id }: { readonly id: string }) => id) : text
        })
        const first = yield* create({ ...example })
        assert.strictEqual(first.status, isRun ? 202 : 201, first.text)
        const before = yield* made
        const names = ["another", "Another", first.body.id]
        const bodies = names.map((name) => (isRun ? { input: name } : { name }))
        for (const change of bodies) {
          const answer = yield* create({ ...example, ...change })
          assert.strictEqual(statusAndError(answer), "422 idempotency_mismatch")
          assert.notInclude(answer.text, first.body.id)
        }
        assert.deepStrictEqual(yield* made, before)
      })
  )

  it.effect("is in progress while another request holds it for too long", () =>
    Effect.gen(function* () {
      const { kind } = yield* Store
      // The embedded store runs one transaction at a time, so no request can wait for another one.
      if (kind === "embedded") return
      const sql = yield* SqlClient.SqlClient
      const { member } = yield* createOwner
      const refused = yield* Effect.gen(function* () {
        // By default, an idle transaction is aborted before the request times out.
        yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`
        yield* sql`
          INSERT INTO idempotent_requests
            (owner_id, principal_id, operation, key, request_hash, created_at)
          VALUES
            (${member.workspace_id}, ${member.user_id}, 'queues.create', ${headers["idempotency-key"]},
             'of the other request', now())`
        return yield* ask("POST", `${member.workspace}/queues`, {
          token: member.access_token,
          headers,
          body: { name: "a", max_concurrency: 1 }
        })
      }).pipe(sql.withTransaction)
      assert.strictEqual(statusAndError(refused), "409 idempotency_in_progress")
      assert.strictEqual(refused.headers.get("retry-after"), "1")
    })
  )

  it.effect("is not used up by a request that was rejected", () =>
    Effect.gen(function* () {
      const { member, pathOf } = yield* createOwner
      const token = member.access_token
      for (const endpoint of withBody) {
        const path = yield* pathOf(endpoint)
        const body = yield* exampleAt(endpoint, pathOf)
        for (const refused of [
          yield* ask(endpoint.method, path, { token, headers, body: { ...body, name: 7 } }),
          yield* ask(endpoint.method, path, { token, headers, body: "{" }),
          yield* ask(endpoint.method, path, { headers, body }),
          yield* ask(endpoint.method, path, { token: `${token}x`, headers, body })
        ]) {
          assert.include([400, 401, 422], refused.status)
        }
        const taken = yield* ask(endpoint.method, path, { token, headers, body })
        assert.strictEqual(taken.status, runs.includes(endpoint) ? 202 : 201, taken.text)
      }
    })
  )

  it.effect("gives no stored response to a client without access", () =>
    Effect.gen(function* () {
      const { member, pathOf } = yield* createOwner
      const { key } = yield* createKey(member, { scopes })
      const reader = yield* createKey(member, { scopes: ["tasks:read"] })
      const { access_token: strangers } = yield* signUp()
      for (const endpoint of repeatable.filter(isInWorkspace)) {
        const repeat = yield* requestTo(endpoint, pathOf)
        const takesKeys = endpoint.access.kind === "scope"
        const first = yield* repeat(takesKeys ? key : member.access_token)
        assert.include([201, 202], first.status, first.text)
        assert.strictEqual(statusAndError(yield* repeat(undefined)), "401 missing_credentials")
        assert.strictEqual(statusAndError(yield* repeat(strangers)), "404 not_found")
        const refusal = takesKeys ? "403 insufficient_scope" : "403 jwt_only"
        assert.strictEqual(statusAndError(yield* repeat(reader.key)), refusal)
      }
    })
  )
})
