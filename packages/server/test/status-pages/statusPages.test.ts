import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, createKey, outcome, signUp } from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { testAppLayer } from "../support/TestApp.ts"

const begin = Effect.gen(function* () {
  const member = yield* signUp()
  const { access_token: token, workspace } = member
  const slug = `acme-${member.user_id.slice(-12)}`
  // Uses a key, because access tokens expire when the time leaps.
  const { key } = yield* createKey(member, { scopes: ["monitors:write"] })
  const heartbeat = Effect.fnUntraced(function* (input: object) {
    const { body } = yield* ask("POST", `${workspace}/monitors/heartbeat`, {
      token,
      body: { period_seconds: 86_400 * 365, grace_seconds: 86_400 * 365, ...input }
    })
    const { pathname } = new URL(body.ping_url)
    return {
      id: body.id as string,
      ping: (signal = "") => ask("POST", `${pathname}${signal}`)
    }
  })
  return {
    member,
    slug,
    heartbeat,
    put: (definition: object, headers: Readonly<Record<string, string>> = {}) =>
      ask("PUT", `${workspace}/status-pages/${slug}`, {
        token: key,
        headers,
        body: { title: "Acme status", groups: [], ...definition }
      }),
    read: (end = "") => ask("GET", `/status/${slug}${end}`),
    remove: ask("DELETE", `${workspace}/status-pages/${slug}`, { token: key })
  }
})

