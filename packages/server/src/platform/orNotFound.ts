import { NotFound, type Resource } from "@scheduling/domain/shared/Errors"
import { Effect, Option } from "effect"

/** The row that a repository was asked for, or the 404 that names what there is not. */
export const orNotFound =
  (resource: Resource) =>
  <A, E, R>(row: Effect.Effect<Option.Option<A>, E, R>): Effect.Effect<A, E | NotFound, R> =>
    Effect.flatMap(row, (option) =>
      Option.isSome(option) ? Effect.succeed(option.value) : Effect.fail(new NotFound({ resource }))
    )
