import { InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import { Effect, Option } from "effect"
import type { UserRow, UsersRepo } from "./UsersRepo.ts"

/** Finds a token's user. A token can remain valid for minutes after its user was deleted. */
export const findTokenUser = (
  users: UsersRepo["Service"],
  id: string
): Effect.Effect<UserRow, InvalidToken> =>
  Effect.flatMap(users.find(id), (row) =>
    Option.isSome(row) ? Effect.succeed(row.value) : Effect.fail(new InvalidToken())
  )