layer(testAppLayer())("a status page", (it) => {
  it.effect("shows its monitors, their last 90 days and their incidents", () =>
    Effect.gen(function* () {
      const { heartbeat, put, read } = yield* begin
      const checkout = yield* heartbeat({ name: "Checkout <b>", tags: ["shop"] })
      const search = yield* heartbeat({ name: "Search", tags: ["shop"] })
      yield* checkout.ping()
      yield* search.ping()
      yield* leap("2 days")
      yield* checkout.ping("/fail")
      yield* leap("6 hours")
      const made = yield* put({
        description: "What you can buy.",
        groups: [
          { name: "Shop", monitor_ids: [checkout.id], tags: ["shop"] },
          { name: "Empty", tags: ["nothing"] }
        ],
        notices: [{ title: "Sale", text: "Busy.\n\nVery.", posted_at: "2026-06-01T00:00:00Z" }]
      })
      assert.strictEqual(made.status, 201, made.text)
      const { body: page } = yield* read(".json")
      assert.deepInclude(page, { title: "Acme status", status: "degraded" })
      const [shop, empty] = page.groups
      assert.deepStrictEqual(
        shop.monitors.map(({ name, status }: { name: string; status: string }) => [name, status]),
        [
          ["Checkout <b>", "down"],
          ["Search", "up"]
        ]
      )
      assert.deepStrictEqual(empty.monitors, [])
      const [{ days, uptime }, { uptime: always }] = shop.monitors
      assert.lengthOf(days, 90)
      assert.closeTo(uptime, 48 / 54, 1e-6)
      assert.strictEqual(always, 1)
      assert.strictEqual(days[0].uptime, null)
      assert.deepInclude(page.incidents[0], { monitor: "Checkout <b>", closed_at: null })
      assert.deepInclude(page.notices[0], { title: "Sale", state: "current" })

      const html = yield* read()
      assert.strictEqual(html.headers.get("content-type"), "text/html; charset=utf-8")
      assert.strictEqual(html.headers.get("cache-control"), "public, max-age=15")
      for (const text of [
        "Some systems have problems",
        "Checkout &#60;b&#62;",
        "88.88 %",
        "100.00 %",
        "Down since",
        "<p>Very.</p>"
      ]) {
        assert.include(html.text, text)
      }
      assert.notInclude(html.text, "<script")
      assert.isBelow(html.text.length, 10_000)
      const feed = yield* read(".atom")
      assert.include(feed.text, "<title>Checkout &#60;b&#62;: down</title>")
      const badge = yield* read(".svg")
      assert.strictEqual(badge.headers.get("content-type"), "image/svg+xml")
      assert.include(badge.text, "problems")

      yield* checkout.ping()
      yield* leap("16 seconds")
      const { body: after } = yield* read(".json")
      assert.strictEqual(after.status, "up")
      assert.isString(after.incidents[0].closed_at)
    })
  )

  it.effect("says that a monitor is in maintenance instead of down", () =>
    Effect.gen(function* () {
      const { heartbeat, member, put, read } = yield* begin
      const checkout = yield* heartbeat({ name: "Checkout", tags: ["shop"] })
      yield* checkout.ping("/fail")
      yield* put({ groups: [{ name: "Shop", tags: ["shop"] }] })
      assert.strictEqual((yield* read(".json")).body.status, "down")
      yield* ask("PUT", `${member.workspace}/maintenance/upgrade`, {
        token: member.access_token,
        body: {
          name: "Secret upgrade",
          starts_at: "2026-01-01T00:00:00Z",
          ends_at: "2027-01-01T00:00:00Z",
          tags: ["shop"]
        }
      })
      yield* leap("16 seconds")
      const { body } = yield* read(".json")
      assert.strictEqual(body.status, "maintenance")
      assert.strictEqual(body.groups[0].monitors[0].status, "maintenance")
      const html = yield* read()
      assert.include(html.text, "Maintenance is in progress")
      assert.notInclude(html.text, "Secret upgrade")
    })
  )

  it.effect("shows only chosen monitors", () =>
    Effect.gen(function* () {
      const { heartbeat, member, put, read, slug } = yield* begin
      const { access_token: token, workspace } = member
      const shown = yield* heartbeat({
        name: "Shown",
        tags: ["public", "inner-tag"],
        key: "inner-key"
      })
      const hidden = yield* heartbeat({ name: "Hidden", tags: ["private"] })
      yield* shown.ping()
      yield* shown.ping("/fail")
      yield* hidden.ping("/fail")
      yield* put({ groups: [{ name: "All", tags: ["public"] }] })
      const texts = yield* Effect.forEach(["", ".json", ".atom", ".svg"], (end) => read(end))
      const { body: monitors } = yield* ask("GET", `${workspace}/monitors`, { token })
      const secret = [
        "Hidden",
        "private",
        "inner-tag",
        "inner-key",
        member.email,
        member.user_id,
        workspace.split("/").at(-1) ?? "",
        ...monitors.data.map(({ id }: { readonly id: string }) => id)
      ]
      for (const { status, text } of texts) {
        assert.strictEqual(status, 200)
        for (const word of secret) assert.notInclude(text.replaceAll(slug, ""), word)
      }
    })
  )

  it.effect("is read at most once in 15 seconds, and gone soon after it is not published", () =>
    Effect.gen(function* () {
      const { put, read, remove } = yield* begin
      assert.strictEqual(outcome(yield* read()), "404 not_found")
      yield* put({ title: "First" })
      yield* leap("16 seconds")
      assert.strictEqual((yield* read(".json")).body.title, "First")
      yield* put({ title: "Second" })
      assert.strictEqual((yield* read(".json")).body.title, "First")
      yield* leap("16 seconds")
      assert.strictEqual((yield* read(".json")).body.title, "Second")
      yield* put({ published: false })
      yield* leap("16 seconds")
      assert.strictEqual(outcome(yield* read()), "404 not_found")
      yield* put({})
      yield* leap("16 seconds")
      assert.strictEqual((yield* read()).status, 200)
      yield* remove
      yield* leap("16 seconds")
      assert.strictEqual(outcome(yield* read()), "404 not_found")
      for (const path of ["a", "A-B", "a..b", `${"a".repeat(64)}`, "ab.html"]) {
        assert.strictEqual((yield* ask("GET", `/status/${path}`)).status, 404, path)
      }
    })
  )

  it.effect("keeps notices for two weeks after their end", () =>
    Effect.gen(function* () {
      const { put, read } = yield* begin
      const notice = (title: string, posted_at: string, until: string | null) => ({
        title,
        text: "x",
        posted_at,
        until
      })
      yield* put({
        notices: [
          notice("over", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"),
          notice("past", "2026-05-20T00:00:00Z", "2026-05-30T00:00:00Z"),
          notice("current", "2026-06-01T00:00:00Z", "2026-06-09T00:00:00Z"),
          notice("planned", "2026-06-20T00:00:00Z", null)
        ]
      })
      const { body } = yield* read(".json")
      assert.deepStrictEqual(
        body.notices.map(({ state, title }: { state: string; title: string }) => [title, state]),
        [
          ["planned", "upcoming"],
          ["current", "current"],
          ["past", "past"]
        ]
      )
    })
  )

  it.effect("has one owner, a version, and an entry in the audit log for each change", () =>
    Effect.gen(function* () {
      const { member, put, slug } = yield* begin
      const { access_token: token, workspace } = member
      const first = yield* put({})
      assert.deepInclude(first.body, { slug, version: 1, published: true })
      assert.strictEqual((yield* put({})).body.version, 1)
      assert.strictEqual((yield* put({ title: "New" }, { "if-match": '"1"' })).body.version, 2)
      const stale = yield* put({ title: "Old" }, { "if-match": '"1"' })
      assert.strictEqual(outcome(stale), "412 stale")
      const again = yield* ask("PUT", `${workspace}/status-pages/${slug}`, {
        token,
        body: (yield* ask("GET", `${workspace}/status-pages/${slug}`, { token })).body
      })
      assert.strictEqual(again.body.version, 2)
      const other = yield* signUp()
      const taken = yield* ask("PUT", `${other.workspace}/status-pages/${slug}`, {
        token: other.access_token,
        body: { title: "Mine", groups: [] }
      })
      assert.strictEqual(outcome(taken), "409 conflict")
      const foreign = yield* ask("GET", `${other.workspace}/status-pages/${slug}`, {
        token: other.access_token
      })
      assert.strictEqual(outcome(foreign), "404 not_found")
      const unknown = yield* put({ groups: [{ name: "x", monitor_ids: [member.user_id] }] })
      assert.strictEqual(outcome(unknown), "422 validation_failed")
      const { body: audit } = yield* ask("GET", `${workspace}/audit`, { token })
      assert.deepStrictEqual(
        audit.data
          .map(({ action }: { readonly action: string }) => action)
          .filter((action: string) => action.startsWith("status_page")),
        ["status_page.updated", "status_page.created"]
      )
      const { key } = yield* createKey(member, { scopes: ["monitors:read"] })
      const list = yield* ask("GET", `${workspace}/status-pages`, { token: key })
      assert.lengthOf(list.body.data, 1)
      const write = yield* ask("DELETE", `${workspace}/status-pages/${slug}`, { token: key })
      assert.strictEqual(outcome(write), "403 insufficient_scope")
    })
  )

  it.effect("is one of at most 20", () =>
    Effect.gen(function* () {
      const { member, slug } = yield* begin
      const put = (n: number) =>
        ask("PUT", `${member.workspace}/status-pages/${slug}-${n}`, {
          token: member.access_token,
          body: { title: "x", groups: [] }
        })
      for (let n = 0; n < 20; n++) assert.strictEqual((yield* put(n)).status, 201)
      assert.strictEqual(outcome(yield* put(20)), "409 conflict")
    })
  )
})
