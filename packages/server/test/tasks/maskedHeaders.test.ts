import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { follow } from "../live/streams.ts"
import { type Answer, ask, statusAndError, signUp } from "../support/http.ts"
import { keyedClientOf } from "../support/keyed.ts"
import { routes, urlWithIds } from "../support/routes.ts"
import { runningNodeLayer } from "../support/TestApp.ts"

const canary = "canary-5f0c"
const mask = "•••"

const headers = {
  Authorization: `Bearer ${canary}`,
  "x-api-key": canary,
  COOKIE: `session=${canary}`,
  "x-plain": "shown"
}
const shown = { Authorization: mask, "x-api-key": mask, COOKIE: mask, "x-plain": "shown" }

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const { access_token: token, workspace } = member
  const arrived: Array<Readonly<Record<string, unknown>>> = []
  const port = yield* httpTarget((request, response) => {
    arrived.push(request.headers)
    response.end('{"token":"t-1"}')
  })
  const call = { url: `http://127.0.0.1:${port}/`, headers }
  return {
    arrived,
    call,
    member,
    workspace,
    ...keyedClientOf(member),
    send: (method: string, path: string, body: object = {}) =>
      ask(method, workspace + path, { token, body }),
    read: (path: string) => ask("GET", workspace + path, { token })
  }
})

const dueIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

/** Each kind of task, with a call that has these headers. */
const kinds = [
  {
    kind: "cron",
    define: (call: object) => ({ name: "a", schedule: "0 0 1 1 *", ...call }),
    callOf: (task: Answer["body"]) => task
  },
  {
    kind: "delayed",
    define: (call: object) => ({ name: "a", run_at: dueIn(9), ...call }),
    callOf: (task: Answer["body"]) => task
  },
  {
    kind: "chains",
    define: (call: object) => ({ name: "a", steps: [{ name: "first", ...call }] }),
    callOf: (task: Answer["body"]) => task.steps[0]
  }
] as const

const issuesOf = ({ body }: Answer): unknown => body.detail.issues

const nothingStored = (path: ReadonlyArray<string | number>, field: string) => ({
  path,
  code: "invalid",
  message: `${field} contains the mask ${mask}, but no value is stored; send the value, or leave the header out.`
})

/** Reads the stored headers of a task's first call. */
const storedHeaders = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly headers: object }>`
    SELECT coalesce(
      t.headers,
      (SELECT s.headers FROM chain_steps AS s WHERE s.version_id = t.version_id AND step_index = 0)
    ) AS headers
    FROM tasks AS t
    WHERE t.id = ${id}`
  return rows[0]?.headers
})

