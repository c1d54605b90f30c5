import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type Member, signUp } from "../../support/http.ts"
import { type TestApp } from "../../support/TestApp.ts"
import { type Endpoint, pathWith } from "./contract.ts"
import { insertOwnerAndInvitation, createMissingRecords } from "./recordIds.ts"

/** An owner, and the paths of the owner's records. */
export interface Owner {
  readonly member: Member
  /** Returns a record's path. Creates the record on first use. */
  readonly pathOf: (
    endpoint: Pick<Endpoint, "path">
  ) => Effect.Effect<string, never, TestApp | SqlClient.SqlClient>
}

/** Returns the paths of a member's records in a workspace. */
export const recordPathsOf = (owner: Member): Owner["pathOf"] => {
  const own: Record<string, ReadonlyArray<string>> = {}
  return Effect.fnUntraced(function* ({ path }) {
    yield* createMissingRecords(own, owner, path)
    return pathWith(
      path,
      owner.workspace_id,
      (place) => own[place]?.[0] ?? assert.fail(`what is ${place}?`)
    )
  })
}

/** Creates a new owner, who is able to leave because the workspace has another owner. */
export const createOwner: Effect.Effect<Owner, never, TestApp | SqlClient.SqlClient> = Effect.gen(
  function* () {
    const member = yield* signUp()
    yield* insertOwnerAndInvitation(member)
    return { member, pathOf: recordPathsOf(member) }
  }
).pipe(Effect.orDie)
