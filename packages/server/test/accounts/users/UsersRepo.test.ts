import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { UsersRepo } from "../../../src/accounts/users/UsersRepo.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"

const RepoLayer = UsersRepo.layer.pipe(Layer.provideMerge(TestDatabaseLayer))

layer(RepoLayer)("the list of accounts for operators", (it) => {
  it.effect("shows since when an account is disabled, up to the limit", () =>
    Effect.gen(function* () {
      const users = yield* UsersRepo
      const created_at = new Date("2026-06-01T12:00:00.000Z")
      const insert = (email: string) => {
        const id = randomUUID()
        const user = {
          id,
          email,
          email_verified_at: null,
          pending_email: null,
          name: null,
          has_password: true,
          password_hash: "x",
          lane: 1n,
          created_at
        }
        return Effect.as(users.insert(user), id)
      }
      const ada = yield* insert("ada@example.com")
      yield* insert("bob@example.com")
      const seen = Effect.map(users.listAll(10), (rows) =>
        rows.toSorted((a, b) => (a.email < b.email ? -1 : 1))
      )
      const disabled_at = new Date("2026-06-02T12:00:00.000Z")
      yield* users.updateDisabled(ada, disabled_at)
      assert.deepStrictEqual(yield* seen, [
        { email: "ada@example.com", created_at, disabled_at, has_second_factor: false },
        { email: "bob@example.com", created_at, disabled_at: null, has_second_factor: false }
      ])
      yield* users.updateDisabled(ada, null)
      assert.isNull((yield* seen)[0]?.disabled_at)
      assert.lengthOf(yield* users.listAll(1), 1)
    })
  )
})
