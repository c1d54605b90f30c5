import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  ask,
  createKey,
  type Member,
  statusAndError,
  readPages,
  signUp
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

const heavy = "x".repeat(256 * 1024)

const kinds = {
  cron: (n: number) => ({
    name: `${n}`,
    url: "https://example.com",
    schedule: "0 0 1 1 *",
    body: heavy
  }),
  delayed: (n: number) => ({
    name: `${n}`,
    url: "https://example.com",
    delay_seconds: 3600,
    body: heavy
  }),
  chains: (n: number) => ({
    name: `${n}`,
    steps: ["a", "b"].map((name) => ({
      name,
      url: "https://example.com",
      body: heavy.slice(0, heavy.length / 2)
    }))
  })
}

const create = (member: Member, kind: keyof typeof kinds, n: number) =>
  ask("POST", `${member.workspace}/${kind}`, { token: member.access_token, body: kinds[kind](n) })

layer(testAppLayer())("pages of heavy tasks", (it) => {
  it.effect.each(["cron", "delayed", "chains"] as const)(
    "of %s end where they weigh 2 MiB, and the next goes on",
    (kind) =>
      Effect.gen(function* () {
        const member = yield* signUp()
        for (let n = 0; n < 12; n++)
          assert.strictEqual(statusAndError(yield* create(member, kind, n)), "201")
        const path = `${member.workspace}/${kind}`
        const first = yield* ask("GET", `${path}?limit=100`, { token: member.access_token })
        assert.isAtMost(first.text.length, 2.5 * 1024 * 1024)
        assert.isBelow(first.body.data.length, 12)
        assert.isString(first.body.next_cursor)

        const pages = yield* readPages(path, member.access_token, 100)
        assert.deepStrictEqual(
          pages.flat().map(({ name }) => name),
          Array.from({ length: 12 }, (_, n) => String(11 - n))
        )
      })
  )

  it.effect("of all workspaces end there too", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (let n = 0; n < 10; n++) yield* create(member, "cron", n)
      const { key } = yield* createKey(member, { scopes: ["tasks:read"] })
      for (const token of [member.access_token, key]) {
        const all = yield* ask("GET", "/v1/cron-tasks?limit=100", { token })
        assert.isBelow(all.body.data.length, 10)
        assert.isString(all.body.next_cursor)
      }
    })
  )
})
