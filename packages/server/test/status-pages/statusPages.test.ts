import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { get, type IncomingHttpHeaders } from "node:http"
import { readAllRows } from "../adversarial/support/readAllRows.ts"
import { createAllRecords } from "../adversarial/support/recordIds.ts"
import { countStatements } from "../support/countStatements.ts"
import { ask, createKey, statusAndError, signUp, times, runConcurrently } from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { TestApp, testAppLayer } from "../support/TestApp.ts"

const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const { access_token: token, workspace } = member
  const slug = `acme-${member.user_id.slice(-12)}`
  // Uses an API key, because access tokens expire when the clock moves this far.
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
    readAs: (password: string, end = "") =>
      ask("GET", `/status/${slug}${end}`, {
        headers: { authorization: `Basic ${Buffer.from(`:${password}`).toString("base64")}` }
      }),
    remove: ask("DELETE", `${workspace}/status-pages/${slug}`, { token: key })
  }
})

/** Returns the strings in a row, except those that are too short to be recognized in a page. */
const textsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? value.length < 5
      ? []
      : [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(textsIn)
      : []

const rawGet = (url: string, headers: Readonly<Record<string, string>>) =>
  new Promise<{ readonly headers: IncomingHttpHeaders; readonly bytes: number }>(
    (resolve, reject) =>
      get(url, { headers }, (response) => {
        let bytes = 0
        response.on("data", (chunk: Buffer) => void (bytes += chunk.length))
        response.on("end", () => resolve({ headers: response.headers, bytes }))
      }).on("error", reject)
  )

layer(testAppLayer())("a status page", (it) => {
  it.effect("shows its monitors, their last 90 days and their incidents", () =>
    Effect.gen(function* () {
      const { heartbeat, put, read } = yield* setUp
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
      const { heartbeat, member, put, read } = yield* setUp
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

  it.effect("shows nothing of its workspace that was not chosen", () =>
    Effect.gen(function* () {
      const password = "for our customers"
      const { heartbeat, member, put, readAs, slug } = yield* setUp
      const control = yield* setUp
      yield* createAllRecords(member)
      const { access_token: token, workspace } = member
      yield* heartbeat({ name: "Database", key: "database-1", tags: ["private"] })
      yield* ask("PUT", `${workspace}/maintenance/window`, {
        token,
        body: {
          name: "Secret upgrade",
          starts_at: "2026-01-01T00:00:00Z",
          ends_at: "2027-01-01T00:00:00Z",
          tags: ["inner-tag"]
        }
      })
      const page = {
        password,
        groups: [{ name: "All", tags: ["public"] }],
        notices: [
          {
            title: "Slow",
            text: "We look.",
            posted_at: "2026-05-31T00:00:00Z",
            updates: [
              { text: "Found.", posted_at: "2026-05-31T01:00:00Z" },
              { text: "Surprise.", posted_at: "2026-12-31T01:00:00Z" }
            ]
          }
        ]
      }
      const ofShown = { name: "Shown", tags: ["public", "inner-tag"] }
      for (const one of [{ heartbeat, put }, control]) {
        const on = one === control ? {} : { depends_on: [{ kind: "heartbeat", key: "database-1" }] }
        const shown = yield* one.heartbeat({ ...ofShown, ...on, key: "inner-key" })
        yield* shown.ping("/fail")
        assert.strictEqual((yield* one.put(page)).status, 201)
      }
      const words = new Set(
        [...(yield* readAllRows)]
          .filter((row) => row.includes(member.workspace_id) || row.includes(member.user_id))
          .flatMap((row) => textsIn(JSON.parse(row.slice(row.indexOf("{")))))
      )
      const expected = [
        "Database",
        "inner-tag",
        "inner-key",
        "Secret upgrade",
        "Surprise.",
        member.email
      ]
      for (const word of [...expected, "https://site.test/", "site.test"]) {
        assert.isTrue(words.has(word), word)
      }
      for (const end of ["", ".json", ".atom", ".svg"]) {
        const { status, text } = yield* readAs(password, end)
        assert.strictEqual(status, 200)
        // A page with the same definition in an otherwise empty workspace. It contains only
        // permitted content.
        const { text: allowed } = yield* control.readAs(password, end)
        const shown = text.replaceAll(slug, "")
        const leaked = [...words].filter((word) => shown.includes(word) && !allowed.includes(word))
        assert.deepStrictEqual(leaked, [], end)
        for (const word of expected) assert.notInclude(shown, word)
      }
    })
  )

  it.effect("is served from memory to all readers of the same 15 seconds", () =>
    Effect.gen(function* () {
      const locked = yield* setUp
      const open = yield* setUp
      yield* locked.put({ password: "for customers" })
      yield* open.put({})
      const readers = ["", ".json", ".atom", ".svg"].flatMap((end) => [
        open.read(end),
        locked.readAs("for customers", end),
        locked.read(end)
      ])
      assert.isAbove(yield* countStatements(runConcurrently(readers)), 0)
      const many = Effect.forEach(
        times(1_000, (n) => readers[n % readers.length] ?? open.read()),
        (reader) => reader,
        { concurrency: 50 }
      )
      // Meanwhile, the node's loops can run a few statements.
      assert.isBelow(yield* countStatements(many), 20)
      yield* leap("16 seconds")
      assert.isAbove(yield* countStatements(open.read()), 0)
    })
  )

  it.effect("is compressed, and weighs less than 30 kB with 20 monitors even if it is not", () =>
    Effect.gen(function* () {
      const { heartbeat, put, slug } = yield* setUp
      for (let n = 1; n <= 20; n++) {
        const monitor = yield* heartbeat({ name: `The service number ${n}`, tags: ["shop"] })
        yield* monitor.ping()
      }
      yield* put({ groups: [{ name: "Shop", tags: ["shop"] }] })
      const { url } = yield* TestApp
      const weightOf = (coding: string) =>
        Effect.promise(async () => {
          const response = await rawGet(`${url}/status/${slug}`, { "accept-encoding": coding })
          assert.strictEqual(
            response.headers["content-encoding"],
            coding === "identity" ? undefined : coding
          )
          return response.bytes
        })
      assert.isBelow(yield* weightOf("identity"), 30_000)
      assert.isBelow(yield* weightOf("gzip"), 3_000)
      assert.isBelow(yield* weightOf("br"), 3_000)
    })
  )

  it.effect("is read at most once in 15 seconds, and gone soon after it is not published", () =>
    Effect.gen(function* () {
      const { put, read, remove } = yield* setUp
      assert.strictEqual(statusAndError(yield* read()), "404 not_found")
      yield* put({ title: "First" })
      yield* leap("16 seconds")
      assert.strictEqual((yield* read(".json")).body.title, "First")
      yield* put({ title: "Second" })
      assert.strictEqual((yield* read(".json")).body.title, "First")
      yield* leap("16 seconds")
      assert.strictEqual((yield* read(".json")).body.title, "Second")
      yield* put({ published: false })
      yield* leap("16 seconds")
      assert.strictEqual(statusAndError(yield* read()), "404 not_found")
      yield* put({})
      yield* leap("16 seconds")
      assert.strictEqual((yield* read()).status, 200)
      yield* remove
      yield* leap("16 seconds")
      assert.strictEqual(statusAndError(yield* read()), "404 not_found")
      for (const path of ["a", "A-B", "a..b", `${"a".repeat(64)}`, "ab.html"]) {
        assert.strictEqual((yield* ask("GET", `/status/${path}`)).status, 404, path)
      }
    })
  )

  it.effect("asks for its password in every format, and never shows it", () =>
    Effect.gen(function* () {
      const { member, put, read, slug } = yield* setUp
      const password = "für Kunden: ja"
      const basic = (user: string, given: string) => ({
        headers: { authorization: `Basic ${Buffer.from(`${user}:${given}`).toString("base64")}` }
      })
      const readAs = (given: string, end = "") =>
        ask("GET", `/status/${slug}${end}`, basic("anybody", given))
      const made = yield* put({ password })
      assert.deepInclude(made.body, { has_password: true, version: 1 })
      assert.deepInclude((yield* put({ password })).body, { version: 1 })
      assert.deepInclude((yield* put({ title: "New" })).body, { has_password: true, version: 2 })
      yield* leap("16 seconds")
      for (const end of ["", ".json", ".atom", ".svg"]) {
        const refused = yield* read(end)
        assert.strictEqual(statusAndError(refused), "401 invalid_credentials")
        assert.include(refused.headers.get("www-authenticate"), "Basic")
        assert.notInclude(refused.text, "New")
        const shown = yield* readAs(password, end)
        assert.strictEqual(shown.status, 200)
        assert.strictEqual(shown.headers.get("cache-control"), "private, max-age=15")
      }
      for (const headers of ["Bearer x", "Basic", "Basic !", "Basic ZsO8cg=="]) {
        const refused = yield* ask("GET", `/status/${slug}`, {
          headers: { authorization: headers }
        })
        assert.strictEqual(statusAndError(refused), "401 invalid_credentials", headers)
      }
      const { body: audit } = yield* ask("GET", `${member.workspace}/audit`, {
        token: member.access_token
      })
      assert.notInclude(JSON.stringify([made.body, audit]), "Kunden")

      yield* put({ password: null })
      yield* leap("16 seconds")
      assert.strictEqual((yield* read()).headers.get("cache-control"), "public, max-age=15")
    })
  )

  it.effect("lets a network guess 100 passwords in 15 minutes", () =>
    Effect.gen(function* () {
      const { put, slug } = yield* setUp
      const guess = (password: string) =>
        ask("GET", `/status/${slug}`, {
          headers: { authorization: `Basic ${Buffer.from(`:${password}`).toString("base64")}` }
        })
      yield* put({ password: "the password" })
      for (let n = 0; n < 100; n++) {
        assert.strictEqual((yield* guess(`guess ${n}`)).status, 401)
      }
      assert.strictEqual(statusAndError(yield* guess("the password")), "429 rate_limited")
      yield* leap("15 minutes")
      assert.strictEqual((yield* guess("the password")).status, 200)
    })
  )

  it.effect("shows the updates of a notice that apply, newest first", () =>
    Effect.gen(function* () {
      const { put, read } = yield* setUp
      const { body } = yield* put({
        notices: [
          {
            title: "Slow",
            text: "We look.",
            posted_at: "2026-05-31T00:00:00Z",
            updates: [
              { text: "Found.", posted_at: "2026-05-31T01:00:00Z" },
              { text: "Mended.", posted_at: "2026-05-31T02:00:00Z" },
              { text: "Later.", posted_at: "2027-01-01T00:00:00Z" }
            ]
          }
        ]
      })
      assert.lengthOf(body.notices[0].updates, 3)
      const { body: page } = yield* read(".json")
      assert.deepStrictEqual(
        page.notices[0].updates.map(({ text }: { readonly text: string }) => text),
        ["Mended.", "Found."]
      )
      assert.match((yield* read()).text, /Mended\.[^]*Found\.[^]*We look\./)
      assert.include((yield* read(".atom")).text, "<updated>2026-05-31T02:00:00Z</updated>")
    })
  )

  it.effect("keeps notices for two weeks after their end", () =>
    Effect.gen(function* () {
      const { put, read } = yield* setUp
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
      const { member, put, slug } = yield* setUp
      const { access_token: token, workspace } = member
      const first = yield* put({})
      assert.deepInclude(first.body, { slug, version: 1, published: true })
      assert.strictEqual((yield* put({})).body.version, 1)
      assert.strictEqual((yield* put({ title: "New" }, { "if-match": '"1"' })).body.version, 2)
      const stale = yield* put({ title: "Old" }, { "if-match": '"1"' })
      assert.strictEqual(statusAndError(stale), "412 stale")
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
      assert.strictEqual(statusAndError(taken), "409 conflict")
      const foreign = yield* ask("GET", `${other.workspace}/status-pages/${slug}`, {
        token: other.access_token
      })
      assert.strictEqual(statusAndError(foreign), "404 not_found")
      const unknown = yield* put({ groups: [{ name: "x", monitor_ids: [member.user_id] }] })
      assert.strictEqual(statusAndError(unknown), "422 validation_failed")
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
      assert.strictEqual(statusAndError(write), "403 insufficient_scope")
    })
  )

  it.effect("is one of at most 20", () =>
    Effect.gen(function* () {
      const { member, slug } = yield* setUp
      const put = (n: number) =>
        ask("PUT", `${member.workspace}/status-pages/${slug}-${n}`, {
          token: member.access_token,
          body: { title: "x", groups: [] }
        })
      for (let n = 0; n < 20; n++) assert.strictEqual((yield* put(n)).status, 201)
      assert.strictEqual(statusAndError(yield* put(20)), "409 conflict")
    })
  )
})
