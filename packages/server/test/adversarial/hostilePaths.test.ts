// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestApp, testAppLayer } from "../support/TestApp.ts"
import { askWithinLimits, concurrentRequests } from "./support/askWithinLimits.ts"
import { endpoints, pathWith, idPositionsIn } from "./support/contract.ts"
import { SharedOwner } from "./support/SharedOwner.ts"

/** Segments that cannot be decoded, that decode to something unexpected, or that are too long. */
const encoded = [
  "%00",
  "a%00b",
  "%ff",
  "%c0%80",
  "%ed%a0%80",
  "%",
  "%zz",
  "%2e%2e%2f",
  "..%5c",
  "%0d%0a",
  "%e2%80%a8",
  "%EF%BB%BF",
  "%F0%9F%92%A9",
  "__proto__",
  "constructor",
  "*",
  "%27%20OR%201=1--",
  "a".repeat(10_000)
]

const withPlaces = endpoints.filter(({ path }) => idPositionsIn(path).length > 0)
const withQuery = endpoints.filter(
  ({ method, queryFields }) => method === "GET" && queryFields.length > 0
)

layer(SharedOwner.layer.pipe(Layer.provideMerge(testAppLayer())))(
  "Input that does not decode",
  (it) => {
    it.effect.each(withPlaces)("is rejected in a path: $method $path", (endpoint) =>
      Effect.gen(function* () {
        const { member } = yield* SharedOwner
        yield* Effect.forEach(
          encoded,
          Effect.fnUntraced(function* (hostile) {
            const path = pathWith(endpoint.path, member.workspace_id, () => hostile)
            const answer = yield* askWithinLimits(endpoint.method, path, {
              token: member.access_token,
              ...(endpoint.example && { body: JSON.stringify(endpoint.example) })
            })
            // The client resolves a `..` segment before it sends the request.
            assert.include([404, 405, 431], answer.status, path)
          }),
          { concurrency: concurrentRequests, discard: true }
        )
      })
    )

    it.effect.each(withQuery)("is rejected in a query: $method $path", (endpoint) =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* SharedOwner
        const path = yield* pathOf(endpoint)
        const fields = [...endpoint.queryFields, "__proto__", "constructor", "a[b]"]
        const queries = fields.flatMap((field) =>
          encoded.flatMap((hostile) => [`${field}=${hostile}`, `${field}=1&${field}=${hostile}`])
        )
        yield* Effect.forEach(
          queries,
          Effect.fnUntraced(function* (query) {
            const answer = yield* askWithinLimits("GET", `${path}?${query}`, {
              token: member.access_token
            })
            assert.include([200, 404, 422, 431], answer.status, query)
          }),
          { concurrency: concurrentRequests, discard: true }
        )
      })
    )

    it.effect("never caused an internal error", () =>
      Effect.map(TestApp, ({ logs }) => {
        assert.deepStrictEqual(
          logs.filter((line) => line.includes("request failed")),
          []
        )
      })
    )
  }
)
