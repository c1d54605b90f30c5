import { InvalidToken } from "@scheduling/domain/auth/AuthErrors"
import { Effect, Option } from "effect"
import type { UserRow, UsersRepo } from "./UsersRepo.ts"

/** Needed because a token may outlive its user by minutes. */
export const userOfToken = (
  users: UsersRepo["Service"],
  id: string
): Effect.Effect<UserRow, InvalidToken> =>
  Effect.flatMap(users.find(id), (row) =>
    Option.isSome(row) ? Effect.succeed(row.value) : Effect.fail(new InvalidToken())
  )
