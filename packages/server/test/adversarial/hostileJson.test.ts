// @tags slow long
import { assert, describe, layer } from "@effect/vitest"
import { retryDefaults } from "@scheduling/domain/calls/CallOptions"
import { firingOptions } from "@scheduling/domain/cron/FiringOptions"
import { heartbeatDefaults } from "@scheduling/domain/monitors/heartbeat/HeartbeatMonitor"
import { Effect, Layer } from "effect"
import { domainToASCII } from "node:url"
import { type Answer, ask, statusAndError } from "../support/http.ts"
import { exceededJsonBound, jsonBounds } from "../../src/http/request/JsonBounds.ts"
import { requestText, sendBytes } from "../support/rawHttp.ts"
import { TestApp, testAppLayer } from "../support/TestApp.ts"
import { askWithinLimits, concurrentRequests, bodyWith } from "./support/askWithinLimits.ts"
import { assertEachRefused } from "./support/batches.ts"
import {
  type Endpoint,
  endpoints,
  fieldsOf,
  batchItemOf,
  propertiesOf,
  acceptsAnyJson,
  acceptsString
} from "./support/contract.ts"
import { changedRows, readAllRows } from "./support/readAllRows.ts"
import { createOwner } from "./support/createOwner.ts"
import { hostileTexts, hostileJsonValues, objectWithKeys } from "./support/hostileTexts.ts"
import { SharedOwner } from "./support/SharedOwner.ts"

const wholeBodies = hostileJsonValues.filter((value) => value !== "{}")

/** These values are rejected before any field is checked, so one field is enough. */
const unread = new Set(hostileJsonValues.filter((value) => exceededJsonBound(value) !== undefined))

/**
 * Number and boolean fields reject all strings in the same way, so testing a few strings is enough.
 */
const ofTexts = new Set(hostileTexts.slice(3).map((text) => JSON.stringify(text)))

const valuesFor = ({ schema }: Endpoint) =>
  fieldsOf(schema).taken.flatMap(([field, property], n) => {
    const isOfText = acceptsString(property) || acceptsAnyJson(property)
    return hostileJsonValues
      .filter((value) => (n === 0 || !unread.has(value)) && (isOfText || !ofTexts.has(value)))
      .map((value) => [field, value] as const)
  })

/** A PATCH merges these objects, and replaces all other objects. */
const merged = new Set(["headers", "retry", "config"])

const mergedInto = (before: Answer["body"], field: string): object =>
  before[field] ?? (field === "retry" ? { ...retryDefaults, count: before.retry_count } : {})

const withBody = endpoints.filter(({ schema }) => schema !== undefined)

/** Steps must refer to channels or members, but the example's workspace has none. */
const namesOthers = ({ name }: Endpoint) => name === "escalations.upsert"

/** The values that responses contain for options that were removed by sending null. */
const withoutOptions = { ...firingOptions.unset, timezone: heartbeatDefaults.timezone }

/**
 * Returns an accepted value as it is stored: names are trimmed, and hosts are converted to ASCII.
 */
const kept = (field: string, value: unknown): unknown => {
  if (value === null) return Object(withoutOptions)[field] ?? null
  // Responses contain a call's body as the text that is sent.
  if (field === "body" && typeof value !== "string") return JSON.stringify(value)
  if (typeof value !== "string") return JSON.parse(JSON.stringify(value))
  if (field === "name") return value.trim()
  if (field === "host" || field === "server_name") return domainToASCII(value)
  return field === "email" ? value.toLowerCase() : value
}

const assertKept = Effect.fnUntraced(function* (
  { body }: Answer,
  field: string,
  sent: unknown,
  read: { readonly path: string; readonly token: string }
) {
  if (typeof body?.id !== "string" || !(field in body)) return
  assert.deepStrictEqual(body[field], kept(field, sent))
  const stored = yield* ask("GET", read.path.replace(/\/?$/, `/${body.id}`), read)
  if (stored.status === 200) assert.deepStrictEqual(stored.body, shownAgain(body, stored.body))
})

/** Returns the response to a create request without the secret, which later responses omit. */
const shownAgain = (created: object, stored: object) =>
  Object.fromEntries(
    Object.entries(created).filter(
      ([field]) =>
        field in stored || !["key", "token", "client_id", "client_secret"].includes(field)
    )
  )

/** Asserts that the body was valid, even if the record's state does not permit the change. */
const assertTaken = ({ status, text }: Answer) => assert.notInclude([400, 422], status, text)

