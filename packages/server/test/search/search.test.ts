import { assert, layer } from "@effect/vitest"
import { maxRankedMatches } from "@scheduling/domain/search/Search"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, createKey, type Member, statusAndError, signUp } from "../support/http.ts"
import { testAppLayer } from "../support/TestApp.ts"

const make = Effect.fnUntraced(function* (
  { access_token: token, workspace }: Member,
  path: string,
  body: object,
  method = "POST"
) {
  const made = yield* ask(method, `${workspace}/${path}`, { token, body })
  assert.oneOf(made.status, [200, 201, 202], made.text)
  return made.body
})

const nightly = {
  key: "report:nightly",
  name: "Nightly Report",
  tags: ["billing"],
  schedule: "0 3 * * *",
  url: "https://api.example.com/jobs/close?shop=7"
}

const found = Effect.fnUntraced(function* (
  { workspace }: Member,
  q: string,
  token: string,
  more = ""
) {
  const answer = yield* ask("GET", `${workspace}/search?q=${encodeURIComponent(q)}${more}`, {
    token
  })
  assert.strictEqual(answer.status, 200, answer.text)
  const data: ReadonlyArray<{
    kind: string
    id: string
    name: string | null
    key: string | null
    target: string | null
  }> = answer.body.data
  return data
})

const namesOf = Effect.fnUntraced(function* (member: Member, q: string, more = "") {
  return (yield* found(member, q, member.access_token, more)).map(({ name }) => name)
})

