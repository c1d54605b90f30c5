import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { IdentitiesRepo } from "../../../src/accounts/oidc/IdentitiesRepo.ts"
import { UsersRepo } from "../../../src/accounts/users/UsersRepo.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"

const RepoLayer = Layer.mergeAll(UsersRepo.layer, IdentitiesRepo.layer).pipe(
  Layer.provideMerge(TestDatabaseLayer)
)

layer(RepoLayer)("identities of accounts", (it) => {
  it.effect("are listed and removed for one account", () =>
    Effect.gen(function* () {
      const users = yield* UsersRepo
      const identities = yield* IdentitiesRepo
      const created_at = new Date("2026-06-01T12:00:00.000Z")
      const issuer = "https://id.example.com"
      const link = Effect.fnUntraced(function* (subject: string) {
        const id = randomUUID()
        yield* users.insert({
          id,
          email: `${subject}@example.com`,
          email_verified_at: null,
          pending_email: null,
          name: null,
          has_password: false,
          password_hash: "x",
          lane: 1n,
          created_at
        })
        yield* identities.insert({ issuer, subject, user_id: id, created_at })
        return id
      })
      const [ada, bob] = [yield* link("ada"), yield* link("bob")]
      const ofBob = [{ issuer, subject: "bob", user_id: bob, created_at }]
      assert.deepStrictEqual(yield* identities.list(bob), ofBob)
      assert.strictEqual(yield* identities.removeAll(ada), 1)
      assert.strictEqual(yield* identities.removeAll(ada), 0)
      assert.deepStrictEqual(yield* identities.list(bob), ofBob)
    })
  )
})
