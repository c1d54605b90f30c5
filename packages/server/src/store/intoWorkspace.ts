import { NotFound } from "@scheduling/domain/shared/Errors"
import { Effect, Predicate } from "effect"
import { SqlError } from "effect/sql"

/**
 * If the workspace was deleted after the request was admitted, the answer is as if it had never
 * existed.
 */
export const intoWorkspace = <A, E, R>(insert: Effect.Effect<A, E | SqlError.SqlError, R>) =>
  Effect.catchIf(insert, SqlError.isSqlError, (error) =>
    isForeignKeyViolation(error)
      ? Effect.fail(new NotFound({ resource: "workspace" }))
      : Effect.die(error)
  )

/** The driver has one class for all constraints, and a violated CHECK would be a bug. */
const isForeignKeyViolation = ({ reason: { cause } }: SqlError.SqlError) =>
  Predicate.hasProperty(cause, "code") && cause.code === "23503"
