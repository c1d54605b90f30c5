import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../engine/runner/support/tasks.ts"
import { ask, times } from "../support/http.ts"
import { runningNodeLayer } from "../support/TestApp.ts"
import { agentClientOf, successResult, workerClientOf } from "../workers/workers.ts"
import { setUpSecrets } from "./setUpSecrets.ts"

const clientSecret = "client-secret-4711"

/** Starts an authorization server that records its requests. */
const authorizationServer = Effect.gen(function* () {
  const asked: Array<{ readonly authorization: string | undefined; readonly form: string }> = []
  const state = { status: 200, expires_in: 3_600, error: "server_error" }
  const issued: Array<string> = []
  const port = yield* httpTarget((request, response) => {
    let form = ""
    request.on("data", (chunk) => (form += chunk))
    request.on("end", () => {
      asked.push({ authorization: request.headers.authorization, form })
      response.statusCode = state.status
      if (state.status !== 200) return response.end(JSON.stringify({ error: state.error }))
      const access_token = `access-${asked.length}-9a8b7c6d`
      issued.push(access_token)
      return response.end(
        JSON.stringify({ access_token, token_type: "Bearer", expires_in: state.expires_in })
      )
    })
  })
  return { origin: `http://127.0.0.1:${port}`, asked, issued, state }
})

/** Starts an API that accepts only tokens that were issued and have not been revoked. */
const api = (issued: ReadonlyArray<string>, withdrawn: ReadonlySet<string>) =>
  Effect.gen(function* () {
    const authorizations: Array<string | undefined> = []
    const port = yield* httpTarget((request, response) => {
      const { authorization } = request.headers
      authorizations.push(authorization)
      const token = authorization?.replace(/^Bearer /, "") ?? ""
      response.statusCode = issued.includes(token) && !withdrawn.has(token) ? 200 : 401
      response.end(`you sent ${authorization}`)
    })
    return { origin: `http://127.0.0.1:${port}`, authorizations }
  })

const fixture = Effect.gen(function* () {
  const common = yield* setUpSecrets
  const server = yield* authorizationServer
  const withdrawn = new Set<string>()
  const target = yield* api(server.issued, withdrawn)
  yield* common.putSecret("CLIENT_SECRET", {
    value: clientSecret,
    allowed_hosts: [server.origin, target.origin]
  })
  yield* common.putSecret("ANYWHERE", {
    value: clientSecret,
    allowed_hosts: [server.origin, "http://127.0.0.1"]
  })
  const auth = {
    kind: "oauth2_client_credentials",
    token_url: `${server.origin}/token`,
    client_id: "robot",
    client_secret: "{{ secrets.CLIENT_SECRET }}",
    scope: "jobs:run"
  }
  return { ...common, auth, server, target, withdrawn }
})

/** Creates a task that runs on the agent of a worker, and functions that act as the agent. */
const agentFixture = Effect.gen(function* () {
  const { auth, member, server, token } = yield* fixture
  const worker = yield* workerClientOf(member).create({ labels: ["office"] })
  const agent = agentClientOf(worker.body.token)
  const { session } = (yield* agent.hello()).body
  const createTask = ask("POST", `${member.workspace}/delayed`, {
    token,
    body: {
      url: "http://127.0.0.1/job",
      auth: { ...auth, client_secret: "{{ secrets.ANYWHERE }}" },
      run_on: { labels: ["office"] },
      delay_seconds: 0
    }
  })
  yield* createTask
  return {
    server,
    createTask,
    /** The call that the agent gets next. */
    claimed: Effect.map(
      agent.claim(session, { slots: 1, wait_seconds: 20 }),
      ({ body }) => body.calls[0]
    ),
    /** Reports that the target responded with 401. */
    refuse: (call: { readonly run_id: string; readonly lease: string }) =>
      agent.results(session, [{ ...successResult(call), outcome: "failed", status_code: 401 }]),
    outcomeOf: ({ run_id }: { readonly run_id: string }) =>
      Effect.map(
        ask("GET", `${member.workspace}/executions/${run_id}?wait_seconds=10`, { token }),
        ({ body }) => ({ status: body.status, attempts: body.attempts.length })
      )
  }
})