layer(testAppLayer())("a search", (it) => {
  it.effect("finds all kinds by their names, keys, tags, URLs, labels and hosts", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      yield* make(member, "cron", nightly)
      yield* make(member, "delayed", { ...nightly, schedule: undefined, delay_seconds: 60 })
      yield* make(member, "chains", {
        name: "Close the day",
        steps: [
          { name: "a", url: "https://one.example.com/a" },
          { name: "b", url: "https://two.example.com/b" }
        ]
      })
      yield* make(member, "queues", { name: "Imports", tags: ["billing"], max_concurrency: 1 })
      yield* make(member, "monitors/heartbeat", { name: "Backups", period_seconds: 60 })
      yield* make(member, "workers", { name: "Office", labels: ["rack-2"] })
      yield* make(
        member,
        "secrets/API_TOKEN",
        { value: "x", allowed_hosts: ["pay.example.org"] },
        "PUT"
      )
      const channel = yield* make(member, "notifications/channels", {
        name: "On call",
        kind: "webhook",
        config: { url: "https://hooks.example.com" }
      })
      const steps = [{ after_seconds: 0, channel_ids: [channel.id] }]
      yield* make(member, "escalations/pager:night", { name: "Night shift", steps }, "PUT")
      const kinds = Effect.fnUntraced(function* (q: string) {
        return (yield* found(member, q, member.access_token)).map(({ kind }) => kind).toSorted()
      })
      assert.deepStrictEqual(yield* kinds("NIGHTLY"), ["cron", "delayed"])
      assert.deepStrictEqual(yield* kinds("report:night"), ["cron", "delayed"])
      assert.deepStrictEqual(yield* kinds("billing"), ["cron", "delayed", "queue"])
      assert.deepStrictEqual(yield* kinds("shop=7 nightly"), ["cron", "delayed"])
      assert.deepStrictEqual(yield* kinds("nightly imports"), [])
      assert.deepStrictEqual(yield* kinds("two.example.com/b"), ["chain"])
      assert.deepStrictEqual(yield* kinds("backup"), ["heartbeat"])
      yield* make(member, "monitors/ssl", { name: "Shop", host: "shop.example.net" })
      const site = yield* make(member, "monitors/http", {
        name: "Site",
        url: "https://www.example.net/health"
      })
      assert.deepStrictEqual(yield* kinds("example.net"), ["http", "ssl"])
      yield* make(member, `monitors/http/${site.id}`, { url: "https://new.example.org/" }, "PATCH")
      assert.deepStrictEqual(yield* kinds("new.example.org"), ["http"])
      assert.deepStrictEqual(yield* kinds("www.example.net"), [])
      assert.deepStrictEqual(yield* kinds("rack-2"), ["worker"])
      assert.deepStrictEqual(yield* kinds("pay.example.org"), ["secret"])
      assert.deepStrictEqual(yield* kinds("on call"), ["channel"])
      for (const text of ["night shift", "pager:"]) {
        assert.deepStrictEqual(yield* kinds(text), ["escalation_policy"])
      }
      yield* make(member, "escalations/pager:night", { name: "Late shift", steps }, "PUT")
      assert.deepStrictEqual(yield* namesOf(member, "shift"), ["Late shift"])
      yield* ask("DELETE", `${member.workspace}/escalations/pager:night`, {
        token: member.access_token
      })
      assert.deepStrictEqual(yield* kinds("shift"), [])
      const window = { schedule: "0 2 * * sun", duration_seconds: 3_600, tags: ["rack-2"] }
      yield* make(member, "maintenance/upgrade:db", { ...window, name: "New disks" }, "PUT")
      for (const text of ["new disks", "upgrade:db"]) {
        assert.deepStrictEqual(yield* kinds(text), ["maintenance_window"])
      }
      assert.deepStrictEqual(yield* kinds("rack-2"), ["maintenance_window", "worker"])
      yield* make(member, "maintenance/upgrade:db", { ...window, name: "Old disks" }, "PUT")
      assert.deepStrictEqual(yield* namesOf(member, "disks"), ["Old disks"])
      const slug = `acme-${member.workspace.split("/").at(-1)}`
      const page = yield* make(member, `status-pages/${slug}`, { title: "Acme", groups: [] }, "PUT")
      yield* make(member, `status-pages/${slug}`, { title: "For customers", groups: [] }, "PUT")
      for (const text of ["customers", slug, page.id]) {
        const [only] = yield* found(member, text, member.access_token)
        assert.deepInclude(only, { kind: "status_page", name: "For customers", key: slug })
      }
      for (const path of ["maintenance/upgrade:db", `status-pages/${slug}`]) {
        yield* ask("DELETE", `${member.workspace}/${path}`, { token: member.access_token })
      }
      assert.deepStrictEqual(yield* kinds("disks"), [])
      assert.deepStrictEqual(yield* kinds("customers"), [])
      assert.deepStrictEqual(yield* kinds("100%"), [])
      assert.deepStrictEqual(yield* kinds("_"), ["secret"])
      const [cron] = yield* found(member, "nightly", member.access_token, "&limit=1")
      assert.deepInclude(cron, { name: nightly.name, key: nightly.key, target: nightly.url })
    })
  )

  it.effect("puts the exact name first, then names that begin with it, then the others", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      for (const [name, key] of [
        ["Weekly import of orders", "a"],
        ["Import of all orders", "b"],
        ["Import", "c"],
        ["Cleanup", "import-old"],
        ["Something else", "import"]
      ]) {
        yield* make(member, "cron", { ...nightly, name, key })
      }
      assert.deepStrictEqual(yield* namesOf(member, "import"), [
        "Import",
        "Something else",
        "Import of all orders",
        "Weekly import of orders",
        "Cleanup"
      ])
      assert.deepStrictEqual(yield* namesOf(member, "import", "&limit=2"), [
        "Import",
        "Something else"
      ])
    })
  )

  it.effect("ranks the newest of very many matches, and older ones with the exact text", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const stranger = yield* signUp()
      const { key } = yield* createKey(member, { scopes: ["tasks:read"] })
      const sql = yield* SqlClient.SqlClient
      const insert = (of: Member, kind: string, name: string, from: number, to = from) =>
        sql`
          INSERT INTO search_entries (workspace_id, id, kind, name, text)
          SELECT
            ${of.workspace.split("/").at(-1)}::uuid, lpad(n::text, 32, '0')::uuid, ${kind}, ${name},
            ${`\n${name.toLowerCase()}\n`}
          FROM generate_series(${from}::int, ${to}::int) AS n`
      yield* insert(stranger, "cron", "Import", 1)
      yield* insert(member, "worker", "Import", 1)
      yield* insert(member, "cron", "Import", 2)
      yield* insert(member, "cron", "Import of old orders", 3)
      yield* insert(member, "cron", "Daily import", 4, 3 + maxRankedMatches)
      const best = (token: string) =>
        found(member, "import", token, "&limit=3").pipe(
          Effect.map((results) => results.map(({ kind, name }) => `${kind} ${name}`))
        )
      assert.deepStrictEqual(yield* best(member.access_token), [
        "worker Import",
        "cron Import",
        "cron Daily import"
      ])
      assert.deepStrictEqual(yield* best(key), [
        "cron Import",
        "cron Daily import",
        "cron Daily import"
      ])
      for (const id of [4, 5, 6]) {
        yield* sql`DELETE FROM search_entries WHERE id = lpad(${id}::text, 32, '0')::uuid`
        assert.deepStrictEqual(yield* best(member.access_token), [
          "worker Import",
          "cron Import",
          "cron Import of old orders"
        ])
      }
    })
  )

  it.effect("reflects changes and deletions, and finds nothing of other workspaces", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const stranger = yield* signUp()
      const sql = yield* SqlClient.SqlClient
      const task = yield* make(member, "cron", nightly)
      yield* make(member, `cron/${task.id}`, { name: "Evening report", tags: ["ops"] }, "PATCH")
      assert.deepStrictEqual(yield* namesOf(member, "billing"), [])
      assert.deepStrictEqual(yield* namesOf(member, "ops"), ["Evening report"])
      assert.deepStrictEqual(yield* namesOf(stranger, "report"), [])
      assert.deepStrictEqual(yield* namesOf(stranger, task.id), [])
      const entries = () => sql`SELECT FROM search_entries WHERE id = ${task.id}`
      assert.strictEqual((yield* entries()).length, 1)
      const { access_token: token, workspace } = member
      yield* ask("DELETE", `${workspace}/cron/${task.id}`, { token })
      assert.deepStrictEqual(yield* namesOf(member, "report"), [])
      assert.strictEqual((yield* entries()).length, 0)
      const foreign = yield* ask("GET", `${workspace}/search?q=x`, { token: stranger.access_token })
      assert.strictEqual(statusAndError(foreign), "404 not_found")
    })
  )

  it.effect("finds a record by its id: also an execution and a delayed task without a name", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const { access_token: token, workspace } = member
      const cron = yield* make(member, "cron", nightly)
      const run = (yield* ask("POST", `${workspace}/cron/${cron.id}/run`, { token })).body
      const delayed = yield* make(member, "delayed", { url: nightly.url, delay_seconds: 60 })
      const kindOf = Effect.fnUntraced(function* (id: string) {
        return (yield* found(member, id, token)).map(({ kind, name }) => [kind, name])
      })
      assert.deepStrictEqual(yield* kindOf(cron.id.toUpperCase()), [["cron", nightly.name]])
      assert.deepStrictEqual(yield* kindOf(run.id), [["execution", nightly.name]])
      assert.deepStrictEqual(yield* kindOf(delayed.id), [["delayed", null]])
      assert.deepStrictEqual(yield* found(member, "example.com", token, "&limit=50"), [
        ...(yield* found(member, cron.id, token))
      ])
    })
  )

  it.effect("shows an API key only what its scopes let it read", () =>
    Effect.gen(function* () {
      const member = yield* signUp()
      const cron = yield* make(member, "cron", { ...nightly, name: "Backup" })
      const run = yield* make(member, `cron/${cron.id}/run`, {})
      yield* make(member, "monitors/heartbeat", { name: "Backup", period_seconds: 60 })
      yield* make(member, "workers", { name: "Backup" })
      const channel = yield* make(member, "notifications/channels", {
        name: "Operations",
        kind: "webhook",
        config: { url: "https://hooks.example.com" }
      })
      const steps = [{ after_seconds: 0, channel_ids: [channel.id] }]
      yield* make(member, "escalations/backup", { name: "Backup", steps }, "PUT")
      const window = { schedule: "0 2 * * sun", duration_seconds: 3_600, everything: true }
      yield* make(member, "maintenance/backup", { ...window, name: "Backup" }, "PUT")
      const slug = `backup-${member.workspace.split("/").at(-1)}`
      yield* make(member, `status-pages/${slug}`, { title: "Backup", groups: [] }, "PUT")
      const seen = Effect.fnUntraced(function* (scopes: ReadonlyArray<string>) {
        const { key } = yield* createKey(member, { scopes })
        const named = yield* found(member, "backup", key)
        const byId = yield* found(member, run.id, key)
        return [...named, ...byId].map(({ kind }) => kind)
      })
      assert.deepStrictEqual(yield* seen(["tasks:read"]), ["cron"])
      assert.deepStrictEqual(
        (yield* seen(["tasks:read", "monitors:read", "executions:read"])).toSorted(),
        ["cron", "execution", "heartbeat", "maintenance_window", "status_page"]
      )
      assert.deepStrictEqual((yield* seen(["tasks:read", "notifications:read"])).toSorted(), [
        "cron",
        "escalation_policy"
      ])
      const { key } = yield* createKey(member, { scopes: ["monitors:read"] })
      const refused = yield* ask("GET", `${member.workspace}/search?q=backup`, { token: key })
      assert.strictEqual(statusAndError(refused), "403 insufficient_scope")
    })
  )

  it.effect("rejects an invalid search", () =>
    Effect.gen(function* () {
      const { access_token: token, workspace } = yield* signUp()
      for (const query of [
        "",
        "?q=",
        "?q=%20",
        `?q=${"a".repeat(201)}`,
        "?q=a&limit=51",
        "?q=a+b+c+d+e+f+g+h+i"
      ]) {
        const refused = yield* ask("GET", `${workspace}/search${query}`, { token })
        assert.strictEqual(statusAndError(refused), "422 validation_failed", query)
      }
    })
  )
})
