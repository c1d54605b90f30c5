import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, signUp, times } from "../../support/http.ts"
import { TestApp, testAppLayer } from "../../support/TestApp.ts"

/**
 * Fetches a response that can have these encodings. `fetch` decodes the response but keeps its
 * headers.
 */
const fetched = Effect.fnUntraced(function* (
  path: string,
  {
    accepts,
    body,
    token
  }: { readonly accepts: string; readonly body?: object; readonly token: string }
) {
  const { url } = yield* TestApp
  return yield* Effect.promise(async (signal) => {
    const answer = await fetch(url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "accept-encoding": accepts,
        ...(body !== undefined && { "content-type": "application/json" })
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal
    })
    return answer
  })
})

const codingOf = ({ headers }: Response) => headers.get("content-encoding")
const lengthOf = ({ headers }: Response) => Number(headers.get("content-length"))
const textOf = (answer: Response) => Effect.promise(() => answer.text())

layer(testAppLayer())("a response", (it) => {
  it.effect("of more than a kilobyte is compressed for clients that accept it", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      yield* Effect.forEach(times(5, String), (name) =>
        ask("POST", `${workspace}/cron`, {
          token,
          body: {
            name,
            schedule: "0 3 * * *",
            url: "https://example.com/",
            body: "x".repeat(2_000)
          }
        })
      )
      const list = (accepts: string) => fetched(`${workspace}/cron`, { accepts, token })
      const plain = yield* list("identity")
      assert.isNull(codingOf(plain))
      const text = yield* textOf(plain)
      for (const [accepts, coding] of [
        ["gzip, deflate, br", "br"],
        ["gzip", "gzip"],
        ["br;q=0, gzip;q=0.5", "gzip"]
      ] as const) {
        const answer = yield* list(accepts)
        assert.strictEqual(codingOf(answer), coding)
        assert.isBelow(lengthOf(answer), lengthOf(plain) / 4)
        assert.match(answer.headers.get("vary") ?? "", /accept-encoding/i)
        assert.strictEqual(yield* textOf(answer), text)
      }
    })
  )

  it.effect("that is small is sent uncompressed", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      for (const path of [workspace, `${workspace}/nothing`]) {
        const answer = yield* fetched(path, { accepts: "br", token })
        assert.isNull(codingOf(answer))
        assert.strictEqual(lengthOf(answer), (yield* textOf(answer)).length)
      }
    })
  )

  it.effect("with a secret is never compressed, and an event stream neither", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      const created = yield* fetched(`${workspace}/api-keys`, {
        accepts: "br, gzip",
        token,
        body: {
          name: "CI",
          scopes: ["tasks:read"],
          allowed_ips: times(
            20,
            (index) => `2001:db8:1111:2222:3333:4444:5555:${6_000 + index}/128`
          )
        }
      })
      assert.strictEqual(created.status, 201)
      assert.isAbove(lengthOf(created), 1_024)
      assert.isNull(codingOf(created))
      assert.strictEqual(created.headers.get("cache-control"), "no-store")

      const events = yield* fetched(`${workspace}/events`, { accepts: "br, gzip", token })
      assert.strictEqual(events.headers.get("content-type"), "text/event-stream")
      assert.isNull(codingOf(events))
      yield* Effect.promise(async () => events.body?.cancel())
    })
  )
})
