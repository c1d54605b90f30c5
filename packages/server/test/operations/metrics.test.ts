import packageJson from "../../package.json" with { type: "json" }
import { assert, describe, it, layer } from "@effect/vitest"
import { httpTarget } from "@scheduling/calls/testing/CallTargets"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { NodeMeters } from "../../src/core/Meters.ts"
import { renderMetrics } from "../../src/operations/metrics.ts"
import { setUpSecrets } from "../secrets/setUpSecrets.ts"
import { ask, statusAndError, signUp } from "../support/http.ts"
import { evaluate } from "../support/promql.ts"
import { parseScrape, type Sample } from "../support/prometheus.ts"
import { eventually } from "../support/ServerProcess.ts"
import { runningConfig, runningNodeLayer, TestApp } from "../support/TestApp.ts"

describe("meters", () => {
  it("are rendered in the format of Prometheus", () => {
    const meters = new NodeMeters()
    let fired = 0
    meters.counter("fired_total", "How many\nfired \\ so far.", () => fired)
    const count = meters.counts("ended_total", "By outcome.", "outcome", ["a", 'quoted "b"'])
    const took = meters.histogram("took_seconds", "How long.", [0.1, 1], { of: "x" })
    fired = 3
    count("a", 1)
    meters.counts("ended_total", "By outcome.", "outcome", ["a", 'quoted "b"'])("a")
    for (const seconds of [0.05, 0.1, 0.5, 7]) took.observe(seconds)
    const samples = parseScrape(renderMetrics(meters))
    const valueOf = (name: string, labels: object) =>
      samples.find(
        (one) => one.name === name && JSON.stringify(one.labels) === JSON.stringify(labels)
      )?.value
    assert.strictEqual(valueOf("fired_total", {}), 3)
    assert.strictEqual(valueOf("ended_total", { outcome: "a" }), 2)
    assert.strictEqual(valueOf("ended_total", { outcome: 'quoted \\"b\\"' }), 0)
    assert.strictEqual(valueOf("took_seconds_bucket", { of: "x", le: "0.1" }), 2)
    assert.strictEqual(valueOf("took_seconds_bucket", { of: "x", le: "1" }), 3)
    assert.strictEqual(valueOf("took_seconds_bucket", { of: "x", le: "+Inf" }), 4)
    assert.approximately(valueOf("took_seconds_sum", { of: "x" }) ?? 0, 7.65, 1e-9)
  })

  it.each([
    ["without a newline at the end", "a 1"],
    ["with a sample of no family", "# TYPE a gauge\nb 1\n"],
    ["with a family in two places", "# TYPE a gauge\na 1\n# TYPE b gauge\nb 1\n# HELP a x\n"],
    ["with a series twice", "# TYPE a gauge\na 1\na 2\n"],
    ["with a value that is no number", "# TYPE a gauge\na x\n"],
    ["with a label that is not quoted", "# TYPE a gauge\na{b=c} 1\n"],
    [
      "with a histogram that counts down",
      '# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n'
    ]
  ])("would be noticed %s", (_, text) => {
    assert.throws(() => parseScrape(text))
  })
})

const { version } = packageJson

const token = "a token for those who look"

const scrape = Effect.map(ask("GET", "/metrics", { token }), ({ text }) => parseScrape(text))

const sum = (samples: ReadonlyArray<Sample>, name: string, labels: Record<string, string> = {}) =>
  samples
    .filter(
      (one) =>
        one.name === name &&
        Object.entries(labels).every(([label, value]) => one.labels[label] === value)
    )
    .reduce((total, { value }) => total + value, 0)

