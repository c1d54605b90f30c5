// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { endpoints } from "../../adversarial/support/contract.ts"
import { createOwner } from "../../adversarial/support/createOwner.ts"
import { ask, randomEmail, randomIp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

/** These endpoints create records that cannot be read by id. */
const unreadable = new Set(["invitations.create"])

const creates = endpoints.filter(
  ({ method, path }) =>
    method === "POST" && endpoints.some((one) => one.method === "GET" && one.path === path)
)

layer(testAppLayer())("A 201", (it) => {
  it.effect.each(creates)("has the path of the new record: $name", ({ example, name, path }) =>
    Effect.gen(function* () {
      const { member, pathOf } = yield* createOwner
      const token = member.access_token
      const worker = yield* pathOf({ path: "/v1/workspaces/:workspace_id/workers/:worker_id" })
      const body = {
        ...example,
        ...(example !== undefined &&
          "worker_id" in example && { worker_id: worker.split("/").at(-1) })
      }
      const created = yield* ask("POST", yield* pathOf({ path }), { token, body })
      assert.strictEqual(created.status, 201, created.text)
      const location = created.headers.get("location") ?? ""
      assert.strictEqual(location.split("/").at(-1), created.body.id)
      if (unreadable.has(name)) return
      const { body: record, status } = yield* ask("GET", location, { token })
      assert.deepStrictEqual([status, record.id], [200, created.body.id])
    })
  )

  it.effect("of a rotation is the path of the new key, the worker or the secrets", () =>
    Effect.gen(function* () {
      const { member, pathOf } = yield* createOwner
      const token = member.access_token
      for (const [path, at] of [
        ["/v1/workspaces/:workspace_id/api-keys/:key_id/rotate", "api-keys/"],
        ["/v1/workspaces/:workspace_id/workers/:worker_id/rotate", "workers/"]
      ] as const) {
        const rotated = yield* ask("POST", yield* pathOf({ path }), { token, body: {} })
        assert.strictEqual(rotated.status, 201, rotated.text)
        assert.strictEqual(
          rotated.headers.get("location"),
          `${member.workspace}/${at}${rotated.body.id}`
        )
      }
      const secrets = yield* ask("POST", `${member.workspace}/signing-secrets/rotate`, { token })
      assert.strictEqual(secrets.status, 201, secrets.text)
      assert.strictEqual(secrets.headers.get("location"), `${member.workspace}/signing-secrets`)
    })
  )

  it.effect("of a record that its path names is that path", () =>
    Effect.gen(function* () {
      const { member } = yield* createOwner
      const token = member.access_token
      const times = { starts_at: "2027-01-01T00:00:00Z", ends_at: "2027-01-02T00:00:00Z" }
      const channel = yield* ask("POST", `${member.workspace}/notifications/channels`, {
        token,
        body: { name: "ops", kind: "webhook", config: { url: "https://alerts.example.com/" } }
      })
      const recipients = { channel_ids: [channel.body.id] }
      for (const [path, body] of [
        ["status-pages/located", { title: "Status", groups: [] }],
        ["maintenance/located", { name: "Upgrade", everything: true, ...times }],
        ["escalations/located", { name: "On call", steps: [{ after_seconds: 0, ...recipients }] }]
      ] as const) {
        const location = `${member.workspace}/${path}`
        const created = yield* ask("PUT", location, { token, body })
        assert.deepStrictEqual(
          [created.status, created.headers.get("location")],
          [201, location],
          created.text
        )
      }
    })
  )

  it.effect("of a registration is the path of the account", () =>
    Effect.gen(function* () {
      const registered = yield* ask("POST", "/v1/auth/register", {
        body: { email: randomEmail(), password: "correct horse battery" },
        headers: { "x-forwarded-for": randomIp() }
      })
      assert.strictEqual(registered.status, 201, registered.text)
      assert.strictEqual(registered.headers.get("location"), "/v1/auth/me")
    })
  )
})
