import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { collide } from "../../support/collide.ts"
import {
  ask,
  createKey,
  newMember,
  type Member,
  statusAndError,
  signUp
} from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"

interface Credential {
  readonly of: string
  readonly path: string
  readonly body?: object
}

/** Credentials that could remain valid after their creator's membership has ended. */
const credentials: ReadonlyArray<Credential> = [
  { of: "an API key", path: "/api-keys", body: { name: "a key", scopes: ["tasks:read"] } },
  { of: "a rotated API key", path: "/api-keys/KEY/rotate" },
  { of: "a worker", path: "/workers", body: { name: "a worker" } },
  { of: "a rotated token of a worker", path: "/workers/WORKER/rotate" },
  { of: "an invitation", path: "/invitations", body: { email: "ann@example.com", role: "viewer" } },
  { of: "a rotated signing secret", path: "/signing-secrets/rotate" }
]

const fixture = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const owner = yield* signUp()
  const admin = yield* newMember(owner, "admin")
  const { id: key } = yield* createKey(owner)
  const { body: worker } = yield* ask("POST", `${owner.workspace}/workers`, {
    token: owner.access_token,
    body: { name: "a worker" }
  })
  const post = ({ access_token: token }: Member, { body = {}, path }: Credential) =>
    ask("POST", owner.workspace + path.replace("KEY", key).replace("WORKER", worker.id), {
      token,
      body
    })
  const lock = sql`SELECT id FROM workspaces WHERE id = ${owner.workspace_id} FOR UPDATE`
  return { admin, lock, owner, post, sql }
})

layer(testAppLayer())("a credential", (it) => {
  it.effect.each(credentials)("is not created while its creator is removed: $of", (credential) =>
    Effect.gen(function* () {
      const { admin, lock, owner, post } = yield* fixture
      const removed = ask("DELETE", `${owner.workspace}/members/${admin.user_id}`, {
        token: owner.access_token
      })
      const answers = yield* collide(lock, [removed, post(admin, credential)])
      assert.deepStrictEqual(answers.map(statusAndError), ["204", "404 not_found"])
    })
  )

  it.effect.each(credentials)(
    "is not created while its creator's session ends: $of",
    (credential) =>
      Effect.gen(function* () {
        const { admin, lock, post, sql } = yield* fixture
        const holding = Effect.gen(function* () {
          yield* lock
          // Committing the deletion also releases the lock, so the waiting request sees the
          // deletion.
          yield* sql`DELETE FROM sessions WHERE user_id = ${admin.user_id}`
        })
        const [answer] = yield* collide(holding, [post(admin, credential)])
        assert.strictEqual(answer && statusAndError(answer), "401 invalid_token")
      })
  )
})
