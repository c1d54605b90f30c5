import { NotFound } from "@scheduling/domain/shared/Errors"
import type { Resource } from "@scheduling/domain/shared/Resource"
import { Effect, Option } from "effect"

export const orNotFound =
  (resource: Resource, message?: string) =>
  <A, E, R>(row: Effect.Effect<Option.Option<A>, E, R>): Effect.Effect<A, E | NotFound, R> =>
    Effect.flatMap(row, (option) =>
      Option.isSome(option)
        ? Effect.succeed(option.value)
        : Effect.fail(new NotFound(message === undefined ? { resource } : { resource, message }))
    )