layer(runningNodeLayer(), { excludeTestServices: true })("OAuth2 client credentials", (it) => {
  it.effect("are exchanged once for a thousand runs, and nothing shows the token", () =>
    Effect.gen(function* () {
      const { auth, member, server, target, token } = yield* fixture
      const items = times(100, () => ({ url: target.origin, auth, delay_seconds: 0 }))
      yield* Effect.forEach(
        times(10, (n) => n),
        () => ask("POST", `${member.workspace}/delayed/batch`, { token, body: { items } }),
        { concurrency: 2 }
      )
      const all = yield* eventually(
        ask("GET", `${member.workspace}/executions?status=succeeded&total=true&limit=1`, { token }),
        ({ body }) => body.total === 1_000,
        2_000
      )
      assert.strictEqual(server.asked.length, 1)
      assert.strictEqual(server.asked[0]?.authorization, `Basic ${btoa(`robot:${clientSecret}`)}`)
      assert.strictEqual(server.asked[0]?.form, "grant_type=client_credentials&scope=jobs%3Arun")
      const [execution] = all.body.data
      const detail = yield* ask("GET", `${member.workspace}/executions/${execution.id}`, { token })
      assert.strictEqual(detail.body.attempts[0].response_body ?? "", "you sent Bearer •••")
      assert.notInclude(detail.text, "9a8b7c6d")
    })
  )

  it.effect("are exchanged again once if the server withdraws the token", () =>
    Effect.gen(function* () {
      const { auth, run, server, target, withdrawn } = yield* fixture
      const sql = yield* SqlClient.SqlClient
      yield* run({ url: target.origin, auth })
      withdrawn.add(server.issued[0] ?? "")
      // A token that has just been issued is not replaced, because the server must have a different
      // reason for rejecting it.
      const young = yield* run({ url: target.origin, auth })
      assert.strictEqual(young.error.message, "responded with 401")
      assert.strictEqual(server.asked.length, 1)
      yield* sql`UPDATE access_tokens SET obtained_at = now() - interval '1 minute'`
      const again = yield* run({ url: target.origin, auth })
      assert.strictEqual(again.status, "succeeded", JSON.stringify(again))
      assert.strictEqual(again.attempts.length, 1)
      assert.strictEqual(server.asked.length, 2)
    })
  )

  it.effect("are exchanged again once for an agent whose call got a 401", () =>
    Effect.gen(function* () {
      const { claimed, outcomeOf, refuse, server } = yield* agentFixture
      const sql = yield* SqlClient.SqlClient
      const first = yield* claimed
      yield* sql`UPDATE access_tokens SET obtained_at = now() - interval '1 minute'`
      yield* refuse(first)
      const second = yield* claimed
      assert.strictEqual(second.run_id, first.run_id)
      assert.notStrictEqual(second.headers.authorization, first.headers.authorization)
      yield* refuse(second)
      assert.strictEqual(server.asked.length, 2)
      assert.deepStrictEqual(yield* outcomeOf(first), { status: "failed", attempts: 1 })
    })
  )

  it.effect("are exchanged again for an agent if another node has found that it was revoked", () =>
    Effect.gen(function* () {
      const { claimed, refuse } = yield* agentFixture
      const sql = yield* SqlClient.SqlClient
      const first = yield* claimed
      yield* sql`UPDATE access_tokens SET sealed_token = NULL, usable_until = NULL`
      yield* refuse(first)
      const second = yield* claimed
      assert.strictEqual(second.run_id, first.run_id)
      assert.notStrictEqual(second.headers.authorization, first.headers.authorization)
    })
  )

  it.effect("are not exchanged again for several calls that got a 401 with a new token", () =>
    Effect.gen(function* () {
      const { claimed, createTask, outcomeOf, refuse, server } = yield* agentFixture
      yield* createTask
      const calls = [yield* claimed, yield* claimed]
      yield* Effect.forEach(calls, refuse)
      for (const call of calls) {
        assert.deepStrictEqual(yield* outcomeOf(call), { status: "failed", attempts: 1 })
      }
      assert.strictEqual(server.asked.length, 1)
    })
  )

  it.effect("that expire are exchanged again in time", () =>
    Effect.gen(function* () {
      const { auth, run, server, target } = yield* fixture
      server.state.expires_in = 1
      yield* run({ url: target.origin, auth })
      const done = yield* eventually(
        run({ url: target.origin, auth }),
        () => server.asked.length > 1
      )
      assert.strictEqual(done.status, "succeeded")
    })
  )

  it.effect("fail the run with the reason while the server is away, and work when it is back", () =>
    Effect.gen(function* () {
      const { auth, run, server, target } = yield* fixture
      server.state.status = 503
      const away = yield* run({ url: target.origin, auth })
      assert.deepStrictEqual(away.error, {
        code: "auth_failed",
        message: `the authorization server ${server.origin} responded with 503: server_error`
      })
      const next = yield* run({ url: target.origin, auth })
      assert.strictEqual(next.error.code, "auth_failed")
      assert.strictEqual(server.asked.length, 1, "nobody asks again within the pause")
      assert.strictEqual(target.authorizations.length, 0)
      server.state.status = 200
      const back = yield* eventually(
        run({ url: target.origin, auth }),
        ({ status }) => status === "succeeded"
      )
      assert.strictEqual(back.error, null)
    })
  )

  it.effect("are retried with the retries of the task", () =>
    Effect.gen(function* () {
      const { auth, run, server, target } = yield* fixture
      server.state.status = 503
      const retried = yield* run({ url: target.origin, auth, retry_count: 1 })
      assert.strictEqual(retried.attempts.length, 2)
      assert.strictEqual(retried.error.code, "auth_failed")
    })
  )

  it.effect("go neither to a server nor to a target outside the hosts of the secret", () =>
    Effect.gen(function* () {
      const { auth, putSecret, run, server, target } = yield* fixture
      for (const allowed_hosts of [[server.origin], [target.origin]]) {
        yield* putSecret("CLIENT_SECRET", { value: clientSecret, allowed_hosts })
        const refused = yield* run({ url: target.origin, auth })
        assert.strictEqual(refused.error.code, "secret_refused")
      }
      assert.strictEqual(server.asked.length, 0)
      assert.strictEqual(target.authorizations.length, 0)
    })
  )
})
