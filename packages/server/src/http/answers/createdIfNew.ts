import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

const created = HttpEffect.appendPreResponseHandler((_request, response) =>
  Effect.succeed(HttpServerResponse.setStatus(response, 201))
)

/** Answers 201 with a record that was made, and 200 with one that was there. */
export const createdIfNew = <Record, E, R>(
  upsert: Effect.Effect<{ readonly isNew: boolean; readonly record: Record }, E, R>
) =>
  Effect.flatMap(upsert, ({ isNew, record }) =>
    isNew ? Effect.as(created, record) : Effect.succeed(record)
  )
