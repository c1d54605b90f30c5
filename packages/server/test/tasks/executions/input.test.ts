import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, statusAndError, signUp } from "../../support/http.ts"
import { runningNodeLayer } from "../../support/TestApp.ts"

/** Starts a server that records the path, a header and the body of each call. */
const target = Effect.gen(function* () {
  const arrived: Array<readonly [path: string | undefined, header: unknown, body: string]> = []
  const port = yield* httpTarget((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => {
      arrived.push([request.url, request.headers["x-day"], body])
      response.end("done")
    })
  })
  return { url: `http://127.0.0.1:${port}`, arrived }
})

const setUp = Effect.gen(function* () {
  const { access_token: token, workspace } = yield* signUp()
  const { arrived, url } = yield* target
  const post = (path: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
    ask("POST", workspace + path, { token, headers, ...(body !== undefined && { body }) })
  const ended = (id: string) =>
    Effect.map(
      ask("GET", `${workspace}/executions/${id}?wait_seconds=30`, { token }),
      ({ body }) => body
    )
  const endedRun = (chain: string, run: string) =>
    Effect.map(
      ask("GET", `${workspace}/chains/${chain}/runs/${run}?wait_seconds=30`, { token }),
      ({ body }) => body
    )
  return { arrived, ended, endedRun, post, token, url, workspace }
})

const input = { day: "2 Feb", ids: [7, { deep: null }], odd: "\u0000 \ud800 é" }

layer(runningNodeLayer(), { excludeTestServices: true })("the input of a run", (it) => {
  it.effect("is kept with the execution of every kind, and goes along with a rerun", () =>
    Effect.gen(function* () {
      const { ended, post, url } = yield* setUp
      const cron = yield* post("/cron", { name: "a", schedule: "0 0 1 1 *", url })
      const pending = yield* post("/delayed", { url, delay_seconds: 3_600 })
      for (const path of [`/cron/${cron.body.id}`, `/delayed/${pending.body.id}`]) {
        const run = yield* post(`${path}/run`, { input })
        assert.strictEqual(run.status, 202, run.text)
        assert.deepInclude(yield* ended(run.body.id), { status: "succeeded", input })
        const again = yield* post(`/executions/${run.body.id}/rerun`)
        assert.deepInclude(yield* ended(again.body.id), { trigger: "rerun", input })
      }
      for (const body of [undefined, {}, { input: null }]) {
        const run = yield* post(`/cron/${cron.body.id}/run`, body)
        assert.strictEqual(run.status, 202, run.text)
        assert.deepInclude(yield* ended(run.body.id), { status: "succeeded", input: null })
      }
    })
  )

  it.effect("fills the templates of all steps of a chain", () =>
    Effect.gen(function* () {
      const { arrived, ended, endedRun, post, token, url, workspace } = yield* setUp
      const steps = [
        { name: "one", url: `${url}/{{ input.day }}`, headers: { "x-day": "{{ input.ids[0] }}" } },
        { name: "two", url: `${url}/two`, body: '{"all":{{ input }},"of":"{{ steps.one.body }}"}' }
      ]
      const { body: chain } = yield* post("/chains", { name: "a", steps })
      const { body: run } = yield* post(`/chains/${chain.id}/run`, { input })
      const result = yield* endedRun(chain.id, run.id)
      assert.deepInclude(result, { status: "succeeded", input })
      assert.deepStrictEqual(arrived.slice(0, 1), [["/2%20Feb", "7", ""]])
      assert.deepStrictEqual(JSON.parse(arrived[1]?.[2] ?? ""), { all: input, of: "done" })
      for (const { execution } of result.steps) {
        assert.deepInclude(yield* ended(execution.id), { input })
      }
      const two = result.steps[1].execution.id
      const at = `${workspace}/chains/${chain.id}/runs/${run.id}/executions/${two}/request`
      assert.strictEqual((yield* ask("GET", at, { token })).body.body, arrived[1]?.[2])

      const { body: again } = yield* post(`/executions/${two}/rerun`)
      const repeated = yield* endedRun(chain.id, again.chain_run_id)
      assert.deepInclude(repeated, { status: "succeeded", input })
    })
  )

  it.effect("fails a step that uses it, if the run has none", () =>
    Effect.gen(function* () {
      const { ended, endedRun, post, url } = yield* setUp
      const steps = [{ name: "one", url: `${url}/{{ input.day }}` }]
      const { body: chain } = yield* post("/chains", { name: "a", steps })
      const messages = [
        [undefined, "url: input is missing: the run was started without one"],
        [{ input: "x" }, "url: input is not an object"],
        [{ input: {} }, "url: input.day is missing"]
      ] as const
      for (const [body, message] of messages) {
        const { body: run } = yield* post(`/chains/${chain.id}/run`, body)
        assert.strictEqual((yield* endedRun(chain.id, run.id)).status, "failed")
        const { error } = yield* ended(run.id)
        assert.deepStrictEqual(error, { code: "invalid_template", message })
      }
    })
  )

  it.effect("has at most 64 KiB, and is part of what an idempotency key stands for", () =>
    Effect.gen(function* () {
      const { post, url } = yield* setUp
      const cron = yield* post("/cron", { name: "a", schedule: "0 0 1 1 *", url })
      const run = `/cron/${cron.body.id}/run`
      const largest = "x".repeat(64 * 1024 - 2)
      assert.strictEqual((yield* post(run, { input: largest })).status, 202)
      const larger = yield* post(run, { input: `${largest}x` })
      assert.strictEqual(statusAndError(larger), "422 validation_failed")
      assert.deepStrictEqual(larger.body.detail.issues[0].path, ["input"])
      assert.strictEqual(statusAndError(yield* post(run, { inputs: 1 })), "422 validation_failed")

      const headers = { "idempotency-key": "one" }
      const first = yield* post(run, { input: 1 }, headers)
      assert.strictEqual((yield* post(run, { input: 1 }, headers)).body.id, first.body.id)
      const other = yield* post(run, { input: 2 }, headers)
      assert.oneOf(other.status, [409, 422])
    })
  )
})