layer(runningNodeLayer(), { excludeTestServices: true, timeout: "60 seconds" })(
  "credentials in headers",
  (it) => {
    it.effect("are in no response of a GET, and in no live event", () =>
      Effect.gen(function* () {
        const { arrived, call, create, member, read, send, workspace } = yield* setUp
        const { access_token: token, workspace_id } = member
        const stream = yield* follow({ workspace, token })
        const callbacks = { on_failure: { url: call.url }, on_success: { url: call.url } }
        const cron = yield* create("cron", { ...kinds[0].define(call), ...callbacks })
        const delayed = yield* create("delayed", { ...call, ...callbacks, delay_seconds: 0 })
        const steps = [
          { name: "first", ...call },
          {
            name: "second",
            ...call,
            headers: { authorization: `Token ${canary} {{ steps.first.body.token }}` }
          },
          {
            name: "third",
            ...call,
            headers: { authorization: "bearer {{ steps.first.body.token }}" }
          }
        ]
        const chain = yield* create("chains", { name: "a", steps, ...callbacks })
        const channel = yield* create("notifications/channels", {
          name: "ops",
          kind: "webhook",
          config: { url: call.url, authorization: `Bearer ${canary} end` }
        })
        for (const { status, text } of [cron, delayed, chain, channel]) {
          assert.strictEqual(status, 201, text)
        }
        const cronRun = yield* send("POST", `/cron/${cron.body.id}/run`)
        const chainRun = yield* send("POST", `/chains/${chain.body.id}/run`)
        yield* send("POST", `/notifications/channels/${channel.body.id}/test`)
        yield* read(`/executions/${cronRun.body.id}?wait_seconds=30`)
        const runPath = `/chains/${chain.body.id}/runs/${chainRun.body.id}`
        const ended = yield* read(`${runPath}?wait_seconds=30`)
        assert.strictEqual(ended.body.status, "succeeded", ended.text)
        yield* send("PATCH", `/cron/${cron.body.id}`, { headers: { "x-plain": "other" } })
        yield* send("POST", `/cron/${cron.body.id}/pause`)
        yield* stream.until("all changes", (events) =>
          events.some(({ type }) => type === "task.updated")
        )
        assert.notInclude(stream.text(), canary)

        const stepRuns: ReadonlyArray<string> = ended.body.steps.map(
          (step: { readonly execution: { readonly id: string } }) => step.execution.id
        )
        const ids = {
          workspace_id,
          chain_id: chain.body.id,
          run_id: chainRun.body.id,
          channel_id: channel.body.id
        }
        const urls = new Set(
          routes
            .filter(({ method, path }) => method === "GET" && !path.endsWith("/events/"))
            .flatMap(({ path }) =>
              [cron, delayed].flatMap(({ body }) =>
                [cronRun.body.id, ...stepRuns].map((execution_id) =>
                  urlWithIds(path, { ...ids, task_id: body.id, execution_id }).replace(/\/$/, "")
                )
              )
            )
        )
        const masking: Array<string> = []
        for (const url of urls) {
          const answer = yield* ask("GET", url, { token })
          assert.notInclude(answer.text, canary, url)
          if (answer.status === 200 && answer.text.includes(mask)) masking.push(url)
        }
        const at = (path: string) => workspace + path
        assert.sameMembers(
          masking.filter((url) => url !== "/v1/openapi.json"),
          [
            "/v1/cron-tasks",
            at("/cron"),
            at(`/cron/${cron.body.id}`),
            at(`/cron/${cron.body.id}/versions`),
            at("/delayed"),
            at(`/delayed/${delayed.body.id}`),
            at("/chains"),
            at(`/chains/${chain.body.id}`),
            at("/notifications/channels"),
            at("/audit"),
            at(`/notifications/channels/${channel.body.id}`),
            at(`/executions/${cronRun.body.id}`),
            ...stepRuns.flatMap((id) => [
              at(`/executions/${id}`),
              at(`${runPath}/executions/${id}/request`)
            ])
          ]
        )
        // The server has received the original value, which responses mask.
        assert.includeMembers(
          arrived.map(({ authorization }) => authorization),
          [headers.Authorization, `Token ${canary} t-1`, "bearer t-1", `Bearer ${canary} end`]
        )
        const third = yield* read(`${runPath}/executions/${stepRuns[2]}/request`)
        assert.deepStrictEqual(third.body.headers, { authorization: mask })
      })
    )

    it.effect.each(kinds)("are masked in the response of every change: $kind", (one) =>
      Effect.gen(function* () {
        const { act, call, create, patch, put, send } = yield* setUp
        const definition = one.define(call)
        const created = yield* create(one.kind, definition)
        const { id } = created.body
        const batch = yield* send("POST", `/${one.kind}/batch`, { items: [definition] })
        const answers = [
          created,
          yield* patch(one.kind, id, { name: "b" }),
          yield* put(one.kind, "new", definition),
          yield* put(one.kind, "new", definition),
          yield* put(one.kind, "new", { ...definition, name: "b" }),
          ...(one.kind === "delayed"
            ? []
            : [yield* act(one.kind, id, "pause"), yield* act(one.kind, id, "resume")])
        ].map(({ body }) => body)
        for (const task of [...answers, batch.body.items[0].data]) {
          assert.deepStrictEqual(one.callOf(task).headers, shown)
          assert.notInclude(JSON.stringify(task), canary)
        }
      })
    )

    it.effect.each(kinds)("are kept by a PUT of what a GET returned: $kind", (one) =>
      Effect.gen(function* () {
        const { call, get, put } = yield* setUp
        const created = yield* put(one.kind, "a", one.define(call))
        const { id, version } = created.body
        const got = yield* get(one.kind, id)
        const same = yield* put(one.kind, "a", got.body)
        assert.deepStrictEqual(same.body, got.body)
        const other = yield* put(one.kind, "a", { ...got.body, name: "b" })
        assert.strictEqual(other.body.version, version + 1, other.text)
        assert.deepStrictEqual(one.callOf(other.body).headers, shown)
        assert.deepStrictEqual(yield* storedHeaders(id), headers)
      })
    )

    it.effect.each(kinds)(
      "are kept and replaced by name, ignoring upper and lower case: $kind",
      (one) =>
        Effect.gen(function* () {
          const { arrived, call, get, put, send } = yield* setUp
          const created = yield* put(one.kind, "a", one.define(call))
          const { id } = created.body
          const given = { authorization: mask, "X-API-KEY": "new", "x-plain": "other" }
          const changed = yield* put(one.kind, "a", one.define({ ...call, headers: given }))
          assert.deepStrictEqual(one.callOf(changed.body).headers, { ...given, "X-API-KEY": mask })
          const stored = { ...given, authorization: headers.Authorization }
          assert.deepStrictEqual(yield* storedHeaders(id), stored)
          const run = yield* send("POST", `/${one.kind}/${id}/run`)
          const path = one.kind === "chains" ? `/chains/${id}/runs/` : "/executions/"
          yield* get(path.slice(1, -1), `${run.body.id}?wait_seconds=30`)
          assert.deepInclude(arrived[0], {
            authorization: headers.Authorization,
            "x-api-key": "new",
            "x-plain": "other"
          })
          assert.notProperty(arrived[0], "cookie")
        })
    )

    it.effect("are kept by a PATCH that sends the mask, and removed by null", () =>
      Effect.gen(function* () {
        const { call, create, patch } = yield* setUp
        for (const kind of ["cron", "delayed"] as const) {
          const definition = kinds.find((one) => one.kind === kind)?.define(call) ?? {}
          const { body: task } = yield* create(kind, definition)
          const change = { authorization: mask, COOKIE: null, "x-plain": null }
          const changed = yield* patch(kind, task.id, { headers: change })
          assert.deepStrictEqual(changed.body.headers, { "x-api-key": mask, authorization: mask })
          assert.deepStrictEqual(yield* storedHeaders(task.id), {
            "x-api-key": canary,
            authorization: headers.Authorization
          })
          const unknown = yield* patch(kind, task.id, { headers: { cookie: mask } })
          assert.strictEqual(statusAndError(unknown), "422 validation_failed")
          assert.deepStrictEqual(issuesOf(unknown), [
            nothingStored(["headers", "cookie"], "headers.cookie")
          ])
        }
      })
    )

    it.effect.each(kinds)("need a value if nothing is stored: $kind", (one) =>
      Effect.gen(function* () {
        const { create, put, send, call } = yield* setUp
        const masked = one.define({ ...call, headers: { "x-plain": "a", "x-api-key": mask } })
        const issue =
          one.kind === "chains"
            ? nothingStored(["steps", 0, "headers", "x-api-key"], "steps[0].headers.x-api-key")
            : nothingStored(["headers", "x-api-key"], "headers.x-api-key")
        for (const answer of [yield* create(one.kind, masked), yield* put(one.kind, "a", masked)]) {
          assert.strictEqual(statusAndError(answer), "422 validation_failed")
          assert.deepStrictEqual(issuesOf(answer), [issue])
        }
        const batch = yield* send("POST", `/${one.kind}/batch`, {
          items: [masked, one.define(call)]
        })
        assert.deepStrictEqual(
          batch.body.items.map(({ status }: { readonly status: number }) => status),
          [422, 201]
        )
        assert.deepStrictEqual(batch.body.items[0].error.detail.issues, [issue])
        // An update to a record that no longer exists is stale, regardless of its headers.
        const stale = yield* put(one.kind, "a", { ...masked, version: 1 })
        assert.strictEqual(statusAndError(stale), "412 stale")
        // Only credentials are masked.
        const plain = one.define({ ...call, headers: { "x-plain": mask } })
        assert.strictEqual(statusAndError(yield* create(one.kind, plain)), "422 validation_failed")
      })
    )

    it.effect("of steps are found by the name of the step", () =>
      Effect.gen(function* () {
        const { call, create, get, patch } = yield* setUp
        const login = { name: "login", url: call.url, headers: { "x-token": "secret-1" } }
        const close = {
          name: "close",
          url: call.url,
          headers: { "x-token": "secret-2 {{ steps.login.status }}" }
        }
        const { body: chain } = yield* create("chains", { name: "a", steps: [login, close] })
        const [first, second] = (yield* get("chains", chain.id)).body.steps
        const same = yield* patch("chains", chain.id, { steps: [first, second] })
        assert.strictEqual(same.status, 200, same.text)

        const renamed = yield* patch("chains", chain.id, {
          steps: [first, { ...second, name: "end" }]
        })
        assert.deepStrictEqual(issuesOf(renamed), [
          nothingStored(["steps", 1, "headers", "x-token"], "steps[1].headers.x-token")
        ])
        // The stored value refers to a step that would now come later.
        const turned = yield* patch("chains", chain.id, { steps: [second, first] })
        assert.strictEqual(statusAndError(turned), "422 validation_failed")
        assert.deepInclude(turned.body.detail.issues[0], {
          path: ["steps", 0, "headers", "x-token"],
          code: "invalid"
        })
        assert.notInclude(turned.text, "secret-2")

        const added = { name: "new", url: call.url, headers: { "x-token": "secret-3" } }
        const moved = yield* patch("chains", chain.id, { steps: [added, first, second] })
        assert.strictEqual(moved.status, 200, moved.text)
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ readonly token: string }>`
          SELECT s.headers ->> 'x-token' AS token
          FROM chain_steps AS s
          JOIN tasks AS t ON t.version_id = s.version_id
          WHERE t.id = ${chain.id}
          ORDER BY step_index`
        assert.deepStrictEqual(
          rows.map(({ token }) => token),
          ["secret-3", "secret-1", close.headers["x-token"]]
        )
      })
    )

    it.effect("go to the task that replaces a finished one", () =>
      Effect.gen(function* () {
        const { call, get, put, read } = yield* setUp
        const created = yield* put("delayed", "a", { ...call, delay_seconds: 0 })
        const [run] = (yield* read(`/executions?task_id=${created.body.id}`)).body.data
        yield* read(`/executions/${run.id}?wait_seconds=30`)
        const finished = yield* get("delayed", created.body.id)
        assert.strictEqual(finished.body.status, "finished", finished.text)
        assert.strictEqual((yield* put("delayed", "a", finished.body)).body.id, created.body.id)
        const { headers: masked } = finished.body
        const again = yield* put("delayed", "a", { ...call, headers: masked, run_at: dueIn(9) })
        assert.strictEqual(again.status, 201, again.text)
        assert.notStrictEqual(again.body.id, created.body.id)
        assert.deepStrictEqual(yield* storedHeaders(again.body.id), headers)
      })
    )

    it.effect("of a call keep to its limit of bytes when they are restored", () =>
      Effect.gen(function* () {
        const { call, create, patch } = yield* setUp
        const half = "a".repeat(9_000)
        const { body: task } = yield* create(
          "cron",
          kinds[0].define({ ...call, headers: { "x-token": half } })
        )
        const cron = yield* patch("cron", task.id, { headers: { "x-token": mask, "x-b": half } })
        assert.strictEqual(statusAndError(cron), "422 validation_failed")
        const step = { name: "a", url: call.url }
        const { body: chain } = yield* create("chains", {
          name: "a",
          steps: [{ ...step, headers: { "x-token": half } }]
        })
        const steps = [{ ...step, headers: { "x-token": mask, "x-b": half } }]
        const answer = yield* patch("chains", chain.id, { steps })
        assert.deepInclude(answer.body.detail.issues[0], {
          path: ["steps", 0, "headers"],
          code: "too_long"
        })
      })
    )

    it.effect("of a channel are kept by the mask, and need a value if nothing is stored", () =>
      Effect.gen(function* () {
        const { arrived, call, create, patch, put, send } = yield* setUp
        const kind = "notifications/channels"
        const config = { url: call.url, authorization: "Bearer 0123456789" }
        const channel = { name: "ops", kind: "webhook", config }
        const created = yield* put(kind, "ops", channel)
        const { id, version } = created.body
        assert.deepStrictEqual(created.body.config, { ...config, authorization: `${mask}6789` })
        const same = yield* put(kind, "ops", created.body)
        assert.strictEqual(same.body.version, version, same.text)
        for (const authorization of [mask, `${mask}6789`]) {
          const kept = yield* patch(kind, id, { config: { authorization } })
          assert.deepStrictEqual(kept.body.config, created.body.config, kept.text)
        }
        yield* send("POST", `/${kind}/${id}/test`)
        assert.strictEqual(arrived.at(-1)?.["authorization"], config.authorization)

        for (const authorization of [mask, `${mask}6789`]) {
          const masked = { ...channel, config: { url: call.url, authorization } }
          for (const refused of [yield* create(kind, masked), yield* put(kind, "new", masked)]) {
            assert.strictEqual(statusAndError(refused), "422 validation_failed")
            assert.deepStrictEqual(issuesOf(refused), [
              {
                path: ["config", "authorization"],
                code: "invalid",
                message: `config.authorization contains the mask ${mask}, but no value is stored; send the value.`
              }
            ])
          }
        }
      })
    )
  }
)
