// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect, type JsonSchema } from "effect"
import { type Answer, ask, statusAndError } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { assertEachRefused } from "./support/batches.ts"
import { endpoints, fieldsOf, batchItemOf, resolveSchema } from "./support/contract.ts"
import { createOwner } from "./support/createOwner.ts"

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

interface UrlField {
  readonly field: string
  readonly bodyWith: (url: string) => object
}

/** Returns every field that contains a URL, each with a valid body for it. */
const urlFieldsOf = (schema: JsonSchema.JsonSchema | undefined): ReadonlyArray<UrlField> =>
  fieldsOf(schema).taken.flatMap(([field, schema]) => {
    const element = fieldsOf(resolveSchema(Object(schema["items"]))).taken
    const inItem = element.filter(([inner]) => looksLikeUrl.test(inner))
    return [
      ...(looksLikeUrl.test(field)
        ? [{ field, bodyWith: (url: string) => ({ [field]: url }) }]
        : []),
      ...inItem.map(([inner]) => ({
        field: `${field}.0.${inner}`,
        bodyWith: (url: string) => ({ [field]: [{ name: "a", [inner]: url }] })
      }))
    ]
  })

/** A batch has its items' URL fields. */
const urlFields = endpoints.flatMap((endpoint) => {
  const item = batchItemOf(endpoint)
  return urlFieldsOf(item?.schema ?? endpoint.schema).map((field) => ({
    ...endpoint,
    ...field,
    item
  }))
})

layer(testAppLayer())("A URL", (it) => {
  it.effect("is a field of every record that makes calls", () =>
    Effect.sync(() =>
      assert.deepStrictEqual(
        urlFields.map(({ field, name }) => `${name} ${field}`),
        [
          "cron.create url",
          "cron.createMany url",
          "cron.upsert url",
          "cron.update url",
          "delayed.create url",
          "delayed.createMany url",
          "delayed.upsert url",
          "delayed.update url",
          "chains.create steps.0.url",
          "chains.createMany steps.0.url",
          "chains.upsert steps.0.url",
          "chains.update steps.0.url",
          "definitions.apply tasks.0.url",
          "definitions.apply delayed.0.url",
          "httpMonitors.create url",
          "httpMonitors.upsert url",
          "httpMonitors.update url",
          "httpMonitors.test url"
        ]
      )
    )
  )

  it.effect.each(urlFields)(
    "with a password, of another protocol or of no host: $name",
    (endpoint) =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const path = yield* pathOf(endpoint)
        const { bodyWith, example, field, item, method } = endpoint
        const assertRefused = (error: Answer["body"], url: string) => {
          assert.strictEqual(error.detail.error, "validation_failed", url)
          const paths = error.detail.issues.map((issue: { readonly path: Array<unknown> }) =>
            issue.path.join(".")
          )
          assert.include(paths, field, url)
        }
        const token = member.access_token
        if (item !== undefined) {
          const items = refusedUrls.map((url) => ({ ...item.example, ...bodyWith(url) }))
          const answer = yield* ask(method, path, { token, body: { items } })
          assertEachRefused(answer, refusedUrls.length)
          for (const [at, url] of refusedUrls.entries()) {
            assertRefused(answer.body.items[at].error, url)
          }
          return
        }
        for (const url of refusedUrls) {
          const answer = yield* ask(method, path, { token, body: { ...example, ...bodyWith(url) } })
          assert.strictEqual(statusAndError(answer), "422 validation_failed", url)
          assertRefused(answer.body, url)
        }
      })
  )
})
