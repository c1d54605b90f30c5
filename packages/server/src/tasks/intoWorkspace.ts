import { NotFound } from "@scheduling/domain/shared/Errors"
import { Effect, Predicate } from "effect"
import type { SqlError } from "effect/sql"

/** A workspace that was deleted after the request was let in is answered as one that never was. */
export const intoWorkspace = <A, R>(
  insert: Effect.Effect<A, SqlError.SqlError, R>
): Effect.Effect<A, NotFound, R> =>
  Effect.catch(insert, (error) =>
    isForeignKeyViolation(error)
      ? Effect.fail(new NotFound({ resource: "workspace" }))
      : Effect.die(error)
  )

/** The driver has one class for all constraints, and a broken CHECK would be a bug. */
const isForeignKeyViolation = ({ reason: { cause } }: SqlError.SqlError) =>
  Predicate.hasProperty(cause, "code") && cause.code === "23503"