layer(runningNodeLayer({ ...runningConfig, metricsToken: Redacted.make(token) }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("metrics", (it) => {
  it.effect("name the version that runs", () =>
    Effect.gen(function* () {
      const builds = (yield* scrape).filter(({ name }) => name === "scheduling_build_info")
      const [build] = builds
      assert.lengthOf(builds, 1)
      assert.deepInclude(build, { value: 1 })
      assert.deepStrictEqual(build?.labels, { version, node: process.versions.node })
    })
  )

  it.effect("look like an unknown route without the token", () =>
    Effect.gen(function* () {
      for (const wrong of [undefined, "", "x", `${token}x`]) {
        assert.strictEqual(
          statusAndError(yield* ask("GET", "/metrics", { token: wrong })),
          "404 not_found"
        )
      }
      const { headers, status } = yield* ask("GET", "/metrics", { token })
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8")
      assert.strictEqual(headers.get("cache-control"), "no-store")
    })
  )

  it.effect("count runs and their durations, requests by route, and pings", () =>
    Effect.gen(function* () {
      const { access_token, workspace } = yield* signUp()
      const port = yield* httpTarget((_, response) => void response.end("ok"))
      const before = yield* scrape
      const url = `http://127.0.0.1:${port}/`
      yield* ask("POST", `${workspace}/delayed`, {
        token: access_token,
        body: { url, delay_seconds: 0 }
      })
      yield* ask("GET", `${workspace}/cron/no-uuid`, { token: access_token })
      yield* ask("GET", "/ping/019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41")
      yield* ask("GET", "/made-up/by-somebody")
      const app = yield* TestApp
      const ended = yield* eventually("a run that is counted", async () => {
        const samples = await Effect.runPromise(Effect.provideService(scrape, TestApp, app))
        const grown = (name: string, labels?: Record<string, string>) =>
          sum(samples, name, labels) - sum(before, name, labels)
        return grown("scheduling_attempts_ended_total", { outcome: "succeeded" }) === 1 && grown
      })
      for (const name of [
        "scheduling_runs_claimed_total",
        "scheduling_calls_started_total",
        "scheduling_run_lateness_seconds_count",
        "scheduling_call_duration_seconds_count"
      ]) {
        assert.strictEqual(ended(name), 1, name)
      }
      const requests = "scheduling_http_requests_total"
      const delayed = "/v1/workspaces/:workspace_id/delayed"
      assert.strictEqual(ended(requests, { method: "POST", route: delayed, status: "201" }), 1)
      assert.strictEqual(
        ended("scheduling_http_request_duration_seconds_count", { method: "POST", route: delayed }),
        1
      )
      assert.strictEqual(ended(requests, { route: "other", status: "404" }), 1)
      assert.strictEqual(ended("scheduling_pings_total", { outcome: "unknown" }), 1)
    })
  )

  it.effect("count calls that were not made by reason, and requests for access tokens", () =>
    Effect.gen(function* () {
      const { putSecret, run, target } = yield* setUpSecrets
      const server = yield* httpTarget((request, response) => {
        response.statusCode = request.url === "/issues" ? 200 : 503
        response.end(JSON.stringify({ access_token: "abc", token_type: "Bearer" }))
      })
      yield* putSecret("ELSEWHERE", { value: "a value", allowed_hosts: ["api.example.com"] })
      const before = yield* scrape
      const url = target.origin
      const oauth = (path: string) => ({
        kind: "oauth2_client_credentials",
        token_url: `http://127.0.0.1:${server}/${path}`,
        client_id: "robot",
        client_secret: "{{ secrets.CLIENT_SECRET }}"
      })
      yield* putSecret("CLIENT_SECRET", {
        value: "a client secret",
        allowed_hosts: [`http://127.0.0.1:${server}`, url]
      })
      const calls = [
        { url, headers: { "x-key": "{{ secrets.UNKNOWN }}" } },
        { url, headers: { "x-key": "{{ secrets.UNKNOWN }}", "x-task": "{{ task.name }}" } },
        { url, headers: { "x-key": "{{ secrets.ELSEWHERE }}" } },
        { url: `${url}/{{ input.id }}` },
        { url, auth: oauth("fails") },
        { url, auth: oauth("issues") }
      ]
      yield* Effect.forEach(calls, (call) => run(call))
      const after = yield* scrape
      const grown = (name: string, labels: Record<string, string>) =>
        sum(after, name, labels) - sum(before, name, labels)
      const notMade = (reason: string) => grown("scheduling_calls_not_made_total", { reason })
      assert.strictEqual(notMade("secret_missing"), 2)
      assert.strictEqual(notMade("secret_refused"), 1)
      assert.strictEqual(notMade("invalid_template"), 1)
      assert.strictEqual(notMade("auth_failed"), 1)
      const requests = "scheduling_access_token_request_duration_seconds_count"
      assert.strictEqual(grown(requests, { outcome: "issued" }), 1)
      assert.strictEqual(grown(requests, { outcome: "failed" }), 1)
    })
  )

  it.effect("have labels from a fixed set only, whatever URLs are requested", () =>
    Effect.gen(function* () {
      const count = Effect.map(scrape, (samples) => samples.length)
      yield* ask("GET", "/a", { token })
      yield* scrape
      const before = yield* count
      for (let n = 0; n < 50; n++) yield* ask("GET", `/${n}/v1/${n}?${n}`)
      assert.strictEqual(yield* count, before)
    })
  )

  it.effect("have data for every panel of the dashboard and every alert", () =>
    Effect.gen(function* () {
      const app = yield* TestApp
      const sql = yield* SqlClient.SqlClient
      const { access_token, workspace } = yield* signUp()
      const port = yield* httpTarget((_, response) => void response.end("ok"))
      const aLittleOfEverything = Effect.gen(function* () {
        const before = yield* scrape
        const url = `http://127.0.0.1:${port}/`
        yield* ask("POST", `${workspace}/delayed`, {
          token: access_token,
          body: { url, delay_seconds: 0 }
        })
        yield* sql`ALTER TABLE api_keys RENAME TO hidden`
        assert.strictEqual(
          (yield* ask("GET", `${workspace}/api-keys`, { token: access_token })).status,
          500
        )
        yield* sql`ALTER TABLE hidden RENAME TO api_keys`
        const name = "scheduling_attempts_ended_total"
        yield* eventually("a run that has ended", async () => {
          const now = await Effect.runPromise(Effect.provideService(scrape, TestApp, app))
          return sum(now, name) > sum(before, name)
        })
      })
      const labelled = Effect.map(scrape, (samples) =>
        samples.map((one) => ({
          ...one,
          labels: { ...one.labels, job: "scheduling", instance: "node-1" }
        }))
      )
      yield* aLittleOfEverything
      const before = yield* labelled
      yield* aLittleOfEverything
      const scrapes = { before, after: yield* labelled, seconds: 10 }
      const read = (file: string) =>
        readFileSync(new URL(`../../../../docs/monitoring/${file}`, import.meta.url), "utf8")
      const expressions = [
        ...read("dashboard.json").matchAll(/"expr": "((?:[^"\\]|\\.)*)"/g),
        ...read("alerts.yml").matchAll(/expr: (.*)/g)
      ].map(([, expression = ""]) =>
        expression.replaceAll('\\"', '"').replaceAll("$__rate_interval", "5m")
      )
      assert.isAtLeast(expressions.length, 50)
      for (const expression of expressions) {
        const numbers = evaluate(expression, scrapes).map(({ value }) => value)
        assert.isTrue(numbers.some(Number.isFinite), `no data for ${expression}`)
      }
      assert.throws(() => evaluate("irate(a[5m])", scrapes))
      for (const none of ["a_metric", 'scheduling_nodes{job="x"}', "rate(a_metric[5m])"]) {
        assert.deepStrictEqual(evaluate(none, scrapes), [], none)
      }
      const silent = { before: [], after: [], seconds: 10 }
      const [noNode = "", ...others] = expressions.filter((one) => one.includes("absent("))
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(evaluate(noNode, silent), [{ labels: {}, value: 1 }])
      assert.deepStrictEqual(evaluate("absent(scheduling_nodes)", scrapes), [])
    })
  )
})
