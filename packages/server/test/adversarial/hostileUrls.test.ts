import { assert, layer } from "@effect/vitest"
import { Effect, type JsonSchema } from "effect"
import { ask, outcome } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { endpoints, resolved } from "./contract.ts"
import { settle } from "./holdings.ts"

const refusedUrls = [
  "http://user:password@example.com/",
  "http://user@example.com/",
  "http://:password@example.com/",
  "http://example.com@127.0.0.1/",
  "http://127.0.0.1%40example.com/",
  "file:///etc/passwd",
  "gopher://127.0.0.1:6379/_FLUSHALL",
  "ftp://example.com/",
  "data:text/plain,a",
  "javascript:alert(1)",
  "unix:/var/run/docker.sock",
  "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
  "//example.com/",
  "http:example.com",
  "http:/example.com",
  "http:\\\\example.com",
  "http://",
  "http:///",
  "http://[::1/",
  "http://[fe80::1%25lo]/",
  "http://256.0.0.1/",
  "http://1.2.3.4.5/",
  "http://0x7f.0.0.0.1/",
  "http://a b/",
  "http://a\r\nb/",
  "http://example.com/\r\nx: y",
  "http://example.com/\u0000",
  " http://example.com/",
  "http://example.com:99999/"
]

const looksLikeUrl = /url|uri|webhook|callback|endpoint|hook/i

const fieldsOf = (schema: JsonSchema.JsonSchema | undefined) =>
  Object.entries(Object(schema?.["properties"])) as Array<[string, JsonSchema.JsonSchema]>

/** Every field of every body that holds a URL, with the body around it. */
const urlFields = endpoints.flatMap((endpoint) =>
  fieldsOf(endpoint.schema).flatMap(([field, schema]) => {
    const element = fieldsOf(resolved(Object(schema["items"])))
    const inItem = element.filter(([inner]) => looksLikeUrl.test(inner))
    return [
      ...(looksLikeUrl.test(field)
        ? [{ ...endpoint, field, bodyWith: (url: string) => ({ [field]: url }) }]
        : []),
      ...inItem.map(([inner]) => ({
        ...endpoint,
        field: `${field}.0.${inner}`,
        bodyWith: (url: string) => ({ [field]: [{ name: "a", [inner]: url }] })
      }))
    ]
  })
)

layer(testAppLayer())("A URL", (it) => {
  it.effect("is a field of what makes calls", () =>
    Effect.sync(() =>
      assert.deepStrictEqual(
        urlFields.map(({ field, name }) => `${name} ${field}`),
        [
          "cron.create url",
          "cron.upsert url",
          "cron.update url",
          "delayed.create url",
          "delayed.upsert url",
          "delayed.update url",
          "chains.create steps.0.url",
          "chains.upsert steps.0.url",
          "chains.update steps.0.url"
        ]
      )
    )
  )

  it.effect.each(urlFields)(
    "with a password, of another protocol or of no host: $name",
    (endpoint) =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* settle
        const path = pathOf(endpoint)
        for (const url of refusedUrls) {
          const answer = yield* ask(endpoint.method, path, {
            token: member.access_token,
            body: { ...endpoint.example, ...endpoint.bodyWith(url) }
          })
          assert.strictEqual(outcome(answer), "422 validation_failed", url)
          const paths = answer.body.detail.issues.map((issue: { readonly path: Array<unknown> }) =>
            issue.path.join(".")
          )
          assert.include(paths, endpoint.field, url)
        }
      })
  )
})