layer(SharedOwner.layer.pipe(Layer.provideMerge(testAppLayer())))("Hostile JSON", (it) => {
  describe.each(withBody)("for $method $path", (endpoint) => {
    const { example = {}, method, schema } = endpoint
    const item = batchItemOf(endpoint)

    it.effect("in any field is rejected, or stored unchanged", () =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const path = yield* pathOf(endpoint)
        const token = member.access_token
        const isChange = method === "PATCH"
        yield* Effect.forEach(
          valuesFor(endpoint),
          Effect.fnUntraced(function* ([field, value]) {
            const isMerged = isChange && merged.has(field) && value.startsWith("{")
            const before = isMerged ? (yield* ask("GET", path, { token })).body : {}
            const body = bodyWith(example, field, value)
            const answer = yield* askWithinLimits(method, path, { token, body })
            if (answer.status >= 300) return
            const at = isChange ? path.replace(/\/[^/]+$/, "") : path
            const sent = isMerged
              ? { ...mergedInto(before, field), ...JSON.parse(value) }
              : JSON.parse(value)
            yield* assertKept(answer, field, sent, { path: at, token })
          }),
          // Changes run one at a time, because each result is read before the next change.
          { concurrency: isChange ? 1 : concurrentRequests, discard: true }
        )
        assert.notProperty({}, "isAdmin")
      })
    )

    const { ignored } = fieldsOf(schema)
    it.effect.runIf(ignored.length > 0 && !namesOthers(endpoint))(
      "does not change response-only fields",
      () =>
        Effect.gen(function* () {
          const { member, pathOf } = yield* createOwner
          const path = yield* pathOf(endpoint)
          const token = member.access_token
          const shown = ({ body }: Answer) => ignored.map((field) => body[field])
          let last = yield* ask(method, path, { token, body: example })
          assert.isBelow(last.status, 300, last.text)
          const before = shown(last)
          for (const value of hostileJsonValues) {
            // These bodies are rejected as a whole, because they contain too many values or too
            // many bytes.
            if (unread.has(value) || value.length * ignored.length > 1_000_000) continue
            const sent = ignored.map((field) => `${JSON.stringify(field)}:${value}`).join()
            const { version } = last.body
            const isVersioned = "version" in example && version !== undefined
            const current = isVersioned ? { ...example, version } : example
            const body = `{${sent},${JSON.stringify(current).slice(1)}`
            const answer = yield* askWithinLimits(method, path, { token, body })
            // A number that is too large for JavaScript is rejected as invalid JSON.
            if ([Infinity, -Infinity].includes(JSON.parse(value))) {
              assert.strictEqual(statusAndError(answer), "422 validation_failed")
            } else {
              assert.strictEqual(answer.status, 200, answer.text)
              assert.deepStrictEqual(shown(answer), before)
              last = answer
            }
          }
        })
    )

    it.effect.runIf(item !== undefined)("in a field of one item does not affect other items", () =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const path = yield* pathOf(endpoint)
        const read = { path: path.replace(/\/batch$/, ""), token: member.access_token }
        // Other endpoints reject the whole body before they check its fields.
        const readable = hostileJsonValues.filter((value) => !unread.has(value))
        const example = item?.example ?? {}
        const items = readable.flatMap((value) => [value, undefined])
        for (const field of propertiesOf(item?.schema)) {
          const written = items.map((value) =>
            value === undefined ? JSON.stringify(example) : bodyWith(example, field, value)
          )
          const body = `{"items":[${written.join()}]}`
          const answer = yield* askWithinLimits("POST", path, { token: read.token, body })
          assert.strictEqual(answer.status, 200, answer.text.slice(0, 500))
          for (const [at, { data, error, status }] of answer.body.items.entries()) {
            const value = items[at]
            if (value === undefined) assert.strictEqual(status, 201, field)
            else if (status === 201) {
              yield* assertKept({ ...answer, body: data }, field, JSON.parse(value), read)
            } else {
              assert.include([402, 409, 422], status)
              assert.isString(error.detail.message)
            }
          }
        }
      })
    )

    it.effect("instead of the body is rejected", () =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* SharedOwner
        const path = yield* pathOf(endpoint)
        const before = yield* readAllRows
        yield* Effect.forEach(
          wholeBodies,
          Effect.fnUntraced(function* (body) {
            const answer = yield* askWithinLimits(method, path, {
              token: member.access_token,
              body
            })
            assert.include([400, 422], answer.status, body.slice(0, 100))
          }),
          { concurrency: concurrentRequests, discard: true }
        )
        assert.deepStrictEqual(changedRows(yield* readAllRows, before), [])
      })
    )

    it.effect("with a duplicate field counts as its last value only", () =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* createOwner
        const path = yield* pathOf(endpoint)
        const token = member.access_token
        const isAnything = (field: string) =>
          fieldsOf(schema).taken.some(([name, one]) => name === field && acceptsAnyJson(one))
        for (const [field, value] of Object.entries(example)) {
          const last = JSON.stringify(value)
          for (const first of ['{"__proto__":[]}', "[[]]", "false"]) {
            const wrong = yield* askWithinLimits(method, path, {
              token,
              body: bodyWith(example, field, last, first)
            })
            if (isAnything(field)) {
              assertTaken(wrong)
              yield* assertKept(wrong, field, JSON.parse(first), { path, token })
              // A batch is an array with an invalid item.
            } else if (item !== undefined && first === "[[]]") assertEachRefused(wrong, 1)
            else assert.strictEqual(statusAndError(wrong), "422 validation_failed", field)
          }
        }
        const [[field, value] = assert.fail()] = Object.entries(example)
        const body = bodyWith(example, field, '"\\u0000"', JSON.stringify(value))
        const taken = yield* askWithinLimits(method, path, { token, body })
        if (!namesOthers(endpoint)) assertTaken(taken)
      })
    )

    it.effect("in another encoding or under another name is rejected unread", () =>
      Effect.gen(function* () {
        const { member, pathOf } = yield* SharedOwner
        const path = yield* pathOf(endpoint)
        const token = member.access_token
        const body = JSON.stringify(example)
        const before = yield* readAllRows
        for (const type of [
          "text/plain",
          "text/json",
          "application/x-www-form-urlencoded",
          "multipart/form-data; boundary=a",
          "application/octet-stream",
          "application/merge-patch+json",
          "application/json, text/plain",
          "application/jsonp",
          "é"
        ]) {
          const answer = yield* askWithinLimits(method, path, { token, body, type })
          assert.strictEqual(statusAndError(answer), "415 unsupported_media_type", type)
        }
        for (const bytes of [
          Buffer.from(`\ufeff${body}`, "utf16le"),
          Buffer.from(body.replace('"', '"\xff'), "latin1"),
          Buffer.from(body.replace('"', '"\xc0\x80'), "latin1"),
          Buffer.from(body.replace('"', '"\xed\xa0\x80'), "latin1")
        ]) {
          const head = requestText(`${method} ${path}`, {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            "content-length": String(bytes.length),
            connection: "close"
          })
          const { answers } = yield* sendBytes(Buffer.concat([Buffer.from(head, "latin1"), bytes]))
          assert.deepStrictEqual(
            answers.map(({ body }) => body.detail.error),
            ["malformed_json"]
          )
        }
        assert.deepStrictEqual(changedRows(yield* readAllRows, before), [])
      })
    )
  })

  it.effect("of more fields than any schema has is rejected before it is decoded", () =>
    Effect.gen(function* () {
      const { member, pathOf } = yield* SharedOwner
      for (const endpoint of withBody.filter(({ name }) => /auth.login|cron.create/.test(name))) {
        const { body, status } = yield* askWithinLimits(endpoint.method, yield* pathOf(endpoint), {
          token: member.access_token,
          body: objectWithKeys(jsonBounds.values + 1)
        })
        assert.deepStrictEqual(
          [status, body.detail.issues],
          [
            422,
            [
              {
                path: [],
                code: "too_many",
                message: `The body must have at most ${jsonBounds.values} values in all.`
              }
            ]
          ]
        )
      }
    })
  )

  it.effect("in headers and bodies of calls is sent unchanged", () =>
    Effect.gen(function* () {
      const { member } = yield* createOwner
      const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then"]
      const headers = `{${names.map((name) => `"${name}":"a ${name}"`).join()}}`
      const bodies = hostileTexts.filter((text) => text.isWellFormed() && !/\0|^a{9}/.test(text))
      assert.isAbove(bodies.length, 15)
      for (const body of bodies) {
        const call = `"url":"https://example.com/","headers":${headers},"body":${JSON.stringify(body)}`
        const escaped = call.replace("{{ constructor", "{{ '{{' }} constructor")
        const sent = JSON.parse(`{${escaped}}`)
        for (const [kind, input, callOf] of [
          ["cron", `{"name":"a","schedule":"* * * * *",${escaped}}`, (task: unknown) => task],
          ["delayed", `{"delay_seconds":60,${escaped}}`, (task: unknown) => task],
          [
            "chains",
            `{"name":"a","steps":[{"name":"constructor",${escaped}}]}`,
            (chain: { readonly steps: ReadonlyArray<unknown> }) => chain.steps[0]
          ]
        ] as const) {
          const at = `${member.workspace}/${kind}`
          const token = member.access_token
          const created = yield* askWithinLimits("POST", at, { token, body: input })
          assert.strictEqual(created.status, 201, created.text)
          const stored = yield* ask("GET", `${at}/${created.body.id}`, { token })
          const { body, headers, url } = callOf(stored.body) as typeof sent
          assert.sameDeepMembers(Object.entries(headers), Object.entries(sent.headers))
          assert.deepStrictEqual({ url, body }, { url: sent.url, body: sent.body })
        }
      }
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
})
